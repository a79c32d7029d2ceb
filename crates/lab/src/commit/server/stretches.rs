//! One stretch after the other, on a thread of its own, and what was counted at the end of the latest one.

use super::{Counted, Dialect, STRETCH, missing};
use super::{check, patience};
use crate::commit::{LogCounts, Ran, Sample};
use crate::database::{Answer, Crew, Patience};
use crate::failure::Failure;
use crate::known::Known;
use crate::threads::refused;
use facts::Fact;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// What it takes to work.
pub(super) struct Hands {
    /// The sessions that commit.
    pub(super) crew: Crew,
    /// One that looks on.
    pub(super) control: Crew,
    pub(super) dialect: Arc<dyn Dialect>,
    pub(super) place: String,
    /// How long a statement may take.
    pub(super) limit: Duration,
}

/// Stretches under way, or what it takes to begin.
pub(super) struct Stretches {
    hands: Option<Hands>,
    running: Option<(Arc<Shared>, JoinHandle<Hands>)>,
}

/// What the thread tells.
struct Shared {
    latest: Mutex<Latest>,
    /// Something is told.
    told: Condvar,
    is_over: AtomicBool,
}

#[derive(Default)]
struct Latest {
    sample: Option<Sample>,
    failure: Option<Failure>,
    committed: Vec<u64>,
    has_failed: bool,
}

impl Stretches {
    pub(super) fn of(hands: Hands) -> Stretches {
        Stretches { hands: Some(hands), running: None }
    }

    /// Empties the tables, and begins.
    pub(super) fn start(&mut self) -> Result<(), Failure> {
        self.stop()?;
        // A failure before has taken the sessions with it.
        let mut hands = self.hands.take().ok_or(Failure::Stopped)?;
        let empty = hands.dialect.empty(&hands.place, hands.crew.len());
        hands.control.first(&empty, patience(hands.limit))?;
        let shared = Arc::new(Shared::new());
        let own = shared.clone();
        let thread = Builder::new().name("stretches".to_owned()).spawn(move || {
            own.work(&mut hands);
            hands
        });
        self.running = Some((shared, thread.map_err(|it| refused(&it))?));
        Ok(())
    }

    /// What was counted at the end of the latest stretch; waits for the first one.
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
            latest = shared.told.wait(latest).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits for the end of the stretch, and checks what is in the tables.
    pub(super) fn stop(&mut self) -> Result<(), Failure> {
        let Some((shared, thread)) = self.running.take() else { return Ok(()) };
        shared.is_over.store(true, Ordering::Relaxed);
        let bug = || Failure::NoFigure("the thread of the sessions panicked".to_owned());
        let mut hands = thread.join().map_err(|_| bug())?;
        let mut latest = shared.lock();
        if latest.has_failed {
            return Err(latest.failure.take().unwrap_or(Failure::Stopped));
        }
        let rows = hands.dialect.rows(&hands.place, hands.crew.len());
        let found = hands.control.first(&rows, patience(hands.limit))?;
        check(&found.rows, &latest.committed)?;
        self.hands = Some(hands);
        Ok(())
    }

    /// Closes all sessions.
    pub(super) fn end(&mut self) {
        // Nobody asks any more whether the last stretch was whole.
        let _failed = self.stop().is_err();
        self.hands = None;
    }
}

impl Shared {
    fn new() -> Shared {
        let latest = Mutex::new(Latest::default());
        Shared { latest, told: Condvar::new(), is_over: AtomicBool::new(false) }
    }

    fn work(&self, hands: &mut Hands) {
        let n = hands.crew.len();
        let mut total = Total { committed: vec![0; n], next: FIRST, ..Total::default() };
        while !self.is_over.load(Ordering::Relaxed) {
            let sampled = total.stretch(hands, patience(hands.limit));
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
            self.told.notify_all();
            if has_failed {
                return;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Latest> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many commits the first stretch of a session is where it is counted in commits: some milliseconds.
const FIRST: u64 = 16;

/// The most of a stretch: a megabyte of statements.
const MOST: u64 = 10_000;

/// What all stretches came to.
#[derive(Default)]
struct Total {
    /// How many commits the next stretch of a session is, where it is counted in commits.
    next: u64,
    elapsed_ns: u64,
    committed: Vec<u64>,
    waited_ns: u64,
    /// At the end of the stretch before.
    before: Option<(Counted, Known<Ran>)>,
}

impl Total {
    fn stretch(&mut self, hands: &mut Hands, patience: Patience<'_>) -> Result<Sample, Failure> {
        if self.before.is_none() {
            self.before = Some(counts(hands, patience)?);
        }
        let (dialect, place) = (&hands.dialect, &hands.place);
        let next = self.next;
        let answers = hands.crew.all(|part| dialect.stretch(place, part, next), patience)?;
        let stretches = answers.iter().map(Told::of).collect::<Result<Vec<Told>, Failure>>()?;
        let began = stretches.iter().map(|it| it.began_us).min().unwrap_or(0);
        let ended = stretches.iter().map(|it| it.ended_us).max().unwrap_or(0);
        let elapsed = Duration::from_micros(ended.saturating_sub(began));
        self.elapsed_ns = self.elapsed_ns.saturating_add(nanoseconds(elapsed));
        self.next = next_after(next, elapsed);
        for (sum, told) in self.committed.iter_mut().zip(&stretches) {
            *sum = sum.saturating_add(told.commits);
        }
        let (log, crew) = counts(hands, patience)?;
        let waited_ns = self.waited_ns(&log, &crew);
        self.before = Some((log.clone(), crew.clone()));
        Ok(Sample {
            at_ns: self.elapsed_ns,
            sessions: u32::try_from(hands.crew.len()).unwrap_or(u32::MAX),
            commits: self.committed.iter().sum(),
            log: LogCounts {
                writes: log.writes,
                bytes: log.bytes,
                taken_ns: log.taken_ns,
                waited_ns,
                latency: missing("the server tells sums only"),
            },
            writer: missing("sessions write the log themselves"),
            crew,
            log_wait_ns: missing("the server does not tell how long sessions wait for the log"),
        })
    }

    /// How long log writes waited for a CPU: as long as sessions do each time they are runnable, once for each write, in which
    /// whoever writes sleeps at least once.
    fn waited_ns(&mut self, log: &Counted, crew: &Known<Ran>) -> Known<u64> {
        let Some((log_before, crew_before)) = &self.before else {
            return missing("there is no stretch before");
        };
        let crew = match (crew_before, crew) {
            (Known::Value(before), Known::Value(after)) => after.since(*before),
            (Known::Missing { missing }, _) | (_, Known::Missing { missing }) => {
                return Known::Missing { missing: missing.clone() };
            }
        };
        let rise =
            |before: &Known<u64>, after: &Known<u64>| after.value()?.checked_sub(*before.value()?);
        let writes = rise(&log_before.writes, &log.writes);
        let taken = rise(&log_before.taken_ns, &log.taken_ns);
        let (Some(crew), Some(writes), Some(taken)) = (crew, writes, taken) else {
            return missing("the server does not time its log writes");
        };
        let each = crew.wait_ns.checked_div(crew.slices).unwrap_or(0);
        self.waited_ns = self.waited_ns.saturating_add(each.saturating_mul(writes).min(taken));
        Known::Value(self.waited_ns)
    }
}

/// As many as fill the next stretch at the same rate, and no more than four times as many: the first ones are slow.
fn next_after(commits: u64, elapsed: Duration) -> u64 {
    let filling = commits as f64 * STRETCH.as_secs_f64() / elapsed.as_secs_f64().max(1e-6);
    (filling as u64).clamp(1, commits.saturating_mul(4)).min(MOST)
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn counts(hands: &mut Hands, patience: Patience<'_>) -> Result<(Counted, Known<Ran>), Failure> {
    let answer = hands.control.first(&hands.dialect.counters(), patience)?;
    let crew: Fact<Ran> = hands
        .crew
        .scheduled()
        .map(|tasks| tasks.into_iter().map(Ran::from).fold(Ran::default(), Ran::plus));
    Ok((hands.dialect.counted(&answer.rows), crew.into()))
}

/// What a session tells of its stretch.
#[derive(Debug, PartialEq)]
struct Told {
    commits: u64,
    began_us: u64,
    ended_us: u64,
}

impl Told {
    fn of(answer: &Answer) -> Result<Told, Failure> {
        let said = answer.rows.join(" ");
        let mut numbers = said.split(' ').map(|it| it.parse::<u64>().ok());
        let mut next = || numbers.next().flatten();
        let told = (|| Some(Told { commits: next()?, began_us: next()?, ended_us: next()? }))();
        told.filter(|it| it.began_us < it.ended_us).ok_or_else(|| {
            Failure::NoFigure(format!("the server answered '{said}', not commits and two times"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(row: &str) -> Result<Told, Failure> {
        Told::of(&Answer { rows: vec![row.to_owned()], wall_ns: 1, cpu_ns: Known::Value(1) })
    }

    #[test]
    fn what_a_session_tells_is_a_number_and_two_times_in_order() {
        assert_eq!(told("7 100 200").unwrap(), Told { commits: 7, began_us: 100, ended_us: 200 });
        for row in ["", "7", "7 200 100", "x 1 2"] {
            assert!(
                told(row).unwrap_err().to_string().contains("not commits and two times"),
                "{row}"
            );
        }
    }

    #[test]
    fn stretches_grow_to_their_length_step_by_step() {
        let after = |commits, millis| next_after(commits, Duration::from_millis(millis));
        assert_eq!(
            [after(16, 1), after(100, 500), after(1, 60_000), after(9000, 1)],
            [64, 50, 1, 10_000]
        );
    }

    #[test]
    fn a_log_write_waits_as_long_as_a_session_does_once_and_no_longer_than_it_takes() {
        let counted = |writes, taken_ns| Counted {
            writes: Known::Value(writes),
            bytes: Known::Value(0),
            taken_ns: Known::Value(taken_ns),
        };
        let ran = |wait_ns, slices| Known::Value(Ran { run_ns: 1, wait_ns, slices });
        let mut total = Total { before: Some((counted(10, 1000), ran(0, 0))), ..Total::default() };
        assert_eq!(total.waited_ns(&counted(20, 9000), &ran(5000, 50)), Known::Value(1000));
        total.before = Some((counted(20, 9000), ran(5000, 50)));
        assert_eq!(total.waited_ns(&counted(30, 9500), &ran(50_000, 60)), Known::Value(1500));
    }
}
