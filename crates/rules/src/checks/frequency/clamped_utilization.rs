//! Looks for clamps of utilization that keep the governor schedutil from the highest clocks.
//!
//! Sources: Documentation/scheduler/sched-util-clamp.rst; kernel/sched/cpufreq_schedutil.c (`sugov_effective_cpu_perf`, `get_next_freq`,
//! `get_capacity_ref_freq`).
//! A CPU has the highest clamp of the tasks that are runnable on it: a task of another group lifts it. So the loss is what there is at
//! most. A clamp of a single task (sched_setattr(2)) shows in /proc/PID/sched only, which is not read.

use crate::check::{Check, Reference, Verdict};
use crate::commands;
use crate::finding::{Confidence, Finding, OfClock, Severity};
use crate::loss_scale::{Lost, are_many};
use facts::cpu::cpufreq::Policy;
use facts::system::cgroup::is_within;
use facts::system::scheduler::{CLAMP_OF_ALL, ClampedGroup, FULL_UTILIZATION};
use facts::{CpuSet, HostView, IfPresent, Missing};
use std::time::Duration;

pub(crate) const CHECK: Check = Check {
    id: "clamped-utilization",
    title: "tasks may not ask for the highest clock (uclamp)",
    doc: "\
## What it looks at
Where the governor is schedutil: `cpu.uclamp.max` of every control group, and who is in those where it is below `max`; and
`kernel.sched_util_clamp_max`, which holds for all tasks (1024 is no limit). Other governors do not look at clamps, and neither does a
driver that chooses the clock itself (intel_pstate and amd-pstate in active mode): there the check does not apply.

## Why it matters
schedutil requests the clock that fits the utilization of a CPU. A clamp of 50 % makes a task that never stops look as if it needed half
of the CPU, and it gets half of the clock (before Linux 6.8: five eighths), for as long as nothing else runs there. Nothing shows it: the
limits of cpufreq are as they should be, and so are governor and power. On an x86 processor without the flag `aperfmperf` the kernel does not
know how fast a CPU was, and schedutil goes down from the clock that it chose before: every clamp below 80 % ends at the lowest clock.

A group with a database server has the severity of the share of the clock that it loses at most. Of other groups, those whose
processes have used 5 % of a CPU or more since they started are a note.

## When to leave it alone
Clamps of background work (backups, log shippers, and on phones and laptops everything that is not on the screen) are meant so. Where heat or
power limit the machine, a clamp on what does not matter leaves more for what does.
",
    references: &[
        Reference {
            title: "Linux: Utilization Clamping",
            url: "https://docs.kernel.org/scheduler/sched-util-clamp.html",
        },
        Reference {
            title: "Linux: Control Group v2, CPU Interface Files",
            url: "https://docs.kernel.org/admin-guide/cgroup-v2.html#cpu-interface-files",
        },
    ],
    run,
};

/// From this share of one CPU on, a process of a clamped group matters.
const BUSY: f64 = 0.05;

/// How many groups a finding names.
const MOST_NAMED: usize = 5;

/// The first release that adds no headroom to a clamped utilization (9c0b4bb7f630; 6.6.y took it back, too).
const WITHOUT_HEADROOM: (u32, u32) = (6, 8);

fn run(host: &HostView) -> Verdict {
    let policies: Vec<&Policy> = host
        .cpufreq
        .policies
        .as_ref()?
        .iter()
        .filter(|it| it.governor.as_deref() == Ok("schedutil"))
        .collect();
    if policies.is_empty() {
        host.clamped_groups.as_ref()?;
        return Err(Missing::not_here("clamp of utilization", "no CPU has the governor schedutil"));
    }
    let mut findings: Vec<Finding> = of_all(host, &policies).into_iter().collect();
    let groups = host.clamped_groups.as_ref();
    let list = groups.map(|it| it.list.as_slice()).unwrap_or_default();
    findings.extend(innermost(list).into_iter().filter_map(|it| of_databases(host, &policies, it)));
    findings.extend(of_others(host, &policies, list));
    if findings.is_empty() {
        host.scheduler.clamp_of_all.if_present()?;
        if let Some(missing) = &groups?.missing {
            return Err(missing.clone());
        }
        host.processes.as_ref()?;
    }
    Ok(findings)
}

/// The clamp that holds for all tasks.
fn of_all(host: &HostView, policies: &[&Policy]) -> Option<Finding> {
    let clamp = *host.scheduler.clamp_of_all.as_ref().ok()?;
    let percent = 100.0 * clamp as f64 / FULL_UTILIZATION as f64;
    let lost = lost(host, policies, percent)?;
    let message = format!(
        "no task may ask for more than {percent:.0} % of a CPU: kernel.sched_util_clamp_max is {clamp} of {FULL_UTILIZATION}"
    );
    let finding = with_cost(host, policies, of_lost(host, policies, lost, message), lost)
        .evidence(CLAMP_OF_ALL, clamp);
    Some(finding.fix_lasting(
        "take kernel.sched_util_clamp_max out of /etc/sysctl.conf and /etc/sysctl.d, where it has 1024 by itself",
    ))
}

/// Of groups in each other, those with the lowest clamp: it holds.
fn innermost(groups: &[ClampedGroup]) -> Vec<&ClampedGroup> {
    let decides = |it: &&ClampedGroup| {
        !groups.iter().any(|other| {
            is_within(&it.folder, &other.folder) && other.percent <= it.percent
                || is_within(&other.folder, &it.folder)
                    && other.percent < it.percent
                    && other.databases.len() == it.databases.len()
        })
    };
    groups.iter().filter(decides).collect()
}

fn of_databases(host: &HostView, policies: &[&Policy], group: &ClampedGroup) -> Option<Finding> {
    let (process, product) = group.databases.first()?;
    let lost = lost(host, policies, group.percent)?;
    let others = match group.databases.len() - 1 {
        0 => String::new(),
        1 => " and another database server".to_owned(),
        n => format!(" and {n} other database servers"),
    };
    let message = format!(
        "the control group of {product} ({}){others} may not ask for more than {} % of a CPU",
        process.pid, group.percent
    );
    let finding = of_lost(host, policies, lost, message);
    Some(with_fix(with_cost(host, policies, finding, lost), group))
}

/// A note about groups without a database in which something works.
fn of_others(host: &HostView, policies: &[&Policy], groups: &[ClampedGroup]) -> Option<Finding> {
    if host.is_portable() {
        return None;
    }
    let uptime = host.kernel.uptime.as_ref().ok().copied()?;
    let works = |it: &&ClampedGroup| {
        it.databases.is_empty() && lost(host, policies, it.percent).is_some() && is_busy(it, uptime)
    };
    let clamped: Vec<&ClampedGroup> = groups.iter().filter(works).collect();
    let first = clamped.first()?;
    let name = |it: &ClampedGroup| {
        let process = it.busiest.first();
        process.map_or_else(String::new, |it| format!("{} ({})", it.name, it.pid))
    };
    let named: Vec<String> = clamped.iter().take(MOST_NAMED).map(|it| name(it)).collect();
    let more = match clamped.len() - named.len() {
        0 => String::new(),
        n => format!(", and {n} more"),
    };
    let message =
        format!("control groups with {}{more} may not ask for the highest clock", named.join(", "));
    let mut finding = Finding::new(Severity::Info, Confidence::Medium, message);
    for it in clamped.iter().skip(1).take(MOST_NAMED - 1) {
        finding = with_clamp(finding, it);
    }
    Some(with_fix(finding, first))
}

fn is_busy(group: &ClampedGroup, uptime: Duration) -> bool {
    group.busiest.iter().any(|it| it.age_and_share(uptime).is_ok_and(|it| it.1 >= BUSY))
}

/// The share of the highest clock that a task never gets under the clamp; `None` where it loses nothing that shows.
fn lost(host: &HostView, policies: &[&Policy], percent: f64) -> Option<f64> {
    const LEAST: f64 = 0.001;
    let least = policies.iter().find_map(|it| {
        let (min, max) = (it.cpuinfo_min.as_ref().ok()?, it.cpuinfo_max.as_ref().ok()?);
        (max.0 > 0).then(|| min.0 as f64 / max.0 as f64)
    });
    let requested = rule(host).headroom() * percent / 100.0;
    let goes_down = rule(host) == Rule::Relative && requested < 1.0;
    let left = match least {
        Some(least) if goes_down => least,
        least => requested.max(least.unwrap_or(0.0)),
    };
    Some(1.0 - left).filter(|it| *it >= LEAST)
}

/// What schedutil makes of a clamp.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// That share of the highest clock.
    Share,
    /// A quarter more.
    ShareAndQuarter,
    /// A quarter more than that share of the clock that the CPU has, again and again.
    Relative,
}

impl Rule {
    fn headroom(self) -> f64 {
        if self == Rule::Share { 1.0 } else { 1.25 }
    }

    fn words(self) -> &'static str {
        match self {
            Rule::Share => "the share that schedutil requests is the clamp",
            Rule::ShareAndQuarter => {
                "the share that schedutil requests is the clamp and a quarter of it"
            }
            Rule::Relative => {
                "without aperfmperf schedutil requests the clamp and a quarter of it of the clock that it chose before, down to the lowest"
            }
        }
    }
}

/// The kernel compares utilization with a fixed clock where it counts clocks (arch/x86/kernel/cpu/aperfmperf.c,
/// `bp_init_freq_invariance`; on ARM by the same counters or by the clock that was requested).
fn rule(host: &HostView) -> Rule {
    let counts_no_clocks =
        host.cpuinfo.as_ref().is_ok_and(|it| it.is_x86() && !it.has("aperfmperf"));
    match host.kernel.version() {
        _ if counts_no_clocks => Rule::Relative,
        Ok(version) if version >= WITHOUT_HEADROOM => Rule::Share,
        _ => Rule::ShareAndQuarter,
    }
}

fn of_lost(host: &HostView, policies: &[&Policy], lost: f64, message: String) -> Finding {
    let cpus: CpuSet = policies.iter().flat_map(|it| it.cpus.iter()).collect();
    Finding::of_lost(Lost::of(lost, are_many(host, &cpus)), Confidence::Medium, message)
        .on(cpus, host.topology.n_online())
}

fn with_cost(host: &HostView, policies: &[&Policy], finding: Finding, lost: f64) -> Finding {
    let finding = match policies.first() {
        Some(first) => finding.evidence(first.path("scaling_governor"), "schedutil"),
        None => finding,
    };
    finding.cost_of_clock(OfClock::lost(lost).at_most(), rule(host).words())
}

fn with_clamp(finding: Finding, group: &ClampedGroup) -> Finding {
    finding.evidence(format!("{}/cpu.uclamp.max", group.folder), format!("{:.2}", group.percent))
}

fn with_fix(finding: Finding, group: &ClampedGroup) -> Finding {
    with_clamp(finding, group)
        .command(&commands::CLAMP_OFF, &group.folder)
        .fix_lasting("find who writes it (a power manager, a container runtime, a script) and have it leave this group alone")
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::{findings, verdict};

    fn host(governor: &str, release: &str) -> String {
        let policy = "//- /sys/devices/system/cpu/cpufreq/policy0";
        format!(
            "//- /sys/devices/system/cpu/online\n0-3\n{policy}/affected_cpus\n0-3\n{policy}/scaling_governor\n{governor}\n\
             {policy}/scaling_driver\ncppc_cpufreq\n{policy}/cpuinfo_min_freq\n1000000\n{policy}/cpuinfo_max_freq\n3000000\n\
             //- /proc/sys/kernel/osrelease\n{release}\n//- /proc/uptime\n10000.00 1.00\n\
             //- /proc/self/mountinfo\n31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n//- /proc/sys/kernel/sched_util_clamp_max\n1024\n"
        )
    }

    fn group(folder: &str, clamp: &str, pids: &str) -> String {
        let folder = format!("//- /sys/fs/cgroup/{folder}");
        format!("{folder}/cpu.uclamp.max\n{clamp}\n{folder}/cgroup.procs\n{pids}\n")
    }

    /// A process that started 5 s after boot.
    fn process(pid: u32, name: &str, ticks: u32) -> String {
        format!(
            "//- /proc/{pid}/stat\n{pid} ({name}) S 1 1 1 0 -1 4194560 0 0 0 0 {ticks} 0 0 0 20 0 1 0 500\n"
        )
    }

    #[test]
    fn a_database_in_a_clamped_group_loses_clock() {
        let group = group("db.slice", "50.00", "812") + &process(812, "postgres", 9);
        assert_eq!(
            verdict(&CHECK, &(host("schedutil", "6.12.0") + &group)),
            "high: the control group of PostgreSQL (812) may not ask for more than 50 % of a CPU [all 4 CPUs]"
        );
        let finding = findings(&CHECK, &(host("schedutil", "6.12.0") + &group)).remove(0);
        assert_eq!(finding.cost.as_ref().unwrap().estimate, "up to 50 % of the clock");
        assert_eq!(
            finding.fix.by_hand[0].command,
            "echo max > /sys/fs/cgroup/db.slice/cpu.uclamp.max"
        );
        let older = findings(&CHECK, &(host("schedutil", "6.1.0") + &group)).remove(0);
        assert_eq!(older.cost.as_ref().unwrap().estimate, "up to 38 % of the clock");
        assert!(older.is_as_severe_as_its_loss(CHECK.id));
    }

    #[test]
    fn the_lowest_clock_is_kept_however_low_the_clamp_is() {
        let group = group("db.slice", "1.00", "812") + &process(812, "mysqld", 9);
        let finding = findings(&CHECK, &(host("schedutil", "6.12.0") + &group)).remove(0);
        assert_eq!(finding.cost.unwrap().estimate, "up to 67 % of the clock");
    }

    #[test]
    fn a_processor_that_counts_no_clocks_ends_at_the_lowest() {
        let of = |clamp: &str, flags: &str| {
            let group = group("db.slice", clamp, "812") + &process(812, "mysqld", 9);
            let cpuinfo =
                format!("//- /proc/cpuinfo\nvendor_id : GenuineIntel\nflags : fpu {flags}\n");
            let found = findings(&CHECK, &(host("schedutil", "6.12.0") + &group + &cpuinfo));
            found.into_iter().map(|it| it.cost.unwrap().estimate).collect::<String>()
        };
        assert_eq!(of("75.00", ""), "up to 67 % of the clock");
        assert_eq!(of("75.00", "aperfmperf"), "up to 25 % of the clock");
        assert_eq!(of("85.00", ""), "");
    }

    #[test]
    fn of_groups_in_each_other_the_lowest_clamp_counts() {
        let groups = group("db.slice", "80.00", "") + &group("db.slice/pg", "50.00", "812");
        let text = host("schedutil", "6.12.0") + &groups + &process(812, "postgres", 9);
        assert_eq!(findings(&CHECK, &text).len(), 1);
        assert!(verdict(&CHECK, &text).contains("50 % of a CPU"));
        let text = text.replace("80.00", "40.00");
        assert_eq!(findings(&CHECK, &text).len(), 1);
        assert!(verdict(&CHECK, &text).contains("40 % of a CPU"));
    }

    #[test]
    fn a_clamp_of_all_tasks_is_found() {
        let text = host("schedutil", "6.12.0").replace("\n1024\n", "\n512\n");
        assert_eq!(
            verdict(&CHECK, &text),
            "high: no task may ask for more than 50 % of a CPU: kernel.sched_util_clamp_max is 512 of 1024 [all 4 CPUs]"
        );
    }

    #[test]
    fn another_busy_program_is_a_note_and_an_idle_one_is_nothing() {
        let group = group("backup.slice", "20.00", "300");
        let busy = host("schedutil", "6.12.0") + &group + &process(300, "borg", 100_000);
        assert_eq!(
            verdict(&CHECK, &busy),
            "info: control groups with borg (300) may not ask for the highest clock"
        );
        let idle = host("schedutil", "6.12.0") + &group + &process(300, "borg", 100);
        assert_eq!(verdict(&CHECK, &idle), "clean");
        let laptop = busy + "//- /sys/class/dmi/id/chassis_type\n10\n";
        assert_eq!(verdict(&CHECK, &laptop), "clean");
    }

    #[test]
    fn a_clamp_that_no_governor_looks_at_does_nothing() {
        let group = group("db.slice", "50.00", "812") + &process(812, "postgres", 9);
        assert_eq!(
            verdict(&CHECK, &(host("performance", "6.12.0") + &group)),
            "not applicable: no clamp of utilization in force here: no CPU has the governor schedutil"
        );
    }

    #[test]
    fn no_clamp_and_one_that_the_headroom_makes_up_for_are_clean() {
        let process = process(812, "postgres", 9);
        let text = |clamp| host("schedutil", "6.1.0") + &group("db.slice", clamp, "812") + &process;
        assert_eq!([verdict(&CHECK, &text("max")), verdict(&CHECK, &text("85.00"))], ["clean"; 2]);
        // A kernel without clamps.
        let none = host("schedutil", "5.2.0").replace("\n1024\n", "\n!absent\n");
        assert_eq!(verdict(&CHECK, &(none + &process)), "clean");
    }

    #[test]
    fn what_cannot_be_read_is_unknown() {
        assert_eq!(
            verdict(&CHECK, &(host("schedutil", "6.12.0") + &group("a", "!denied", "1"))),
            "unknown: /sys/fs/cgroup/a/cpu.uclamp.max may not be read"
        );
    }
}
