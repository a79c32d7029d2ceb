//! Trials without and with a change, taken in turn, decide whether it is kept.

use super::Executor;
use super::trial::{fixes_fault, with_change, with_no_change};
use crate::{Event, Tell, bench};
use anyhow::{Context, Result, bail};
use lab::bench::PlannedArm;
use lab::comparison::Comparison;
use lab::failure::Failure;
use rules::plan::Plan;
use rules::setting::Effect;
use std::path::PathBuf;

/// The trials that decide.
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
            "--prove: {request} mends a fault, which --prove does not bring back for every other trial; leave --prove out, or \
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
    if let (None, Some(headline)) = (&against, comparison.verdict.headline()) {
        let most = 100.0 * headline.evidence.interval.high.max(0.0);
        let note = format!("not shown to be slower; by how much it still may be: {most:.2} %");
        tell(Event::Note(note))?;
    }
    Ok(against)
}

fn against(comparison: &Comparison) -> Option<String> {
    let verdict = &comparison.verdict;
    let Some(headline) = verdict.headline().filter(|_| verdict.forbidding.is_empty()) else {
        return Some("not kept: the trials allow no claim, so nothing is proven".to_owned());
    };
    let is_slower = headline.is_claimed && headline.evidence.change > 0.0;
    is_slower.then(|| "not kept: the workload is slower with it".to_owned())
}
