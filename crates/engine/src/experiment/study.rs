//! A study on this machine: its arms and plans, how long they take, and its run in this boot.

use super::background_load::{Loads, Work};
use super::boots::{self, ThisBoot};
use super::folder::Place;
use super::session::{self, Session};
use super::trial_env::{self, ArmPlans, FaultToggle, TrialEnv};
use super::{Ran, RunContext, Start, arms};
use crate::change::Executor;
use crate::interrupt::Interrupt;
use crate::measure::costs;
use crate::{Event, StudyPlan, Tell, bench};
use anyhow::{Context, Result, anyhow, bail};
use facts::quantity::roughly;
use facts::{CpuSet, HostView};
use host::Live;
use lab::bench::{Plan, PlannedArm};
use lab::doubt::Doubt;
use lab::experiment::analysis::LEAST_BLOCKS;
use lab::experiment::{Combination, Design, Experiment, Kind};
use lab::failure::Failure;
use lab::record::{Fingerprint, Record};
use lab::workload::Scene;
use std::time::{Duration, Instant};

/// A design, and its arms and plans on this machine.
pub(super) struct Study<'h> {
    design: Design,
    host: &'h HostView,
    allowed: CpuSet,
    pub(super) combinations: Vec<Combination>,
    pub(super) arms: Vec<PlannedArm>,
    plans: ArmPlans,
    /// The settings that this machine takes only with the user's consent.
    with_consent: Vec<String>,
    /// Where a level fixes a fault.
    fault: Option<FaultToggle>,
    /// Whether a setting is changed around trials.
    varies_settings: bool,
    /// How long a trial of each workload took, in seconds.
    lengths: Vec<f64>,
}

impl<'h> Study<'h> {
    /// Errors: everything that the plan asks for and this machine does not have.
    pub(super) fn of(
        design: Design,
        workloads: &[PlannedArm],
        host: &'h HostView,
        i_know: bool,
    ) -> Result<Study<'h>> {
        let allowed = host::probe::allowed()?;
        let combinations = lab::experiment::arms(&design)?;
        let arms = arms::planned(&design, &combinations, workloads)?;
        boots::are_possible(&design, host, i_know)?;
        let plans = ArmPlans::for_arms(&design, &combinations, host, i_know)?;
        let fault = FaultToggle::of(&plans, host);
        // Without consent there would be no plans of what is refused without it.
        let with_consent = if i_know { plans.with_consent(host) } else { Vec::new() };
        let at_boot = design.boots.as_ref().map_or(&[][..], |it| &it.factors);
        let mut factors = design.factors.iter().enumerate();
        let varies_settings =
            factors.any(|(at, it)| it.kind() == Kind::Setting && !at_boot.contains(&at));
        Ok(Study {
            design,
            host,
            allowed,
            combinations,
            arms,
            plans,
            with_consent,
            fault,
            varies_settings,
            lengths: Vec::new(),
        })
    }

    fn scene<'s>(&'s self, interrupt: &'s Interrupt) -> Scene<'s> {
        let (allowed, temporary) = (self.allowed.clone(), std::env::temp_dir());
        Scene { host: self.host, allowed, temporary, stop: interrupt.flag() }
    }

    /// Runs each workload once, to know how long a trial takes, and fits the trials into the budget.
    #[expect(
        clippy::disallowed_methods,
        reason = "how long a trial takes is to be told before the first"
    )]
    pub(super) fn fit(&mut self, interrupt: &Interrupt, tell: &mut Tell<'_>) -> Result<()> {
        bench::clear_up(&std::env::temp_dir(), None, tell)?;
        let loads = Loads::on(self.host, &self.allowed);
        for workload in 0..self.design.workloads.len() {
            let first = self.combinations.iter().position(|it| it.workload == workload);
            let Some(arm) = first.and_then(|it| self.arms.get(it)) else { continue };
            let scene = self.scene(interrupt);
            let mut ready = (arm.workload.prepare)(&arm.settings, &scene)?;
            self.leaves_room(workload, ready.cpus(), &loads)?;
            let began = Instant::now();
            ready.trial(&scene).with_context(|| format!("a first trial of {}", arm.name))?;
            ready.settle()?;
            self.lengths.push(began.elapsed().as_secs_f64());
        }
        let Some(budget) = self.design.budget else { return Ok(()) };
        let of_one = session::length(
            &self.lengths,
            self.n_combinations(),
            &Design { trials: 1, warm_up: 0, ..self.design.clone() },
        );
        let rounds = (budget.as_secs_f64() / of_one.as_secs_f64().max(1e-9)) as u32;
        let fitting = rounds.saturating_sub(self.design.warm_up) / 2 * 2;
        if fitting < 2 * LEAST_BLOCKS {
            bail!(
                "--budget {}: {} combinations take {} for one trial each, and at least {} trials of each are needed; leave out \
                 levels, or give it {}",
                rough_time(budget),
                self.arms.len(),
                rough_time(of_one),
                2 * LEAST_BLOCKS,
                rough_time(of_one * (2 * LEAST_BLOCKS + self.design.warm_up))
            );
        }
        self.design.trials = self.design.trials.min(fitting);
        Ok(())
    }

    /// Whether the arms of a workload, which keeps to these CPUs where it is told of none, leave CPUs to their loads.
    fn leaves_room(&self, workload: usize, cpus: Option<&CpuSet>, loads: &Loads) -> Result<()> {
        let arms = self.combinations.iter().zip(&self.arms);
        for (combination, arm) in arms.filter(|it| it.0.workload == workload) {
            let cpus = arm.settings.cpus()?.or_else(|| cpus.cloned());
            loads.beside(&self.design, combination, &Work { id: arm.workload.id, cpus })?;
        }
        Ok(())
    }

    fn n_combinations(&self) -> usize {
        self.arms.len() / self.design.workloads.len().max(1)
    }

    /// Shows the trials that are about to be run, or would be.
    pub(super) fn announce(&self, is_run: bool, tell: &mut Tell<'_>) -> Result<()> {
        if self.fault.is_some() {
            let text = "what was found is a fault: it is fixed for some of the trials, brought back for the others, and in \
                        force again at the end";
            tell(Event::Note(text.to_owned()))?;
        }
        tell(Event::Study(&StudyPlan {
            design: &self.design,
            arms: &self.combinations,
            names: self.arms.iter().map(|it| it.name.as_str()).collect(),
            length: session::length(&self.lengths, self.n_combinations(), &self.design),
            trial_seconds: &self.lengths,
            is_run,
        }))
    }

    /// The trials, in an order that a seed decides.
    pub(super) fn plan(&self, seed: u64) -> Result<Plan> {
        let (id, began) = bench::moment(&slug(&self.design));
        Ok(Plan {
            arms: Vec::new(),
            trials: self.design.trials,
            expected: self.design.trials,
            seed,
            id,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            began,
            machine: Fingerprint::of(self.host),
            costs: costs::costs(self.host, &self.allowed),
            is_whole: true,
            warm_up: self.design.warm_up,
            experiment: Some(Experiment {
                with_consent: self.with_consent.clone(),
                ..Experiment::of(self.design.clone(), self.combinations.clone(), seed)
            }),
            so_far: Vec::new(),
            boot: None,
        })
    }

    pub(super) fn run(
        mut self,
        context: RunContext<'_>,
        plan: Plan,
        start: Start,
        tell: &mut Tell<'_>,
    ) -> Result<Ran> {
        let fault = self.fault.take();
        let ended = self.in_this_boot(context, plan, start, tell);
        let is_due = |it: &FaultToggle| it.is_due(&host::view(&Live::this_machine()));
        let Some(FaultToggle { command, .. }) = fault.filter(is_due) else { return ended };
        let text = format!("the fault that was found is in force again: `{command}` fixes it");
        match ended {
            Ok(mut ran) => {
                ran.notes.push(text);
                Ok(ran)
            }
            Err(error) => {
                tell(Event::Note(text))?;
                Err(error)
            }
        }
    }

    /// Runs what can be run before the next reboot; all of it where it takes none.
    fn in_this_boot(
        mut self,
        context: RunContext<'_>,
        plan: Plan,
        start: Start,
        tell: &mut Tell<'_>,
    ) -> Result<Ran> {
        let RunContext { task, interrupt, mut changer } = context;
        let i_know = task.i_know;
        let (mut plan, place) = start.place(plan)?;
        if self.varies_settings || self.design.boots.is_some() {
            trial_env::may_vary()?;
        }
        let source = Live::this_machine();
        let experiment = plan.experiment.clone();
        let mut boot = match (&experiment, &changer) {
            (Some(it), Some(changer)) => ThisBoot::of(it, self.host, changer.machine(), i_know)?,
            _ => None,
        };
        plan.boot = boot.as_mut().map(|it| it.part(&plan.so_far)).transpose()?;
        let plans = std::mem::replace(&mut self.plans, ArmPlans::none());
        let varied = changer.as_mut().filter(|_| self.varies_settings).map(|changer| {
            let command = task.command.clone();
            (Executor { changer, source: &source, interrupt, i_know, command }, plans)
        });
        let (loads, rest) = (Loads::on(self.host, &self.allowed), self.design.rest);
        let env = TrialEnv { interrupt, rest, varied, loads };
        let (record, outcome, place) = self.trials(plan, env, place, tell)?;
        let mut ran =
            Ran { folder: place.folder.clone(), record, outcome, is_over: true, notes: Vec::new() };
        if let (Some(boot), Some(changer), Ok(())) = (boot, &mut changer, &ran.outcome) {
            let command = boots::command(&ran.record);
            let executor = Executor { changer, source: &source, interrupt, i_know, command };
            ran.notes.push(boot.next(&ran.record, executor)?);
            ran.is_over = ran.record.is_complete;
        }
        if ran.is_over {
            place.close(&ran.record, ran.outcome.is_ok())?;
        }
        Ok(ran)
    }

    /// Runs them, and notes what is to be doubted.
    fn trials(
        &mut self,
        plan: Plan,
        env: TrialEnv<'_>,
        place: Place,
        tell: &mut Tell<'_>,
    ) -> Result<(Record, Result<(), Failure>, Place)> {
        let plan = Plan { arms: std::mem::take(&mut self.arms), ..plan };
        let scene = self.scene(env.interrupt);
        let mut session = Session::new(env, place, plan.so_far.len(), self.design.clone(), tell);
        let (mut record, outcome) = lab::bench::run(plan, &scene, &mut session)?;
        record.doubts.extend(lab::doubts::of(&record));
        if outcome.as_ref().is_err_and(|it| !matches!(it, Failure::Stopped)) {
            record.doubts.push(Doubt::CutShort.into());
        }
        let before = Fingerprint::of(self.host);
        let after = Fingerprint::of(&host::view(&Live::this_machine()));
        for line in before.changes(&after) {
            session.trouble(anyhow!("during this experiment, {line} (not by it)"))?;
        }
        Ok((record, outcome, session.place))
    }
}

/// The name of a study's folder: `case-tick`, `governor-load`.
fn slug(design: &Design) -> String {
    let names: Vec<&str> = design.factors.iter().map(|it| it.name.as_str()).collect();
    let case = design.name.split_once(": ").map(|(case, _)| case);
    let name =
        case.filter(|it| it.starts_with("case:")).map_or_else(|| names.join("-"), str::to_owned);
    let plain = |it: char| if it.is_ascii_alphanumeric() { it } else { '-' };
    name.chars().map(plain).take(40).collect()
}

/// A time in a unit that one can wait in.
fn rough_time(time: Duration) -> String {
    roughly(time.as_secs_f64())
}
