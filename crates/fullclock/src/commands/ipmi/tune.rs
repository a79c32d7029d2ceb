//! `fullclock ipmi tune`: which limit of polling suits this controller, by an experiment.

use crate::cli::Arguments;
use crate::commands::change::{StateArguments, apply, command_words};
use crate::commands::experiment;
use crate::head::head;
use crate::output;
use crate::result::{Destination, FormatArguments};
use crate::tell::{tell, tell_before};
use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use engine::change::apply::{Task, What};
use engine::experiment::{Task as StudyTask, begin, reserve};
use engine::ipmi::tune::{self, Sweep};
use facts::{HostView, quantity};
use host::Live;
use lab::experiment::{Experiment, Tuning};
use lab::ipmi::{Model, Polling};
use report::document::Format;
use report::experiment::Study;
use report::ipmi::{tune_document, tune_json};
use rules::plan::Request;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Which limits are tried, how often, and what becomes of the best.
#[derive(Args, Debug)]
pub(crate) struct TuneArguments {
    /// Limits in microseconds, with commas between; 0 is none, and the others are compared with the first
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "0,2000,1000,500,200,100,50", value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    pub(crate) limits: Vec<u32>,
    /// Leave the other CPUs alone: no trials under load
    #[arg(long)]
    pub(crate) no_load: bool,
    /// Trials of each limit and load, in blocks of two
    #[arg(short = 'n', long, value_name = "COUNT", default_value_t = 8, value_parser = clap::value_parser!(u32).range(6..=100_000))]
    pub(crate) trials: u32,
    /// Round trips of each kind in a trial
    #[arg(long, value_name = "COUNT", default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub(crate) iterations: u64,
    /// Take no longer than this: fewer trials, or a refusal where that leaves too few
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    pub(crate) budget: Option<Duration>,
    /// Apply the knee, until the next boot
    #[arg(long)]
    pub(crate) apply: bool,
    /// Apply the knee, and make it last
    #[arg(long, conflicts_with = "apply")]
    pub(crate) persist: bool,
    /// Print the trials and how long they take, and change nothing
    #[arg(long, conflicts_with_all = ["apply", "persist"])]
    pub(crate) dry_run: bool,
    /// Draw the order of the trials from this number: the same one, the same order [default: chance]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(..Experiment::SEEDS))]
    pub(crate) seed: Option<u64>,
    /// The folder to keep the study in [default: experiments in /var/lib/fullclock]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) results: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) state: StateArguments,
    #[command(flatten)]
    pub(crate) format: FormatArguments,
}

pub(super) fn run(arguments: &Arguments, options: &TuneArguments) -> Result<ExitCode> {
    let host = host::view(&Live::this_machine());
    // Why there is none to ask goes before who polls it.
    drop(lab::ipmi::open(&host)?);
    let polling = Polling::of(&host, &Live::this_machine());
    polling
        .task()
        .map_err(|why| anyhow!("there is no kipmid to tune, as far as is known: {why}"))?;
    let format = options.format.chosen(&arguments.output);
    if !format.is_some_and(Format::is_text) && (options.apply || options.persist) {
        bail!(
            "--json and --format print the sweep alone: leave out --apply and --persist, and apply what it advises"
        );
    }
    let design = tune::design(&sweep(options), &host)?;
    let workloads = experiment::workloads(&design)?;
    let model: Model = if options.dry_run {
        Err("nothing was asked".to_owned())
    } else {
        forecast(arguments, &options.state.state_dir, &host, &polling)?
    };
    let found = RefCell::new(None);
    let words = |it: &Study<'_>| -> Result<String> {
        let tuning = Tuning::of(it.record).context("it varies no limit")?;
        let model = model.clone().map(|it| tune::fitted(it, &tuning));
        let text = match format {
            None => tune_json(&head(arguments), &tuning, &model, it)?,
            Some(format) => tune_document(&tuning, &model, it).render(format),
        };
        found.replace(it.record.is_complete.then_some(tuning));
        Ok(text)
    };
    let mut tell = tell_before(arguments, format);
    let task = StudyTask {
        i_know: false,
        dry_run: options.dry_run,
        seed: options.seed,
        results: options.results.as_deref(),
        state_dir: &options.state.state_dir,
        command: command_words(),
    };
    let machine = reserve(&task, &mut tell)?;
    let ran = begin(design, &workloads, machine, &task, &mut tell)?;
    drop(tell);
    let Some(ran) = ran else { return Ok(ExitCode::SUCCESS) };
    let code = experiment::end(arguments, ran, &words)?;
    if !options.apply && !options.persist {
        return Ok(code);
    }
    match found.into_inner() {
        Some(tuning) => apply(arguments, options, &tuning),
        None => bail!("the sweep is not whole: nothing is applied"),
    }
}

/// What the driver would make of the controller's waits without a limit.
fn forecast(
    arguments: &Arguments,
    state_dir: &Path,
    host: &HostView,
    polling: &Polling,
) -> Result<Model> {
    output::with_progress(&arguments.output, "listening to the interface ...", || {
        let changed = (state_dir, command_words());
        tune::forecast(host, polling, changed, &mut tell(arguments))
    })
}

/// The requested limits and loads.
fn sweep(options: &TuneArguments) -> Sweep<'_> {
    Sweep {
        limits: &options.limits,
        is_loaded: !options.no_load,
        iterations: options.iterations,
        trials: options.trials,
        budget: options.budget,
    }
}

/// Applies the knee, as `fullclock apply` does.
fn apply(arguments: &Arguments, options: &TuneArguments, tuning: &Tuning) -> Result<ExitCode> {
    let Some(limit) = tuning.advised() else {
        let told = "nothing is applied: no limit was shown to be worth having";
        output::note(&arguments.output, told);
        return Ok(ExitCode::SUCCESS);
    };
    let request = Request::parse(&format!("{}={limit}", Tuning::SETTING));
    let task = Task {
        what: What::Requested(request.map_err(|error| anyhow!(error))?),
        i_know: false,
        persist: options.persist,
        confirm_within: None,
        prove: None,
        controller: None,
        state_dir: &options.state.state_dir,
        command: command_words(),
    };
    let destination = Destination::of(options.format, &arguments.output);
    apply::apply(arguments, &destination, &task)
}
