//! A change that is in force for one trial, and the trials that decide whether a change is kept.

use super::{Change, Executor, Stop, with_unrecorded};
use crate::{Event, Tell, bench};
use anyhow::{Context, Result, bail};
use facts::change::Undone;
use host::change::{Changer, Guarded};
use lab::bench::PlannedArm;
use lab::comparison::Comparison;
use lab::failure::Failure;
use lab::trial::Better;
use lab::verdict::{Ratio, Verdict};
use rules::plan::{Plan, Step};
use rules::setting::Effect;
use std::path::PathBuf;
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

/// Trials without and with a change, in turn, that decide whether it is kept.
pub struct Proof {
    /// The workload with its options, as the user wrote it.
    pub workload: String,
    /// The same arm twice: without the change and with it.
    pub arms: [PlannedArm; 2],
    /// How many trials are wanted.
    pub pace: bench::Wanted,
    /// Where the result is kept; `None` where it is not.
    pub folder: Option<PathBuf>,
}

/// Why a change that was measured is not kept; `None` where it may be kept.
pub(super) fn verdict(
    executor: &mut Executor<'_>,
    plan: &Plan,
    proof: &Proof,
    tell: &mut Tell<'_>,
) -> Result<Option<String>> {
    if plan.steps.iter().any(|it| it.request.setting.effect == Effect::AtBoot) {
        bail!(
            "--prove: what is in force only after a reboot cannot be turned on and off; leave it out"
        );
    }
    if let Some(step) = fixes_fault(plan) {
        let request = step.request.text();
        bail!(
            "--prove: {request} fixes a fault, which --prove does not bring back for every other trial; leave --prove out, or \
             see `fullclock experiment --i-know {request}`"
        );
    }
    let interrupt = executor.interrupt;
    let mut around = |arm: usize, trial: &mut dyn FnMut() -> Result<(), Failure>| match arm {
        0 => with_no_change(executor.changer, trial),
        _ => with_change(executor, plan, trial),
    };
    let Proof { workload, arms, pace, folder } = proof;
    let (comparison, record, file) =
        bench::before_and_after(arms, *pace, folder.as_deref(), interrupt, &mut around, tell)
            .with_context(|| format!("--prove {workload:?}"))?;
    tell(Event::Proven(&record, file.as_deref()))?;
    let against = against(&comparison);
    let verdict = &comparison.difference.verdict;
    if let Verdict::NotShown(ratio) | Verdict::Same { ratio, .. } = verdict {
        let most = 100.0 * slower(&comparison, ratio).max(0.0);
        let note = format!("not shown to be slower; at most {most:.2} % slower (99 % interval)");
        tell(Event::Note(note))?;
    }
    Ok(against)
}

fn against(comparison: &Comparison) -> Option<String> {
    let is_worse = |ratio: &Ratio| (ratio.log > 0.0) == (comparison.better == Better::Lower);
    let why = match &comparison.difference.verdict {
        Verdict::TooFew { .. } => "there are too few trials, so nothing is proven",
        Verdict::TooNoisy(_) | Verdict::NotClear { .. } => {
            "the trials are too noisy to say whether it is slower"
        }
        Verdict::Claimed(ratio) if is_worse(ratio) => "the workload is slower with it",
        Verdict::Claimed(_) | Verdict::NotShown(_) | Verdict::Same { .. } => return None,
    };
    Some(format!("not kept: {why}"))
}

/// By how much more time, or how much less of a rate, it may be slower with the change: the worse end of the interval, as a share.
fn slower(comparison: &Comparison, ratio: &Ratio) -> f64 {
    let (_, interval) = ratio.change();
    match comparison.better {
        Better::Lower => interval.high,
        Better::Higher => -interval.low,
    }
}
