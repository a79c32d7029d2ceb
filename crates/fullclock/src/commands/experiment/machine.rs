//! The machine as each arm wants it: its settings in force and its load on, for one trial.

use super::beside::Loads;
use super::load::Busy;
use crate::cli::Arguments;
use crate::commands::change;
use crate::output;
use anyhow::{Context, Result, anyhow, bail};
use engine::change::Executor;
use engine::change::trial::{fixes_fault, with_change, with_no_change};
use engine::interrupt::Interrupt;
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
pub(super) struct Arena<'a> {
    pub(super) arguments: &'a Arguments,
    pub(super) interrupt: &'a Interrupt,
    pub(super) rest: Duration,
    /// Where a setting is varied.
    pub(super) changing: Option<Changing<'a>>,
    /// The CPUs to keep busy meanwhile, by arm.
    pub(super) loads: Loads,
}

pub(super) struct Changing<'a> {
    executor: Executor<'a>,
    plans: Vec<Plan>,
    /// The place of each arm's plan; `None` where the machine is as that arm wants it.
    of_arm: Vec<Option<usize>>,
}

/// Whether a study may vary settings of this machine.
///
/// Errors: not root; the options name another host.
pub(super) fn may_vary(arguments: &Arguments) -> Result<()> {
    change::may_change(arguments).context("settings are varied")
}

/// Takes back what a run that was killed left changed, before anything is planned from the machine as it is found, and reserves
/// the machine: until the study ends, others may only revert and confirm, between its trials. Users who may not change the machine
/// have changed nothing, and have no journal.
///
/// Error: a change awaits confirmation.
pub(super) fn recover(arguments: &Arguments, state_dir: &Path) -> Result<Option<Changer>> {
    if !host::ownership::is_root() {
        return Ok(None);
    }
    let changer = change::changer(arguments, state_dir, Access::Study)?;
    change::refuse_awaiting(changer.journal(), "a study")?;
    let boot = changer.machine().boot()?;
    let is_left = |it: &&Recorded| matches!(it.state, ChangeState::PartlyReverted { .. });
    let changes = changer.journal().changes().iter();
    for change in changes.filter(|it| it.boot == boot).filter(is_left) {
        let id = &change.id;
        let text = format!(
            "change {id} is reverted in part: what is left of it counts as found here; `fullclock status` shows it"
        );
        output::note(&arguments.output, &text);
    }
    Ok(Some(changer))
}

/// Does `work` while a setting is in force that is taken back afterwards, as around a trial.
///
/// Errors: this machine does not take the setting; it could not be made, or taken back.
pub(crate) fn under(
    (arguments, state_dir): (&Arguments, &Path),
    request: &str,
    interrupt: &Interrupt,
    work: &mut dyn FnMut() -> Result<(), Failure>,
) -> Result<()> {
    may_vary(arguments)?;
    let mut changer = recover(arguments, state_dir)?.context("it takes root")?;
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
        output::note(&arguments.output, &text);
    }
    let mut executor = Executor {
        changer: &mut changer,
        source: &source,
        interrupt,
        i_know: false,
        command: change::command_words(),
    };
    Ok(with_change(&mut executor, &plan, work)?)
}

impl<'a> Changing<'a> {
    pub(super) fn of(executor: Executor<'a>, plans: Plans) -> Changing<'a> {
        Changing { executor, plans: plans.distinct, of_arm: plans.of_arm }
    }
}

impl Arena<'_> {
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
        let Some(changing) = &mut self.changing else { return rested() };
        let place = changing.of_arm.get(arm).copied().flatten();
        let Some(plan) = place.and_then(|it| changing.plans.get(it)) else {
            return with_no_change(changing.executor.changer, &mut rested);
        };
        with_change(&mut changing.executor, plan, &mut rested)
    }
}

/// What the arms want of the settings, as plans for the machine as it is found.
pub(super) struct Plans {
    pub(super) distinct: Vec<Plan>,
    pub(super) of_arm: Vec<Option<usize>>,
}

impl Plans {
    pub(super) fn none() -> Plans {
        Plans { distinct: Vec::new(), of_arm: Vec::new() }
    }

    /// Errors: a setting that does not exist, or a level that this machine refuses, with why.
    pub(super) fn of(
        design: &Design,
        arms: &[Combination],
        host: &HostView,
        i_know: bool,
    ) -> Result<Plans> {
        let source = Live::this_machine();
        let mut known: Vec<Vec<String>> = Vec::new();
        let mut plans = Plans { distinct: Vec::new(), of_arm: Vec::new() };
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
pub(super) struct Mending {
    request: String,
    /// The line that mends it.
    pub(super) command: String,
}

impl Mending {
    /// `None` where the plans of a study mend nothing.
    pub(super) fn of(plans: &Plans, host: &HostView) -> Option<Mending> {
        let request = &plans.distinct.iter().find_map(fixes_fault)?.request;
        let consent = if is_refused_unasked(request, host) { " --i-know" } else { "" };
        let request = request.text();
        Some(Mending { command: format!("fullclock apply{consent} {request}"), request })
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

/// Why a setting that mends a fault takes consent.
fn brings_back(step: &Step) -> String {
    let request = step.request.text();
    format!(
        "{request}: it mends a fault, and an experiment brings the fault back for every other trial: say --i-know for that; \
         `fullclock apply {request}` mends it without a study"
    )
}
