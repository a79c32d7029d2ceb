//! A split as the figures of a trial, and the splits of two arms from the figures of their trials.

use super::split::{CommitTime, Split, WriteTime};
use super::verdict::{Cause, Verdict, judge};
use crate::known::Known;
use crate::record::Record;
use crate::trial::{Better, Figure, Trial};
use crate::workload::Settings;
use std::time::Duration;

/// The engine that is no server.
const EMBEDDED: &str = "embedded";
const COMMITS: &str = "commits";
const WRITES: &str = "log writes";
const WRITE: &str = "log write";
const IN_CALL: &str = "log write, in the call";
const WRITE_WAITING: &str = "log write, waiting for a CPU";
const WRITER_WAITING: &str = "log writer, waiting for a CPU";
const COMMIT_TIME: &str = "commit";
const CPU: &str = "commit, session's CPU time";
const WAITING: &str = "commit, waiting for a CPU";
const LOG: &str = "commit, waiting for the log";
const UNEXPLAINED: &str = "commit, unexplained";

/// The rate, then what is known of the rest.
pub fn figures(split: &Split) -> Vec<Figure> {
    let CommitTime { mean, cpu, waiting, log, unexplained } = &split.commit;
    let write = |part: fn(&WriteTime) -> Duration| split.write.clone().map(|it| part(&it));
    let quantile = |share| split.latency.value().and_then(|it| it.quantile(share));
    let rates = [
        (COMMITS, "1/s", Some(split.commits_per_second())),
        (WRITES, "1/s", split.writes_per_second().value().copied()),
        ("commits a log write", "", split.commits_per_write().value().copied()),
    ];
    let rates = rates.map(|(name, unit, rate)| (name, unit, Better::Higher, rate));
    let times = [
        (WRITE, split.write_mean.value().copied()),
        (IN_CALL, write(|it| it.in_call).value().copied()),
        (WRITE_WAITING, write(|it| it.waiting).value().copied()),
        ("log write, median", quantile(0.5)),
        ("log write, p99", quantile(0.99)),
        (WRITER_WAITING, split.writer_waiting.value().copied()),
        (COMMIT_TIME, Some(*mean)),
        (CPU, cpu.value().copied()),
        (WAITING, waiting.value().copied()),
        (LOG, log.value().copied()),
        (UNEXPLAINED, unexplained.value().copied()),
    ];
    let micros = |it: Duration| it.as_secs_f64() * 1e6;
    let times = times.map(|(name, time)| (name, "us", Better::Lower, time.map(micros)));
    let all = rates.into_iter().chain(times);
    all.filter_map(|(name, unit, better, value)| {
        Some(Figure { name: name.to_owned(), unit: unit.to_owned(), value: value?, better })
    })
    .collect()
}

/// What grew from the first to the second of two arms that commit; `None` for other records, and where nothing did.
pub fn verdict_of(record: &Record) -> Option<Verdict> {
    let [first, second] = &*record.arms else { return None };
    if [first, second].iter().any(|it| it.workload != crate::commit::WORKLOAD || it.is_foreign) {
        return None;
    }
    let verdict = judge(
        (&first.name, &of_arm(&record.trials, 0)?),
        (&second.name, &of_arm(&record.trials, 1)?),
    );
    let quotas = [0, 1].map(|arm| record.throttling(arm).map(|it| it.0));
    let Settings { dsn, engine, .. } = &second.settings;
    let is_server = dsn.is_some() || engine.as_ref().is_some_and(|it| it != EMBEDDED);
    let verdict = Verdict { is_server, ..verdict.with_quotas(quotas) };
    (verdict.cause != Cause::None).then_some(verdict)
}

/// A mean trial of an arm.
fn of_arm(trials: &[Trial], arm: usize) -> Option<Split> {
    let mean = |name: &str| {
        let figures = trials.iter().filter(|it| it.arm == arm).flat_map(|it| &it.outcome.figures);
        let values: Vec<f64> = figures.filter(|it| it.name == name).map(|it| it.value).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    let known = |name: &str| {
        let why = || Known::missing(format!("no trial tells {name}"));
        mean(name).map_or_else(why, Known::Value)
    };
    let time = |name: &str| known(name).map(duration);
    let write = match (mean(WRITE), mean(IN_CALL), mean(WRITE_WAITING)) {
        (Some(mean), Some(in_call), Some(waiting)) => Known::Value(WriteTime {
            mean: duration(mean),
            in_call: duration(in_call),
            waiting: duration(waiting),
        }),
        _ => Known::missing("no trial tells the parts of a log write"),
    };
    /// Long enough for rates to be whole numbers.
    const ELAPSED: Duration = Duration::from_secs(1000);
    let whole = |rate: f64| (rate * ELAPSED.as_secs_f64()).round() as u64;
    Some(Split {
        elapsed: ELAPSED,
        commits: whole(mean(COMMITS)?),
        writes: known(WRITES).map(whole),
        bytes: Known::missing("trials tell no bytes"),
        write_mean: time(WRITE),
        write,
        latency: Known::missing("trials tell quantiles only"),
        writer_waiting: time(WRITER_WAITING),
        commit: CommitTime {
            mean: duration(mean(COMMIT_TIME)?),
            cpu: time(CPU),
            waiting: time(WAITING),
            log: time(LOG),
            unexplained: time(UNEXPLAINED),
        },
    })
}

/// Of microseconds.
fn duration(micros: f64) -> Duration {
    Duration::try_from_secs_f64(micros / 1e6).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commit::texts::{NODE_1, SLOW_DISK, START, STARVED, sample};
    use crate::record::Arm;
    use crate::throttling::Throttling;
    use crate::trial::Outcome;

    fn split(text: &str) -> Split {
        Split::between(&sample(START), &sample(text)).unwrap()
    }

    fn record(texts: [&str; 2]) -> Record {
        let missing = || Known::missing(String::new());
        let trial = |arm: usize| {
            let failed = Trial::failed(arm, 1, missing(), &crate::failure::Failure::Stopped);
            let figures = figures(&split(texts[arm]));
            let outcome = Outcome { figures: figures.into(), ..failed.outcome };
            Trial { failed: None, outcome, ..failed }
        };
        let arms = ["A", "B"].map(|it| Arm::of(it, crate::commit::WORKLOAD)).into();
        Record { trials: vec![trial(0), trial(1)], ..Record::of(arms) }
    }

    #[test]
    fn two_arms_are_judged_as_the_splits_that_they_came_from() {
        let verdict = verdict_of(&record([NODE_1, STARVED])).unwrap();
        let direct = judge(("A", &split(NODE_1)), ("B", &split(STARVED)));
        assert_eq!((&verdict.a, &verdict.b), (&direct.a, &direct.b));
        assert!((verdict.rate - direct.rate).abs() < 1e-9);
        let waits = |it: Verdict| match it.cause {
            Cause::WriterWaits(Known::Value(first), second) => [first, second],
            other => panic!("{other:?}"),
        };
        // Figures are microseconds in floating point.
        for (one, other) in waits(verdict).into_iter().zip(waits(direct)) {
            assert!(one.mean.abs_diff(other.mean) < Duration::from_micros(1), "{one:?} {other:?}");
            assert!(one.waiting.abs_diff(other.waiting) < Duration::from_micros(1), "{one:?}");
        }
    }

    #[test]
    fn a_quota_that_throttled_the_second_arm_in_most_periods_is_named() {
        let throttling = |throttled_periods| Throttling {
            group: "/g".to_owned(),
            quota_cpus: 0.25,
            period_ms: Some(100.0),
            periods: 171,
            throttled_periods,
            throttled_ns: 1,
            stopped_ns: 1,
        };
        let quota = |texts: [&str; 2], of: [Option<u64>; 2]| {
            let mut record = record(texts);
            for (trial, n) in record.trials.iter_mut().zip(of) {
                trial.throttling = n.map(throttling);
            }
            verdict_of(&record).unwrap().quota
        };
        let held = [NODE_1, STARVED];
        assert_eq!(quota(held, [None, Some(160)]), Some(throttling(160)));
        assert_eq!(quota(held, [Some(2), Some(160)]), Some(throttling(160)));
        // Both are held alike, or hardly, or by something else.
        assert_eq!(quota(held, [Some(160), Some(160)]), None);
        assert_eq!(quota(held, [None, Some(80)]), None);
        assert_eq!(quota([NODE_1, SLOW_DISK], [None, Some(160)]), None);
    }

    #[test]
    fn arms_that_commit_alike_or_do_something_else_have_no_verdict() {
        assert_eq!(verdict_of(&record([NODE_1, NODE_1])), None);
        let mut other = record([NODE_1, STARVED]);
        other.arms[1].workload = "cpu-loop".to_owned();
        assert_eq!(verdict_of(&other), None);
    }

    #[test]
    fn what_is_not_known_is_no_figure() {
        let text =
            NODE_1.replace(r#""log_wait_ns":6000000000"#, r#""log_wait_ns":{"missing":"x"}"#);
        let names: Vec<String> = figures(&split(&text)).into_iter().map(|it| it.name).collect();
        assert!(!names.iter().any(|it| it == LOG || it == UNEXPLAINED), "{names:?}");
        assert_eq!((&*names[0], names.len()), (COMMITS, 10));
    }
}
