//! Makes a change, all of it or nothing.

use super::opened::{changer, refuse_awaiting};
use super::persist::{self, Lasting};
use super::requested::{Asked, asked, planned, profile_requests};
use super::trial::{self, Proof};
use super::{Change, Executor, Stop, with_unrecorded};
use crate::interrupt::Interrupt;
use crate::redfish::Controller;
use crate::{Event, Tell};
use anyhow::{Result, bail};
use facts::change::{Group, Target, Write};
use host::change::{Access, ChangeError, Changer, Guarded, Journal, held_requests};
use host::{CachedSource, Live, Source};
use rules::persist::profile_path;
use rules::plan::Applied;
use rules::plan::{Plan, Request};
use rules::setting::Effect;
use std::path::Path;
use std::slice;
use std::time::Duration;

/// What is to be applied, and how.
pub struct Task<'a> {
    /// What is requested.
    pub what: What<'a>,
    /// Whether what can do harm is planned, too.
    pub i_know: bool,
    /// Whether later boots make the change again.
    pub persist: bool,
    /// How long it waits to be confirmed before it is reverted.
    pub confirm_within: Option<Duration>,
    /// The trials that decide whether it is kept.
    pub prove: Option<Proof>,
    /// The controller to which requests for the firmware may be sent.
    pub controller: Option<Controller>,
    /// Where the journal is.
    pub state_dir: &'a Path,
    /// The words of the user's command, for the journal.
    pub command: Vec<String>,
}

/// Where it is said what to apply.
pub enum What<'a> {
    /// By the user.
    Asked(Asked<'a>),
    /// In the files of an earlier change, which this is the id of.
    Persisted(&'a str),
    /// A setting that another command asks for.
    Requested(Request),
}

/// Plans it, tells the plan, makes the change, and what became of it.
///
/// Errors: not root; the plan cannot be made; an earlier change is in the way; the journal cannot be written. What a write fails at
/// is no error: the change is undone, and the answer says so.
pub fn apply(task: &Task<'_>, tell: &mut Tell<'_>) -> Result<Applied> {
    let interrupt = Interrupt::listen()?;
    let access = match (&task.what, &task.prove) {
        // Units of several changes start at once, and wait for each other.
        (What::Persisted(_), _) => Access::WriteWhenFree,
        (_, Some(_)) => Access::Study,
        (_, None) => Access::Write,
    };
    let way = task.controller.as_ref().map(|it| &it.way);
    let mut changer = changer(task.state_dir, access, way, tell)?;
    let source = Live::this_machine();
    let mut plan = match &task.controller {
        None => first_plan(&source, task)?,
        Some(controller) => first_plan(&*controller.of(Box::new(Live::this_machine()))?, task)?,
    };
    leave_held(&mut plan, &changer)?;
    fits(task, &plan, changer.journal())?;
    tell(Event::Planned(&plan))?;
    if !plan.refused.is_empty() || (plan.is_idle() && !task.persist) {
        return Ok(Applied::nothing(plan));
    }
    let mut executor = Executor {
        changer: &mut changer,
        source: &source,
        interrupt: &interrupt,
        i_know: task.i_know,
        command: match task.what {
            What::Persisted(id) => persist::command(id),
            What::Asked(_) | What::Requested(_) => task.command.clone(),
        },
    };
    if let Some(proof) = &task.prove
        && let Some(why) = trial::verdict(&mut executor, &plan, proof, tell)?
    {
        return Ok(Applied { error: Some(why), ..Applied::nothing(plan) });
    }
    carried_out(&mut executor, plan, task, tell)
}

/// The plan for the machine as it is before anything is changed.
fn first_plan(source: &dyn Source, task: &Task<'_>) -> Result<Plan> {
    let source = CachedSource::new(source);
    match &task.what {
        What::Asked(of) => {
            let requested = asked(&source, *of)?;
            Ok(planned(&source, &requested, *of))
        }
        What::Persisted(id) => {
            let requests = profile_requests(&profile_path(id))?;
            Ok(plan_of(&source, &requests, task.i_know))
        }
        What::Requested(request) => Ok(plan_of(&source, slice::from_ref(request), task.i_know)),
    }
}

fn plan_of(source: &dyn Source, requests: &[Request], i_know: bool) -> Plan {
    let host = host::view_of(source, rules::plan::looks_at(requests));
    let controls = host::controls(source, &rules::plan::reads(requests));
    rules::plan::plan(&host, controls, requests, i_know)
}

/// Refuses options that promise what this plan or the state of the journal does not allow.
fn fits(task: &Task<'_>, plan: &Plan, journal: &Journal) -> Result<()> {
    let waits_for_boot = plan.steps.iter().any(|it| it.request.setting.effect == Effect::AtBoot);
    if waits_for_boot && task.confirm_within.is_some() {
        bail!(
            "--confirm-within: what is in force only after a reboot cannot be reverted by a process of this boot; apply it by itself"
        );
    }
    match task.prove {
        Some(_) => refuse_awaiting(journal, "--prove"),
        None => Ok(()),
    }
}

/// A request that a process of an earlier change keeps already is not made once more.
fn leave_held(plan: &mut Plan, changer: &Changer) -> Result<()> {
    let held = held_requests(changer.machine(), changer.journal())?;
    let is_held = |write: &Write| {
        write.target == Target::LatencyRequest && held.iter().any(|it| it.to == write.to)
    };
    for step in &mut plan.steps {
        step.change.writes.retain(|write| !is_held(write));
    }
    Ok(())
}

/// Makes the change, and keeps it or undoes it.
fn carried_out(
    executor: &mut Executor<'_>,
    plan: Plan,
    task: &Task<'_>,
    tell: &mut Tell<'_>,
) -> Result<Applied> {
    let after = persist::changes(executor.changer.journal())?;
    let guarded = task.confirm_within.map_or(Guarded::No, Guarded::UntilConfirmed);
    let mut change = executor.begin(guarded, false)?;
    let mut applied = Applied { id: Some(change.id().to_owned()), ..Applied::nothing(plan) };
    let files = match task.persist {
        true => files(&change, &after, &applied.plan, task, tell).map(Some),
        false => Ok(None),
    };
    let groups = files.and_then(|files| {
        change.carry_out(&applied.plan)?;
        let Some(files) = files.filter(|it| !it.writes.is_empty()) else { return Ok(()) };
        applied.files.clone_from(&files.writes);
        change.make(&files)
    });
    for note in change.notes() {
        tell(Event::Note(note.clone()))?;
    }
    applied.n_writes = change.n_writes;
    applied.not_taken = std::mem::take(&mut change.not_taken);
    match groups {
        Ok(()) => keep(change, &mut applied)?,
        Err(Stop::Failed { error, undone }) => {
            (applied.error, applied.undone) = (Some(error), undone);
        }
        Err(Stop::Wanted(why)) => {
            let (undone, error) = change.take_back()?;
            applied.undone = undone;
            applied.error = Some(with_unrecorded(why, error.as_ref()));
        }
        Err(Stop::Broken(error)) => return Err(error),
    }
    applied.confirm_within = task.confirm_within.filter(|_| applied.error.is_none());
    Ok(applied)
}

/// The files that make the change last. They are shown before anything is written.
fn files(
    change: &Change<'_>,
    after: &[String],
    plan: &Plan,
    task: &Task<'_>,
    tell: &mut Tell<'_>,
) -> Result<Group, Stop> {
    let lasting = Lasting { state_dir: task.state_dir, i_know: task.i_know };
    let files = persist::files(change, lasting, after, plan)
        .map_err(|error| Stop::Wanted(format!("--persist: {error:#}")))?;
    tell(Event::Files(&files.writes)).map_err(Stop::Broken)?;
    Ok(files)
}

/// Keeps a change. Error: it is over already.
fn keep(change: Change<'_>, applied: &mut Applied) -> Result<()> {
    match change.keep() {
        Ok(()) => Ok(()),
        Err(ChangeError::NotKept { undone, error, journal, .. }) => {
            applied.undone = undone;
            applied.error = Some(with_unrecorded(format!("not kept: {error}"), journal.as_ref()));
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}
