//! Groups in which neither a database server nor this program alone runs: the worst of them in one finding.

use super::{ENOUGH_PERIODS, SOMETIMES};
use super::{lost_periods, with_burst, with_cost, with_counts, with_evidence, with_fix};
use crate::finding::{Confidence, Finding};
use crate::work::OWN_NAME;
use facts::HostView;
use facts::site::THROTTLED_PERIODS;
use facts::system::cgroup::{LimitedGroup, ThrottledGroup, is_within};
use facts::system::process::Process;

/// How many groups a finding names.
const MOST_NAMED: usize = 5;

/// Runtimes that start as many threads as the host has CPUs, by a part of the name of their process, and what limits them. A name has 15 bytes: postgres_export.
///
/// Sources: JDK-8146115 (`UseContainerSupport`, since 10 and 8u191); release notes of Go 1.25 ("Container-aware GOMAXPROCS");
/// release notes of Erlang/OTP 23.0 (erts, "CPU quotas").
const THREADS: &[(&str, &str)] = &[
    (
        "java",
        "fewer threads: `-XX:ActiveProcessorCount=`, or Java 10 and later (8u191), which looks at the quota",
    ),
    ("beam.smp", "fewer schedulers: `+S`, or Erlang/OTP 23 and later, which looks at the quota"),
    (
        "export",
        "fewer threads: GOMAXPROCS, or a build with Go 1.25 and later, which looks at the quota",
    ),
];

/// Whether a group that was looked at because this program is in it has other processes, and no database.
pub(super) fn has_others(host: &HostView, group: &LimitedGroup) -> bool {
    let all = host.throttled_groups.as_ref().map(|it| it.list.as_slice()).unwrap_or_default();
    let same = all.iter().find(|it| it.folder == group.folder && it.version == group.version);
    group.databases.is_empty() && same.is_some_and(|it| busiest(it).is_some())
}

/// The process that has used most CPU time, but for this program.
fn busiest(group: &ThrottledGroup) -> Option<&Process> {
    group.busiest.iter().find(|it| it.name != OWN_NAME)
}

/// One finding about all groups that other programs are in and that were stopped in a share of their periods that matters.
pub(super) fn finding(host: &HostView) -> Option<Finding> {
    let groups = worst_first(host);
    let worst = groups.first()?;
    let lasting = {
        let name = busiest(worst).map(|it| it.name.as_str()).unwrap_or_default();
        THREADS.iter().find(|(part, _)| name.contains(part)).map(|it| it.1)
    };
    let lost = lost_periods(host, &worst.throttling, &worst.quota);
    let mut finding = Finding::of_lost(lost, Confidence::High, message(&groups));
    finding = with_evidence(finding, &worst.folder, worst.version, &worst.quota);
    finding = with_burst(finding, &worst.folder, worst.version, &worst.burst);
    for group in groups.iter().take(MOST_NAMED) {
        finding = with_counts(finding, &group.folder, &group.throttling);
    }
    let finding = with_cost(finding, Some(&worst.throttling));
    let mut finding = with_fix(finding, &worst.folder, worst.version);
    if let (Some(lasting), Some(more)) = (&mut finding.fix.lasting, lasting) {
        lasting.push_str("; ");
        lasting.push_str(more);
    }
    Some(finding)
}

/// Of groups in each other, one: what stops the lower stops the upper, or the other way round.
fn worst_first(host: &HostView) -> Vec<&ThrottledGroup> {
    let all = host.throttled_groups.as_ref().map(|it| it.list.as_slice()).unwrap_or_default();
    let own = host.limited_groups.as_deref().unwrap_or_default();
    let has_own_finding = |group: &ThrottledGroup| {
        let is_same = |it: &&LimitedGroup| it.folder == group.folder && it.version == group.version;
        own.iter().find(is_same).is_some_and(|it| !has_others(host, it))
    };
    let least = host.thresholds.share_of(&THROTTLED_PERIODS);
    let mut groups: Vec<&ThrottledGroup> = all
        .iter()
        .filter(|it| it.throttling.share() >= least)
        .filter(|it| {
            it.throttling.n_periods >= ENOUGH_PERIODS && it.throttling.share() >= SOMETIMES
        })
        .filter(|it| !has_own_finding(it))
        .collect();
    groups.sort_by(|one, other| {
        let worth = |it: &ThrottledGroup| {
            (lost_periods(host, &it.throttling, &it.quota).severity(), it.throttling.share())
        };
        worth(other).partial_cmp(&worth(one)).unwrap_or(std::cmp::Ordering::Equal)
    });
    let mut chosen: Vec<&ThrottledGroup> = Vec::new();
    for group in groups {
        if !chosen
            .iter()
            .any(|it| is_within(&it.folder, &group.folder) || is_within(&group.folder, &it.folder))
        {
            chosen.push(group);
        }
    }
    chosen
}

fn message(groups: &[&ThrottledGroup]) -> String {
    let percent = |it: &ThrottledGroup| format!("{:.1} %", 100.0 * it.throttling.share());
    if let [only] = groups {
        let quota = (only.quota.n_cpus() * 100.0).round() / 100.0;
        let (subject, share) = (subject(only), percent(only));
        return format!(
            "a cgroup quota of {quota} CPUs stopped {subject} in {share} of its periods"
        );
    }
    let named = groups.iter().take(MOST_NAMED);
    let named: Vec<String> = named.map(|it| format!("{} {}", subject(it), percent(it))).collect();
    let more = match groups.len() - named.len() {
        0 => String::new(),
        n => format!(", and {n} more"),
    };
    let (n, named) = (groups.len(), named.join(", "));
    format!("cgroup quotas stopped {n} groups, by share of their periods: {named}{more}")
}

/// "java (300)", "java (300) and 4 other processes", "the group web.service".
fn subject(group: &ThrottledGroup) -> String {
    match (busiest(group), group.n_processes.saturating_sub(1)) {
        (Some(process), 0) => format!("{} ({})", process.name, process.pid),
        (Some(process), n) => {
            let processes = if n == 1 { "process" } else { "processes" };
            format!("{} ({}) and {n} other {processes}", process.name, process.pid)
        }
        (None, _) => {
            format!("the group {}", group.folder.rsplit('/').next().unwrap_or_default())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::CHECK;
    use crate::fixture::{findings, verdict};

    const HOST: &str = "\
//- /sys/devices/system/cpu/online
0-15
//- /proc/self/mountinfo
31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw
//- /proc/self/cgroup
0::/
";

    fn group(folder: &str, quota_ms: u32, n_throttled: u32, pids: &str) -> String {
        let folder = format!("//- /sys/fs/cgroup/{folder}");
        format!(
            "{folder}/cpu.max\n{quota_ms}000 100000\n{folder}/cpu.stat\nusage_usec 5\nnr_periods 10000\nnr_throttled {n_throttled}\n\
             throttled_usec 800000000\n{folder}/cgroup.procs\n{pids}\n"
        )
    }

    fn process(pid: u32, name: &str) -> String {
        format!(
            "//- /proc/{pid}/stat\n{pid} ({name}) S 1 1 1 0 -1 4194560 0 0 0 0 {pid} 0 0 0 20 0 1 0 500\n"
        )
    }

    #[test]
    fn an_exporter_that_is_stopped_in_most_periods_is_named() {
        let text = [
            HOST.to_owned(),
            group("kubepods/pod1/ctr", 10, 9100, "42"),
            process(42, "ipmi_exporter"),
        ];
        let text = text.concat();
        assert_eq!(
            verdict(&CHECK, &text),
            "medium: a cgroup quota of 0.1 CPUs stopped ipmi_exporter (42) in 91.0 % of its periods"
        );
        let lasting = findings(&CHECK, &text).remove(0).fix.lasting.unwrap();
        assert!(lasting.contains("without stopping anyone; fewer threads: GOMAXPROCS"));
    }

    #[test]
    fn the_worst_of_many_come_first_and_the_rest_are_counted() {
        let mut text = HOST.to_owned() + &process(7, "java") + &process(8, "beam.smp");
        for n in 0..2000 {
            text += &group(&format!("a.slice/n{n}.service"), 50, 2000 + n, "");
        }
        text += &group("b.slice/java.service", 200, 9000, "7");
        text += &group("b.slice/rabbit.service", 20, 200, "8");
        assert_eq!(
            verdict(&CHECK, &text),
            "medium: cgroup quotas stopped 2002 groups, by share of their periods: java (7) 90.0 %, the group n1999.service 40.0 %, \
             the group n1998.service 40.0 %, the group n1997.service 40.0 %, the group n1996.service 40.0 %, and 1997 more"
        );
        let found = findings(&CHECK, &text);
        assert_eq!((found.len(), found[0].evidence.len()), (1, 6));
        assert!(found[0].fix.lasting.as_ref().unwrap().contains("-XX:ActiveProcessorCount="));
    }

    #[test]
    fn of_groups_in_each_other_the_one_that_is_stopped_more_often_is_named() {
        let text = [
            HOST.to_owned(),
            group("kubepods/pod1", 400, 500, ""),
            group("kubepods/pod1/a", 300, 3000, "7\n8"),
            group("kubepods/pod1/a/deeper", 300, 200, ""),
            process(7, "node"),
            process(8, "node"),
        ];
        assert_eq!(
            verdict(&CHECK, &text.concat()),
            "medium: a cgroup quota of 3 CPUs stopped node (8) and 1 other process in 30.0 % of its periods"
        );
    }

    #[test]
    fn a_database_keeps_its_own_finding_and_rare_stops_are_left_out() {
        let postgres = process(9, "postgres") + "//- /proc/9/cgroup\n0::/db.service\n";
        let text = [
            HOST.to_owned(),
            group("db.service", 400, 1200, "9"),
            group("web.service", 400, 99, "7"),
            process(7, "nginx"),
            postgres,
        ];
        assert_eq!(
            verdict(&CHECK, &text.concat()),
            "high: a cgroup quota of 4 CPUs stopped PostgreSQL (9) in 12.0 % of its periods"
        );
    }

    #[test]
    fn what_runs_beside_this_program_in_its_container_is_named() {
        let own = HOST.replace("0::/", "0::/box");
        let alone = own.clone() + &group("box", 50, 9000, "7") + &process(7, "fullclock");
        assert_eq!(
            verdict(&CHECK, &alone),
            "low: a cgroup quota of 0.5 CPUs stopped this program in 90.0 % of its periods"
        );
        let text =
            own + &group("box", 50, 9000, "7\n8") + &process(7, "fullclock") + &process(8, "java");
        assert_eq!(
            verdict(&CHECK, &text),
            "medium: a cgroup quota of 0.5 CPUs stopped java (8) and 1 other process in 90.0 % of its periods"
        );
    }
}
