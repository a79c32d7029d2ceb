//! The machine as each arm wants it: its settings in force and its load on, for one trial.

use super::Task;
use super::background_load::Loads;
use super::load::Busy;
use crate::change::trial::{fixes_fault, with_change, with_no_change};
use crate::change::{Executor, opened};
use crate::interrupt::Interrupt;
use crate::{Event, Tell};
use anyhow::{Context, Result, anyhow, bail};
use facts::HostView;
use facts::change::{ChangeState, Recorded};
use host::change::{Access, Changer};
use host::{Live, Source};
use lab::experiment::{Combination, Design};
use lab::failure::Failure;
use rules::plan::{Plan, Request, Step};
use rules::setting::{Effect, Scene};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::slice;
use std::time::Duration;

/// What is done to the machine around the trials.
pub(super) struct TrialEnv<'a> {
    pub(super) interrupt: &'a Interrupt,
    pub(super) rest: Duration,
    /// Where a setting is varied: what changes it, and the plans of the arms.
    pub(super) varied: Option<(Executor<'a>, ArmPlans)>,
    /// The CPUs to keep busy during a trial, by arm.
    pub(super) loads: Loads,
}

/// Whether a study may vary settings of this machine.
///
/// Error: not root.
pub(super) fn may_vary() -> Result<()> {
    opened::may_change().context("settings are varied")
}

/// This machine as a study finds it.
pub struct Reserved {
    pub(super) host: HostView,
    /// Held until the study ends; `None` without root, and for a study that is only planned.
    pub(super) changer: Option<Changer>,
}

impl Reserved {
    /// The machine before anything is changed.
    pub fn host(&self) -> &HostView {
        &self.host
    }
}

/// Undoes what a killed run left changed, reserves the machine, and looks at it. Until the study ends, others can only revert and
/// confirm, between its trials. A study that is only planned reserves nothing.
///
/// Error: a change awaits confirmation.
pub fn reserve(task: &Task<'_>, tell: &mut Tell<'_>) -> Result<Reserved> {
    let changer = if task.dry_run { None } else { changer(task.state_dir, tell)? };
    Ok(Reserved { host: host::view(&Live::this_machine()), changer })
}

/// Users who may not change the machine have changed nothing, and have no journal.
fn changer(state_dir: &Path, tell: &mut Tell<'_>) -> Result<Option<Changer>> {
    if !host::ownership::is_root() {
        return Ok(None);
    }
    let changer = opened::changer(state_dir, Access::Study, None, tell)?;
    opened::refuse_awaiting(changer.journal(), "a study")?;
    let boot = changer.machine().boot()?;
    let is_left = |it: &&Recorded| matches!(it.state, ChangeState::PartlyReverted { .. });
    let changes = changer.journal().changes().iter();
    for change in changes.filter(|it| it.boot == boot).filter(is_left) {
        let id = &change.id;
        let text = format!(
            "change {id} is reverted in part: what is left of it counts as found here; `fullclock status` shows it"
        );
        tell(Event::Note(text))?;
    }
    Ok(Some(changer))
}

/// Does `work` while a setting is in force that is taken back afterwards, as around a trial.
///
/// Errors: this machine does not take the setting; it could not be made, or taken back.
pub fn under(
    request: &str,
    (state_dir, command): (&Path, Vec<String>),
    interrupt: &Interrupt,
    work: &mut dyn FnMut() -> Result<(), Failure>,
    tell: &mut Tell<'_>,
) -> Result<()> {
    may_vary()?;
    let mut changer = changer(state_dir, tell)?.context("it takes root")?;
    let source = Live::this_machine();
    let host = host::view(&source);
    let plan = planned(&[request.to_owned()], &host, &source, false)?;
    if plan.is_idle() {
        return Ok(work()?);
    }
    let writes = plan.steps.iter().flat_map(|it| &it.change.writes);
    for write in writes {
        let [from, to] = [&write.from, &write.to].map(|it| it.as_deref().unwrap_or_default());
        let text = format!("{}: {from} -> {to}, and back afterwards", write.target);
        tell(Event::Note(text))?;
    }
    let mut executor =
        Executor { changer: &mut changer, source: &source, interrupt, i_know: false, command };
    Ok(with_change(&mut executor, &plan, work)?)
}

impl TrialEnv<'_> {
    /// Runs a trial of this arm.
    pub(super) fn around(
        &mut self,
        arm: usize,
        trial: &mut dyn FnMut() -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let (rest, interrupt) = (self.rest, self.interrupt);
        let busy = self.loads.of(arm);
        let mut rested = || {
            let mut busy = busy.map(Busy::start).transpose()?;
            if !rest.is_zero() && interrupt.wait(rest) {
                return Err(Failure::Stopped);
            }
            trial()?;
            busy.as_mut().map_or(Ok(()), Busy::held)
        };
        let Some((executor, plans)) = &mut self.varied else { return rested() };
        match plans.of(arm) {
            None => with_no_change(executor.changer, &mut rested),
            Some(plan) => with_change(executor, plan, &mut rested),
        }
    }
}

/// What the arms want of the settings, as plans for the machine as it is found.
pub(super) struct ArmPlans {
    distinct: Vec<Plan>,
    /// The place of each arm's plan; `None` where the machine is as that arm wants it.
    of_arm: Vec<Option<usize>>,
}

impl ArmPlans {
    pub(super) fn none() -> ArmPlans {
        ArmPlans { distinct: Vec::new(), of_arm: Vec::new() }
    }

    /// Errors: a setting that does not exist, or a level that this machine refuses, with why.
    pub(super) fn for_arms(
        design: &Design,
        arms: &[Combination],
        host: &HostView,
        i_know: bool,
    ) -> Result<ArmPlans> {
        let source = Live::this_machine();
        let mut known: Vec<Vec<String>> = Vec::new();
        let mut plans = ArmPlans { distinct: Vec::new(), of_arm: Vec::new() };
        let mut at: Vec<Option<usize>> = Vec::new();
        for arm in arms {
            let wanted = requests(design, arm);
            let place = known.iter().position(|it| *it == wanted).unwrap_or(known.len());
            if place == known.len() {
                let plan = planned(&wanted, host, &source, i_know)?;
                at.push((!plan.is_idle()).then_some(plans.distinct.len()));
                if !plan.is_idle() {
                    plans.distinct.push(plan);
                }
                known.push(wanted);
            }
            plans.of_arm.push(at[place]);
        }
        Ok(plans)
    }

    /// What an arm changes; `None` where it is nothing.
    fn of(&self, arm: usize) -> Option<&Plan> {
        self.distinct.get(self.of_arm.get(arm).copied().flatten()?)
    }

    /// The settings that are planned only because the user has given consent, by id.
    pub(super) fn with_consent(&self, host: &HostView) -> Vec<String> {
        let steps = self.distinct.iter().flat_map(|it| &it.steps);
        // Many arms ask for the same, and each look reads the host.
        let requests: BTreeMap<String, &Request> =
            steps.map(|it| (it.request.text(), &it.request)).collect();
        let refused = requests.into_values().filter(|it| is_refused_unasked(it, host));
        let ids: BTreeSet<&str> = refused.map(|it| it.setting.id).collect();
        ids.into_iter().map(str::to_owned).collect()
    }
}

/// Whether a request that this machine takes with the user's consent is refused without.
fn is_refused_unasked(request: &Request, host: &HostView) -> bool {
    let source = Live::this_machine();
    let controls = host::controls(&source as &dyn Source, request.setting.reads);
    request.plan(&Scene { host, controls: &controls }, false).is_err()
}

/// A fault that the arms take away and bring back in turn.
pub(super) struct FaultToggle {
    request: String,
    /// The command that fixes it.
    pub(super) command: String,
}

impl FaultToggle {
    /// `None` where the plans of a study fix no fault.
    pub(super) fn of(plans: &ArmPlans, host: &HostView) -> Option<FaultToggle> {
        let request = &plans.distinct.iter().find_map(fixes_fault)?.request;
        let consent = if is_refused_unasked(request, host) { " --i-know" } else { "" };
        let request = request.text();
        Some(FaultToggle { command: format!("fullclock apply{consent} {request}"), request })
    }

    /// Whether the fault is there.
    pub(super) fn is_due(&self, host: &HostView) -> bool {
        let plan = planned(slice::from_ref(&self.request), host, &Live::this_machine(), true);
        plan.is_ok_and(|it| !it.is_idle())
    }
}

/// What an arm asks of the settings that are changed around its trials.
fn requests(design: &Design, arm: &Combination) -> Vec<String> {
    let at_boot =
        |place: &usize| design.boots.as_ref().is_some_and(|it| it.factors.contains(place));
    let places = (0..design.factors.len()).filter(|it| !at_boot(it));
    places
        .filter_map(|it| {
            let factor = &design.factors[it];
            factor.request(factor.levels.get(*arm.levels.get(it)?)?)
        })
        .collect()
}

/// A plan of these requests; an error where one of them is refused.
pub(super) fn planned(
    wanted: &[String],
    host: &HostView,
    source: &Live,
    i_know: bool,
) -> Result<Plan> {
    let requests: Vec<Request> = wanted
        .iter()
        .map(|it| Request::parse(it).map_err(|error| anyhow!(error)))
        .collect::<Result<_>>()?;
    if let Some(at_boot) = requests.iter().find(|it| it.setting.effect == Effect::AtBoot) {
        bail!(
            "{}: is in force only after a reboot, and an experiment does not reboot; compare boots by `fullclock bench` in each \
             and `fullclock compare`",
            at_boot.text()
        );
    }
    let controls = host::controls(source as &dyn Source, &rules::plan::reads(&requests));
    let plan = rules::plan::plan(host, controls, &requests, i_know);
    if let Some((request, refusal)) = plan.refused.first() {
        bail!("{}: {refusal}", request.text());
    }
    match fixes_fault(&plan) {
        Some(step) if !i_know => bail!(brings_back(step)),
        _ => Ok(plan),
    }
}

/// Why a setting that fixes a fault takes consent.
fn brings_back(step: &Step) -> String {
    let request = step.request.text();
    format!(
        "{request}: it fixes a fault, and an experiment brings the fault back for every other trial: say --i-know for that; \
         `fullclock apply {request}` fixes it without a study"
    )
}
