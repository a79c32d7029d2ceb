//! What grew between two nodes, or two settings, where the second commits less.

use super::split::{Split, WriteTime};
use crate::known::Known;
use std::fmt;
use std::time::Duration;

/// A growth by less than this share of a commit's time on the first node explains nothing: means of a second differ by
/// as much by themselves.
const MATERIAL: f64 = 0.1;

/// Disks whose calls differ by no more than this share count as equally fast.
const AS_FAST: f64 = 0.25;

/// What can be said of the second of two nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// What the first one is called.
    pub a: String,
    /// What the second one is called.
    pub b: String,
    /// Commits a second of the second one as a share of those of the first.
    pub rate: f64,
    /// Why.
    pub cause: Cause,
}

/// What grew most.
#[derive(Clone, Debug, PartialEq)]
pub enum Cause {
    /// Nothing did: they commit alike, or the second one more.
    None,
    /// The log writer is runnable and has no CPU; with the log writes of both.
    WriterWaits(Known<WriteTime>, WriteTime),
    /// The log writer waits for a CPU at each log write, most of it before the call; of both, and the log writes of both.
    WriterComesLate([Duration; 2], [Known<WriteTime>; 2]),
    /// The call itself takes longer; with the log writes of both.
    Disk(WriteTime, WriteTime),
    /// Sessions take more CPU time for the same work; of both, and the log writes of both.
    SessionCpu([Duration; 2], [Known<WriteTime>; 2]),
    /// Sessions are runnable and have no CPU; of both, and the log writes of both.
    SessionsWait([Duration; 2], [Known<WriteTime>; 2]),
    /// Something that no sample tells; what a commit takes on both.
    Unexplained([Duration; 2]),
}

/// Says what grew from the first node to the second, which are called `a` and `b`.
pub fn judge((a, first): (&str, &Split), (b, second): (&str, &Split)) -> Verdict {
    let rate = second.commits_per_second() / first.commits_per_second();
    let cause = cause(first, second);
    Verdict { a: a.to_owned(), b: b.to_owned(), rate, cause }
}

fn cause(first: &Split, second: &Split) -> Cause {
    let material = first.commit.mean.mul_f64(MATERIAL);
    if second.commit.mean < first.commit.mean + material {
        return Cause::None;
    }
    let pair = |part: fn(&Split) -> &Known<Duration>| {
        Some([*part(first).value()?, *part(second).value()?])
    };
    let writes = || [first.write.clone(), second.write.clone()];
    let candidates = [
        pair(|it| &it.commit.cpu).map(|it| (growth(it), Cause::SessionCpu(it, writes()))),
        pair(|it| &it.commit.waiting).map(|it| (growth(it), Cause::SessionsWait(it, writes()))),
        of_the_log(first, second),
    ];
    let largest = candidates.into_iter().flatten().max_by_key(|(growth, _)| *growth);
    match largest {
        Some((growth, cause)) if growth >= material => cause,
        _ => Cause::Unexplained([first.commit.mean, second.commit.mean]),
    }
}

/// How much longer a commit waits for the log, and because of what. Where the wait itself is not told, a log write stands
/// for it: no commit waits for less than one.
fn of_the_log(first: &Split, second: &Split) -> Option<(Duration, Cause)> {
    let writes = first.write.value().zip(second.write.value());
    let waits = first.commit.log.value().zip(second.commit.log.value());
    let longer = match (waits, writes) {
        (Some((a, b)), _) => b.saturating_sub(*a),
        (None, Some((a, b))) => b.mean.saturating_sub(a.mean),
        (None, None) => return None,
    };
    let late = first.writer_waiting.value().zip(second.writer_waiting.value());
    let late = late.map(|(a, b)| [*a, *b]);
    let Some((a, b)) = writes else {
        let writes = [first.write.clone(), second.write.clone()];
        return late.map(|it| (longer, Cause::WriterComesLate(it, writes)));
    };
    let disk = growth([a.in_call, b.in_call]);
    let waiting = growth([a.waiting, b.waiting]);
    let outside = |it: &WriteTime, all: Duration| all.saturating_sub(it.waiting);
    let before = late.map_or(Duration::ZERO, |[x, y]| growth([outside(a, x), outside(b, y)]));
    let cause = if disk >= waiting + before {
        Cause::Disk(*a, *b)
    } else if waiting >= before {
        Cause::WriterWaits(Known::Value(*a), *b)
    } else {
        let writes = [Known::Value(*a), Known::Value(*b)];
        Cause::WriterComesLate(late.unwrap_or_default(), writes)
    };
    Some((longer, cause))
}

fn growth([a, b]: [Duration; 2]) -> Duration {
    b.saturating_sub(a)
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Verdict { a, b, rate, cause } = self;
        if matches!(cause, Cause::None) {
            return write!(
                f,
                "{b} commits {:.0} % of what {a} does: nothing to explain",
                rate * 100.0
            );
        }
        write!(f, "{b} commits {:.0} % of what {a} does: ", rate * 100.0)?;
        match cause {
            Cause::None => Ok(()),
            Cause::WriterWaits(first, second) => {
                disk(f, a, first, &Known::Value(*second))?;
                let WriteTime { mean, waiting, .. } = second;
                write!(f, "the log writer waits {} of {} for a CPU", ms(*waiting), ms(*mean))
            }
            Cause::WriterComesLate([first, second], [wa, wb]) => {
                disk(f, a, wa, wb)?;
                let (late, before) = (ms(*second), ms(*first));
                write!(
                    f,
                    "the log writer waits {late} for a CPU at each log write, and {before} on {a}"
                )
            }
            Cause::Disk(first, second) => write!(
                f,
                "the disk is slower: {} in the write call, and {} on {a}; the log writer waits {} of {} for a CPU",
                ms(second.in_call),
                ms(first.in_call),
                ms(second.waiting),
                ms(second.mean)
            ),
            Cause::SessionCpu([first, second], [wa, wb]) => {
                disk(f, a, wa, wb)?;
                write!(
                    f,
                    "a session takes {} of CPU time for a commit, and {} on {a}",
                    ms(*second),
                    ms(*first)
                )
            }
            Cause::SessionsWait([first, second], [wa, wb]) => {
                disk(f, a, wa, wb)?;
                write!(
                    f,
                    "a session waits {} for a CPU at each commit, and {} on {a}",
                    ms(*second),
                    ms(*first)
                )
            }
            Cause::Unexplained([first, second]) => write!(
                f,
                "a commit takes {}, and {} on {a}, and nothing that was counted says why",
                ms(*second),
                ms(*first)
            ),
        }
    }
}

/// Says that the disk is not the cause, where both are known and it is not.
fn disk(
    f: &mut fmt::Formatter<'_>,
    a: &str,
    first: &Known<WriteTime>,
    second: &Known<WriteTime>,
) -> fmt::Result {
    let (Some(first), Some(second)) = (first.value(), second.value()) else { return Ok(()) };
    let (x, y) = (ms(second.in_call), ms(first.in_call));
    let ratio = second.in_call.as_secs_f64() / first.in_call.as_secs_f64().max(1e-9);
    if ratio <= 1.0 + AS_FAST {
        write!(f, "the disk is as fast as on {a} ({x} in the write call, and {y} there); ")
    } else {
        write!(f, "the write call takes {x}, and {y} on {a}; that is the smaller part: ")
    }
}

fn ms(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commit::texts::{NODE_1, SLOW_CPU, SLOW_DISK, START, STARVED, sample};

    fn split(text: &str) -> Split {
        Split::between(&sample(START), &sample(text)).unwrap()
    }

    fn said(text: &str) -> String {
        judge(("node 1", &split(NODE_1)), ("node 2", &split(text))).to_string()
    }

    #[test]
    fn a_log_writer_without_a_cpu_is_no_slow_disk() {
        assert_eq!(
            said(STARVED),
            "node 2 commits 20 % of what node 1 does: the disk is as fast as on node 1 (0.80 ms in the write call, and \
             0.80 ms there); the log writer waits 4.10 ms of 4.90 ms for a CPU"
        );
    }

    #[test]
    fn a_log_writer_that_waits_before_it_writes_is_one_without_a_cpu_too() {
        let text = STARVED
            .replace(r#""waited_ns":820000000"#, r#""waited_ns":20000000"#)
            .replace(r#""taken_ns":980000000"#, r#""taken_ns":180000000"#);
        assert_eq!(
            said(&text),
            "node 2 commits 20 % of what node 1 does: the disk is as fast as on node 1 (0.80 ms in the write call, and \
             0.80 ms there); the log writer waits 4.30 ms for a CPU at each log write, and 0.06 ms on node 1"
        );
    }

    #[test]
    fn a_slow_disk_is_one() {
        assert_eq!(
            said(SLOW_DISK),
            "node 2 commits 19 % of what node 1 does: the disk is slower: 4.80 ms in the write call, and 0.80 ms on node 1; \
             the log writer waits 0.05 ms of 4.85 ms for a CPU"
        );
    }

    #[test]
    fn slow_sessions_are_told_from_both() {
        assert_eq!(
            said(SLOW_CPU),
            "node 2 commits 71 % of what node 1 does: the disk is as fast as on node 1 (0.81 ms in the write call, and \
             0.80 ms there); a session takes 0.80 ms of CPU time for a commit, and 0.20 ms on node 1"
        );
    }

    #[test]
    fn nodes_that_commit_alike_have_nothing_to_explain() {
        assert_eq!(said(NODE_1), "node 2 commits 100 % of what node 1 does: nothing to explain");
        let faster = judge(("a", &split(STARVED)), ("b", &split(NODE_1)));
        assert_eq!((faster.cause, faster.rate.round()), (Cause::None, 5.0));
    }

    #[test]
    fn a_node_that_tells_nothing_but_its_rate_is_unexplained() {
        let mut text = STARVED.replace(r#""taken_ns":980000000"#, r#""taken_ns":{"missing":"x"}"#);
        for field in [
            r#""writer":{"run_ns":30000000,"wait_ns":860000000,"slices":400}"#,
            r#""crew":{"run_ns":160000000,"wait_ns":500000000,"slices":1600}"#,
        ] {
            let name = field.split(':').next().unwrap();
            text = text.replace(field, &format!(r#"{name}:{{"missing":"x"}}"#));
        }
        let text = text.replace(r#""log_wait_ns":7200000000"#, r#""log_wait_ns":{"missing":"x"}"#);
        assert!(said(&text).ends_with(
            "a commit takes 10.00 ms, and 2.00 ms on node 1, and nothing that was counted says why"
        ));
    }
}
