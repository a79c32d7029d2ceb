//! A change that lasts for one trial: made before it, taken back after it, whatever happens.

use super::apply::{Session, Stop, with_unrecorded};
use crate::render::change::Applied;
use host::change::{ChangeError, Changer, Guarded, Intent, Transaction, Undone};
use lab::failure::Failure;
use rules::plan::{Plan, Step};
use std::sync::atomic::Ordering;

/// Runs a trial while the plan is in force. Whatever happens, the machine is as it was afterwards, or the failure says that it
/// is not; where this process dies, a guard that all trials share takes the change back.
pub(crate) fn with_change(
    session: &Session<'_>,
    changer: &mut Changer,
    plan: &Plan,
    trial: &mut dyn FnMut() -> Result<(), Failure>,
) -> Result<(), Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::Unchanged(error.to_string());
    let intent = Intent {
        command: session.command(),
        guarded: Guarded::UntilOver,
        // Whoever plans it has been told, and has said `--i-know`.
        brings_faults_back: mends(plan).is_some(),
    };
    let mut change = changer.begin(intent).map_err(|error| failed(&error))?;
    let mut applied = Applied::nothing(plan);
    match session.carry_out(&mut change, plan, &mut applied) {
        Ok(()) => {}
        Err(Stop::Failed) => {
            let error = applied.error.unwrap_or_default();
            return Err(match applied.undone.iter().find(|it| !it.fate.is_clean()) {
                None => failed(&error),
                Some(left) => failed(&not_back(&error, left)),
            });
        }
        Err(Stop::Wanted(why)) => {
            taken_back(change, &why)?;
            return Err(match session.interrupt.flag().load(Ordering::Relaxed) {
                true => Failure::Stopped,
                false => failed(&why),
            });
        }
        Err(Stop::Broken(error)) => return Err(failed(&format!("{error:#}"))),
    }
    let outcome = trial();
    taken_back(change, "the trial is over")?;
    outcome
}

/// Undoes a change. Error: what is not as before, and why the journal does not record what was undone.
fn taken_back(change: Transaction<'_>, before: &str) -> Result<(), Failure> {
    let (undone, error) = match change.undo() {
        Ok(undone) => (undone, None),
        Err(ChangeError::NotRecorded { undone, error, .. }) => (undone, Some(error)),
        Err(error) => return Err(Failure::Unchanged(error.to_string())),
    };
    let why = match undone.iter().find(|it| !it.fate.is_clean()) {
        None if error.is_none() => return Ok(()),
        None => before.to_owned(),
        Some(left) => not_back(before, left),
    };
    Err(Failure::Unchanged(with_unrecorded(why, error.as_ref())))
}

/// Runs a trial of the machine as it is; other processes revert and confirm before and after it.
pub(crate) fn with_no_change(
    changer: &mut Changer,
    trial: &mut dyn FnMut() -> Result<(), Failure>,
) -> Result<(), Failure> {
    changer.locked(trial).map_err(|error| Failure::Unchanged(error.to_string()))?
}

/// A setting of the plan that mends a fault, which is there again once it is taken back after a trial.
pub(crate) fn mends(plan: &Plan) -> Option<&Step> {
    plan.steps.iter().find(|it| it.change.writes.iter().any(|it| it.target.holds_fault()))
}

fn not_back(before: &str, left: &Undone) -> String {
    format!("{before}; {} could not be brought back: see `fullclock status`", left.target)
}
