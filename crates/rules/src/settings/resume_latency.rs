//! `resume-latency`: how long each CPU may take to wake up.
//!
//! Sources: Documentation/ABI/testing/sysfs-devices-power (pm_qos_resume_latency_us); drivers/base/power/sysfs.c. In
//! that file 0 stands for no limit and `n/a` for none at all, which is easily taken for its opposite.

use crate::check::Reference;
use crate::setting::{
    Change, Effect, Planned, Refusal, Risk, Scene, Scope, Setting, Survives, Wanted,
};
use crate::settings::{asked, file};
use facts::{Subject, Subjects};

const LATENCY: &str = "/sys/devices/system/cpu/cpu*/power/pm_qos_resume_latency_us";

pub(super) const SETTING: Setting = Setting {
    id: "resume-latency",
    title: "how long a CPU may take to wake up",
    doc: "\
## What it changes
`power/pm_qos_resume_latency_us` of every CPU: `50us` keeps it out of idle states that take longer to leave, `any`
lifts the limit, and `none` lets it poll and never sleep.

## What it costs
A limit keeps idle CPUs from deep sleep: they draw more, and busy ones have less turbo.

## When to leave it alone
Where every CPU should have the same limit for the time of one run: `cpu-dma-latency` ends by itself.
",
    references: &[Reference {
        title: "Linux: PM Quality Of Service Interface",
        url: "https://docs.kernel.org/power/pm_qos_interface.html",
    }],
    takes: "microseconds such as `50us`, `any`, or `none`",
    scope: Scope::Cpu,
    effect: Effect::AtOnce,
    survives: Survives::THIS_BOOT,
    risk: Risk::Low,
    power: "the shorter, the more an idle core draws",
    after: &["tuner", "cpu-online"],
    fixes: &["turbo-headroom-lost"],
    reads: &[LATENCY],
    looks_at: Subjects::of(&[Subject::Cpus]),
    plan,
};

/// The largest number is the kernel's own sign for no limit (`PM_QOS_RESUME_LATENCY_NO_CONSTRAINT`), and not accepted.
const LONGEST: u64 = i32::MAX as u64 - 1;

fn plan(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    let to = match wanted.value {
        "any" => "0".to_owned(),
        "none" => "n/a".to_owned(),
        text => {
            let number = text.strip_suffix("us").and_then(asked::whole);
            let number = number.filter(|it| (1..=LONGEST).contains(it));
            number.ok_or_else(|| wanted.not_taken(&SETTING))?.to_string()
        }
    };
    let online = scene.host.topology.online.as_ref()?;
    let controls = scene.controls.matching(LATENCY);
    let is_meant = |cpu: &u32| wanted.covers(*cpu) && online.contains(*cpu);
    let (mut writes, mut n_meant) = (Vec::new(), 0);
    for control in controls.iter().filter(|it| it.numbers().iter().all(is_meant)) {
        n_meant += 1;
        writes.extend(file::write(control, &to)?);
    }
    if n_meant == 0 {
        return Err(Refusal::Host(format!("no online CPU that is meant has {LATENCY}")));
    }
    Ok(Change::of(writes))
}

#[cfg(test)]
mod tests {
    use super::SETTING;
    use crate::fixture::planned::{files, planned};

    fn host(latency: &str) -> String {
        files(&format!(
            "online 0-1
             cpu0/power/pm_qos_resume_latency_us {latency}
             cpu1/power/pm_qos_resume_latency_us 0
             cpu2/power/pm_qos_resume_latency_us 7"
        ))
    }

    #[test]
    fn a_limit_is_set_and_lifted_on_online_cpus() {
        let line =
            |cpu: u32, change: &str| format!("cpu{cpu}/power/pm_qos_resume_latency_us: {change}");
        assert_eq!(planned(&SETTING, "any", &host("n/a")), line(0, "n/a -> 0"));
        assert_eq!(planned(&SETTING, "none@1", &host("50")), line(1, "0 -> n/a"));
        assert_eq!(planned(&SETTING, "50us", &host("50")), line(1, "0 -> 50"));
    }

    #[test]
    fn a_number_that_says_the_opposite_of_what_it_seems_to_is_refused() {
        let plan = planned(&SETTING, "0us", &host("0"));
        assert!(plan.starts_with("value: resume-latency takes microseconds"), "{plan}");
        assert!(planned(&SETTING, "any@5", &host("0")).starts_with("refused: no online CPU"));
    }
}
