//! `fullclock apply`: makes a change, all of it or nothing.

use super::{asked, changer, code, lasting, planned, profile, prove, refuse_awaiting};
use crate::cli::{ApplyArguments, Arguments};
use crate::interrupt::Interrupt;
use crate::output::{self, Style};
use crate::render;
use crate::render::change::Applied;
use anyhow::{Result, bail};
use facts::change::{Group, Target, Write};
use host::change::{
    Access, ChangeError, Changer, Fate, Guarded, Intent, Journal, JournalError, Transaction,
    held_requests,
};
use host::{Live, Once};
use rules::persist;
use rules::plan::{Plan, Request, Step};
use rules::setting::{Effect, Scene};
use std::process::ExitCode;
use std::sync::atomic::Ordering;

pub(crate) fn run(arguments: &Arguments, options: &ApplyArguments) -> Result<ExitCode> {
    let is_asked = !options.plan.what.is_empty() || !options.plan.profiles.is_empty();
    if !is_asked && options.persisted.is_none() {
        bail!(
            "say what to apply: SETTING=VALUE, a finding, or --profile; `fullclock plan` shows what would mend the findings"
        );
    }
    if options.dry_run {
        return dry_run(arguments, options);
    }
    let interrupt = Interrupt::listen()?;
    let access = match (&options.persisted, &options.prove) {
        // Units of several changes start at once, and wait for each other.
        (Some(_), _) => Access::WriteWhenFree,
        (None, Some(_)) => Access::Study,
        (None, None) => Access::Write,
    };
    let mut changer = changer(arguments, &options.state.state_dir, access)?;
    let source = Live::this_machine();
    let mut plan = first_plan(&source, options)?;
    leave_held(&mut plan, &changer)?;
    fits(options, &plan, changer.journal())?;
    let printer = Printer { arguments };
    printer.plan(&plan)?;
    if !plan.refused.is_empty() {
        return printer.end(&Applied::nothing(&plan));
    }
    if plan.is_idle() && !options.persist {
        return printer.end(&Applied::nothing(&plan));
    }
    let session = Session { arguments, options, source: &source, interrupt: &interrupt };
    if let Some(workload) = &options.prove
        && let Some(why) = prove::verdict(&session, &mut changer, &plan, workload)?
    {
        return printer.end(&Applied { error: Some(why), ..Applied::nothing(&plan) });
    }
    let applied = session.apply(&mut changer, &plan, &printer)?;
    printer.end(&applied)
}

/// The plan for the machine as it is before anything is changed.
fn first_plan(source: &Live, options: &ApplyArguments) -> Result<Plan> {
    let source = Once::new(source);
    let (requests, host) = match &options.persisted {
        Some(id) => {
            let requests = profile::requests(&persist::profile_path(id))?;
            let host = host::view_of(&source, rules::plan::looks_at(&requests));
            (requests, host)
        }
        None => asked(&source, &options.plan)?,
    };
    Ok(planned(&source, &host, &requests, &options.plan))
}

/// What would be written, and the files that would make it last.
fn dry_run(arguments: &Arguments, options: &ApplyArguments) -> Result<ExitCode> {
    let plan = super::plan::shown(arguments, &options.plan)?;
    if options.persist {
        Printer { arguments }.files(&lasting::preview(options, &plan)?)?;
    }
    Ok(code(!plan.refused.is_empty()))
}

/// Refuses options that promise what this plan or the state of the journal does not allow.
fn fits(options: &ApplyArguments, plan: &Plan, journal: &Journal) -> Result<()> {
    let waits_for_boot = plan.steps.iter().any(|it| it.request.setting.effect == Effect::AtBoot);
    if waits_for_boot && options.confirm_within.is_some() {
        bail!(
            "--confirm-within: what is in force only after a reboot cannot be reverted by a process of this boot; apply it by itself"
        );
    }
    match options.prove {
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

/// One run of `apply`.
pub(crate) struct Session<'a> {
    pub(crate) arguments: &'a Arguments,
    pub(crate) options: &'a ApplyArguments,
    pub(crate) source: &'a Live,
    pub(crate) interrupt: &'a Interrupt,
}

impl Session<'_> {
    fn apply<'p>(
        &self,
        changer: &mut Changer,
        plan: &'p Plan,
        printer: &Printer<'_>,
    ) -> Result<Applied<'p>> {
        let behind = lasting::changes(changer.journal())?;
        let guarded = self.options.confirm_within.map_or(Guarded::No, Guarded::UntilConfirmed);
        let intent = Intent { command: self.command(), guarded, brings_faults_back: false };
        let mut change = changer.begin(intent)?;
        let mut applied = Applied { id: Some(change.id().to_owned()), ..Applied::nothing(plan) };
        let files = match self.options.persist {
            true => self.files(&change, &behind, plan, printer).map(Some),
            false => Ok(None),
        };
        let groups = files.and_then(|files| {
            self.carry_out(&mut change, plan, &mut applied)?;
            let Some(files) = files.filter(|it| !it.writes.is_empty()) else { return Ok(()) };
            applied.files.clone_from(&files.writes);
            carry_out(&mut change, &files, &mut applied)
        });
        for note in change.notes() {
            output::note(&self.arguments.output, note);
        }
        match groups {
            Ok(()) => keep(change, &mut applied)?,
            Err(Stop::Failed) => {}
            Err(Stop::Wanted(why)) => take_back(change, why, &mut applied)?,
            Err(Stop::Broken(error)) => return Err(error),
        }
        applied.confirm_within = self.options.confirm_within.filter(|_| applied.error.is_none());
        Ok(applied)
    }

    /// Makes the writes of every step, each planned anew where an earlier one may have moved its place.
    pub(super) fn carry_out(
        &self,
        change: &mut Transaction<'_>,
        plan: &Plan,
        applied: &mut Applied<'_>,
    ) -> Result<(), Stop> {
        let mut changed: Vec<&str> = Vec::new();
        for step in &plan.steps {
            if self.interrupt.flag().load(Ordering::Relaxed) {
                return Err(Stop::Wanted("interrupted".to_owned()));
            }
            let is_moved = step.request.setting.after.iter().any(|it| changed.contains(it));
            let group = if is_moved { self.planned_anew(&step.request)? } else { step.group() };
            if !group.writes.is_empty() {
                carry_out(change, &group, applied)?;
                changed.push(step.request.setting.id);
            }
        }
        Ok(())
    }

    /// The writes of a setting whose place an earlier step may have moved.
    fn planned_anew(&self, request: &Request) -> Result<Group, Stop> {
        let source = Once::new(self.source);
        let host = host::view_of(&source, request.setting.looks_at);
        let controls = host::controls(&source, request.setting.reads);
        let scene = Scene { host: &host, controls: &controls };
        match request.plan(&scene, self.options.plan.i_know) {
            Ok(change) => Ok(Step { request: request.clone(), change }.group()),
            Err(refusal) => Err(Stop::Wanted(format!("{}: {refusal}", request.setting.id))),
        }
    }

    /// The files that make the change last, which are shown before anything is written.
    fn files(
        &self,
        change: &Transaction<'_>,
        behind: &[String],
        plan: &Plan,
        printer: &Printer<'_>,
    ) -> Result<Group, Stop> {
        let files = lasting::files(change, self.options, behind, plan)
            .map_err(|error| Stop::Wanted(format!("--persist: {error:#}")))?;
        printer.files(&files.writes).map_err(Stop::Broken)?;
        Ok(files)
    }

    /// The words of this command, for the journal.
    pub(super) fn command(&self) -> Vec<String> {
        match &self.options.persisted {
            Some(id) => lasting::command(id),
            None => output::command_line().into_iter().skip(1).collect(),
        }
    }
}

/// Why a change is not made.
pub(super) enum Stop {
    /// A write failed, and everything is undone.
    Failed,
    /// Somebody or something wants it to end here.
    Wanted(String),
    /// This program cannot go on.
    Broken(anyhow::Error),
}

/// Keeps a change. Error: it is over already.
fn keep(change: Transaction<'_>, applied: &mut Applied<'_>) -> Result<()> {
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

/// Undoes a change that is to end here. Error: it is over already.
fn take_back(change: Transaction<'_>, why: String, applied: &mut Applied<'_>) -> Result<()> {
    let (undone, error) = match change.undo() {
        Ok(undone) => (undone, None),
        Err(ChangeError::NotRecorded { undone, error, .. }) => (undone, Some(error)),
        Err(error) => return Err(error.into()),
    };
    applied.undone = undone;
    applied.error = Some(with_unrecorded(why, error.as_ref()));
    Ok(())
}

/// Why a change was not made, and why the journal does not say that it is undone.
pub(super) fn with_unrecorded(why: String, error: Option<&JournalError>) -> String {
    match error {
        None => why,
        Some(error) => format!("{why}; the journal cannot record what was undone: {error}"),
    }
}

fn carry_out(
    change: &mut Transaction<'_>,
    group: &Group,
    applied: &mut Applied<'_>,
) -> Result<(), Stop> {
    match change.apply(group) {
        Ok(outcome) => {
            for (write, fate) in group.writes.iter().zip(outcome.fates) {
                match fate {
                    Fate::Done { .. } => applied.n_writes += 1,
                    Fate::Refused { why } => applied.not_taken.push((write.target.clone(), why)),
                    Fate::DidNotStick { found } => {
                        let found = found.unwrap_or_default();
                        let why = format!("did not stick, it holds {found}");
                        applied.not_taken.push((write.target.clone(), why));
                    }
                    _ => {}
                }
            }
            Ok(())
        }
        Err(failure) => {
            applied.error = Some(with_unrecorded(failure.to_string(), failure.journal.as_ref()));
            applied.undone = failure.undone;
            Err(Stop::Failed)
        }
    }
}

/// Prints as things happen, or all at once as JSON.
struct Printer<'a> {
    arguments: &'a Arguments,
}

impl Printer<'_> {
    fn style(&self) -> Style {
        Style::of_stdout(self.arguments.output.color)
    }

    fn plan(&self, plan: &Plan) -> Result<()> {
        let output = &self.arguments.output;
        if output.json || output.quiet {
            return Ok(());
        }
        output::print(&render::change::plan(plan, self.arguments.audit.verbose, self.style()))
    }

    fn files(&self, writes: &[Write]) -> Result<()> {
        let output = &self.arguments.output;
        if output.json || output.quiet {
            return Ok(());
        }
        output::print(&render::change::files(writes, self.style()))
    }

    fn end(&self, applied: &Applied<'_>) -> Result<ExitCode> {
        let text = if self.arguments.output.json {
            render::change::applied_json(applied)?
        } else {
            render::change::applied(applied, self.arguments.audit.verbose, self.style())
        };
        output::print(&text)?;
        let is_refused = applied.error.is_some() || !applied.plan.refused.is_empty();
        Ok(code(is_refused))
    }
}
