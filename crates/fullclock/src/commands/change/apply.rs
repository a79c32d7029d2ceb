//! `fullclock apply`: makes a change, all of it or nothing.

use super::{asked, code, command_words, refuse_other_host};
use crate::cli::Arguments;
use crate::commands::bench;
use crate::commands::change::options::{ApplyArguments, ProofArguments};
use crate::output;
use crate::tell::tell;
use anyhow::{Context, Result, anyhow, bail};
use clap::Parser;
use engine::change::apply::{Task, What};
use engine::change::persist::{self, Lasting};
use engine::change::prove::Proof;
use engine::passwords;
use engine::results_folder::kept_in;
use rules::applied::Applied;
use std::process::ExitCode;

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
    let what = options.persisted.as_deref().map(What::Persisted);
    let task = Task {
        what: what.unwrap_or_else(|| What::Asked(asked(&options.plan))),
        i_know: options.plan.i_know,
        persist: options.persist,
        confirm_within: options.confirm_within,
        prove: options.prove.as_deref().map(proof).transpose()?,
        state_dir: &options.state.state_dir,
        command: command_words(),
    };
    apply(arguments, &task)
}

/// Makes a change and prints what became of it.
pub(crate) fn apply(arguments: &Arguments, task: &Task<'_>) -> Result<ExitCode> {
    refuse_other_host(arguments)?;
    let applied = engine::change::apply::apply(task, &mut tell(arguments))?;
    print(arguments, &applied)?;
    Ok(code(applied.is_refused()))
}

fn print(arguments: &Arguments, applied: &Applied) -> Result<()> {
    output::print(&if arguments.output.json {
        report::change::applied_json(applied)?
    } else {
        let style = output::style(arguments.output.color);
        report::change::applied(applied, arguments.audit.verbose, style)
    })
}

/// What would be written, and the files that would make it last.
fn dry_run(arguments: &Arguments, options: &ApplyArguments) -> Result<ExitCode> {
    let plan = super::plan::shown(arguments, &options.plan)?;
    let output = &arguments.output;
    if options.persist {
        let (state_dir, i_know) = (&*options.state.state_dir, options.plan.i_know);
        let files = persist::preview(Lasting { state_dir, i_know }, &plan)?;
        if !output.json && !output.quiet {
            output::print(&report::change::files(&files, output::style(output.color)))?;
        }
    }
    Ok(code(!plan.refused.is_empty()))
}

/// The trials that `--prove` asks for: a workload with its options, in one text.
fn proof(workload: &str) -> Result<Proof> {
    let words = shlex::split(workload).context("--prove: a quote has nothing to end it")?;
    passwords::refused("--prove", &words)?;
    let options = ProofArguments::try_parse_from(&words)
        .map_err(|error| anyhow!("--prove {workload:?}: {}", error.to_string().trim_end()))?;
    let options = options.bench;
    let context = || format!("--prove {workload:?}");
    let allowed = host::probe::allowed()?;
    let mut arms = bench::arms::planned(&options, &allowed).with_context(context)?;
    let (Some(arm), true) = (arms.pop(), arms.is_empty()) else {
        return Err(anyhow!(
            "expected one workload, like cpu-loop --cpus 3; `fullclock bench` lists them"
        ))
        .with_context(context);
    };
    Ok(Proof {
        workload: workload.to_owned(),
        arms: [arm.clone(), arm],
        pace: bench::wanted(&options),
        folder: kept_in(options.no_save, options.results.as_deref())?,
    })
}
