//! `cpu-dma-latency`: how long any CPU may take to wake up, for as long as a process asks for it.
//!
//! Sources: Documentation/power/pm_qos_interface.rst; kernel/power/qos.c. The request lasts while
//! /dev/cpu_dma_latency is held open; of several, the shortest counts, and no file tells who else asks for which.

use crate::check::Reference;
use crate::setting::{
    Change, Effect, Planned, Refusal, Risk, Scene, Scope, Setting, Survives, Wanted,
};
use crate::settings::asked;
use facts::change::{Target, Write};
use facts::cpu::cpuidle::LATENCY_DEVICE;
use facts::{Subject, Subjects};

pub(super) const SETTING: Setting = Setting {
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
    plan,
};

/// What the kernel starts with, which is no limit (`PM_QOS_CPU_LATENCY_DEFAULT_VALUE` in include/linux/pm_qos.h).
const LONGEST: u64 = 2_000_000_000;

fn plan(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    wanted.for_the_host(SETTING.id)?;
    if wanted.value == "none" {
        return Ok(Change::default());
    }
    let number = wanted.value.strip_suffix("us").unwrap_or(wanted.value);
    let number = asked::whole(number)
        .filter(|it| *it <= LONGEST)
        .ok_or_else(|| wanted.not_taken(&SETTING))?;
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
    use super::SETTING;
    use crate::fixture::planned::{files, planned};

    #[test]
    fn a_limit_is_asked_for() {
        let host = files("/dev/cpu_dma_latency !bytes 00943577");
        assert_eq!(planned(&SETTING, "20us", &host), "/dev/cpu_dma_latency: none -> 20");
        assert_eq!(planned(&SETTING, "20", &host), "/dev/cpu_dma_latency: none -> 20");
        assert_eq!(planned(&SETTING, "none", &host), "nothing");
        let held = files("/dev/cpu_dma_latency !bytes 01000000");
        assert_eq!(
            planned(&SETTING, "20us", &held),
            "/dev/cpu_dma_latency: none -> 20\nnote: another request keeps the limit at 1 µs"
        );
    }
}
