//! Why the second of two arms commits less, in words.

use lab::commit::{Cause, Verdict, WriteTime};
use lab::known::Known;
use lab::throttling::Throttling;
use std::time::Duration;

pub(super) fn verdict_text(verdict: &Verdict) -> String {
    let Verdict { a, b, rate, cause, quota, is_server } = verdict;
    let why = match quota {
        Some(quota) if *is_server => throttled(a, &format!("{b}'s server"), quota, cause),
        Some(quota) => throttled(a, b, quota, cause),
        None => why(a, cause),
    };
    format!("{b} commits {:.0} % of what {a} does: {why}", rate * 100.0)
}

/// That a quota holds the second arm, what that costs, and what to raise.
fn throttled(a: &str, held: &str, quota: &Throttling, cause: &Cause) -> String {
    let Throttling { group, quota_cpus, period_ms, periods, throttled_periods, .. } = quota;
    let cpus = (quota_cpus * 100.0).round() / 100.0;
    let period = period_ms.map_or_else(String::new, |it| format!(" in {it:.0} ms"));
    let (cost, disk) = match cause {
        Cause::SessionsWait([first, second], writes) => {
            let (first, second) = (ms(*first), ms(*second));
            let cost =
                format!("; a session waits {second} for a CPU in each commit, and {first} on {a}");
            (cost, disk_after(a, writes))
        }
        Cause::WriterWaits(first, second) => {
            let (waiting, mean) = (ms(second.waiting), ms(second.mean));
            let cost = format!("; a log write waits {waiting} of {mean} for a CPU");
            (cost, disk_after(a, &[first.clone(), Known::Value(*second)]))
        }
        Cause::WriterComesLate([first, second], writes) => {
            let (first, second) = (ms(*first), ms(*second));
            let cost = format!(
                "; the log writer waits {second} for a CPU at each log write, and {first} on {a}"
            );
            (cost, disk_after(a, writes))
        }
        Cause::LogWrite([first, second]) => {
            let (first, second) = (ms(*first), ms(*second));
            (format!("; a log write takes {second}, and {first} on {a}"), String::new())
        }
        _ => Default::default(),
    };
    format!(
        "{held} is throttled by a CPU quota: {cpus} CPUs{period}, in {throttled_periods} of {periods} periods{cost}{disk}; \
         raise the quota of {group}"
    )
}

/// What the disk has to do with it, after the larger part; nothing where one of both is unknown.
fn disk_after(a: &str, [first, second]: &[Known<WriteTime>; 2]) -> String {
    let (Some(first), Some(second)) = (first.value(), second.value()) else { return String::new() };
    let (there, here) = (ms(first.in_call), ms(second.in_call));
    if second.is_as_fast_as(first) {
        format!("; the disk is as fast as on {a} ({here} in the write call, and {there} there)")
    } else {
        format!("; the smaller part: the write call takes {here}, and {there} on {a}")
    }
}

/// The cause, beside the arm that is called `a`.
fn why(a: &str, cause: &Cause) -> String {
    match cause {
        Cause::None => "nothing to explain".to_owned(),
        Cause::WriterWaits(first, second) => {
            let WriteTime { mean, waiting, .. } = second;
            let disk = disk(a, first.value(), Some(second));
            format!("{disk}the log writer waits {} of {} for a CPU", ms(*waiting), ms(*mean))
        }
        Cause::WriterComesLate([before, late], writes) => {
            let (disk, late, before) = (disk_of(a, writes), ms(*late), ms(*before));
            format!(
                "{disk}the log writer waits {late} for a CPU at each log write, and {before} on {a}"
            )
        }
        Cause::Disk(first, second) => format!(
            "the disk is slower: {} in the write call, and {} on {a}; the log writer waits {} of {} for a CPU",
            ms(second.in_call),
            ms(first.in_call),
            ms(second.waiting),
            ms(second.mean)
        ),
        Cause::LogWrite([first, second]) => {
            let (first, second) = (ms(*first), ms(*second));
            format!(
                "a log write takes {second}, and {first} on {a}; how much of that is a wait for a CPU is unknown"
            )
        }
        Cause::SessionCpu([first, second], writes) => {
            let (disk, first, second) = (disk_of(a, writes), ms(*first), ms(*second));
            format!("{disk}a session takes {second} of CPU time for a commit, and {first} on {a}")
        }
        Cause::SessionsWait([first, second], writes) => {
            let (disk, first, second) = (disk_after(a, writes), ms(*first), ms(*second));
            format!("a session waits {second} for a CPU at each commit, and {first} on {a}{disk}")
        }
        Cause::Unexplained([first, second]) => {
            let (first, second) = (ms(*first), ms(*second));
            format!("a commit takes {second}, and {first} on {a}; no counter shows the cause")
        }
    }
}

fn disk_of(a: &str, [first, second]: &[Known<WriteTime>; 2]) -> String {
    disk(a, first.value(), second.value())
}

/// That the disk is not the cause, in front of what is; nothing where one of both is unknown.
fn disk(a: &str, first: Option<&WriteTime>, second: Option<&WriteTime>) -> String {
    let (Some(first), Some(second)) = (first, second) else { return String::new() };
    let (there, here) = (ms(first.in_call), ms(second.in_call));
    if second.is_as_fast_as(first) {
        format!("the disk is as fast as on {a} ({here} in the write call, and {there} there); ")
    } else {
        format!("the write call takes {here}, and {there} on {a}; that is the smaller part: ")
    }
}

fn ms(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(rate: f64, cause: Cause) -> String {
        verdict_text(&verdict(rate, cause, None))
    }

    fn verdict(rate: f64, cause: Cause, quota: Option<Throttling>) -> Verdict {
        Verdict {
            a: "node 1".to_owned(),
            b: "node 2".to_owned(),
            rate,
            cause,
            quota,
            is_server: true,
        }
    }

    #[test]
    fn a_quota_is_named_first_with_what_it_costs_and_what_to_raise() {
        let quota = Throttling {
            group: "/sys/fs/cgroup/cpu/db".to_owned(),
            quota_cpus: 0.25,
            period_ms: Some(100.0),
            periods: 171,
            throttled_periods: 160,
            throttled_ns: 1,
            stopped_ns: 1,
        };
        let waits = |writes| Cause::SessionsWait([micros(10), micros(500)], writes);
        let said = |quota, writes| verdict_text(&verdict(0.28, waits(writes), Some(quota)));
        assert_eq!(
            said(quota.clone(), alike()),
            "node 2 commits 28 % of what node 1 does: node 2's server is throttled by a CPU quota: 0.25 CPUs in 100 ms, in \
             160 of 171 periods; a session waits 0.50 ms for a CPU in each commit, and 0.01 ms on node 1; the disk is as \
             fast as on node 1 (0.80 ms in the write call, and 0.80 ms there); raise the quota of /sys/fs/cgroup/cpu/db"
        );
        // A result of an earlier version, and no log write that is known.
        let old = Throttling { period_ms: None, ..quota };
        let unknown = || Known::missing("x");
        assert_eq!(
            said(old, [unknown(), unknown()]),
            "node 2 commits 28 % of what node 1 does: node 2's server is throttled by a CPU quota: 0.25 CPUs, in 160 of 171 \
             periods; a session waits 0.50 ms for a CPU in each commit, and 0.01 ms on node 1; raise the quota of \
             /sys/fs/cgroup/cpu/db"
        );
    }

    #[test]
    fn a_log_write_without_its_parts_accuses_nothing() {
        assert_eq!(
            reason(0.2, Cause::LogWrite([micros(850), micros(4850)])),
            "node 2 commits 20 % of what node 1 does: a log write takes 4.85 ms, and 0.85 ms on node 1; how much of that \
             is a wait for a CPU is unknown"
        );
    }

    fn micros(count: u64) -> Duration {
        Duration::from_micros(count)
    }

    fn write(in_call: u64, waiting: u64) -> WriteTime {
        let (in_call, waiting) = (micros(in_call), micros(waiting));
        WriteTime { mean: in_call + waiting, in_call, waiting }
    }

    /// Both calls take 0.8 ms.
    fn alike() -> [Known<WriteTime>; 2] {
        [Known::Value(write(800, 50)), Known::Value(write(800, 100))]
    }

    #[test]
    fn a_log_writer_without_a_cpu_is_no_slow_disk() {
        assert_eq!(
            reason(0.2, Cause::WriterWaits(Known::Value(write(800, 50)), write(800, 4100))),
            "node 2 commits 20 % of what node 1 does: the disk is as fast as on node 1 (0.80 ms in the write call, and \
             0.80 ms there); the log writer waits 4.10 ms of 4.90 ms for a CPU"
        );
    }

    #[test]
    fn a_log_writer_that_waits_before_it_writes_is_one_without_a_cpu_too() {
        assert_eq!(
            reason(0.2, Cause::WriterComesLate([micros(60), micros(4300)], alike())),
            "node 2 commits 20 % of what node 1 does: the disk is as fast as on node 1 (0.80 ms in the write call, and \
             0.80 ms there); the log writer waits 4.30 ms for a CPU at each log write, and 0.06 ms on node 1"
        );
    }

    #[test]
    fn a_slow_disk_is_one() {
        assert_eq!(
            reason(0.19, Cause::Disk(write(800, 50), write(4800, 50))),
            "node 2 commits 19 % of what node 1 does: the disk is slower: 4.80 ms in the write call, and 0.80 ms on node 1; \
             the log writer waits 0.05 ms of 4.85 ms for a CPU"
        );
    }

    #[test]
    fn slow_sessions_are_told_from_both() {
        assert_eq!(
            reason(0.71, Cause::SessionCpu([micros(200), micros(800)], alike())),
            "node 2 commits 71 % of what node 1 does: the disk is as fast as on node 1 (0.80 ms in the write call, and \
             0.80 ms there); a session takes 0.80 ms of CPU time for a commit, and 0.20 ms on node 1"
        );
    }

    #[test]
    fn a_slower_disk_that_is_the_smaller_part_is_told() {
        let writes = [Known::Value(write(800, 50)), Known::Value(write(1200, 50))];
        assert_eq!(
            reason(0.5, Cause::SessionsWait([micros(100), micros(2100)], writes)),
            "node 2 commits 50 % of what node 1 does: a session waits 2.10 ms for a CPU at each commit, and 0.10 ms on \
             node 1; the smaller part: the write call takes 1.20 ms, and 0.80 ms on node 1"
        );
    }

    #[test]
    fn nodes_that_commit_alike_have_nothing_to_explain() {
        assert_eq!(
            reason(1.0, Cause::None),
            "node 2 commits 100 % of what node 1 does: nothing to explain"
        );
    }

    #[test]
    fn a_node_that_tells_nothing_but_its_rate_is_unexplained() {
        assert_eq!(
            reason(0.2, Cause::Unexplained([micros(2000), micros(10_000)])),
            "node 2 commits 20 % of what node 1 does: a commit takes 10.00 ms, and 2.00 ms on node 1; no counter shows the \
             cause"
        );
    }
}
