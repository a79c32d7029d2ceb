//! The commands that change this machine, and what they share: what is asked for, and the journal.

pub(super) mod apply;
pub(super) mod confirm;
pub(super) mod drift;
pub(super) mod held;
mod lasting;
pub(super) mod plan;
mod profile;
mod prove;
pub(super) mod revert;
pub(crate) mod status;

use crate::cli::{Arguments, PlanArguments};
use crate::output;
use anyhow::{Context, Result, anyhow, bail};
use facts::HostView;
use facts::change::{ChangeState, RevertOutcome, Undone};
use host::Source;
use host::change::{Access, Changer, Force, Journal, JournalError, Machine};
use revert::Reverted;
use rules::audit::Audit;
use rules::plan::{Plan, Request};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A change was refused or did not stick.
const REFUSED: u8 = 3;

/// What is requested: settings, profiles, and what the audit of this host requests for its findings; where nothing is named, for all of
/// them. With it the host, as far as that looks at it.
fn asked(source: &dyn Source, options: &PlanArguments) -> Result<(Vec<Request>, HostView)> {
    let names: Vec<&String> = options.what.iter().filter(|it| !it.contains('=')).collect();
    if let Some(name) = names.iter().find(|it| rules::checks::find(it).is_none()) {
        bail!(not_a_check(name));
    }
    let is_bare = options.profiles.is_empty() && options.what.is_empty();
    if is_bare || !names.is_empty() {
        let host = host::view(source);
        let requests = requests(options, &Found::on(&host))?;
        return Ok((requests, host));
    }
    let requests = requests(options, &Found::nothing())?;
    let host = host::view_of(source, rules::plan::looks_at(&requests));
    Ok((requests, host))
}

/// What an audit found, and what it requests for that.
struct Found<'a> {
    host: Option<(&'a HostView, Audit)>,
}

impl<'a> Found<'a> {
    fn nothing() -> Found<'a> {
        Found { host: None }
    }

    fn on(host: &'a HostView) -> Found<'a> {
        Found { host: Some((host, rules::audit::audit(host))) }
    }

    /// The requests of all findings, or of those of one check.
    fn requests(&self, check: Option<&str>) -> Vec<Request> {
        let Some((host, audit)) = &self.host else { return Vec::new() };
        let found = audit.findings.iter().filter(|(it, _)| check.is_none_or(|id| it.id == id));
        found.flat_map(|(check, finding)| rules::advice::requests(host, check, finding)).collect()
    }

    /// The requests that fix a check's findings; none where it has no finding here.
    ///
    /// Errors: no setting fixes it, or whether it has a finding is unknown.
    fn fixing(&self, id: &str) -> Result<Vec<Request>> {
        let is_found = |audit: &Audit| audit.findings.iter().any(|(check, _)| check.id == id);
        let is_fixable = rules::settings::SETTINGS.iter().any(|it| it.fixes.contains(&id));
        let requests = self.requests(Some(id));
        if let Some((_, audit)) = &self.host {
            if let Some((_, missing)) = audit.unknown.iter().find(|(check, _)| check.id == id) {
                bail!("whether {id} is to be fixed is unknown: {missing}");
            }
            if !is_fixable || (is_found(audit) && requests.is_empty()) {
                bail!(
                    "no setting fixes {id} here; `fullclock audit` and `fullclock explain {id}` say what does"
                );
            }
        }
        Ok(requests)
    }
}

/// What is requested, by name or by what was found.
fn requests(options: &PlanArguments, found: &Found<'_>) -> Result<Vec<Request>> {
    if options.profiles.is_empty() && options.what.is_empty() {
        return without_repetition(found.requests(None));
    }
    let mut requests = Vec::new();
    for name in &options.profiles {
        requests.extend(profile::requests(name)?);
    }
    for what in &options.what {
        if what.contains('=') {
            requests.push(Request::parse(what).map_err(|error| anyhow!(error))?);
        } else {
            requests.extend(found.fixing(what)?);
        }
    }
    without_repetition(requests)
}

fn not_a_check(id: &str) -> String {
    match rules::settings::find(id) {
        Some(setting) => {
            format!("{id} is a setting: say {id}=VALUE, VALUE being {}", setting.takes)
        }
        None => {
            format!("{id:?} is neither a finding nor SETTING=VALUE; `fullclock explain` lists both")
        }
    }
}

/// The requests, each once. Two that want different things of one setting are an error, unless they name different CPUs.
fn without_repetition(requests: Vec<Request>) -> Result<Vec<Request>> {
    let mut kept: Vec<Request> = Vec::new();
    for request in requests {
        // Of `C6:off` and `C3:off` each is about another thing.
        let subject =
            |it: &Request| it.value.split_once(':').map(|(subject, _)| subject.to_owned());
        let is_same_place = |it: &&Request| {
            it.setting.id == request.setting.id
                && it.cpus == request.cpus
                && subject(it) == subject(&request)
        };
        match kept.iter().find(is_same_place) {
            None => kept.push(request),
            Some(earlier) if earlier.value == request.value => {}
            Some(earlier) => bail!(
                "{id}={} and {id}={} are asked for; give one of them",
                earlier.value_text(),
                request.value_text(),
                id = request.setting.id
            ),
        }
    }
    Ok(kept)
}

/// The words of this command, for the journal.
pub(super) fn command_words() -> Vec<String> {
    output::command_line().into_iter().skip(1).collect()
}

/// Plans requests on a host that has been looked at.
fn planned(
    source: &dyn Source,
    host: &HostView,
    requests: &[Request],
    options: &PlanArguments,
) -> Plan {
    let controls = host::controls(source, &rules::plan::reads(requests));
    let mut plan = rules::plan::plan(host, controls, requests, options.i_know);
    // What was named and is no SETTING=VALUE is a finding.
    options.what.iter().for_each(|it| plan.must_fix(it));
    plan
}

/// The program that is running, for the processes that it starts to hold or guard something.
pub(super) fn program() -> Result<PathBuf> {
    std::env::current_exe().context("cannot tell where this program is")
}

/// Whether this machine may be changed.
///
/// Errors: the options name another host; not root.
pub(super) fn may_change(arguments: &Arguments) -> Result<()> {
    if arguments.host.root.is_some() || arguments.host.host.is_some() {
        bail!("only the machine that this runs on can be changed: leave out --root and --host");
    }
    if !host::ownership::is_root() {
        bail!("changing a machine takes root: run it with sudo");
    }
    Ok(())
}

/// This machine and its journal, and what was met on opening that as notes.
///
/// Errors: the machine may not be changed; the journal cannot be opened.
fn opened(arguments: &Arguments, folder: &Path, access: Access) -> Result<Changer> {
    may_change(arguments)?;
    let changer = Changer::open(Machine::this(program()?), folder, access)?;
    for note in changer.journal().notes() {
        output::note(&arguments.output, note);
    }
    Ok(changer)
}

/// The same for reverting or confirming. Between the trials of a study there is time for both.
fn opened_to_undo(arguments: &Arguments, folder: &Path) -> Result<Changer> {
    match opened(arguments, folder, Access::Revert) {
        Err(error) if matches!(error.downcast_ref(), Some(JournalError::InTrial { .. })) => {
            output::note(&arguments.output, &format!("{error} (Ctrl-C ends waiting)"));
            opened(arguments, folder, Access::RevertWhenFree)
        }
        answer => answer,
    }
}

/// Refuses trials while a change awaits confirmation: they would be run with it and, after its deadline, without it.
pub(super) fn refuse_awaiting(journal: &Journal, what: &str) -> Result<()> {
    let is_awaiting = |it: &ChangeState| matches!(it, ChangeState::Awaiting { .. });
    match journal.changes().iter().find(|it| is_awaiting(&it.state)) {
        Some(change) => {
            bail!("{what}: change {} awaits confirmation; confirm or revert it first", change.id)
        }
        None => Ok(()),
    }
}

/// The same for a change: what an interrupted one had left undone is undone first.
pub(super) fn changer(arguments: &Arguments, folder: &Path, access: Access) -> Result<Changer> {
    let mut changer = opened(arguments, folder, access)?;
    let mut reverted = Reverted::default();
    let done = reverted.add(changer.recover(Force::No));
    let Reverted { undone, not_recorded } = reverted;
    if !undone.is_empty() {
        let is_fault =
            |it: &Undone| it.fate == RevertOutcome::WrittenBack && it.target.holds_fault();
        let fault = match undone.iter().any(is_fault) {
            true => "; a fault is in force again, as it was found: `fullclock audit` names it",
            false => "",
        };
        let short = in_short(&undone);
        let text = format!("a change had been interrupted or not confirmed; {short}{fault}");
        output::note(&arguments.output, &text);
    }
    // Nothing is begun on top of what could not be undone or recorded.
    done?;
    match not_recorded {
        None => Ok(changer),
        Some(why) => bail!(why),
    }
}

/// "7 places are as they were, 1 is not".
fn in_short(undone: &[Undone]) -> String {
    let n_left = undone.iter().filter(|it| !it.fate.is_clean()).count();
    let n_clean = undone.len() - n_left;
    let places =
        |n: usize| if n == 1 { "1 place is".to_owned() } else { format!("{n} places are") };
    match (n_clean, n_left) {
        (n, 0) => format!("{} as before", places(n)),
        (0, n) => format!("{} not as before: see `fullclock status`", places(n)),
        (n, left) => format!("{} as before, {left} not: see `fullclock status`", places(n)),
    }
}

/// Success, or the code of what was refused.
fn code(is_refused: bool) -> ExitCode {
    if is_refused { ExitCode::from(REFUSED) } else { ExitCode::SUCCESS }
}
