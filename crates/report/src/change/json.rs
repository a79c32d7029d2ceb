//! Changes: `schemas/plan-2.json`, `schemas/apply-2.json`, `schemas/revert-2.json`, `schemas/status-2.json`,
//! `schemas/drift-2.json`.

use super::steps::{Planned, Write};
use crate::json::{Head, Opening, Time, pretty};
use facts::change::{
    self, ChangeStanding, ChangeState, Guarding, Overdue, RevertOutcome, Target, Written,
    WrittenPlace,
};
use rules::plan::{Applied, Plan};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Result;
use std::borrow::Cow;

/// What would be written.
#[derive(Serialize, JsonSchema)]
pub(crate) struct PlanDocument<'a> {
    #[serde(flatten)]
    opening: Opening<'a, 2>,
    #[serde(flatten)]
    plan: Planned<'a>,
    /// The findings that are to be fixed and that no setting fixes.
    unfixed: Vec<Unfixed<'a>>,
}

/// A check with a finding that no setting fixes.
#[derive(Serialize, JsonSchema)]
struct Unfixed<'a> {
    /// The check.
    id: &'a str,
    /// Why no setting does, or what fixes it instead.
    reason: &'a str,
}

/// What was planned and what came of it.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ApplyDocument<'a> {
    #[serde(flatten)]
    opening: Opening<'a, 2>,
    plan: Planned<'a>,
    /// The id of the change; null where nothing was begun.
    change: Option<&'a str>,
    is_in_force: bool,
    error: Option<&'a str>,
    n_writes: usize,
    /// What the kernel did not take, which it may.
    not_taken: Vec<NotTaken<'a>>,
    /// What was undone after a failure.
    undone: Vec<Undone<'a>>,
    /// Whether files were written that make it last.
    lasts: bool,
    /// After what time it is reverted unless `fullclock confirm` comes.
    confirm_within_s: Option<f64>,
    /// The files that make it last, whole.
    files: Vec<Write<'a>>,
}

/// What was undone, place by place.
#[derive(Serialize, JsonSchema)]
pub(crate) struct RevertDocument<'a> {
    #[serde(flatten)]
    opening: Opening<'a, 2>,
    undone: Vec<Undone<'a>>,
    /// Why the journal does not say what was undone; null where it does.
    not_recorded: Option<&'a str>,
    /// Why a change that was to be undone is not; null where all of them are.
    error: Option<&'a str>,
}

/// What is applied, the oldest change first.
#[derive(Serialize, JsonSchema)]
pub(crate) struct StatusDocument<'a> {
    #[serde(flatten)]
    opening: Opening<'a, 2>,
    changes: Vec<Change<'a>>,
    /// Tuners that are running and may have changed what is changed; empty where nothing is.
    suspects: &'a [String],
}

/// One line for each place that drifted or came back.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DriftDocument<'a> {
    #[serde(flatten)]
    opening: Opening<'a, 2>,
    /// When that was noticed.
    at: Time<'a>,
    setting: &'a str,
    target: String,
    given: Option<&'a str>,
    found: Option<&'a str>,
    is_back: bool,
    /// Who wrote to it last; null where no process was seen.
    by: Option<Writer<'a>>,
}

/// A write that the kernel did not take.
#[derive(Serialize, JsonSchema)]
struct NotTaken<'a> {
    target: String,
    why: &'a str,
}

/// What came of undoing one write.
#[derive(Serialize, JsonSchema)]
struct Undone<'a> {
    change: &'a str,
    setting: &'a str,
    target: String,
    /// What it held before the change; null where a file was not there.
    recorded: Option<&'a str>,
    fate: Fate,
    found: Option<&'a str>,
    why: Option<&'a str>,
}

/// What became of a place.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Fate {
    /// The recorded value was written back and reads back.
    WrittenBack,
    /// The recorded value was there already.
    AlreadyThere,
    /// It was changed since, to `found`.
    LeftAlone,
    /// The recorded value would bring back a fault that the change fixed.
    WouldBringFaultBack,
    /// There was nothing to undo.
    Void,
    /// It could not be written back.
    Failed,
}

/// A change, as the journal has it.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Recorded<'a> {
    id: &'a str,
    began: Time<'static>,
    /// The words after `fullclock`.
    command: &'a [String],
    #[schemars(extend("enum" = ["open", "kept", "awaiting", "reverted", "partly-reverted"]))]
    state: &'static str,
    is_of_this_boot: bool,
}

impl<'a> Recorded<'a> {
    pub(crate) fn of(it: &'a ChangeStanding) -> Recorded<'a> {
        Recorded {
            id: &it.recorded.id,
            began: Time::of(it.recorded.when),
            command: &it.recorded.command,
            state: state(&it.recorded.state),
            is_of_this_boot: it.is_of_this_boot,
        }
    }
}

/// A change.
#[derive(Serialize, JsonSchema)]
struct Change<'a> {
    #[serde(flatten)]
    recorded: Recorded<'a>,
    /// Of a change that awaits confirmation: whether a guard runs that reverts it; null for any other.
    guard: Option<Guard>,
    places: Vec<Place<'a>>,
}

/// How a change stands that awaits confirmation.
#[derive(Serialize, JsonSchema)]
struct Guard {
    is_running: bool,
    /// Whether its deadline is over.
    is_overdue: bool,
    /// Whether an overdue change is undone, which the journal does not say yet; whether its guard runs is then not looked at.
    is_undone: bool,
}

/// A place that was written.
#[derive(Serialize, JsonSchema)]
struct Place<'a> {
    setting: &'a str,
    target: String,
    given: Option<&'a str>,
    standing: Standing,
    found: Option<&'a str>,
    why: Option<&'a str>,
}

/// How a place compares with what was written.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Standing {
    /// It holds what it was given.
    InForce,
    /// A setting of the firmware: it holds `found` until the machine restarts, and then what it was given.
    Waiting,
    /// It holds `found`.
    Changed,
    /// It cannot be read: `why`.
    Unknown,
    /// It is not there any more.
    Gone,
}

/// Who wrote to a place.
#[derive(Serialize, JsonSchema)]
struct Writer<'a> {
    pid: u32,
    command: Option<&'a str>,
}

/// What would be written.
pub fn plan_json(head: &Head, plan: &Plan, unfixed: &[(&'static str, String)]) -> Result<String> {
    let unfixed = unfixed.iter().map(|(id, reason)| Unfixed { id, reason }).collect();
    pretty(&PlanDocument { opening: head.opening(), plan: Planned::of(plan), unfixed })
}

/// What was written.
pub fn applied_json(head: &Head, applied: &Applied) -> Result<String> {
    pretty(&ApplyDocument {
        opening: head.opening(),
        plan: Planned::of(&applied.plan),
        change: applied.id.as_deref(),
        is_in_force: applied.id.is_some() && applied.error.is_none(),
        error: applied.error.as_deref(),
        n_writes: applied.n_writes,
        not_taken: applied.not_taken.iter().map(not_taken).collect(),
        undone: applied.undone.iter().map(undone).collect(),
        lasts: applied.lasts(),
        confirm_within_s: applied.confirm_within.map(|it| it.as_secs_f64()),
        files: applied.files.iter().map(Write::of).collect(),
    })
}

/// What was undone.
pub fn undone_json(
    head: &Head,
    undone: &[change::Undone],
    not_recorded: Option<&str>,
    error: Option<&str>,
) -> Result<String> {
    let undone = undone.iter().map(self::undone).collect();
    pretty(&RevertDocument { opening: head.opening(), undone, not_recorded, error })
}

/// What is applied.
pub fn status_json(head: &Head, changes: &[ChangeStanding], suspects: &[String]) -> Result<String> {
    let changes = changes.iter().map(changed).collect();
    pretty(&StatusDocument { opening: head.opening(), changes, suspects })
}

/// One place that drifted, on one line.
pub fn drift_json(
    head: &Head,
    at: &str,
    drifted: &WrittenPlace,
    found: Option<&str>,
    writer: Option<&Written>,
) -> Result<String> {
    let line = serde_json::to_string(&DriftDocument {
        opening: head.opening(),
        at: Time(Cow::Borrowed(at)),
        setting: &drifted.setting,
        target: drifted.write.target.to_string(),
        given: drifted.write.to.as_deref(),
        found,
        is_back: matches!(drifted.standing, change::Standing::InForce),
        by: writer.map(|it| Writer { pid: it.pid, command: it.command.as_deref() }),
    })?;
    Ok(line + "\n")
}

fn not_taken((target, why): &(Target, String)) -> NotTaken<'_> {
    NotTaken { target: target.to_string(), why }
}

fn changed(it: &ChangeStanding) -> Change<'_> {
    Change {
        recorded: Recorded::of(it),
        guard: it.guard.as_ref().map(guard),
        places: it.places.iter().map(place).collect(),
    }
}

fn undone(undone: &change::Undone) -> Undone<'_> {
    let (fate, found, why) = match &undone.fate {
        RevertOutcome::WrittenBack => (Fate::WrittenBack, None, None),
        RevertOutcome::AlreadyThere => (Fate::AlreadyThere, None, None),
        RevertOutcome::LeftAlone { found } => (Fate::LeftAlone, found.as_deref(), None),
        RevertOutcome::WouldBringFaultBack => (Fate::WouldBringFaultBack, None, None),
        RevertOutcome::Void { why } => (Fate::Void, None, Some(&**why)),
        RevertOutcome::Failed { why } => (Fate::Failed, None, Some(&**why)),
    };
    Undone {
        change: &undone.change,
        setting: &undone.setting,
        target: undone.target.to_string(),
        recorded: undone.recorded.as_deref(),
        fate,
        found,
        why,
    }
}

/// The word for what became of a change.
fn state(state: &ChangeState) -> &'static str {
    match state {
        ChangeState::Open => "open",
        ChangeState::Kept => "kept",
        ChangeState::Awaiting { .. } => "awaiting",
        ChangeState::Reverted => "reverted",
        ChangeState::PartlyReverted { .. } => "partly-reverted",
    }
}

fn guard(guard: &Guarding) -> Guard {
    let (is_overdue, is_running, is_undone) = match guard {
        Guarding::InTime { is_running } => (false, *is_running, false),
        Guarding::Overdue(overdue) => {
            (true, *overdue == Overdue::Guarded, *overdue == Overdue::Undone)
        }
    };
    Guard { is_running, is_overdue, is_undone }
}

fn place(place: &WrittenPlace) -> Place<'_> {
    let (standing, found, why) = match &place.standing {
        change::Standing::InForce => (Standing::InForce, None, None),
        change::Standing::Waiting { now } => (Standing::Waiting, Some(&**now), None),
        change::Standing::Changed { found } => (Standing::Changed, found.as_deref(), None),
        change::Standing::Unknown(why) => (Standing::Unknown, None, Some(&**why)),
        change::Standing::Gone => (Standing::Gone, None, None),
    };
    Place {
        setting: &place.setting,
        target: place.write.target.to_string(),
        given: place.write.to.as_deref(),
        standing,
        found,
        why,
    }
}
