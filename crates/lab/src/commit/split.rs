//! What the time of a commit and of a log write was spent on, between two samples.

use super::sample::Latency;
use super::sample::{LogCounts, Ran, Sample};
use crate::known::Known;
use std::time::Duration;

/// What happened between two samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Split {
    /// How long that was.
    pub elapsed: Duration,
    /// How many commits there were.
    pub commits: u64,
    /// How many log writes.
    pub writes: Known<u64>,
    /// How many bytes of log.
    pub bytes: Known<u64>,
    /// What one log write took on average, from the call to its return.
    pub write_mean: Known<Duration>,
    /// The parts of that.
    pub write: Known<WriteTime>,
    /// How often a log write took how long.
    pub latency: Known<Latency>,
    /// How long the log writer was runnable and waited for a CPU, for each log write, also outside of the call.
    pub writer_waiting: Known<Duration>,
    /// What one commit took on average.
    pub commit: CommitTime,
}

/// One log write on average: its parts are `mean`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteTime {
    /// From the call to its return: what databases report as the time of a log write.
    pub mean: Duration,
    /// In the call: the disk, and the kernel's way to it and back.
    pub in_call: Duration,
    /// Of the same time, runnable and without a CPU.
    pub waiting: Duration,
}

/// Disks whose calls differ by no more than this share count as equally fast.
const AS_FAST: f64 = 0.25;

impl WriteTime {
    /// Whether the call itself takes about as long as that of another, or less.
    pub fn is_as_fast_as(&self, other: &WriteTime) -> bool {
        self.in_call.as_secs_f64() <= other.in_call.as_secs_f64().max(1e-9) * (1.0 + AS_FAST)
    }
}

/// One commit of one session on average: its parts are `mean`, where each is known.
#[derive(Clone, Debug, PartialEq)]
pub struct CommitTime {
    /// From one commit of a session to its next.
    pub mean: Duration,
    /// The session on a CPU.
    pub cpu: Known<Duration>,
    /// The session runnable and without one.
    pub waiting: Known<Duration>,
    /// The session waiting for its redo to be on disk.
    pub log: Known<Duration>,
    /// What no part accounts for: negative time is none.
    pub unexplained: Known<Duration>,
}

impl Split {
    /// What happened between two samples of one run.
    ///
    /// Errors: no commit ended between them, or the samples are not of one run, or in the wrong order.
    pub fn between(before: &Sample, after: &Sample) -> Result<Split, &'static str> {
        const BACKWARDS: &str =
            "counts of commits went backwards: samples of two runs, or in the wrong order";
        let elapsed_ns = after.at_ns.checked_sub(before.at_ns).ok_or(BACKWARDS)?;
        let commits = after.commits.checked_sub(before.commits).ok_or(BACKWARDS)?;
        if commits == 0 || elapsed_ns == 0 {
            return Err("no commit was over between two samples");
        }
        let writes = rise(&before.log.writes, &after.log.writes);
        let writer = ran(&before.writer, &after.writer);
        Ok(Split {
            elapsed: Duration::from_nanos(elapsed_ns),
            commits,
            bytes: rise(&before.log.bytes, &after.log.bytes),
            write_mean: both(&writes, &rise(&before.log.taken_ns, &after.log.taken_ns), |n, ns| {
                each(ns, n)
            }),
            write: write(&before.log, &after.log, &writes),
            latency: latency(&before.log, &after.log),
            writer_waiting: both(&writes, &writer, |writes, it| each(it.wait_ns, writes)),
            commit: commit(before, after, elapsed_ns, commits),
            writes,
        })
    }

    /// The commits per second over the interval.
    pub fn commits_per_second(&self) -> f64 {
        self.commits as f64 / self.elapsed.as_secs_f64()
    }

    /// Log writes a second.
    pub fn writes_per_second(&self) -> Known<f64> {
        self.writes.clone().map(|it| it as f64 / self.elapsed.as_secs_f64())
    }

    /// Commits that one log write made durable.
    pub fn commits_per_write(&self) -> Known<f64> {
        self.writes.clone().map(|it| self.commits as f64 / it.max(1) as f64)
    }
}

fn write(before: &LogCounts, after: &LogCounts, writes: &Known<u64>) -> Known<WriteTime> {
    let taken = rise(&before.taken_ns, &after.taken_ns);
    let waited = rise(&before.waited_ns, &after.waited_ns);
    let times = both(&taken, &waited, |taken, waited| (taken, waited.min(taken)));
    both(writes, &times, |writes, (taken, waited)| WriteTime {
        mean: each(taken, writes),
        in_call: each(taken - waited, writes),
        waiting: each(waited, writes),
    })
}

fn latency(before: &LogCounts, after: &LogCounts) -> Known<Latency> {
    match (&before.latency, &after.latency) {
        (Known::Value(before), Known::Value(after)) => {
            after.since(before).map_or_else(backwards, Known::Value)
        }
        (Known::Missing { missing }, _) | (_, Known::Missing { missing }) => {
            Known::missing(missing.clone())
        }
    }
}

fn commit(before: &Sample, after: &Sample, elapsed_ns: u64, commits: u64) -> CommitTime {
    let mean = each(elapsed_ns.saturating_mul(u64::from(after.sessions)), commits);
    let crew = ran(&before.crew, &after.crew);
    let log = rise(&before.log_wait_ns, &after.log_wait_ns).map(|it| each(it, commits));
    let cpu = crew.clone().map(|it| each(it.run_ns, commits));
    let waiting = crew.map(|it| each(it.wait_ns, commits));
    let explained = both(&both(&cpu, &waiting, |cpu, waiting| cpu + waiting), &log, |a, b| a + b);
    let unexplained = explained.map(|it| mean.saturating_sub(it));
    CommitTime { mean, cpu, waiting, log, unexplained }
}

/// The share of `ns` that falls to one of `count`.
fn each(ns: u64, count: u64) -> Duration {
    Duration::from_nanos(ns.checked_div(count).unwrap_or(0))
}

fn rise(before: &Known<u64>, after: &Known<u64>) -> Known<u64> {
    match both(before, after, |before, after| after.checked_sub(before)) {
        Known::Value(Some(rise)) => Known::Value(rise),
        Known::Value(None) => backwards(),
        Known::Missing { missing } => Known::Missing { missing },
    }
}

fn ran(before: &Known<Ran>, after: &Known<Ran>) -> Known<Ran> {
    match both(before, after, |before, after| after.since(before)) {
        Known::Value(Some(ran)) => Known::Value(ran),
        Known::Value(None) => backwards(),
        Known::Missing { missing } => Known::Missing { missing },
    }
}

fn backwards<T>() -> Known<T> {
    Known::missing("a count went backwards between two samples")
}

fn both<A: Copy, B: Copy, T>(a: &Known<A>, b: &Known<B>, join: impl FnOnce(A, B) -> T) -> Known<T> {
    match (a, b) {
        (Known::Value(a), Known::Value(b)) => Known::Value(join(*a, *b)),
        (Known::Missing { missing }, _) | (_, Known::Missing { missing }) => {
            Known::missing(missing.clone())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commit::texts::{NODE_1, START, sample};

    fn between(before: &str, after: &str) -> Result<Split, &'static str> {
        Split::between(&sample(before), &sample(after))
    }

    #[test]
    fn the_parts_of_a_log_write_are_its_mean_and_those_of_a_commit_too() {
        let split = between(START, NODE_1).unwrap();
        let millis = |it: Duration| it.as_secs_f64() * 1e3;
        let write = *split.write.value().unwrap();
        assert_eq!([write.mean, write.in_call, write.waiting].map(millis), [0.85, 0.8, 0.05]);
        assert_eq!(write.in_call + write.waiting, write.mean);
        assert_eq!(
            (split.commits_per_second(), *split.commits_per_write().value().unwrap()),
            (4000.0, 4.0)
        );
        let CommitTime { mean, cpu, waiting, log, unexplained } = split.commit;
        let parts = [cpu, waiting, log, unexplained].map(|it| millis(*it.value().unwrap()));
        assert_eq!((millis(mean), parts), (2.0, [0.2, 0.1, 1.5, 0.2]));
    }

    #[test]
    fn what_one_source_lacks_is_missing_with_its_reason_and_nothing_else_is() {
        let text =
            NODE_1.replace(r#""waited_ns":50000000"#, r#""waited_ns":{"missing":"no schedstat"}"#);
        let split = between(START, &text).unwrap();
        assert_eq!(split.write.reason(), Some("no schedstat"));
        assert_eq!(split.write_mean, Known::Value(Duration::from_micros(850)));
        assert!(split.commit.unexplained.value().is_some() && split.writes.value().is_some());
        let text = NODE_1
            .replace(r#""log_wait_ns":6000000000"#, r#""log_wait_ns":{"missing":"not told"}"#);
        let split = between(START, &text).unwrap();
        assert_eq!(split.commit.unexplained.reason(), Some("not told"));
        assert!(split.commit.cpu.value().is_some());
    }

    #[test]
    fn samples_of_two_runs_are_refused() {
        assert!(between(NODE_1, START).unwrap_err().contains("backwards"));
        assert_eq!(between(START, START).unwrap_err(), "no commit was over between two samples");
        let text = NODE_1.replace(r#""writes":1000"#, r#""writes":0"#);
        let start = START.replace(r#""writes":0"#, r#""writes":5"#);
        let split = between(&start, &text).unwrap();
        assert_eq!(split.writes.reason(), Some("a count went backwards between two samples"));
    }

    #[test]
    fn more_wait_than_write_is_no_negative_time() {
        let text = NODE_1.replace(r#""waited_ns":50000000"#, r#""waited_ns":950000000"#);
        let write = *between(START, &text).unwrap().write.value().unwrap();
        assert_eq!((write.in_call, write.waiting), (Duration::ZERO, write.mean));
    }
}
