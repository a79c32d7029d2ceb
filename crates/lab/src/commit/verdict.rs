//! What grew between two nodes, or two settings, where the second commits less.

use super::split::{Split, WriteTime};
use crate::known::Known;
use crate::throttling::Throttling;
use std::time::Duration;

/// A growth by less than this share of a commit's time on the first node explains nothing: means of a second differ by
/// as much by themselves.
const MATERIAL: f64 = 0.1;

/// What can be said of the second of two nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// What the first one is called.
    pub a: String,
    /// What the second one is called.
    pub b: String,
    /// Commits a second of the second one as a share of those of the first.
    pub rate: f64,
    /// What explains the difference.
    pub cause: Cause,
    /// The quota that keeps the second one from running, where that may be why it waits.
    pub quota: Option<Throttling>,
    /// Whether the second one commits in a database server.
    pub is_server: bool,
}

impl Verdict {
    /// Names the quota of the second node where its log writer or sessions wait for a CPU, it was throttled in most periods,
    /// and the first one was not, or may use more.
    #[must_use]
    pub fn with_quotas(self, [first, second]: [Option<Throttling>; 2]) -> Verdict {
        let binds = |it: &Throttling| it.throttled_periods.saturating_mul(2) > it.periods;
        let is_wait = matches!(
            self.cause,
            Cause::WriterWaits(..)
                | Cause::WriterComesLate(..)
                | Cause::SessionsWait(..)
                | Cause::LogWrite(_)
                | Cause::Unexplained(_)
        );
        let first = first.filter(binds).map_or(f64::INFINITY, |it| it.quota_cpus);
        let quota = second.filter(|it| is_wait && binds(it) && it.quota_cpus < first);
        Verdict { quota, ..self }
    }
}

/// The part of a commit that grew most.
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
    /// A log write takes longer, and its parts are unknown; of both.
    LogWrite([Duration; 2]),
    /// Sessions take more CPU time for the same work; of both, and the log writes of both.
    SessionCpu([Duration; 2], [Known<WriteTime>; 2]),
    /// Sessions are runnable and have no CPU; of both, and the log writes of both.
    SessionsWait([Duration; 2], [Known<WriteTime>; 2]),
    /// Something that no sample shows; what a commit takes on both.
    Unexplained([Duration; 2]),
}

/// Says what grew from the first node to the second, which are called `a` and `b`.
pub fn judge((a, first): (&str, &Split), (b, second): (&str, &Split)) -> Verdict {
    let rate = second.commits_per_second() / first.commits_per_second();
    let cause = cause(first, second);
    Verdict { a: a.to_owned(), b: b.to_owned(), rate, cause, quota: None, is_server: false }
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
        // Sessions that write the log themselves wait for a CPU in the call, too: either part of the write stands for itself.
        (None, Some((a, b))) => growth([a.in_call, b.in_call]).max(growth([a.waiting, b.waiting])),
        (None, None) => {
            let means = [*first.write_mean.value()?, *second.write_mean.value()?];
            return Some((growth(means), Cause::LogWrite(means)));
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commit::texts::{NODE_1, SLOW_CPU, SLOW_DISK, START, STARVED, sample};

    fn split(text: &str) -> Split {
        Split::between(&sample(START), &sample(text)).unwrap()
    }

    /// In percent, and why.
    fn judged(text: &str) -> (f64, Cause) {
        let Verdict { rate, cause, .. } =
            judge(("node 1", &split(NODE_1)), ("node 2", &split(text)));
        ((rate * 100.0).round(), cause)
    }

    /// A log write, by the microseconds of its parts.
    fn write(in_call_us: u64, waiting_us: u64) -> WriteTime {
        let (in_call, waiting) =
            (Duration::from_micros(in_call_us), Duration::from_micros(waiting_us));
        WriteTime { mean: in_call + waiting, in_call, waiting }
    }

    #[test]
    fn a_log_writer_without_a_cpu_is_no_slow_disk() {
        let cause = Cause::WriterWaits(Known::Value(write(800, 50)), write(800, 4100));
        assert_eq!(judged(STARVED), (20.0, cause));
        assert!(write(800, 4100).is_as_fast_as(&write(800, 50)));
    }

    #[test]
    fn a_wait_for_a_cpu_that_may_be_in_the_call_does_not_make_a_slow_disk() {
        // A session that writes the log itself, as PostgreSQL's do, in a group with a quota.
        let node = |sessions: u64, commits: u64, taken_ns: u64, waited_ns: u64, wait_ns: u64| {
            let writes = commits / sessions;
            let text = format!(
                r#"{{"at_ns":1000000000,"sessions":{sessions},"commits":{commits},
                "log":{{"writes":{writes},"bytes":1,"taken_ns":{taken_ns},"waited_ns":{waited_ns},
                "latency":{{"missing":"x"}}}},"writer":{{"missing":"x"}},
                "crew":{{"run_ns":100000000,"wait_ns":{wait_ns},"slices":1}},"log_wait_ns":{{"missing":"x"}}}}"#
            );
            Split::between(&sample(START), &sample(&text)).unwrap()
        };
        let free = node(1, 2500, 825_000_000, 25_000_000, 50_000_000);
        let held = node(1, 1500, 855_000_000, 165_000_000, 375_000_000);
        let verdict = judge(("a", &free), ("b", &held));
        assert!(matches!(verdict.cause, Cause::SessionsWait(..)), "{verdict:?}");
        let slow = node(1, 1500, 945_000_000, 15_000_000, 30_000_000);
        let verdict = judge(("a", &free), ("b", &slow));
        assert!(matches!(verdict.cause, Cause::Disk(..)), "{verdict:?}");
        // Of many sessions most write nothing: their waits acquit no disk, and its growth no quota.
        let free = node(64, 64_000, 500_000_000, 0, 6_400_000_000);
        let slow = node(64, 12_800, 900_000_000, 0, 38_400_000_000);
        let verdict = judge(("a", &free), ("b", &slow));
        assert!(matches!(verdict.cause, Cause::Disk(..)), "{verdict:?}");
        let held = node(64, 12_800, 500_000_000, 100_000_000, 51_200_000_000);
        let verdict = judge(("a", &free), ("b", &held));
        assert!(matches!(verdict.cause, Cause::SessionsWait(..)), "{verdict:?}");
    }

    #[test]
    fn a_log_writer_that_waits_before_it_writes_is_one_without_a_cpu_too() {
        let text = STARVED
            .replace(r#""waited_ns":820000000"#, r#""waited_ns":20000000"#)
            .replace(r#""taken_ns":980000000"#, r#""taken_ns":180000000"#);
        let writes = [Known::Value(write(800, 50)), Known::Value(write(800, 100))];
        let late = [Duration::from_micros(60), Duration::from_micros(4300)];
        assert_eq!(judged(&text), (20.0, Cause::WriterComesLate(late, writes)));
    }

    #[test]
    fn a_slow_disk_is_one() {
        assert_eq!(judged(SLOW_DISK), (19.0, Cause::Disk(write(800, 50), write(4800, 50))));
        assert!(!write(4800, 50).is_as_fast_as(&write(800, 50)));
    }

    #[test]
    fn a_log_write_whose_parts_are_unknown_is_blamed_on_neither() {
        let blind = |text: &str| {
            let unknown = |text: &str, field: &str| {
                let at = text.find(&format!(r#""{field}":"#)).unwrap() + field.len() + 3;
                let end = at + text[at..].find([',', '}']).unwrap();
                format!("{}{{\"missing\":\"x\"}}{}", &text[..at], &text[end..])
            };
            split(&unknown(&unknown(text, "waited_ns"), "log_wait_ns"))
        };
        let verdict = judge(("a", &blind(NODE_1)), ("b", &blind(SLOW_DISK)));
        let means = [850, 4850].map(Duration::from_micros);
        assert_eq!(verdict.cause, Cause::LogWrite(means));
    }

    #[test]
    fn slow_sessions_are_told_from_both() {
        let writes = [Known::Value(write(800, 50)), Known::Value(write(810, 50))];
        let cpu = [Duration::from_micros(200), Duration::from_micros(800)];
        assert_eq!(judged(SLOW_CPU), (71.0, Cause::SessionCpu(cpu, writes)));
    }

    #[test]
    fn nodes_that_commit_alike_have_nothing_to_explain() {
        assert_eq!(judged(NODE_1), (100.0, Cause::None));
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
        let cause = Cause::Unexplained([Duration::from_millis(2), Duration::from_millis(10)]);
        assert_eq!(judged(&text), (20.0, cause));
    }
}
