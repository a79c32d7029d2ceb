//! Why the second of two arms commits less, in words.

use lab::commit::{Cause, Verdict, WriteTime};
use lab::known::Known;
use std::time::Duration;

pub(super) fn verdict_text(verdict: &Verdict) -> String {
    let Verdict { a, b, rate, cause } = verdict;
    format!("{b} commits {:.0} % of what {a} does: {}", rate * 100.0, why(a, cause))
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
        Cause::SessionCpu([first, second], writes) => {
            let (disk, first, second) = (disk_of(a, writes), ms(*first), ms(*second));
            format!("{disk}a session takes {second} of CPU time for a commit, and {first} on {a}")
        }
        Cause::SessionsWait([first, second], writes) => {
            let (disk, first, second) = (disk_of(a, writes), ms(*first), ms(*second));
            format!("{disk}a session waits {second} for a CPU at each commit, and {first} on {a}")
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
        verdict_text(&Verdict { a: "node 1".to_owned(), b: "node 2".to_owned(), rate, cause })
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
            "node 2 commits 50 % of what node 1 does: the write call takes 1.20 ms, and 0.80 ms on node 1; that is the \
             smaller part: a session waits 2.10 ms for a CPU at each commit, and 0.10 ms on node 1"
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
