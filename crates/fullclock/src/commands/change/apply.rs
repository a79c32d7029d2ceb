//! `fullclock apply`: makes a change, all of it or nothing.

use super::{asked, changer, code, lasting, planned, profile, prove, refuse_awaiting};
use crate::cli::{ApplyArguments, Arguments, PlanArguments};
use crate::output::{self};
use anyhow::{Result, bail};
use engine::change::{Change, Executor, Stop, with_unrecorded};
use engine::interrupt::Interrupt;
use facts::change::{Group, Target, Write};
use host::change::{Access, ChangeError, Changer, Guarded, Journal, held_requests};
use host::{Live, Once, Source};
use report::Style;
use report::change::Applied;
use rules::persist;
use rules::plan::{Plan, Request};
use rules::setting::Effect;
use std::path::Path;
use std::process::ExitCode;
use std::slice;
use std::time::Duration;

/// What is to be applied, and how.
pub(crate) struct Task<'a> {
    pub(crate) what: What<'a>,
    /// Whether what can do harm is planned, too.
    pub(crate) i_know: bool,
    pub(crate) persist: bool,
    pub(crate) confirm_within: Option<Duration>,
    /// The workload that decides whether it is kept.
    pub(crate) prove: Option<&'a str>,
    pub(crate) state_dir: &'a Path,
}

/// Where it is said what to apply.
pub(crate) enum What<'a> {
    /// On the command line.
    Named(&'a PlanArguments),
    /// In the files of an earlier change, which this is the id of.
    Persisted(&'a str),
    /// By another command.
    Requested(Request),
}

pub(crate) fn run(arguments: &Arguments, options: &ApplyArguments) -> Result<ExitCode> {
    let is_asked = !options.plan.what.is_empty() || !options.plan.profiles.is_empty();
    if !is_asked && options.persisted.is_none() {
        bail!(
            "say what to apply: SETTING=VALUE, a finding, or --profile; `fullclock plan` shows what would mend the findings"
        );
    }
    let task = Task {
        what: options.persisted.as_deref().map_or(What::Named(&options.plan), What::Persisted),
        i_know: options.plan.i_know,
        persist: options.persist,
        confirm_within: options.confirm_within,
        prove: options.prove.as_deref(),
        state_dir: &options.state.state_dir,
    };
    if options.dry_run {
        return dry_run(arguments, &options.plan, &task);
    }
    apply(arguments, &task)
}

/// Plans it, shows the plan, makes the change and tells what came of it.
pub(crate) fn apply(arguments: &Arguments, task: &Task<'_>) -> Result<ExitCode> {
    let interrupt = Interrupt::listen()?;
    let access = match (&task.what, task.prove) {
        // Units of several changes start at once, and wait for each other.
        (What::Persisted(_), _) => Access::WriteWhenFree,
        (_, Some(_)) => Access::Study,
        (_, None) => Access::Write,
    };
    let mut changer = changer(arguments, task.state_dir, access)?;
    let source = Live::this_machine();
    let mut plan = first_plan(&source, task)?;
    leave_held(&mut plan, &changer)?;
    fits(task, &plan, changer.journal())?;
    let printer = Printer { arguments };
    printer.plan(&plan)?;
    if !plan.refused.is_empty() {
        return printer.end(&Applied::nothing(&plan));
    }
    if plan.is_idle() && !task.persist {
        return printer.end(&Applied::nothing(&plan));
    }
    let mut executor = Executor {
        changer: &mut changer,
        source: &source,
        interrupt: &interrupt,
        i_know: task.i_know,
        command: task.command(),
    };
    if let Some(workload) = task.prove
        && let Some(why) = prove::verdict(arguments, &mut executor, &plan, workload)?
    {
        return printer.end(&Applied { error: Some(why), ..Applied::nothing(&plan) });
    }
    let applied = carried_out(&mut executor, &plan, task, &printer)?;
    printer.end(&applied)
}

impl Task<'_> {
    /// The words of the command, for the journal.
    fn command(&self) -> Vec<String> {
        match self.what {
            What::Persisted(id) => lasting::command(id),
            What::Named(_) | What::Requested(_) => super::command_words(),
        }
    }
}

/// The plan for the machine as it is before anything is changed.
fn first_plan(source: &Live, task: &Task<'_>) -> Result<Plan> {
    let source = Once::new(source);
    match &task.what {
        What::Named(options) => {
            let (requests, host) = asked(&source, options)?;
            Ok(planned(&source, &host, &requests, options))
        }
        What::Persisted(id) => {
            let requests = profile::requests(&persist::profile_path(id))?;
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

/// What would be written, and the files that would make it last.
fn dry_run(arguments: &Arguments, options: &PlanArguments, task: &Task<'_>) -> Result<ExitCode> {
    let plan = super::plan::shown(arguments, options)?;
    if task.persist {
        Printer { arguments }.files(&lasting::preview(task, &plan)?)?;
    }
    Ok(code(!plan.refused.is_empty()))
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

/// Makes the change, and keeps it or takes it back.
fn carried_out<'p>(
    executor: &mut Executor<'_>,
    plan: &'p Plan,
    task: &Task<'_>,
    printer: &Printer<'_>,
) -> Result<Applied<'p>> {
    let behind = lasting::changes(executor.changer.journal())?;
    let guarded = task.confirm_within.map_or(Guarded::No, Guarded::UntilConfirmed);
    let mut change = executor.begin(guarded, false)?;
    let mut applied = Applied { id: Some(change.id().to_owned()), ..Applied::nothing(plan) };
    let files = match task.persist {
        true => files(&change, &behind, plan, task, printer).map(Some),
        false => Ok(None),
    };
    let groups = files.and_then(|files| {
        change.carry_out(plan)?;
        let Some(files) = files.filter(|it| !it.writes.is_empty()) else { return Ok(()) };
        applied.files.clone_from(&files.writes);
        change.make(&files)
    });
    for note in change.notes() {
        output::note(&printer.arguments.output, note);
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

/// The files that make the change last, which are shown before anything is written.
fn files(
    change: &Change<'_>,
    behind: &[String],
    plan: &Plan,
    task: &Task<'_>,
    printer: &Printer<'_>,
) -> Result<Group, Stop> {
    let files = lasting::files(change, task, behind, plan)
        .map_err(|error| Stop::Wanted(format!("--persist: {error:#}")))?;
    printer.files(&files.writes).map_err(Stop::Broken)?;
    Ok(files)
}

/// Keeps a change. Error: it is over already.
fn keep(change: Change<'_>, applied: &mut Applied<'_>) -> Result<()> {
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

/// Prints as things happen, or all at once as JSON.
struct Printer<'a> {
    arguments: &'a Arguments,
}

impl Printer<'_> {
    fn style(&self) -> Style {
        output::style(self.arguments.output.color)
    }

    fn plan(&self, plan: &Plan) -> Result<()> {
        let output = &self.arguments.output;
        if output.json || output.quiet {
            return Ok(());
        }
        output::print(&report::change::plan(plan, self.arguments.audit.verbose, self.style()))
    }

    fn files(&self, writes: &[Write]) -> Result<()> {
        let output = &self.arguments.output;
        if output.json || output.quiet {
            return Ok(());
        }
        output::print(&report::change::files(writes, self.style()))
    }

    fn end(&self, applied: &Applied<'_>) -> Result<ExitCode> {
        let text = if self.arguments.output.json {
            report::change::applied_json(applied)?
        } else {
            report::change::applied(applied, self.arguments.audit.verbose, self.style())
        };
        output::print(&text)?;
        let is_refused = applied.error.is_some() || !applied.plan.refused.is_empty();
        Ok(code(is_refused))
    }
}
