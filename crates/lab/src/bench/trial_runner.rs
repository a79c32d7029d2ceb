//! Runs one trial after the other, each with what the machine did around it.

use super::blocks::Blocks;
use super::prepared::Prepared;
use super::recorder::{Recorder, Work};
use super::{Watcher, recorder, turns};
use crate::failure::Failure;
use crate::groups::Groups;
use crate::known::Known;
use crate::record::Record;
use crate::server::ServerWork;
use crate::trial::{Trial, TrialClock, TrialContext};
use crate::workload::Scene;
use facts::Fact;
use facts::probe::ClockReading;
use fastrand::Rng;
use host::probe::anchor;
use rules::ledger::ServerTasks;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Runs the trials of one record.
pub(super) struct TrialRunner<'a> {
    arms: Prepared,
    /// How many pieces a trial is cut into; `None` where it runs as a whole.
    pieces: Option<u32>,
    recorder: Recorder<'a>,
    scene: &'a Scene<'a>,
    /// When the first trial began.
    started_ns: Option<u64>,
    /// Whether the machine is changed around each trial, so that nothing before a trial belongs to it.
    is_apart: bool,
    /// When an earlier run of the same plan began its last trial, by its own clock: later ones come after that.
    behind_ns: u64,
    /// The boot that this is, where a study takes reboots.
    boot: Option<String>,
}

/// A trial that has ended.
struct End {
    /// In nanoseconds of CLOCK_MONOTONIC_RAW.
    began_ns: u64,
    /// How long its tasks ran.
    cpu_ns: Option<u64>,
    /// The processes of the server that it worked with.
    server: Option<ServerTasks>,
}

/// The clocks before and after a trial.
struct Clocks {
    before: Fact<Vec<ClockReading>>,
    after: Fact<Vec<ClockReading>>,
}

impl<'a> TrialRunner<'a> {
    pub(super) fn new(
        arms: Prepared,
        pieces: Option<u32>,
        recorder: Recorder<'a>,
        scene: &'a Scene<'a>,
        boot: Option<String>,
    ) -> TrialRunner<'a> {
        let (started_ns, behind_ns, is_apart) = (None, 0, false);
        TrialRunner { arms, pieces, recorder, scene, started_ns, is_apart, behind_ns, boot }
    }

    /// Runs the blocks, after `warm_up` trials of each of their arms that are not kept.
    pub(super) fn run(
        mut self,
        warm_up: u32,
        blocks: &Blocks,
        draw: &mut Rng,
        record: &mut Record,
        watcher: &mut dyn Watcher,
    ) -> Result<(), Failure> {
        self.is_apart = record.experiment.is_some();
        if !self.is_apart {
            let lead = self.recorder.begin();
            self.wait(lead)?;
        }
        let began = |it: &Trial| it.began_ns.value().copied();
        self.behind_ns = record.trials.iter().filter_map(began).max().unwrap_or_default();
        watcher.begun(record)?;
        self.warm_up(warm_up, &blocks.coming(), watcher)?;
        let n_before = record.trials.len();
        let mut n_done = n_before;
        for block in blocks.numbers() {
            if block > 1 && n_done == 0 && !watcher.begins_block(record) {
                break;
            }
            match self.pieces {
                Some(pieces) => {
                    self.renew(block, &blocks.arms(block))?;
                    for trial in self.in_turns(pieces, block, draw)? {
                        self.add(trial, record, watcher)?;
                    }
                }
                None => {
                    let order = blocks.order(block, draw);
                    // The same seed draws the same order: what an earlier run did is not done again.
                    let (done, coming) = order.split_at(n_done.min(order.len()));
                    for (place, arm) in (n_before - n_done..).zip(done) {
                        is_of(record, place, (*arm, block))?;
                    }
                    n_done -= done.len();
                    if !coming.is_empty() {
                        self.renew(block, coming)?;
                    }
                    for arm in coming {
                        let trial = self.surrounded(*arm, block, watcher)?;
                        self.add(trial, record, watcher)?;
                    }
                }
            }
            if n_done == 0 && blocks.are_enough(record) && !watcher.wants_more(record) {
                break;
            }
        }
        Ok(())
    }

    /// Makes ready anew what a block runs, where that is due. What was made is no part of the first trial's window.
    fn renew(&mut self, block: u32, arms: &[usize]) -> Result<(), Failure> {
        if self.arms.renew(block, arms, self.scene)? {
            self.recorder.begin_apart();
        }
        Ok(())
    }

    /// Trials that are not kept. One that fails is left to the trials that are.
    fn warm_up(
        &mut self,
        rounds: u32,
        arms: &[usize],
        watcher: &mut dyn Watcher,
    ) -> Result<(), Failure> {
        for &arm in (0..rounds).flat_map(|_| arms) {
            match watcher.surround(arm, &mut || self.whole(arm, 0).map(drop)) {
                Err(failure) if !watcher.goes_on(arm, &failure) => return Err(failure),
                _ => {}
            }
        }
        Ok(())
    }

    /// A trial of one arm, on the machine as that arm wants it.
    fn surrounded(
        &mut self,
        arm: usize,
        block: u32,
        watcher: &mut dyn Watcher,
    ) -> Result<Trial, Failure> {
        let began_ns = anchor().raw_ns;
        let mut trial = None;
        let outcome = watcher.surround(arm, &mut || {
            trial = Some(self.whole(arm, block)?);
            Ok(())
        });
        match (outcome, trial) {
            (Ok(()), Some(trial)) => Ok(trial),
            (Ok(()), None) => Err(Failure::Unready("no trial was run".to_owned())),
            (Err(failure), _) if watcher.goes_on(arm, &failure) => {
                self.started_ns.get_or_insert(began_ns);
                Ok(Trial::failed(arm, block, self.since_start(began_ns), &failure))
            }
            (Err(failure), _) => Err(failure),
        }
    }

    /// A trial of one arm.
    fn whole(&mut self, number: usize, block: u32) -> Result<Trial, Failure> {
        // The time of a server's processes that end is read for the trial alone.
        if self.is_apart || matches!(self.arms.arm(number)?.meter, Some(Ok(_))) {
            self.recorder.begin_apart();
        }
        // Of a workload of this process, a quota is in the ledger.
        let tasks = self.arms.arm(number)?.ready.tasks();
        let mut groups = (!tasks.is_empty()).then(|| Groups::of_server(&tasks));
        let began_ns = self.begin()?;
        let arm = self.arms.arm(number)?;
        let log = arm.log.as_mut().map(|it| it.read(self.scene.stop));
        let before = arm.clocks();
        groups.iter_mut().for_each(Groups::begin);
        arm.meter.iter_mut().flatten().for_each(|it| it.begin(self.scene.stop));
        let outcome = arm.ready.trial(self.scene);
        let throttling = groups.as_mut().and_then(Groups::throttling);
        let (server, tasks) = match &mut arm.meter {
            None => (None, None),
            Some(Err(why)) => (Some(ServerWork::unknown(why)), None),
            Some(Ok(meter)) => {
                let (work, tasks) = meter.end();
                (Some(work), Some(tasks))
            }
        };
        let outcome = outcome?;
        let clocks = Clocks { before, after: arm.clocks() };
        let preparation = arm.number;
        let end = End { began_ns, cpu_ns: outcome.cpu_ns.value().copied(), server: tasks };
        let surroundings = self.end(number, &clocks, end)?;
        // After the trial's window: this waits for the counts to rest.
        let reader = self.arms.arm(number)?.log.as_mut();
        let server_log = reader.zip(log).map(|(it, before)| it.read_after(before, self.scene.stop));
        Ok(Trial {
            number: 0,
            arm: number,
            block,
            began_ns: self.since_start(began_ns),
            boot: None,
            preparation,
            failed: None,
            marks: Vec::new(),
            throttling,
            server,
            server_log,
            slices: Vec::new(),
            outcome,
            clock: clocks.trial_clock(),
            surroundings,
        })
    }

    /// A trial of each arm, in pieces that take turns; the first to begin is the first. They share one window of ledger
    /// and metrics, and the clocks at its ends.
    fn in_turns(&mut self, pieces: u32, block: u32, draw: &mut Rng) -> Result<Vec<Trial>, Failure> {
        let began_ns = self.begin()?;
        let before = self.arms.arm(0)?.clocks();
        let arms = self.arms.all();
        let preparations: Vec<Option<u32>> = arms.iter().map(|it| it.number).collect();
        let runs = turns::run(&arms, pieces, draw, self.scene.stop)?;
        let clocks = Clocks { before, after: self.arms.arm(0)?.clocks() };
        let surroundings = self.end(0, &clocks, End { began_ns, cpu_ns: None, server: None })?;
        let trial = |((arm, run), preparation): ((usize, turns::Run), Option<u32>)| Trial {
            number: 0,
            arm,
            block,
            began_ns: self.since_start(run.began_ns),
            boot: None,
            preparation,
            failed: None,
            marks: Vec::new(),
            throttling: None,
            server: None,
            server_log: None,
            slices: Vec::new(),
            outcome: run.outcome,
            clock: clocks.trial_clock(),
            surroundings: surroundings.clone(),
        };
        let mut trials: Vec<Trial> =
            runs.into_iter().enumerate().zip(preparations).map(trial).collect();
        trials.sort_by_key(|it| it.began_ns.value().copied());
        Ok(trials)
    }

    /// Samples the machine before a trial; returns the moment, in nanoseconds of CLOCK_MONOTONIC_RAW.
    fn begin(&mut self) -> Result<u64, Failure> {
        if self.scene.stop.load(Ordering::Relaxed) {
            return Err(Failure::Stopped);
        }
        self.recorder.begin();
        let began_ns = anchor().raw_ns;
        self.started_ns.get_or_insert(began_ns);
        Ok(began_ns)
    }

    /// Samples the machine after a trial of this arm.
    fn end(
        &mut self,
        number: usize,
        clocks: &Clocks,
        end: End,
    ) -> Result<Known<TrialContext>, Failure> {
        let End { began_ns, cpu_ns, server } = end;
        let ready = &mut self.arms.arm(number)?.ready;
        let readings = [&clocks.before, &clocks.after].into_iter().flatten().flatten();
        let work = Work {
            cpus: ready.cpus().unwrap_or(&self.scene.allowed),
            processes: ready.processes(),
            tasks: ready.tasks(),
            server,
            cpu_ns,
            clocks: readings.copied().collect(),
        };
        let surroundings = self.recorder.end(began_ns, work);
        ready.settle()?;
        if ready.ends_with_trial() {
            self.recorder.forget_past();
        }
        Ok(surroundings)
    }

    fn add(
        &self,
        trial: Trial,
        record: &mut Record,
        watcher: &mut dyn Watcher,
    ) -> Result<(), Failure> {
        let number = u32::try_from(record.trials.len() + 1).unwrap_or(u32::MAX);
        record.trials.push(Trial { number, boot: self.boot.clone(), ..trial });
        watcher.tried(record)
    }

    fn since_start(&self, began_ns: u64) -> Known<u64> {
        let since = began_ns.saturating_sub(self.started_ns.unwrap_or(began_ns));
        Known::Value(self.behind_ns.saturating_add(since))
    }

    /// Waits until the counters have been sampled for long enough.
    #[expect(
        clippy::disallowed_methods,
        reason = "waits for as long as a trial's surroundings need"
    )]
    fn wait(&self, time: Duration) -> Result<(), Failure> {
        const STEP: Duration = Duration::from_millis(50);
        let began = std::time::Instant::now();
        while began.elapsed() < time {
            if self.scene.stop.load(Ordering::Relaxed) {
                return Err(Failure::Stopped);
            }
            std::thread::sleep(STEP.min(time.saturating_sub(began.elapsed())));
        }
        Ok(())
    }
}

impl Clocks {
    fn trial_clock(&self) -> Known<TrialClock> {
        recorder::trial_clock(&self.before, &self.after)
    }
}

/// Whether a trial that an earlier run made is the one that this order has in its place.
fn is_of(record: &Record, place: usize, (arm, block): (usize, u32)) -> Result<(), Failure> {
    match record.trials.get(place) {
        Some(it) if it.arm == arm && it.block == block => Ok(()),
        _ => Err(Failure::Unready(format!(
            "trial {} is not the one that this version makes of the plan: begin anew",
            place + 1
        ))),
    }
}
