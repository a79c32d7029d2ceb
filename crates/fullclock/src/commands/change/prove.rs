//! `apply --prove`: trials without and with a change, taken in turn, decide whether it is kept.

use crate::cli::{Arguments, ProofArguments};
use crate::commands::bench;
use crate::output;
use anyhow::{Context, Result, anyhow, bail};
use clap::Parser;
use engine::change::Executor;
use engine::change::trial::{fixes_fault, with_change, with_no_change};
use engine::passwords;
use lab::comparison::Comparison;
use lab::failure::Failure;
use rules::plan::Plan;
use rules::setting::Effect;

/// Why a change that was measured is not kept; nothing where it may be kept. The report is printed.
pub(super) fn verdict(
    arguments: &Arguments,
    executor: &mut Executor<'_>,
    plan: &Plan,
    workload: &str,
) -> Result<Option<String>> {
    let words = shlex::split(workload).context("--prove: a quote has nothing to end it")?;
    passwords::refused("--prove", &words)?;
    let options = ProofArguments::try_parse_from(&words)
        .map_err(|error| anyhow!("--prove {workload:?}: {}", error.to_string().trim_end()))?;
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
    let (comparison, report) =
        bench::before_and_after(arguments, &options.bench, interrupt, &mut around)
            .with_context(|| format!("--prove {workload:?}"))?;
    if !arguments.output.json {
        output::print(&report)?;
    }
    let against = against(&comparison);
    if let (None, Some(headline)) = (&against, comparison.verdict.headline()) {
        let most = 100.0 * headline.evidence.interval.high.max(0.0);
        let note = format!("not shown to be slower; by how much it still may be: {most:.2} %");
        output::note(&arguments.output, &note);
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
