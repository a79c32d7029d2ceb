//! Looks for CPUs that the scheduler leaves alone but the timer tick does not.
//!
//! Source: Documentation/timers/no_hz.rst. It cannot know whether the tick of such a CPU would stop: that
//! takes one runnable task at a time.

use crate::boot_edit;
use crate::check::{Check, Reference, Verdict};
use crate::finding::{Confidence, Finding, Severity};
use facts::system::isolation::Purpose;
use facts::system::kernel_config::KernelConfig;
use facts::{CpuSet, HostView};

pub(crate) const CHECK: Check = Check {
    id: "isolated-without-nohz-full",
    title: "isolated CPUs keep their timer tick",
    doc: "\
## What it looks at
The CPUs outside of the scheduler's domains (`/sys/devices/system/cpu/isolated`, `isolcpus=` on the boot line,
isolated cpuset partitions) that are not among the CPUs whose tick may stop (`/sys/devices/system/cpu/nohz_full`).

## Why it matters
`isolcpus=` keeps other processes away, but the timer still interrupts the one process that is left, 100 to
1000 times a second. A calculation on an isolated CPU took 12.40 s with a tick of 1000 Hz, and 12.31 s
on its neighbour in `nohz_full=`: 0.73 % less. Each tick also costs the caches what the handler touches.

## When to leave it alone
Where more than one thread runs on each of these CPUs: the tick only stops for a single runnable task. With
many system calls a second `nohz_full=` may cost more than it gains, because the kernel then accounts time
at each entry and exit. Measure both.
",
    references: &[
        Reference {
            title: "Linux: NO_HZ: Reducing Scheduling-Clock Ticks",
            url: "https://docs.kernel.org/timers/no_hz.html",
        },
        Reference {
            title: "Linux: boot parameters isolcpus and nohz_full",
            url: "https://docs.kernel.org/admin-guide/kernel-parameters.html",
        },
    ],
    run,
};

fn run(host: &HostView) -> Verdict {
    let isolation = &host.isolation;
    isolation.kept_free()?;
    let mut tickless = isolation.tickless()?;
    // What was asked for and is not in force is the matter of nohz-full-unsupported and
    // nohz-full-ineffective.
    tickless.extend(isolation.asked_for(Purpose::Tick).iter().flat_map(CpuSet::iter));
    let ticking = isolation.scheduler_isolated()?.minus(&tickless);
    if ticking.is_empty() {
        return Ok(Vec::new());
    }
    Ok(vec![finding(host, &ticking)])
}

fn finding(host: &HostView, ticking: &CpuSet) -> Finding {
    let message = "isolated from other processes, but not from the timer tick: not in nohz_full";
    let isolation = &host.isolation;
    let mut finding = Finding::new(Severity::Low, Confidence::High, message)
        .on(ticking.clone(), host.topology.n_online());
    if let Ok(isolated) = &isolation.isolated {
        finding = finding.evidence("/sys/devices/system/cpu/isolated", isolated);
    }
    let asked = isolation.written_for(Purpose::Domain);
    if !asked.is_empty() {
        finding = finding.evidence("/proc/cmdline", asked);
    }
    if let Ok(partitions) = &isolation.partitions {
        finding = finding.evidence("/sys/fs/cgroup/cpuset.cpus.isolated", partitions);
    }
    if let Ok(nohz_full) = &isolation.nohz_full {
        let shown = if nohz_full.is_empty() { "(none)".to_owned() } else { nohz_full.to_string() };
        finding = finding.evidence("/sys/devices/system/cpu/nohz_full", shown);
    }
    let config = host.kernel.config.as_ref().ok();
    if let Some(hz) = config.and_then(KernelConfig::ticks_per_second) {
        /// 12.40 s against 12.31 s on a kernel with 1000 ticks a second.
        const PERCENT_PER_TICK: f64 = 0.73 / 1000.0;
        finding = finding.cost(
            format!(
                "about {:.1} % of each of these CPUs while it is busy",
                PERCENT_PER_TICK * hz as f64
            ),
            format!("a test that lost 0.73 % to 1000 ticks a second, scaled to CONFIG_HZ={hz}"),
        );
    }
    fixed(host, finding, ticking)
}

fn fixed(host: &HostView, finding: Finding, ticking: &CpuSet) -> Finding {
    // `tick_nohz_init` in kernel/time/tick-sched.c: "Clearing %d from nohz_full range for timekeeping".
    let timekeeper = CpuSet::from_iter([0]);
    if ticking.minus(&timekeeper).is_empty() {
        let lacks_it = host.kernel.config.as_ref().is_ok_and(|it| !it.has("NO_HZ_FULL"));
        let first = if lacks_it {
            "a kernel built with CONFIG_NO_HZ_FULL, which this one is not; then "
        } else {
            ""
        };
        return finding.fix_lasting(format!(
            "{first}isolate another CPU: CPU 0 keeps the time and cannot be in nohz_full="
        ));
    }
    // The kernel takes one list only.
    let mut list = host.isolation.tickless().unwrap_or_default();
    list.extend(ticking.iter());
    let list = list.minus(&timekeeper);
    let but = if ticking.contains(0) { "; CPU 0 keeps the time and cannot be in it" } else { "" };
    let parameter = format!(
        "`nohz_full={list}` on the boot line, together with what is there for isolcpus={but}"
    );
    match host.kernel.config.as_ref().ok() {
        Some(config) if !config.has("NO_HZ_FULL") => finding.fix_lasting(format!(
            "a kernel built with CONFIG_NO_HZ_FULL, which this one is not; then {parameter}"
        )),
        _ => boot_edit::named(finding).fix_by("nohz-full", list.to_string()).fix_lasting(parameter),
    }
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::{findings, verdict};

    /// Four CPUs booted with `line`, with the kernel's lists as in sysfs.
    fn host(line: &str, isolated: &str, nohz_full: &str) -> String {
        let cpus = "/sys/devices/system/cpu";
        format!(
            "//- {cpus}/online\n0-3\n//- /proc/cmdline\n{line}\n\
             //- {cpus}/isolated\n{isolated}\n//- {cpus}/nohz_full\n{nohz_full}\n"
        )
    }

    #[test]
    fn an_isolated_cpu_outside_of_nohz_full_keeps_its_tick() {
        assert_eq!(
            verdict(&CHECK, &host("isolcpus=2,3 nohz_full=3", "2-3", "3")),
            "low: isolated from other processes, but not from the timer tick: not in nohz_full [CPU 2 (1 of 4)]"
        );
    }

    #[test]
    fn the_cost_is_scaled_to_the_tick_of_the_kernel() {
        let config =
            "//- /proc/sys/kernel/osrelease\n6.1.0\n//- /boot/config-6.1.0\nCONFIG_HZ=250\n";
        let host = format!("{}{config}", host("isolcpus=2,3", "2-3", "(null)"));
        let [finding] = &findings(&CHECK, &host)[..] else { panic!("one finding") };
        let estimate = &finding.cost.as_ref().unwrap().estimate;
        assert_eq!(estimate, "about 0.2 % of each of these CPUs while it is busy");
        assert!(finding.fix.lasting.as_ref().unwrap().starts_with("a kernel built with"));
    }

    #[test]
    fn the_cpu_that_keeps_the_time_is_left_out_of_the_list() {
        let fix = findings(&CHECK, &host("isolcpus=0,2", "0,2", "(null)")).remove(0).fix;
        assert!(fix.requests.iter().map(|it| &*it.value).eq(["2"]), "{fix:?}");
        let lasting = fix.lasting.unwrap();
        assert!(lasting.starts_with("`nohz_full=2` on the boot line"), "{lasting}");
        assert!(lasting.ends_with("; CPU 0 keeps the time and cannot be in it"), "{lasting}");
        let fix = findings(&CHECK, &host("isolcpus=0 nohz_full=3", "0", "3")).remove(0).fix;
        assert!(fix.requests.is_empty(), "{fix:?}");
        let advice = "isolate another CPU: CPU 0 keeps the time and cannot be in nohz_full=";
        assert_eq!(fix.lasting.unwrap(), advice);
    }

    #[test]
    fn isolated_and_tickless_is_clean() {
        assert_eq!(verdict(&CHECK, &host("isolcpus=1 nohz_full=1", "1", "1")), "clean");
    }

    #[test]
    fn a_cpu_whose_nohz_full_was_refused_is_another_checks_matter() {
        assert_eq!(verdict(&CHECK, &host("isolcpus=1 nohz_full=1", "1", "!absent")), "clean");
    }

    #[test]
    fn a_partition_made_at_run_time_counts_as_isolated() {
        let partition = "//- /sys/fs/cgroup/cpuset.cpus.isolated\n1\n";
        let host = format!("{}{partition}", host("quiet", "", ""));
        assert!(verdict(&CHECK, &host).ends_with("[CPU 1 (1 of 4)]"));
    }

    #[test]
    fn a_host_that_isolates_nothing_has_nothing_to_judge() {
        assert_eq!(
            verdict(&CHECK, &host("quiet", "", " (null)")),
            "not applicable: no isolated CPU here: the boot line has no isolcpus= or nohz_full="
        );
    }

    #[test]
    fn lists_that_cannot_be_read_are_unknown() {
        assert_eq!(
            verdict(&CHECK, "//- /proc/cmdline\n!denied\n"),
            "unknown: /proc/cmdline may not be read"
        );
    }
}
