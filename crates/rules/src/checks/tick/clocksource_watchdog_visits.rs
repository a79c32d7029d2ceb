//! Says that the watchdog of the TSC visits isolated CPUs, where the kernel's rules have it run.
//!
//! Sources: arch/x86/kernel/tsc.c (`check_system_tsc_reliable`, `tsc_setup`), kernel/time/clocksource.c (`clocksource_watchdog`:
//! `cpumask_next_wrap` of the online CPUs, WATCHDOG_INTERVAL of half a second). No file shows whether it runs: the rules do.

use crate::check::{Check, Reference, Verdict};
use crate::finding::{Confidence, Finding, Severity};
use facts::{CpuSet, Fact, HostView, Missing};

pub(crate) const CHECK: Check = Check {
    id: "clocksource-watchdog-visits",
    title: "the watchdog of the clock source visits nohz_full CPUs",
    doc: "\
## What it looks at
On x86 with `nohz_full` CPUs and the clock source `tsc`: whether the kernel has its watchdog compare the TSC with a slower timer. It does not
where the processor has a register that shows every write to its TSC (flag `tsc_adjust`) and the machine has at most four packages (two
memory nodes from Linux 5.17 to 6.5, four to 6.10; older kernels always compare), nor with `tsc=reliable` or `tsc=nowatchdog` on the boot line, nor where
a hypervisor vouches for the TSC (flag `tsc_reliable`).

## Why it matters
Twice a second the watchdog's timer moves on to the next CPU that is online, isolated or not, and reads the slow timer there, which takes
some microseconds. On a machine of 64 CPUs each is visited twice a minute.

Whether it runs shows in no file, so that it follows from the kernel's rules; and the interruption is rare: it is a note.

## When to leave it alone
Mostly. The watchdog finds time-stamp counters that drift, which is worse than a visit: where it never found anything
in months (`kernel-log`), `tsc=nowatchdog` leaves it out and keeps the TSC. Where the rules have turned it off, `tsc=reliable` adds nothing.
",
    references: &[
        Reference {
            title: "Linux commit b50db7095fe0: x86/tsc: Disable clocksource watchdog for TSC on qualified platforms (5.17)",
            url: "https://git.kernel.org/linus/b50db7095fe0",
        },
        Reference {
            title: "Linux commit 233756a640be: x86/tsc: Extend watchdog check exemption to 4-Sockets platform (6.6)",
            url: "https://git.kernel.org/linus/233756a640be",
        },
        Reference {
            title: "Linux: The kernel's command-line parameters, tsc=",
            url: "https://docs.kernel.org/admin-guide/kernel-parameters.html",
        },
    ],
    run,
};

fn run(host: &HostView) -> Verdict {
    let tickless = host.isolation.some_tickless()?;
    let info = host.cpuinfo.as_ref()?;
    if !info.is_x86() {
        return Err(Missing::not_here("watchdog of the TSC", "the processor is not an x86 one"));
    }
    let current = host.clocksource.current.as_ref()?;
    if current != "tsc" {
        let because = format!("the clock source is {current}");
        return Err(Missing::not_here("watchdog of the TSC", because));
    }
    match off_because(host)? {
        Some(_) => Ok(Vec::new()),
        None => Ok(vec![finding(host, &tickless)]),
    }
}

/// Why it does not run; `None` where it does.
fn off_because(host: &HostView) -> Fact<Option<&'static str>> {
    let info = host.cpuinfo.as_ref()?;
    let line = host.kernel.boot_line.as_ref()?;
    if line.values("tsc").any(|it| matches!(it, "reliable" | "nowatchdog")) {
        return Ok(Some("the boot line says so"));
    }
    if info.has("tsc_reliable") {
        return Ok(Some("the hypervisor vouches for it"));
    }
    let is_qualified = ["constant_tsc", "nonstop_tsc", "tsc_adjust"].iter().all(|it| info.has(it));
    if !is_qualified {
        return Ok(None);
    }
    let version = host.kernel.version()?;
    let n_packages = host.topology.packages.as_ref()?.len();
    let most = match version {
        it if it < (5, 17) => 0,
        // Of memory nodes: at least one for each package.
        it if it < (6, 6) => 2,
        _ => 4,
    };
    Ok((n_packages <= most).then_some("the processor shows every write to its TSC"))
}

fn finding(host: &HostView, tickless: &CpuSet) -> Finding {
    let n_online = host.topology.n_online().max(1);
    let every = n_online as f64 / 2.0;
    let message = format!(
        "the clock source's watchdog visits each nohz_full CPU about every {every:.0} s by the kernel's rules"
    );
    let (source, value) = host.isolation.tickless_source();
    let flags = host.cpuinfo.as_ref().is_ok_and(|it| it.has("tsc_adjust"));
    Finding::new(Severity::Info, Confidence::Medium, message)
        .on(tickless.clone(), n_online)
        .evidence("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc")
        .evidence("/proc/cpuinfo", if flags { "flag tsc_adjust" } else { "no flag tsc_adjust" })
        .evidence(source, value)
        .fix_lasting("`tsc=nowatchdog` on the boot line, if the kernel's log never had the TSC unstable on this machine")
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::verdict;

    fn host(flags: &str, line: &str, release: &str) -> String {
        let cpus = "/sys/devices/system/cpu";
        format!(
            "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : AuthenticAMD\nflags : constant_tsc nonstop_tsc {flags}\n\
             //- {cpus}/online\n0-7\n//- {cpus}/nohz_full\n2-7\n//- /proc/cmdline\nnohz_full=2-7 {line}\n\
             //- {cpus}/cpu0/topology/package_cpus_list\n0-7\n//- {cpus}/cpu0/topology/core_cpus_list\n0-7\n\
             //- /sys/devices/system/clocksource/clocksource0/current_clocksource\ntsc\n\
             //- /proc/sys/kernel/osrelease\n{release}\n"
        )
    }

    const VISITED: &str = "info: the clock source's watchdog visits each nohz_full CPU about every 4 s by the kernel's rules [CPUs 2-7 (6 of 8)]";

    #[test]
    fn a_processor_without_tsc_adjust_is_visited() {
        assert_eq!(verdict(&CHECK, &host("", "", "6.12.0")), VISITED);
        assert_eq!(verdict(&CHECK, &host("tsc_adjust", "", "5.14.0")), VISITED);
    }

    #[test]
    fn where_the_rules_or_the_boot_line_turn_it_off_nothing_is_said() {
        assert_eq!(verdict(&CHECK, &host("tsc_adjust", "", "6.12.0")), "clean");
        assert_eq!(verdict(&CHECK, &host("tsc_adjust", "", "5.17.0")), "clean");
        assert_eq!(verdict(&CHECK, &host("", "tsc=nowatchdog", "6.12.0")), "clean");
        assert_eq!(verdict(&CHECK, &host("", "tsc=reliable", "6.12.0")), "clean");
        assert_eq!(verdict(&CHECK, &host("tsc_reliable", "", "6.12.0")), "clean");
    }

    #[test]
    fn many_packages_have_it_run_all_the_same() {
        let folder = "/sys/devices/system/cpu";
        let mut text = host("tsc_adjust", "", "6.12.0");
        text = text.replace("package_cpus_list\n0-7", "package_cpus_list\n0");
        let others =
            (1..8).map(|cpu| format!("//- {folder}/cpu{cpu}/topology/package_cpus_list\n{cpu}\n"));
        text += &others.collect::<String>();
        assert_eq!(verdict(&CHECK, &text), VISITED);
    }

    #[test]
    fn another_clock_source_and_a_host_without_nohz_full_have_nothing_to_judge() {
        let hpet = host("", "", "6.12.0").replace("\ntsc\n", "\nhpet\n");
        assert_eq!(
            verdict(&CHECK, &hpet),
            "not applicable: no watchdog of the TSC here: the clock source is hpet"
        );
        assert!(verdict(&CHECK, "//- /proc/cmdline\nquiet\n").starts_with("not applicable: "));
    }

    #[test]
    fn a_clock_source_that_cannot_be_read_is_unknown() {
        let denied = host("", "", "6.12.0").replace("\ntsc\n", "\n!denied\n");
        assert!(verdict(&CHECK, &denied).starts_with("unknown: "));
    }
}
