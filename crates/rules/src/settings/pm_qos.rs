//! Limits of the time that a CPU may take to wake up: of each CPU by a file, of all CPUs while a process requests it.
//!
//! Source: Documentation/power/pm_qos_interface.rst.

use crate::check::Reference;
use crate::setting::{
    Change, Effect, Planned, Refusal, Risk, Scene, Scope, Setting, Survives, Wanted,
};
use crate::settings::{file, value};
use facts::change::{Target, Write};
use facts::cpu::cpuidle::LATENCY_DEVICE;
use facts::{Subject, Subjects};

const LATENCY: &str = "/sys/devices/system/cpu/cpu*/power/pm_qos_resume_latency_us";

/// The limit of each CPU. In its file 0 stands for no limit and `n/a` for no latency at all, which is easily taken for the
/// opposite.
///
/// Sources: Documentation/ABI/testing/sysfs-devices-power (pm_qos_resume_latency_us); drivers/base/power/sysfs.c.
pub(super) const RESUME_LATENCY: Setting = Setting {
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
    plan: resume_latency,
};

/// The largest number is the kernel's own sign for no limit (`PM_QOS_RESUME_LATENCY_NO_CONSTRAINT`), and not accepted.
const LONGEST: u64 = i32::MAX as u64 - 1;

fn resume_latency(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    let to = match wanted.value {
        "any" => "0".to_owned(),
        "none" => "n/a".to_owned(),
        text => {
            let number = text.strip_suffix("us").and_then(value::whole);
            let number = number.filter(|it| (1..=LONGEST).contains(it));
            number.ok_or_else(|| wanted.not_taken(&RESUME_LATENCY))?.to_string()
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

/// The limit of all CPUs. The request lasts while /dev/cpu_dma_latency is held open; of several, the shortest counts, and no
/// file says who else requests which.
///
/// Source: kernel/power/qos.c.
pub(super) const CPU_DMA_LATENCY: Setting = Setting {
    id: "cpu-dma-latency",
    title: "how long any CPU may take to wake up",
    doc: "\
## What it changes
A request to the kernel, held by a process of this program, that no CPU use an idle state which takes longer to leave:
`20us`. `0us` has every idle CPU poll. It ends with that process, whatever ends it, and with `fullclock revert`.

## What it costs
Idle CPUs draw more, and busy ones have less turbo: sleeping cores leave it to them.

## When to leave it alone
Where turbo matters more than the last microseconds of waking up, and where only some CPUs have to answer at once
(`resume-latency`). Where somebody holds a request already, ask why: on hosts for real-time work or trading a request of 0 is
the purpose of the tuning, and what it takes from turbo is its price.
",
    references: &[Reference {
        title: "Linux: PM Quality Of Service Interface",
        url: "https://docs.kernel.org/power/pm_qos_interface.html",
    }],
    takes: "microseconds such as `20us`, up to 2000000000us, or `none` to ask for nothing",
    scope: Scope::Host,
    effect: Effect::AtOnce,
    survives: Survives::THIS_BOOT,
    risk: Risk::Low,
    power: "the shorter, the more an idle core draws",
    after: &["tuner"],
    fixes: &[],
    reads: &[],
    looks_at: Subjects::of(&[Subject::LatencyLimit]),
    plan: cpu_dma_latency,
};

/// What the kernel starts with, which is no limit (`PM_QOS_CPU_LATENCY_DEFAULT_VALUE` in include/linux/pm_qos.h).
const UNLIMITED: u64 = 2_000_000_000;

fn cpu_dma_latency(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    wanted.for_the_host(CPU_DMA_LATENCY.id)?;
    if wanted.value == "none" {
        return Ok(Change::default());
    }
    let number = wanted.value.strip_suffix("us").unwrap_or(wanted.value);
    let number = value::whole(number)
        .filter(|it| *it <= UNLIMITED)
        .ok_or_else(|| wanted.not_taken(&CPU_DMA_LATENCY))?;
    let in_force = match &scene.host.cpuidle.latency_limit {
        Ok(limit) => u64::from(*limit),
        Err(missing) if missing.is_absence() => {
            return Err(Refusal::Host(format!("this kernel has no {LATENCY_DEVICE}")));
        }
        Err(missing) => return Err(missing.into()),
    };
    let change = Change::of([Write::of(Target::LatencyRequest, "none", number.to_string())]);
    Ok(if in_force < number {
        change.note(format!("another request keeps the limit at {in_force} µs"))
    } else {
        change
    })
}

#[cfg(test)]
mod tests {
    use super::{CPU_DMA_LATENCY, RESUME_LATENCY};
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
        assert_eq!(planned(&RESUME_LATENCY, "any", &host("n/a")), line(0, "n/a -> 0"));
        assert_eq!(planned(&RESUME_LATENCY, "none@1", &host("50")), line(1, "0 -> n/a"));
        assert_eq!(planned(&RESUME_LATENCY, "50us", &host("50")), line(1, "0 -> 50"));
    }

    #[test]
    fn a_number_that_says_the_opposite_of_what_it_seems_to_is_refused() {
        let plan = planned(&RESUME_LATENCY, "0us", &host("0"));
        assert!(plan.starts_with("value: resume-latency takes microseconds"), "{plan}");
        assert!(
            planned(&RESUME_LATENCY, "any@5", &host("0")).starts_with("refused: no online CPU")
        );
    }

    #[test]
    fn a_limit_is_asked_for() {
        let host = files("/dev/cpu_dma_latency !bytes 00943577");
        assert_eq!(planned(&CPU_DMA_LATENCY, "20us", &host), "/dev/cpu_dma_latency: none -> 20");
        assert_eq!(planned(&CPU_DMA_LATENCY, "20", &host), "/dev/cpu_dma_latency: none -> 20");
        assert_eq!(planned(&CPU_DMA_LATENCY, "none", &host), "nothing");
        let held = files("/dev/cpu_dma_latency !bytes 01000000");
        assert_eq!(
            planned(&CPU_DMA_LATENCY, "20us", &held),
            "/dev/cpu_dma_latency: none -> 20\nnote: another request keeps the limit at 1 µs"
        );
    }
}
