//! A change that lasts for one trial: made before it, taken back after it, whatever happens.

use super::apply::{Session, Stop};
use crate::render::change::Applied;
use facts::change::{REGISTERS, Target, Write};
use host::change::{Guarded, Intent, Journal, Undone};
use lab::failure::Failure;
use rules::plan::{Plan, Step};
use std::sync::atomic::Ordering;

/// Runs a trial while the plan is in force. Whatever happens, the machine is as it was afterwards, or the failure says that it
/// is not; where this process dies, a guard that all trials share takes the change back.
pub(crate) fn with_change(
    session: &Session<'_>,
    journal: &mut Journal,
    plan: &Plan,
    trial: &mut dyn FnMut() -> Result<(), Failure>,
) -> Result<(), Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::Unchanged(error.to_string());
    let intent = Intent { command: session.command(), guarded: Guarded::UntilOver };
    let mut change = journal.begin(session.machine, intent).map_err(|error| failed(&error))?;
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
            let undone = change.undo().map_err(|error| failed(&error))?;
            return Err(match undone.iter().find(|it| !it.fate.is_clean()) {
                Some(left) => failed(&not_back(&why, left)),
                None if session.interrupt.flag().load(Ordering::Relaxed) => Failure::Stopped,
                None => failed(&why),
            });
        }
        Err(Stop::Broken(error)) => return Err(failed(&format!("{error:#}"))),
    }
    let outcome = trial();
    let undone = change.undo().map_err(|error| failed(&error))?;
    match undone.iter().find(|it| !it.fate.is_clean()) {
        Some(left) => Err(failed(&not_back("the trial is over", left))),
        None => outcome,
    }
}

/// A setting of the plan that could not be taken back after a trial: what it clears would be a fault again.
pub(crate) fn stays(plan: &Plan) -> Option<&Step> {
    let is_cleared = |write: &Write| match write.target {
        Target::Register { address, .. } => {
            REGISTERS.iter().any(|it| it.address == address && it.only_clear)
        }
        _ => false,
    };
    plan.steps.iter().find(|it| it.change.writes.iter().any(is_cleared))
}

/// What to do with such a setting.
pub(crate) fn instead(step: &Step) -> String {
    let request = step.request.text();
    format!(
        "{request}: what it clears is never written back, so it cannot be turned on and off; run `fullclock bench` before and \
         after `fullclock apply {request}`, and `fullclock compare` them"
    )
}

fn not_back(before: &str, left: &Undone) -> String {
    format!("{before}; {} could not be brought back: see `fullclock status`", left.target)
}
