//! `fullclock experiment`: settings by workloads, run in random order and settled by analysis, with a report.

mod design_args;
mod study;

pub(super) use study::{end, workloads};

use super::change::{StateArguments, command_words};
use crate::cli::Arguments;
use crate::complete;
use crate::head::{head, head_of_file};
use crate::result::FormatArguments;
use crate::tell::tell_before;
use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use clap_complete::engine::ArgValueCandidates;
use engine::experiment::{Ran, Task, begin, earlier, reserve, resume};
use facts::quantity::{self, percent};
use lab::experiment::Experiment;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// What is varied, what is run in every combination, and how often.
#[derive(Args, Debug)]
pub(crate) struct ExperimentArguments {
    /// Factors with their levels, governor=performance,powersave; or a plan (.toml), case:NAME, or `resume` and the id of a
    /// study. load=idle,all-cores keeps every CPU busy that a trial does not run on and this program may use, those of
    /// isolcpus= too; cpu=2,3 says where to run
    #[arg(value_name = "FACTOR=LEVELS|PLAN|case:NAME|resume", add = ArgValueCandidates::new(complete::factors))]
    pub(crate) what: Vec<String>,
    /// What to run in every combination: a workload of `fullclock bench` with its options, or a command, in quotes; may be given
    /// several times. With load=all-cores it needs CPUs of its own (--cpus) [default: cpu-loop and all-cores; with load,
    /// cpu-loop alone]
    #[arg(short, long = "workload", value_name = "WORKLOAD", add = ArgValueCandidates::new(complete::workloads))]
    pub(crate) workloads: Vec<String>,
    /// Which combinations: all of them; the first levels and each other one alone; or a fraction of two-level factors
    #[arg(long, value_name = "SHAPE")]
    pub(crate) shape: Option<ShapeName>,
    /// Trials of each combination, which run in blocks of two; at least three blocks are needed [default: 16]
    #[arg(short = 'n', long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(6..=100_000))]
    pub(crate) trials: Option<u32>,
    /// Go on until every effect is known to this much either way, half its interval: 0.5%
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub(crate) until: Option<f64>,
    /// How often to boot each combination of what takes a reboot, like nohz-full=none,3: trials of one boot are one observation
    /// [default: 4]
    #[arg(long, value_name = "COUNT")]
    pub(crate) boots: Option<u32>,
    /// Trials of each combination before the first that counts
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(..=100_000))]
    pub(crate) warm_up: Option<u32>,
    /// Rest between a change of settings and its trial: 2s
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    pub(crate) rest: Option<Duration>,
    /// Take no longer than this: fewer trials, or a refusal where that leaves too few
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    pub(crate) budget: Option<Duration>,
    /// End when a CPU is hotter than this, in degrees Celsius; and where that is unknown, as with the next two
    #[arg(long, value_name = "DEGREES")]
    pub(crate) max_temperature: Option<f64>,
    /// End when the hypervisor takes more than this of the CPUs of a trial
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub(crate) max_stolen: Option<f64>,
    /// End when other tasks take more than this of the CPUs of a trial
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub(crate) max_other_load: Option<f64>,
    /// Draw the order of the trials from this number: the same one, the same order; report.json has it [default: chance]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(..Experiment::SEEDS))]
    pub(crate) seed: Option<u64>,
    /// Vary what can do harm, too: `fullclock explain SETTING` says which
    #[arg(long)]
    pub(crate) i_know: bool,
    /// Print the combinations and how long they take, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// The folder to keep studies in [default: experiments in /var/lib/fullclock as root, or in ~/.local/state/fullclock]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) results: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) state: StateArguments,
    #[command(flatten)]
    pub(crate) format: FormatArguments,
}

/// Which combinations are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShapeName {
    Full,
    OneAtATime,
    Fraction,
}

/// Which study to report.
#[derive(Args, Debug)]
pub(crate) struct ReportArguments {
    /// The folder of a study, or its result
    #[arg(value_name = "STUDY")]
    pub(crate) study: PathBuf,
    /// The folder to write to [default: that of the study]
    #[arg(short, long, value_name = "FOLDER")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) format: FormatArguments,
}

pub(super) fn run(arguments: &Arguments, options: &ExperimentArguments) -> Result<ExitCode> {
    if let [first, named @ ..] = &options.what[..]
        && first == "resume"
    {
        return go_on(arguments, options, named);
    }
    let mut tell = tell_before(arguments, options.format.chosen(&arguments.output));
    let task = task(options);
    let machine = reserve(&task, &mut tell)?;
    let design = design_args::design(options, machine.host())?;
    let workloads = workloads(&design)?;
    let ran = begin(design, &workloads, machine, &task, &mut tell)?;
    drop(tell);
    ended(arguments, options, ran)
}

fn ended(
    arguments: &Arguments,
    options: &ExperimentArguments,
    ran: Option<Ran>,
) -> Result<ExitCode> {
    let (head, format) = (head(arguments), options.format.chosen(&arguments.output));
    match ran {
        Some(ran) => end(arguments, ran, &|study| study::report_text(&head, format, study)),
        None => Ok(ExitCode::SUCCESS),
    }
}

/// `fullclock experiment resume`.
fn go_on(
    arguments: &Arguments,
    options: &ExperimentArguments,
    named: &[String],
) -> Result<ExitCode> {
    design_args::refuse_on_resume(options)?;
    let name = match named {
        [] => None,
        [one] => Some(one.as_str()),
        _ => bail!("resume goes on with one study; give its id, or none for the latest"),
    };
    let earlier = earlier(options.results.as_deref(), name)?;
    let workloads = workloads(&earlier.experiment()?.design)?;
    let mut tell = tell_before(arguments, options.format.chosen(&arguments.output));
    let task = task(options);
    let machine = reserve(&task, &mut tell)?;
    let ran = resume(earlier, &workloads, machine, &task, &mut tell)?;
    drop(tell);
    ended(arguments, options, ran)
}

fn task(options: &ExperimentArguments) -> Task<'_> {
    Task {
        i_know: options.i_know,
        dry_run: options.dry_run,
        seed: options.seed,
        results: options.results.as_deref(),
        state_dir: &options.state.state_dir,
        command: command_words(),
    }
}

/// `fullclock report STUDY`.
pub(super) fn report(arguments: &Arguments, options: &ReportArguments) -> Result<ExitCode> {
    let (record, folder) = engine::experiment::read(&options.study)?;
    let to = options.output.as_deref().unwrap_or(&folder);
    let format = options.format.chosen(&arguments.output);
    // Of the machine that it was run on a study keeps no name.
    let head = head_of_file(arguments, &folder);
    study::report(arguments, &head, &record, to, &|it| study::report_text(&head, format, it))?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  fullclock experiment governor=performance,powersave
  fullclock experiment turbo=on,off load=idle,all-cores -w 'wakeup --cpus 2,3'
  fullclock experiment idle-state.C6=on,off turbo=on,off --budget 10m
  fullclock experiment cpu=2,3 -w cpu-loop     the same on two CPUs
  fullclock experiment stat-interval=1,10 -w 'command --server mysql -- ./run'
  fullclock experiment plan.toml --dry-run
  fullclock experiment case:tick               a published case, on this machine
  fullclock experiment nohz-full=none,3        in parts, a reboot before each
  fullclock experiment resume                  the latest that is not whole";

pub(crate) const REPORT_EXAMPLES: &str = "\
Examples:
  fullclock report /var/lib/fullclock/experiments/20261122T101500Z-governor
  fullclock report . -o /tmp/ticket";
