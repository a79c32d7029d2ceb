//! `fullclock apply`: makes a change, all of it or nothing.

use super::plan::{Draft, PlanArguments};
use super::{StateArguments, asked, code, command_words};
use crate::cli::Arguments;
use crate::commands::bench::{self, BenchArguments};
use crate::complete;
use crate::head::head;
use crate::result::Destination;
use crate::tell::tell_before;
use anyhow::{Context, Result, anyhow, bail};
use clap::{Args, Parser};
use clap_complete::engine::ArgValueCandidates;
use engine::change::apply::{Task, What};
use engine::change::persist::{self, Lasting};
use engine::change::trial::Proof;
use engine::results_folder::kept_in;
use engine::secret;
use facts::quantity;
use report::change::Detail;
use std::process::ExitCode;
use std::time::Duration;

/// What is to be changed, and for how long.
#[derive(Args, Debug)]
pub(crate) struct ApplyArguments {
    #[command(flatten)]
    pub(crate) plan: PlanArguments,
    /// Print the plan and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Revert after this time unless `fullclock confirm` comes, even if this session is gone: 5m
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    pub(crate) confirm_within: Option<Duration>,
    /// Make it last: files for sysctl, modprobe and systemd, each shown before it is written and taken away by revert
    #[arg(long, conflicts_with = "confirm_within")]
    pub(crate) persist: bool,
    /// Measure a workload without and with the change, in trials of random order, and keep it only if it is not slower with
    /// it: a workload of `fullclock bench` with its options, in quotes
    #[arg(long, value_name = "WORKLOAD", add = ArgValueCandidates::new(complete::workloads))]
    pub(crate) prove: Option<String>,
    /// Apply what an earlier `apply --persist` made to last; what its unit runs
    #[arg(long, value_name = "CHANGE", hide = true, conflicts_with_all = ["what", "profiles", "persist", "confirm_within", "prove"])]
    pub(crate) persisted: Option<String>,
    #[command(flatten)]
    pub(crate) state: StateArguments,
}

/// What `--prove` measures.
#[derive(Debug, Parser)]
#[command(no_binary_name = true)]
pub(crate) struct ProofArguments {
    #[command(flatten)]
    pub(crate) bench: BenchArguments,
}

pub(crate) fn run(arguments: &Arguments, options: &ApplyArguments) -> Result<ExitCode> {
    let is_asked = !options.plan.what.is_empty() || !options.plan.profiles.is_empty();
    if !is_asked && options.persisted.is_none() {
        bail!(
            "say what to apply: SETTING=VALUE, a finding, or --profile; `fullclock plan` shows what would fix the findings"
        );
    }
    let destination = options.plan.result.destination(&arguments.output)?;
    if options.dry_run {
        return dry_run(arguments, options, &destination);
    }
    if arguments.host.is_copy() {
        bail!(
            "only this machine can be changed; --dry-run shows what would be written to another host"
        );
    }
    let what = options.persisted.as_deref().map(What::Persisted);
    let task = Task {
        what: what.unwrap_or_else(|| What::Asked(asked(&options.plan))),
        i_know: options.plan.i_know,
        persist: options.persist,
        confirm_within: options.confirm_within,
        prove: options.prove.as_deref().map(proof).transpose()?,
        controller: options.plan.controller.controller(arguments)?,
        state_dir: &options.state.state_dir,
        command: command_words(),
    };
    apply(arguments, &destination, &task)
}

/// Makes a change and prints what became of it.
pub(crate) fn apply(
    arguments: &Arguments,
    destination: &Destination,
    task: &Task<'_>,
) -> Result<ExitCode> {
    let format = destination.format();
    let applied = engine::change::apply::apply(task, &mut tell_before(arguments, format))?;
    destination.print(&match format {
        None => report::change::applied_json(&head(arguments), &applied)?,
        Some(format) => {
            let detail = Detail {
                verbose: arguments.audit.verbose,
                with_plan: !format.is_text() || destination.is_file(),
            };
            report::change::applied(&applied, detail).render(format)
        }
    })?;
    Ok(code(applied.is_refused()))
}

/// What would be written, and the files that would make it last.
fn dry_run(
    arguments: &Arguments,
    options: &ApplyArguments,
    destination: &Destination,
) -> Result<ExitCode> {
    let draft = Draft::of(arguments, &options.plan)?;
    let (state_dir, i_know) = (&*options.state.state_dir, options.plan.i_know);
    let files = match options.persist {
        true => persist::preview(Lasting { state_dir, i_know }, &draft.drafted.plan),
        false => Ok(Vec::new()),
    };
    draft.print(arguments, destination, files.as_deref().unwrap_or_default())?;
    files?;
    Ok(code(!draft.drafted.plan.refused.is_empty()))
}

/// The trials that `--prove` asks for: a workload with its options, in one text.
fn proof(workload: &str) -> Result<Proof> {
    let words = shlex::split(workload).context("--prove: a quote has nothing to end it")?;
    secret::refuse_secrets("--prove", &words)?;
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

pub(crate) const EXAMPLES: &str = "\
Examples:
  fullclock apply governor=performance
  fullclock apply --confirm-within 5m --profile database-latency
  fullclock apply --persist stat-interval=10
  fullclock apply --prove 'wakeup --cpus 2,3' cpu-dma-latency=20
  fullclock apply --dry-run slow-governor
  fullclock apply firmware-turbo=on --redfish https://bmc7 --token-file token";
