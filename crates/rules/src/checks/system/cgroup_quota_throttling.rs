//! Looks for CPU quotas of cgroups that stop a database server, or whatever else runs in them, although CPUs are free.
//!
//! Source: Documentation/scheduler/sched-bwc.rst. The counters run since the group was made: they do not tell today from
//! last month.

mod others;

use crate::check::{Check, Reference, Verdict};
use crate::commands;
use crate::finding::{Confidence, Finding, Severity};
use crate::loss_scale::deviations::{OWN_GROUP, STOPPED_DATABASE};
use crate::loss_scale::{self, Lost};
use facts::system::cgroup::{LimitedGroup, Quota, Throttling, Version};
use facts::{Fact, HostView};
use std::time::Duration;

pub(crate) const CHECK: Check = Check {
    id: "cgroup-quota-throttling",
    title: "a cgroup CPU quota stops programs while CPUs are free",
    doc: "\
## What it looks at
The CPU quota of every control group: `cpu.max` and `cpu.stat` of version 2, `cpu.cfs_quota_us` and `cpu.stat` of version 1. A
group above a database server (known by its name) has a finding of its own, and so has one with nothing but this program in it. Of all
others one finding names the five that were stopped most often, by the process in each that has used most CPU time; of groups
in each other the one that was stopped more often. Up to 8,192 groups are looked at, 32 deep.

The severity follows the share of the periods in which a group was stopped, as a loss of as many CPUs as its quota has. A database
is high from 4 % on, and medium from 1 %.

## Why it matters
A quota is CPU time in a period of, mostly, 100 ms. When the processes of a group have used it up, all of them stand
still until the period ends, the one that holds a lock or writes the log included, however idle the machine is.
Thirty busy threads use up a quota of four CPUs in 13 ms and then wait for 87. An average load far below the
quota does not help against that. In one period of a hundred this shows in the 99th percentile of a commit's
time; in one of ten, in the throughput. A runtime that starts a thread for every CPU of the host (Java before 10, Go before 1.25,
Erlang before OTP 23) uses up a small quota in a millisecond. `cpu.max.burst` (Linux 5.14) lets a group save up what it did not use, up to
that much; where a group has one it is part of the evidence.

## When to leave it alone
Where several tenants share a machine and the quota is what was paid for, and where nobody waits for the program: an exporter that
is stopped for a second answers a second later. A quota that has never stopped its
group is reported as a note. Kernels before 5.4 stop groups that have not used up their quota; there a
new kernel helps more than a larger quota.
",
    references: &[
        Reference {
            title: "Linux: CFS Bandwidth Control",
            url: "https://docs.kernel.org/scheduler/sched-bwc.html",
        },
        Reference {
            title: "Linux: Control Group v2, CPU Interface Files",
            url: "https://docs.kernel.org/admin-guide/cgroup-v2.html#cpu-interface-files",
        },
        Reference {
            title: "Linux commit de53fd7aedb1: Fix low cpu usage with high throttling",
            url: "https://git.kernel.org/torvalds/c/de53fd7aedb1",
        },
    ],
    run,
};

/// From this share of stopped periods on, the 99th percentile suffers.
pub(crate) const SOMETIMES: f64 = 0.01;
/// Ten seconds of the usual period: fewer periods make no percentage.
pub(crate) const ENOUGH_PERIODS: u64 = 100;

const WHERE_IT_IS_DEFINED: &str = "no CPU limit, or a higher one, where the container or pod is defined; CPU weights (requests) share a machine without stopping anyone";

fn run(host: &HostView) -> Verdict {
    let limited = host.limited_groups.as_deref().unwrap_or_default();
    let of_own = limited.iter().filter(|it| !others::has_others(host, it));
    let mut findings: Vec<Finding> = of_own.filter_map(|group| judge(host, group)).collect();
    findings.extend(others::finding(host));
    if findings.is_empty() {
        host.limited_groups.as_ref()?;
        host.processes.as_ref()?;
        if let Some(missing) = &host.throttled_groups.as_ref()?.missing {
            return Err(missing.clone());
        }
    }
    Ok(findings)
}

fn judge(host: &HostView, group: &LimitedGroup) -> Option<Finding> {
    let throttling = group.throttling.as_ref().ok();
    let stopped = throttling.filter(|it| it.n_throttled > 0 && it.n_periods >= ENOUGH_PERIODS);
    let quota = (group.quota.n_cpus() * 100.0).round() / 100.0;
    if stopped.is_none() && quota >= host.topology.n_online().max(1) as f64 {
        return None;
    }
    let limit = format!("a cgroup quota of {quota} CPUs");
    let note = |text: String| Finding::new(Severity::Info, Confidence::High, text);
    let finding = match stopped {
        Some(stopped) => {
            let percent = 100.0 * stopped.share();
            let message =
                format!("{limit} stopped {} in {percent:.1} % of its periods", subject(group));
            Finding::of_lost(lost(host, group, stopped), Confidence::High, message)
        }
        None if throttling.is_some() => {
            note(format!("{limit} limits {} and has hardly ever stopped it", subject(group)))
        }
        None => note(format!("{limit} limits {}, how often it stopped is unknown", subject(group))),
    };
    let LimitedGroup { folder, version, quota, burst, .. } = group;
    let finding = with_evidence(finding, folder, *version, quota);
    let finding = with_burst(finding, folder, *version, burst);
    let finding = match &group.throttling {
        Ok(counts) => with_counts(finding, folder, counts),
        Err(missing) => finding.evidence(format!("{folder}/cpu.stat"), missing),
    };
    Some(with_fix(with_cost(finding, stopped), folder, *version))
}

fn lost(host: &HostView, group: &LimitedGroup, stopped: &Throttling) -> Lost {
    let deviation = if group.databases.is_empty() { &OWN_GROUP } else { &STOPPED_DATABASE };
    lost_periods(host, stopped, &group.quota).but(deviation)
}

/// In a stopped period the group stands still for a part of it: so much it loses at most, on as many CPUs as its quota has.
fn lost_periods(host: &HostView, stopped: &Throttling, quota: &Quota) -> Lost {
    Lost::of(stopped.share(), loss_scale::is_many(host, quota.n_cpus()))
}

/// The same of a group of which no more is known than its counts: its CPUs may be few. `None` where it is no matter.
pub(crate) fn lost_share(share: f64) -> Option<Lost> {
    (share >= SOMETIMES).then(|| Lost::of(share, false))
}

/// "PostgreSQL (812)", "MySQL (7) and 3 other database servers", "this program".
fn subject(group: &LimitedGroup) -> String {
    match group.databases.as_slice() {
        [] => "this program".to_owned(),
        [(process, product)] => format!("{product} ({})", process.pid),
        [(process, product), others @ ..] => {
            let n = others.len();
            let servers = if n == 1 { "server" } else { "servers" };
            format!("{product} ({}) and {n} other database {servers}", process.pid)
        }
    }
}

fn with_evidence(finding: Finding, folder: &str, version: Version, quota: &Quota) -> Finding {
    let (quota, period) = (quota.time.as_micros(), quota.period.as_micros());
    match version {
        Version::V1 => finding
            .evidence(format!("{folder}/cpu.cfs_quota_us"), quota)
            .evidence(format!("{folder}/cpu.cfs_period_us"), period),
        Version::V2 => finding.evidence(format!("{folder}/cpu.max"), format!("{quota} {period}")),
    }
}

/// What the group may save up, where it may.
fn with_burst(finding: Finding, folder: &str, version: Version, burst: &Fact<Duration>) -> Finding {
    let file = match version {
        Version::V1 => "cpu.cfs_burst_us",
        Version::V2 => "cpu.max.burst",
    };
    match burst {
        Ok(burst) if !burst.is_zero() => {
            finding.evidence(format!("{folder}/{file}"), burst.as_micros())
        }
        _ => finding,
    }
}

fn with_counts(finding: Finding, folder: &str, counts: &Throttling) -> Finding {
    let Throttling { n_periods, n_throttled, .. } = counts;
    let shown = format!("nr_periods {n_periods}, nr_throttled {n_throttled}");
    finding.evidence(format!("{folder}/cpu.stat"), shown)
}

fn with_cost(finding: Finding, stopped: Option<&Throttling>) -> Finding {
    let Some(stopped) = stopped else { return finding };
    let each = 1000.0 * stopped.time.as_secs_f64() / stopped.n_throttled.max(1) as f64;
    finding.cost(
        format!("{each:.1} ms of standing still in each stopped period, all CPUs added up"),
        format!("{:.1} s in {} periods", stopped.time.as_secs_f64(), stopped.n_throttled),
    )
}

fn with_fix(finding: Finding, folder: &str, version: Version) -> Finding {
    let name = folder.rsplit('/').next().unwrap_or_default();
    let is_unit = [".service", ".scope", ".slice"].iter().any(|kind| name.ends_with(kind));
    // Scopes live as long as their container or session; kubelet makes its slices anew.
    let is_made_elsewhere = name.ends_with(".scope") || name.starts_with("kubepods");
    if is_unit && !is_made_elsewhere {
        return finding
            .command(&commands::QUOTA_OF_UNIT, name)
            .fix_lasting(format!("systemctl set-property {name} CPUQuota="));
    }
    let finding = match version {
        _ if is_unit => finding.command(&commands::QUOTA_OF_UNIT, name),
        Version::V1 => finding.command(&commands::QUOTA_V1, folder),
        Version::V2 => finding.command(&commands::QUOTA_V2, folder),
    };
    finding.fix_lasting(WHERE_IT_IS_DEFINED)
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::{findings, verdict};

    const HOST: &str = "\
//- /sys/devices/system/cpu/online
0-15
//- /proc/self/mountinfo
31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw
//- /proc/self/cgroup
0::/
//- /proc/812/stat
812 (postgres) S 1 1 1 0 -1 4194560 0
//- /proc/812/cgroup
0::/db.slice/postgresql.service
";

    fn quota(max: &str, stat: &str) -> String {
        let folder = "//- /sys/fs/cgroup/db.slice";
        format!("{HOST}{folder}/cpu.max\n{max}\n{folder}/cpu.stat\n{stat}\n")
    }

    fn stopped(n_throttled: u32) -> String {
        let stat = format!("nr_periods 1000\nnr_throttled {n_throttled}\nthrottled_usec 50000000");
        quota("400000 100000", &stat)
    }

    #[test]
    fn a_parents_quota_that_stops_a_database_often_is_high() {
        assert_eq!(
            verdict(&CHECK, &stopped(120)),
            "high: a cgroup quota of 4 CPUs stopped PostgreSQL (812) in 12.0 % of its periods"
        );
    }

    #[test]
    fn a_containers_quota_lasts_where_the_container_is_defined() {
        let fix = |host: &str| findings(&CHECK, host).remove(0).fix;
        assert_eq!(
            fix(&stopped(120)).lasting,
            Some("systemctl set-property db.slice CPUQuota=".to_owned())
        );
        for unit in ["cri-containerd-0a1b.scope", "kubepods-burstable-pod1.slice"] {
            let fix = fix(&stopped(120).replace("db.slice", unit));
            let now = format!("systemctl set-property --runtime {unit} CPUQuota=");
            assert_eq!(fix.by_hand[0].command, now);
            assert!(fix.lasting.unwrap().contains("where the container or pod is defined"));
        }
    }

    #[test]
    fn what_a_group_may_save_up_is_part_of_the_evidence() {
        let shown = |burst: &str| {
            let file = "//- /sys/fs/cgroup/db.slice/cpu.max.burst\n";
            let finding = findings(&CHECK, &(stopped(120) + file + burst)).remove(0);
            let burst = finding.evidence.iter().find(|it| it.source.ends_with("cpu.max.burst"));
            burst.map(|it| it.value.clone())
        };
        assert_eq!((shown("50000\n"), shown("0\n")), (Some("50000".to_owned()), None));
    }

    #[test]
    fn rarer_stops_are_less_severe() {
        assert!(verdict(&CHECK, &stopped(20)).starts_with("medium: "));
        assert!(verdict(&CHECK, &stopped(2)).starts_with("low: "));
    }

    #[test]
    fn a_quota_that_never_stopped_anyone_is_a_note() {
        assert_eq!(
            verdict(&CHECK, &stopped(0)),
            "info: a cgroup quota of 4 CPUs limits PostgreSQL (812) and has hardly ever stopped it"
        );
    }

    #[test]
    fn a_quota_above_the_machine_or_none_is_clean() {
        let never = "nr_periods 1000\nnr_throttled 0\nthrottled_usec 0";
        assert_eq!(verdict(&CHECK, &quota("1600000 100000", never)), "clean");
        assert_eq!(verdict(&CHECK, &quota("max 100000", never)), "clean");
        assert_eq!(verdict(&CHECK, HOST), "clean");
    }

    #[test]
    fn version_1_counts_in_nanoseconds_from_files_of_its_own() {
        let host = "\
//- /proc/self/mountinfo
32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct
//- /proc/self/cgroup
4:cpu,cpuacct:/box
//- /proc/1/stat
1 (init) S 0 1 1 0 -1 4194560 0
//- /sys/fs/cgroup/cpu/box/cpu.cfs_quota_us
50000
//- /sys/fs/cgroup/cpu/box/cpu.cfs_period_us
100000
//- /sys/fs/cgroup/cpu/box/cpu.stat
nr_periods 1000
nr_throttled 500
throttled_time 9000000000
";
        assert_eq!(
            verdict(&CHECK, host),
            "low: a cgroup quota of 0.5 CPUs stopped this program in 50.0 % of its periods"
        );
        let unlimited = host.replace("50000\n", "-1\n");
        assert_eq!(verdict(&CHECK, &unlimited), "clean");
    }

    #[test]
    fn a_group_that_cannot_be_read_is_unknown_where_nothing_else_was_found() {
        let stat = "//- /sys/fs/cgroup/a/cpu.stat";
        let host = format!("{HOST}//- /sys/fs/cgroup/a/cpu.max\n1000 100000\n{stat}\n!denied\n");
        assert_eq!(verdict(&CHECK, &host), "unknown: /sys/fs/cgroup/a/cpu.stat may not be read");
    }

    #[test]
    fn mounts_that_cannot_be_read_are_unknown() {
        assert_eq!(
            verdict(&CHECK, "//- /proc/self/mountinfo\n!denied\n"),
            "unknown: /proc/self/mountinfo may not be read"
        );
    }
}
