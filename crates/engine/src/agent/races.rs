//! The races of an agent, one at a time. A race goes on while its connection is lost.

use crate::clock::now;
use crate::measure::costs;
use crate::peer::Slot;
use crate::sampling::Taping;
use facts::HostView;
use host::tape::Writer;
use host::{Live, Recording};
use lab::race::protocol::Ready;
use lab::race::{Runner, Task};
use lab::trial::Trial;
use lab::workload::Scene;
use std::collections::VecDeque;
use std::fmt::Display;
use std::fs::File;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// How many intervals are remembered that are not kept elsewhere: ten a second for the patience of an agent, and some more. Each
/// has some tens of kilobytes.
const MOST: usize = 4000;

/// How often the stop flag and the patience are checked.
const GLANCE: Duration = Duration::from_millis(200);

/// The races of an agent, one at a time.
pub(super) struct Races {
    patience: Duration,
    slot: Arc<Slot<Arc<Run>>>,
}

/// One race on this node.
pub(super) struct Run {
    race: String,
    patience: Duration,
    /// The scene's wish to stop.
    stop: AtomicBool,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) ready: Option<Ready>,
    begin_ns: Option<u64>,
    /// The recording of this machine, where there is one.
    pub(super) tape: Option<Tape>,
    /// The intervals that are not kept elsewhere, the oldest first.
    pub(super) trials: VecDeque<Trial>,
    /// It is over, or never began, and why.
    pub(super) ended: Option<Result<(), String>>,
    /// When an order came last.
    asked: Option<Instant>,
}

/// A recording in a file without a name, which holds all of it for as long as the race is known.
#[derive(Clone)]
pub(super) struct Tape {
    pub(super) file: Arc<File>,
    /// How much of the file is whole samples.
    pub(super) length: u64,
}

impl Races {
    /// An agent's, which ends a race after that long without a message from its client.
    pub(super) fn with(patience: Duration) -> Races {
        Races { patience, slot: Slot::new() }
    }

    /// Begins another race.
    ///
    /// Errors: there is one.
    pub(super) fn begin(&self, task: Task) -> Result<Arc<Run>, String> {
        let run = Arc::new(Run {
            race: task.race.clone(),
            patience: self.patience,
            stop: AtomicBool::new(false),
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let lease = self.slot.take(run.clone()).map_err(|other| {
            format!("the agent is in another race, {}: wait for its end", other.race)
        })?;
        run.asked();
        let own = run.clone();
        let work = move || {
            let _lease = lease;
            own.work(&task);
        };
        let thread = Builder::new().name("race".to_owned()).spawn(work);
        thread.map_err(|it| host::process::thread_refusal(&it))?;
        Ok(run)
    }

    /// The race with this id, where it is the current or the latest one.
    pub(super) fn find(&self, race: &str) -> Option<Arc<Run>> {
        self.slot.latest().filter(|it| it.race == race)
    }

    /// Ends the current race, and waits for its end.
    pub(super) fn end(&self) {
        if let Some(run) = self.slot.latest() {
            run.end();
            self.slot.wait_until_free();
        }
    }
}

impl State {
    /// Whether the time of its beginning is set.
    pub(super) fn has_begun(&self) -> bool {
        self.begin_ns.is_some()
    }
}

impl Run {
    fn work(self: &Arc<Self>, task: &Task) {
        let ending = Ending(self);
        let ended = self.race(task);
        self.change(|it| it.ended = Some(ended));
        drop(ending);
    }

    fn race(self: &Arc<Self>, task: &Task) -> Result<(), String> {
        let live = Live::this_machine();
        let recording = Recording::new(&live);
        let host = host::view(&recording);
        let allowed = host::probe::allowed().map_err(|it| it.to_string())?;
        let costs = costs::costs(&host, &allowed);
        let scene =
            Scene { host: &host, allowed, temporary: std::env::temp_dir(), stop: &self.stop };
        let mut runner = Runner::prepare(task, &scene, costs).map_err(|it| it.to_string())?;
        if task.is_recorded {
            crate::advised::ask(&recording, &host);
        }
        let taping = task.is_recorded.then(|| self.taping(&recording, &host)).transpose()?;
        let ready = runner.ready();
        self.change(|it| it.ready = Some(ready));
        let Some(begin_ns) = self.wait_for_begin() else { return Ok(()) };
        let mut is_abandoned = false;
        let mut tell = |trial: Trial| {
            let is_full = self.change(|it| {
                it.trials.push_back(trial);
                it.trials.len() > MOST
            });
            is_abandoned |= is_full || self.is_abandoned(&self.state());
            if is_abandoned {
                self.end();
            }
        };
        let raced = runner.run(begin_ns, &mut tell).map_err(|it| it.to_string());
        // What it lacks it says itself.
        taping.map(Taping::finish);
        raced?;
        if is_abandoned {
            return Err("no client took its intervals, so it ended".to_owned());
        }
        Ok(())
    }

    /// Begins to record this machine, which is `host` by the answers in `recording`.
    ///
    /// Errors: there is no room for it, or no thread.
    fn taping(
        self: &Arc<Self>,
        recording: &Recording<'_>,
        host: &HostView,
    ) -> Result<Taping, String> {
        let refused = |why: &dyn Display| format!("cannot record this machine: {why}");
        let file = tempfile::tempfile().map_err(|it| refused(&it))?;
        let written = file.try_clone().map_err(|it| refused(&it))?;
        let name = "a temporary file".to_owned();
        let tape = Writer::on(written, name, recording).map_err(|it| refused(&it))?;
        let (file, own) = (Arc::new(file), self.clone());
        let told =
            move |length| own.change(|it| it.tape = Some(Tape { file: file.clone(), length }));
        Taping::begin(tape, host, told).map_err(|it| host::process::thread_refusal(&it))
    }

    /// `None` where it is to end before.
    fn wait_for_begin(&self) -> Option<u64> {
        let mut state = self.state();
        loop {
            if let Some(begin_ns) = state.begin_ns {
                return Some(begin_ns);
            }
            if self.stop.load(Ordering::Relaxed) || self.is_abandoned(&state) {
                return None;
            }
            (state, _) =
                self.changed.wait_timeout(state, GLANCE).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Begins at that moment of CLOCK_MONOTONIC_RAW.
    pub(super) fn begin(&self, at_ns: u64) {
        self.change(|it| it.begin_ns = Some(at_ns));
    }

    pub(super) fn end(&self) {
        self.stop.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// Forgets intervals up to that number.
    pub(super) fn forget(&self, up_to: u32) {
        self.change(|it| it.trials.retain(|trial| trial.number > up_to));
    }

    /// Notes that the client is alive: an order came.
    pub(super) fn asked(&self) {
        self.state().asked = Some(now());
    }

    /// Whether its client has been silent for too long.
    fn is_abandoned(&self, state: &State) -> bool {
        state.asked.is_none_or(|it| it.elapsed() > self.patience)
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Waits for a change, or a while.
    pub(super) fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.changed.wait_timeout(state, GLANCE).unwrap_or_else(PoisonError::into_inner).0
    }

    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let changed = change(&mut self.state());
        self.changed.notify_all();
        changed
    }
}

/// Marks a race whose thread panics as ended.
struct Ending<'a>(&'a Run);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        let bug = || Err("the agent's race panicked".to_owned());
        self.0.change(|it| it.ended.get_or_insert_with(bug).is_ok());
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab::known::Known;

    fn run(patience: Duration) -> Run {
        Run {
            race: "r".to_owned(),
            patience,
            stop: AtomicBool::new(false),
            state: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    #[test]
    fn what_is_kept_elsewhere_is_forgotten_and_nothing_else() {
        let run = run(Duration::from_secs(300));
        for number in 1..=5 {
            let trial = Trial::failed(0, 0, Known::Value(0), &lab::failure::Failure::Stopped);
            run.state().trials.push_back(Trial { number, ..trial });
        }
        run.forget(3);
        let left: Vec<u32> = run.state().trials.iter().map(|it| it.number).collect();
        assert_eq!(left, [4, 5]);
    }

    #[test]
    fn a_race_of_which_nothing_is_heard_never_begins() {
        let run = run(Duration::ZERO);
        run.asked();
        assert_eq!(run.wait_for_begin(), None);
        run.begin(7);
        assert_eq!(run.wait_for_begin(), Some(7));
    }

    #[test]
    fn a_race_whose_thread_panics_is_over() {
        let run = run(Duration::from_secs(300));
        drop(Ending(&run));
        assert!(run.state().ended.as_ref().is_some_and(Result::is_err));
    }
}
