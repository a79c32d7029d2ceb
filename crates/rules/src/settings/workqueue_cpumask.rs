//! `workqueue-cpumask`: the CPUs on which the kernel runs work that is bound to none.
//!
//! Source: Documentation/core-api/workqueue.rst, "Affinity Scopes"; kernel/workqueue.c (`cpumask_store`). Work that
//! is bound to a CPU is not steered by it, and neither is that of workqueues with a mask of their own.

use crate::check::Reference;
use crate::setting::{Effect, Planned, Refusal, Risk, Scene, Scope, Setting, Survives, Wanted};
use crate::settings::{file, value};
use facts::CpuSet;

const PATH: &str = "/sys/devices/virtual/workqueue/cpumask";

pub(super) const SETTING: Setting = Setting {
    id: "workqueue-cpumask",
    title: "the CPUs for the kernel's unbound work",
    doc: "\
## What it changes
`/sys/devices/virtual/workqueue/cpumask`: the CPUs on which the kernel runs what it has put off and bound to no CPU.
Since Linux 4.17 the scheduler's work of once a second for each nohz_full CPU is such work, which another CPU does.

## What it costs
Fewer CPUs do the kernel's work. Too few of them make writing back of file pages and encryption slow.

## When to leave it alone
Where no CPU is isolated. Kernels keep unbound work off `isolcpus=` and `nohz_full=` CPUs by themselves.
",
    references: &[Reference {
        title: "Linux: Workqueue",
        url: "https://docs.kernel.org/core-api/workqueue.html",
    }],
    takes: "`housekeeping`, a list of online CPUs, or their mask as 0x…",
    scope: Scope::Host,
    effect: Effect::AtOnce,
    survives: Survives::THIS_BOOT,
    risk: Risk::Low,
    power: "none",
    after: &["tuner", "cpu-online"],
    fixes: &[],
    reads: &[PATH],
    looks_at: value::CPUS_LOOK_AT,
    plan,
};

fn plan(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    wanted.for_the_host(SETTING.id)?;
    let list = match wanted.value.strip_prefix("0x") {
        Some(digits) => CpuSet::parse_mask(&grouped(digits))
            .map_err(|_| wanted.not_taken(&SETTING))?
            .to_string(),
        None => wanted.value.to_owned(),
    };
    let cpus = value::cpus(&SETTING, scene, &list)?;
    let from = file::read(scene, PATH)?;
    // The kernel prints as many digits as it has room for CPUs, and takes fewer.
    let room = CpuSet::parse_mask(from).map_err(|_| {
        Refusal::Host(format!("{PATH} holds {from:?}, expected a mask like ff,ffffffff"))
    })?;
    if room == cpus {
        return file::set(scene, PATH, from);
    }
    file::set(scene, PATH, &mask(&cpus))
}

/// Digits in groups of eight, from the end.
fn grouped(digits: &str) -> String {
    let digits: Vec<char> = digits.chars().filter(|it| *it != ',').collect();
    let groups = digits.rchunks(8).rev().map(|group| group.iter().collect::<String>());
    groups.collect::<Vec<_>>().join(",")
}

/// As the kernel prints it (lib/vsprintf.c, `bitmap_string`), without leading zeros.
fn mask(cpus: &CpuSet) -> String {
    let last = cpus.last().unwrap_or(0) / 32;
    let group = |group: u32| {
        let bits = (0..32).filter(|bit| cpus.contains(group * 32 + bit));
        bits.fold(0u32, |sum, bit| sum | 1 << bit)
    };
    let mut text = format!("{:x}", group(last));
    for lower in (0..last).rev() {
        text = format!("{text},{:08x}", group(lower));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{SETTING, mask};
    use crate::fixture::planned::{files, planned};
    use facts::CpuSet;

    fn host(mask: &str) -> String {
        files(&format!("online 0-39\nisolated 2-3\n/sys/devices/virtual/workqueue/cpumask {mask}"))
    }

    #[test]
    fn lists_masks_and_housekeeping_are_the_same_mask() {
        let line = "/sys/devices/virtual/workqueue/cpumask: ff,ffffffff -> ";
        let plan = |value: &str| planned(&SETTING, value, &host("ff,ffffffff"));
        assert_eq!(plan("housekeeping"), format!("{line}ff,fffffff3"));
        assert_eq!(plan("0-1,32"), format!("{line}1,00000003"));
        assert_eq!(plan("0x100000003"), format!("{line}1,00000003"));
        assert_eq!(planned(&SETTING, "0", &host("00,00000001")), "nothing");
    }

    #[test]
    fn a_mask_is_printed_in_groups() {
        let cpus = CpuSet::parse_list("31-32,95").unwrap();
        assert_eq!(mask(&cpus), "80000000,00000001,80000000");
        assert_eq!(CpuSet::parse_mask(&mask(&cpus)), Ok(cpus));
    }
}
