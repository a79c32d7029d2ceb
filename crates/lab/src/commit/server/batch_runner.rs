//! Runs batches of commits on a background thread and keeps the latest sample.

use super::log_calls::LogCalls;
use super::waits::{Counts, Waits};
use super::{BATCH, Counted, Dialect};
use super::{check, patience};
use crate::commit::{LogCounts, Ran, Sample};
use crate::database::{Answer, Patience, Pool};
use crate::failure::Failure;
use crate::known::Known;
use crate::threads::refused;
use facts::Fact;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// The sessions, and what a batch is made from.
pub(super) struct Sessions {
    /// The sessions that commit.
    pub(super) pool: Pool,
    /// One more session, which reads the counts.
    pub(super) control: Pool,
    /// The trace of their log writes, or why there is none.
    pub(super) calls: Fact<LogCalls>,
    pub(super) dialect: Arc<dyn Dialect>,
    pub(super) place: String,
    /// Prints the counts of the log.
    pub(super) log: String,
    /// How long a statement may take.
    pub(super) limit: Duration,
}

/// Runs batches until it is stopped.
pub(super) struct BatchRunner {
    sessions: Option<Sessions>,
    running: Option<(Arc<Shared>, JoinHandle<Sessions>)>,
}

/// What the thread shares with the engine.
struct Shared {
    latest: Mutex<Latest>,
    /// `latest` has changed.
    changed: Condvar,
    is_over: AtomicBool,
}

#[derive(Default)]
struct Latest {
    sample: Option<Sample>,
    failure: Option<Failure>,
    committed: Vec<u64>,
    has_failed: bool,
}

impl BatchRunner {
    pub(super) fn of(sessions: Sessions) -> BatchRunner {
        BatchRunner { sessions: Some(sessions), running: None }
    }

    /// Empties the tables and starts the thread.
    pub(super) fn start(&mut self) -> Result<(), Failure> {
        self.stop()?;
        // They are gone where an earlier run failed.
        let mut sessions = self.sessions.take().ok_or(Failure::Stopped)?;
        let empty = sessions.dialect.empty(&sessions.place, sessions.pool.len());
        sessions.control.first(&empty, patience(sessions.limit))?;
        let shared = Arc::new(Shared::new());
        let own = shared.clone();
        let thread = Builder::new().name("batches".to_owned()).spawn(move || {
            own.work(&mut sessions);
            sessions
        });
        self.running = Some((shared, thread.map_err(|it| refused(&it))?));
        Ok(())
    }

    /// The sample at the end of the latest batch; waits for the first one.
    pub(super) fn sample(&self) -> Result<Sample, Failure> {
        let (shared, _) = self.running.as_ref().ok_or(Failure::Stopped)?;
        let mut latest = shared.lock();
        loop {
            if latest.has_failed {
                return Err(latest.failure.take().unwrap_or(Failure::Stopped));
            }
            if let Some(sample) = &latest.sample {
                return Ok(sample.clone());
            }
            latest = shared.changed.wait(latest).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits for the end of the batch, and checks the rows of the tables.
    pub(super) fn stop(&mut self) -> Result<(), Failure> {
        let Some((shared, thread)) = self.running.take() else { return Ok(()) };
        shared.is_over.store(true, Ordering::Relaxed);
        let bug = || Failure::NoFigure("the thread of the sessions panicked".to_owned());
        let mut sessions = thread.join().map_err(|_| bug())?;
        let mut latest = shared.lock();
        if latest.has_failed {
            return Err(latest.failure.take().unwrap_or(Failure::Stopped));
        }
        let rows = sessions.dialect.rows(&sessions.place, sessions.pool.len());
        let found = sessions.control.first(&rows, patience(sessions.limit))?;
        check(&found.rows, &latest.committed)?;
        self.sessions = Some(sessions);
        Ok(())
    }

    /// Closes all sessions.
    pub(super) fn end(&mut self) {
        // The result of the last batch is not needed.
        let _failed = self.stop().is_err();
        self.sessions = None;
    }
}

impl Shared {
    fn new() -> Shared {
        let latest = Mutex::new(Latest::default());
        Shared { latest, changed: Condvar::new(), is_over: AtomicBool::new(false) }
    }

    fn work(&self, sessions: &mut Sessions) {
        let n = sessions.pool.len();
        let mut total = Total { committed: vec![0; n], next: FIRST, ..Total::default() };
        while !self.is_over.load(Ordering::Relaxed) {
            let sampled = total.batch(sessions, patience(sessions.limit));
            let mut latest = self.lock();
            match sampled {
                Ok(sample) => {
                    latest.sample = Some(sample);
                    latest.committed.clone_from(&total.committed);
                }
                Err(failure) => {
                    latest.has_failed = true;
                    latest.failure = Some(failure);
                }
            }
            let has_failed = latest.has_failed;
            drop(latest);
            self.changed.notify_all();
            if has_failed {
                return;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Latest> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Commits of each session in the first batch, where a batch is counted in commits: some milliseconds.
const FIRST: u64 = 16;

/// The most commits of a batch: a megabyte of statements.
const MOST: u64 = 10_000;

/// The sums over all batches.
#[derive(Default)]
struct Total {
    /// Commits of each session in the next batch, where a batch is counted in commits.
    next: u64,
    elapsed_ns: u64,
    committed: Vec<u64>,
    waits: Waits,
    /// The counts at the end of the batch before.
    before: Option<Counts>,
}

impl Total {
    fn batch(
        &mut self,
        sessions: &mut Sessions,
        patience: Patience<'_>,
    ) -> Result<Sample, Failure> {
        if self.before.is_none() {
            self.before = Some(counts(sessions, patience)?);
        }
        let (dialect, place) = (&sessions.dialect, &sessions.place);
        let next = self.next;
        let answers = sessions.pool.all(|part| dialect.batch(place, part, next), patience)?;
        let results =
            answers.iter().map(BatchResult::of).collect::<Result<Vec<BatchResult>, Failure>>()?;
        let began = results.iter().map(|it| it.began_us).min().unwrap_or(0);
        let ended = results.iter().map(|it| it.ended_us).max().unwrap_or(0);
        let elapsed = Duration::from_micros(ended.saturating_sub(began));
        self.elapsed_ns = self.elapsed_ns.saturating_add(nanoseconds(elapsed));
        self.next = next_after(next, elapsed);
        for (sum, result) in self.committed.iter_mut().zip(&results) {
            *sum = sum.saturating_add(result.commits);
        }
        let after = counts(sessions, patience)?;
        let waited_ns = match &self.before {
            Some(before) => self.waits.add(before, &after),
            None => Known::missing("there is no earlier batch"),
        };
        self.before = Some(after.clone());
        let Counts { log, crew, .. } = after;
        Ok(Sample {
            at_ns: self.elapsed_ns,
            sessions: u32::try_from(sessions.pool.len()).unwrap_or(u32::MAX),
            commits: self.committed.iter().sum(),
            log: LogCounts {
                writes: log.writes,
                bytes: log.bytes,
                taken_ns: log.taken_ns,
                waited_ns,
                latency: Known::missing("the server tells sums only"),
            },
            writer: Known::missing("sessions write the log themselves"),
            crew,
            log_wait_ns: Known::missing(
                "the server does not tell how long sessions wait for the log",
            ),
        })
    }
}

/// The commits that fill the next batch at the same rate, at most four times as many as before: the first ones are slow.
fn next_after(commits: u64, elapsed: Duration) -> u64 {
    let filling = commits as f64 * BATCH.as_secs_f64() / elapsed.as_secs_f64().max(1e-6);
    (filling as u64).clamp(1, commits.saturating_mul(4)).min(MOST)
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn counts(sessions: &mut Sessions, patience: Patience<'_>) -> Result<Counts, Failure> {
    let answer = sessions.control.first(&sessions.log, patience)?;
    let crew: Fact<Ran> = sessions
        .pool
        .scheduled()
        .map(|tasks| tasks.into_iter().map(Ran::from).fold(Ran::default(), Ran::plus));
    let calls = sessions.calls.as_ref().map_err(Clone::clone).and_then(LogCalls::times);
    Ok(Counts { log: Counted::of(&answer.rows), crew: crew.into(), calls: calls.into() })
}

/// The answer of one session to its batch.
#[derive(Debug, PartialEq)]
struct BatchResult {
    commits: u64,
    began_us: u64,
    ended_us: u64,
}

impl BatchResult {
    fn of(answer: &Answer) -> Result<BatchResult, Failure> {
        let said = answer.rows.join(" ");
        let mut numbers = said.split(' ').map(|it| it.parse::<u64>().ok());
        let mut next = || numbers.next().flatten();
        let told =
            (|| Some(BatchResult { commits: next()?, began_us: next()?, ended_us: next()? }))();
        told.filter(|it| it.began_us < it.ended_us).ok_or_else(|| {
            Failure::NoFigure(format!("the server answered '{said}', not commits and two times"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(row: &str) -> Result<BatchResult, Failure> {
        BatchResult::of(&Answer { rows: vec![row.to_owned()], wall_ns: 1, cpu_ns: Known::Value(1) })
    }

    #[test]
    fn what_a_session_tells_is_a_number_and_two_times_in_order() {
        assert_eq!(
            told("7 100 200").unwrap(),
            BatchResult { commits: 7, began_us: 100, ended_us: 200 }
        );
        for row in ["", "7", "7 200 100", "x 1 2"] {
            assert!(
                told(row).unwrap_err().to_string().contains("not commits and two times"),
                "{row}"
            );
        }
    }

    #[test]
    fn batches_grow_to_their_length_step_by_step() {
        let after = |commits, millis| next_after(commits, Duration::from_millis(millis));
        assert_eq!(
            [after(16, 1), after(100, 500), after(1, 60_000), after(9000, 1)],
            [64, 50, 1, 10_000]
        );
    }
}
