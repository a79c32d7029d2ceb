//! Runs trials: in blocks of random order, each with the clock probed around it and the ledger of its CPUs.

mod clock;
mod order;
mod surroundings;

use crate::doubt::Doubt;
use crate::failure::Failure;
use crate::known::Known;
use crate::record::{Arm, Fingerprint, Record};
use crate::trial::{Trial, TrialClock};
use crate::workload::{Ready, Scene, Settings, Workload};
use facts::probe::EventCosts;
use facts::{CpuSet, Fact, Missing};
use fastrand::Rng;
use host::probe::pinned;
use std::sync::atomic::Ordering;
use std::time::Duration;
use surroundings::{Recorder, Work};

/// What is to be run.
pub struct Plan {
    /// What is compared; one without a comparison.
    pub arms: Vec<PlannedArm>,
    /// How many trials of each arm at least; rounded up to whole blocks.
    pub trials: u32,
    /// Decides the order of each block.
    pub seed: u64,
    /// Names the result in the history.
    pub id: String,
    /// The version of this program.
    pub version: String,
    /// The moment, UTC (RFC 3339).
    pub began: String,
    /// The machine.
    pub machine: Fingerprint,
    /// What an interrupt costs here, for the ledgers.
    pub costs: Fact<EventCosts>,
}

/// One of the things compared.
pub struct PlannedArm {
    /// What it is called.
    pub name: String,
    /// What it runs.
    pub workload: &'static Workload,
    /// What was asked of it.
    pub settings: Settings,
}

/// Whoever watches trials go by.
pub trait Watcher {
    /// Everything is prepared, and the first trial is about to begin; there is none in the record yet. Whoever keeps it
    /// may give it another id.
    fn begun(&mut self, record: &mut Record) -> Result<(), Failure>;

    /// A trial has been added to the record.
    fn tried(&mut self, record: &Record) -> Result<(), Failure>;

    /// A block is over, and every arm has the planned number of trials. Whether another block is wanted.
    fn wants_more(&mut self, record: &Record) -> bool;
}

/// Runs the plan. The record holds every trial that was made, also where a later one failed; its doubts are not yet
/// found. Only a plan that could not begin has no record.
pub fn run(
    plan: Plan,
    scene: &Scene<'_>,
    watcher: &mut dyn Watcher,
) -> Result<(Record, Result<(), Failure>), Failure> {
    let mut arms = Vec::new();
    for planned in &plan.arms {
        arms.push(PreparedArm::of(planned, scene)?);
    }
    let described = plan.arms.iter().zip(&arms).map(|(planned, arm)| arm.describe(planned));
    let mut record = Record {
        id: plan.id,
        version: plan.version,
        began: plan.began,
        machine: plan.machine,
        ..Record::of(described.collect())
    };
    let recorder = Recorder::open(scene.host, plan.costs);
    let mut draw = Rng::with_seed(plan.seed);
    let outcome = Session { arms, recorder, scene, started_ns: 0 }.blocks(
        plan.trials,
        &mut draw,
        &mut record,
        watcher,
    );
    record.is_complete = outcome.is_ok();
    if matches!(outcome, Err(Failure::Stopped)) {
        record.doubts.push(Doubt::CutShort.into());
    }
    Ok((record, outcome))
}

struct PreparedArm {
    ready: Box<dyn Ready>,
}

impl PreparedArm {
    fn of(planned: &PlannedArm, scene: &Scene<'_>) -> Result<PreparedArm, Failure> {
        planned.workload.accepts(&planned.settings)?;
        if let Some(cpus) = planned.settings.cpus()? {
            // The CPUs of isolcpus= are in no process's mask, and take whoever asks for them by name.
            let denied: CpuSet = cpus.iter().filter(|cpu| pinned(*cpu, || ()).is_err()).collect();
            if !denied.is_empty() {
                let text =
                    format!("--cpus names {denied}: offline, or outside of this process's cpuset");
                return Err(Failure::Unready(text));
            }
        }
        Ok(PreparedArm { ready: (planned.workload.prepare)(&planned.settings, scene)? })
    }

    fn describe(&self, planned: &PlannedArm) -> Arm {
        Arm {
            settings: planned.settings.without_secrets(),
            cpus: self.ready.cpus().map(CpuSet::to_string),
            about: self.ready.about(),
            ..Arm::of(&planned.name, planned.workload.id)
        }
    }

    /// The clocks of its CPUs; missing where the scheduler chooses them.
    fn clocks(&self) -> Fact<Vec<facts::probe::ClockReading>> {
        let because = "the scheduler chose its CPUs; --cpus pins it";
        let unpinned = || Missing::not_here("clock of the trial", because);
        clock::clocks(self.ready.cpus().ok_or_else(unpinned)?)
    }
}

struct Session<'a> {
    arms: Vec<PreparedArm>,
    recorder: Recorder<'a>,
    scene: &'a Scene<'a>,
    /// When the first trial began.
    started_ns: u64,
}

impl Session<'_> {
    fn blocks(
        mut self,
        trials: u32,
        draw: &mut Rng,
        record: &mut Record,
        watcher: &mut dyn Watcher,
    ) -> Result<(), Failure> {
        let lead = self.recorder.begin();
        self.wait(lead)?;
        watcher.begun(record)?;
        for block in 1.. {
            for arm in order::block(self.arms.len(), draw) {
                let trial = self.trial(arm, block, record.trials.len())?;
                record.trials.push(trial);
                watcher.tried(record)?;
            }
            let per_block = if self.arms.len() > 1 { 2 } else { 1 };
            if block * per_block >= trials && !watcher.wants_more(record) {
                break;
            }
        }
        Ok(())
    }

    fn trial(&mut self, number: usize, block: u32, n_before: usize) -> Result<Trial, Failure> {
        if self.scene.stop.load(Ordering::Relaxed) {
            return Err(Failure::Stopped);
        }
        self.recorder.begin();
        let began_ns = host::probe::anchor().raw_ns;
        if n_before == 0 {
            self.started_ns = began_ns;
        }
        let arm = &mut self.arms[number];
        let before = arm.clocks();
        let outcome = arm.ready.trial(self.scene)?;
        let after = arm.clocks();
        let cpus = arm.ready.cpus().unwrap_or(&self.scene.allowed);
        let readings = [&before, &after].into_iter().flatten().flatten().copied().collect();
        let work = Work {
            cpus,
            processes: arm.ready.processes(),
            tasks: arm.ready.tasks(),
            cpu_ns: outcome.cpu_ns.value().copied(),
            clocks: readings,
        };
        let surroundings = self.recorder.end(began_ns, work);
        arm.ready.settle()?;
        if arm.ready.processes().is_empty() {
            self.recorder.forget_past();
        }
        Ok(Trial {
            number: u32::try_from(n_before + 1).unwrap_or(u32::MAX),
            arm: number,
            block,
            began_ns: Known::Value(began_ns.saturating_sub(self.started_ns)),
            outcome,
            clock: around(before, after),
            surroundings,
        })
    }

    /// Waits until the machine has been watched for long enough.
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

fn around(
    before: Fact<Vec<facts::probe::ClockReading>>,
    after: Fact<Vec<facts::probe::ClockReading>>,
) -> Known<TrialClock> {
    let both = before.and_then(|before| Ok((before, after?)));
    both.map(|(before, after)| TrialClock {
        before_hz: clock::mean_hz(&before),
        after_hz: clock::mean_hz(&after),
    })
    .into()
}
