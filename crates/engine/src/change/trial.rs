//! A change that lasts for one trial: made before it, taken back after it, whatever happens.

use super::{Change, Executor, Stop, with_unrecorded};
use facts::change::Undone;
use host::change::{Changer, Guarded};
use lab::failure::Failure;
use rules::plan::{Plan, Step};
use std::sync::atomic::Ordering;

/// Runs a trial while the plan is in force. Whatever happens, the machine is as it was afterwards, or the failure says that it
/// is not; where this process dies, a guard that all trials share takes the change back.
pub fn with_change(
    executor: &mut Executor<'_>,
    plan: &Plan,
    trial: &mut dyn FnMut() -> Result<(), Failure>,
) -> Result<(), Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::Unchanged(error.to_string());
    let interrupt = executor.interrupt;
    // The user was told that undoing it brings the fault back, and gave `--i-know`.
    let brings_faults_back = fixes_fault(plan).is_some();
    let begun = executor.begin(Guarded::UntilOver, brings_faults_back);
    let mut change = begun.map_err(|error| failed(&error))?;
    match change.carry_out(plan) {
        Ok(()) => {}
        Err(Stop::Failed { error, undone }) => {
            return Err(match undone.iter().find(|it| !it.fate.is_clean()) {
                None => failed(&error),
                Some(left) => failed(&not_back(&error, left)),
            });
        }
        Err(Stop::Wanted(why)) => {
            taken_back(change, &why)?;
            return Err(match interrupt.flag().load(Ordering::Relaxed) {
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
fn taken_back(change: Change<'_>, before: &str) -> Result<(), Failure> {
    let (undone, error) = change.take_back().map_err(|it| Failure::Unchanged(it.to_string()))?;
    let why = match undone.iter().find(|it| !it.fate.is_clean()) {
        None if error.is_none() => return Ok(()),
        None => before.to_owned(),
        Some(left) => not_back(before, left),
    };
    Err(Failure::Unchanged(with_unrecorded(why, error.as_ref())))
}

/// Runs a trial of the machine as it is; other processes revert and confirm before and after it.
pub fn with_no_change(
    changer: &mut Changer,
    trial: &mut dyn FnMut() -> Result<(), Failure>,
) -> Result<(), Failure> {
    changer.locked(trial).map_err(|error| Failure::Unchanged(error.to_string()))?
}

/// The first step of the plan that fixes a fault. Undoing it after a trial brings the fault back.
pub fn fixes_fault(plan: &Plan) -> Option<&Step> {
    plan.steps.iter().find(|it| it.change.writes.iter().any(|it| it.target.holds_fault()))
}

fn not_back(before: &str, left: &Undone) -> String {
    format!("{before}; {} could not be brought back: see `fullclock status`", left.target)
}
