//! `fullclock bench`: trials of a workload, as many as its result needs.

pub(super) mod arms;
mod files;

use crate::cli::{Arguments, cpu_list};
use crate::complete;
use crate::head::head;
use crate::result::{Destination, Form, RowsArguments};
use crate::tell::tell;
use anyhow::{Context, Result, bail};
use clap::{Args, Parser, ValueEnum};
use clap_complete::engine::ArgValueCandidates;
use engine::bench::{Measured, Wanted, kept, measure};
use engine::interrupt::Interrupt;
use engine::results_folder::kept_in;
use facts::CpuSet;
use facts::quantity::{self, percent};
use lab::comparison::within_margin;
use lab::failure::Failure;
use lab::record::Record;
use lab::store::Journal;
use lab::trial::Better;
use report::bench::{Report, workloads};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// What is run, and how its result is printed.
#[derive(Args, Debug)]
pub(crate) struct BenchCommand {
    #[command(flatten)]
    pub(crate) bench: BenchArguments,
    #[command(flatten)]
    pub(crate) result: RowsArguments,
}

/// What is run, how often, and where it is kept.
#[derive(Args, Debug)]
pub(crate) struct BenchArguments {
    /// The workload, by id; without one, lists them
    #[arg(value_name = "WORKLOAD", conflicts_with = "vs", add = ArgValueCandidates::new(complete::workloads))]
    pub(crate) workload: Option<String>,
    /// Compare two in random order: workloads with their options, or commands, each in quotes. Two of cpu-loop on the same
    /// CPU take turns every few milliseconds
    #[arg(long, num_args = 2, value_names = ["A", "B"])]
    pub(crate) vs: Vec<String>,
    /// With --vs, ask whether they are the same within this: 1%
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub(crate) same: Option<f64>,
    #[command(flatten)]
    pub(crate) work: WorkArguments,
    /// Trials of each [default: 20, and more until 10 s are over]
    #[arg(short = 'n', long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    pub(crate) trials: Option<u32>,
    /// Run trials until half the 99 % interval of the result, or of the difference, is at most this: 0.3%; 20 trials at least
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub(crate) until: Option<f64>,
    /// For how long to begin trials; a block that is begun then is ended [default: 10s and 20 trials; with --until at most 5m]
    #[arg(short, long, value_name = "TIME", value_parser = quantity::duration)]
    pub(crate) duration: Option<Duration>,
    /// Run it on each CPU in turn, and rank the CPUs
    #[arg(long, conflicts_with = "vs")]
    pub(crate) sweep: bool,
    /// Compare cpu-speed with machines of the same CPU model: a result of theirs, or lines of MODEL ; SPEED
    #[arg(long, value_name = "FILE", conflicts_with = "vs")]
    pub(crate) peers: Vec<PathBuf>,
    /// Print the script that does the same inside a database, and run nothing
    #[arg(long, value_name = "DATABASE", conflicts_with_all = ["vs", "parse", "peers", "sweep", "trials", "until", "duration"])]
    pub(crate) print_sql: Option<Dialect>,
    /// Make a result of what that script printed
    #[arg(long, value_name = "FILE", conflicts_with_all = ["vs", "peers", "sweep", "trials", "until", "duration", "cpus", "iterations"])]
    pub(crate) parse: Option<PathBuf>,
    /// The folder to keep the result in [default: /var/lib/fullclock as root, or ~/.local/state/fullclock]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) results: Option<PathBuf>,
    /// Keep no result
    #[arg(long, conflicts_with = "results")]
    pub(crate) no_save: bool,
}

/// What a workload may be told.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct WorkArguments {
    /// The CPUs to run on, a list like 0-3,8, one thread each and all at once; `any` leaves it to the scheduler [default:
    /// the last one for a workload of one thread, else as the workload says]
    #[arg(long, value_name = "LIST", value_parser = place)]
    pub(crate) cpus: Option<Place>,
    /// How much work a trial is, as the workload counts it
    #[arg(long, value_name = "COUNT")]
    pub(crate) iterations: Option<u64>,
    /// Which database: postgresql, mariadb, and for commit also embedded [default: the one that is installed; embedded for commit]
    #[arg(long, value_name = "NAME")]
    pub(crate) engine: Option<String>,
    /// A server that runs already, as its clients take it; without one, a temporary one is made and removed. A command takes
    /// --server
    #[arg(long, value_name = "DSN")]
    pub(crate) dsn: Option<String>,
    /// The server that a command works with, which is then a part of the work: a product such as postgresql, a connection string,
    /// the number of its main process, or a folder in /sys/fs/cgroup
    #[arg(long, value_name = "SERVER")]
    pub(crate) server: Option<String>,
    /// How many rows to load
    #[arg(long, value_name = "COUNT")]
    pub(crate) rows: Option<u64>,
    /// How many sessions commit at once
    #[arg(long, value_name = "COUNT")]
    pub(crate) sessions: Option<u64>,
    /// The folder whose disk is measured: the log, or the temporary server, is made in it [default: the temporary folder]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) folder: Option<String>,
    /// Where the result is in what a command prints: a regular expression with one group
    #[arg(long, value_name = "REGEX")]
    pub(crate) metric: Option<String>,
    /// Whether a higher or a lower result is faster: of a rate the higher one, of a time the lower one [default: higher]
    #[arg(long, value_name = "WHICH")]
    pub(crate) better: Option<Direction>,
    /// How long a trial may take
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    pub(crate) timeout: Option<Duration>,
    /// The command to measure
    #[arg(value_name = "COMMAND", last = true)]
    pub(crate) command: Vec<OsString>,
}

/// One side of a comparison, where it is a workload.
#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
pub(crate) struct ArmArguments {
    pub(crate) workload: String,
    #[command(flatten)]
    pub(crate) work: WorkArguments,
}

/// Where to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Wherever the scheduler puts it.
    Any,
    Cpus(CpuSet),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Dialect {
    Oracle,
}

/// Which way is faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Direction {
    Lower,
    Higher,
}

impl From<Direction> for Better {
    fn from(direction: Direction) -> Better {
        match direction {
            Direction::Lower => Better::Lower,
            Direction::Higher => Better::Higher,
        }
    }
}

fn place(text: &str) -> Result<Place, String> {
    if text == "any" { Ok(Place::Any) } else { cpu_list(text).map(Place::Cpus) }
}

/// The workload whose figure is one to compare between machines of one model.
const COMPARED_WITH_PEERS: &str = "cpu-speed";

pub(super) fn run(arguments: &Arguments, command: &BenchCommand) -> Result<ExitCode> {
    let options = &command.bench;
    let destination = command.result.destination(&arguments.output)?;
    if let Some(dialect) = options.print_sql {
        return files::print_script(dialect, options);
    }
    if let Some(file) = &options.parse {
        return files::parse_output(arguments, options, &destination, file);
    }
    if !options.peers.is_empty() && options.workload.as_deref() != Some(COMPARED_WITH_PEERS) {
        bail!("--peers compares speeds of {COMPARED_WITH_PEERS}; name that workload");
    }
    if options.same.is_some() && options.vs.is_empty() {
        bail!("--same asks whether two are the same; --vs names them");
    }
    // Before a trial: a mistake in a file is told at once.
    let peers = files::read_peers(&options.peers)?;
    let allowed = host::probe::allowed()?;
    let arms = arms::planned(options, &allowed)?;
    if arms.is_empty() {
        list(arguments, &destination)?;
        return Ok(ExitCode::SUCCESS);
    }
    let interrupt = Interrupt::listen()?;
    let folder = kept_in(options.no_save, options.results.as_deref())?;
    let mut tell = tell(arguments);
    let measured = measure(arms, wanted(options), folder.as_deref(), &interrupt, None, &mut tell)?;
    drop(tell);
    let Measured { record, outcome, file, shortfall } = measured;
    let mut report = Report::of(&record, file.as_ref().ok().and_then(Option::as_deref));
    report.shortfall = shortfall;
    report.peers = files::standing(&record, &peers);
    if options.same.is_some() {
        report.comparisons = within_margin(&record, options.same);
    }
    let printed = print(arguments, &report, &destination);
    // What went wrong with the trials comes before what went wrong with keeping them.
    let failed = outcome.err().filter(|it| !matches!(it, Failure::Stopped));
    failed.map_or(Ok(()), |it| {
        let after = after(&record, &it);
        Err(anyhow::Error::new(it).context(after))
    })?;
    file?;
    printed.map(|()| ExitCode::SUCCESS)
}

/// How many trials the options want.
pub(super) fn wanted(options: &BenchArguments) -> Wanted {
    Wanted { trials: options.trials, until: options.until, duration: options.duration }
}

/// Keeps a result that is complete; its path.
fn keep(
    arguments: &Arguments,
    options: &BenchArguments,
    record: &mut Record,
) -> Result<Option<PathBuf>> {
    let Some(folder) = kept_in(options.no_save, options.results.as_deref())? else {
        return Ok(None);
    };
    let journal = Journal::begin(&folder, record)?;
    let path = kept(journal, record, &mut tell(arguments));
    path.map(Some).context("the result is printed, but not kept")
}

/// What there is to run.
fn list(arguments: &Arguments, destination: &Destination) -> Result<()> {
    destination.print(&match destination.form {
        Form::Document(format) => workloads::document().render(format),
        Form::Json => workloads::json(&head(arguments))?,
        Form::Csv => workloads::csv(),
    })
}

/// Prints a result; as CSV, a line for each value of each trial.
pub(super) fn print(
    arguments: &Arguments,
    report: &Report<'_>,
    destination: &Destination,
) -> Result<()> {
    match destination.form {
        Form::Json => destination.print_pieces(report::bench::json(&head(arguments), report)?),
        Form::Csv => destination.print(&report::bench::csv(report.record)),
        Form::Document(format) => {
            destination.print(&report::bench::document(report).render(format))
        }
    }
}

fn after(record: &Record, failure: &Failure) -> String {
    match record.trials.len() {
        n if matches!(failure, Failure::Unkept { .. }) => format!("ended at trial {n}"),
        1 => "the trial after the first one failed".to_owned(),
        n => format!("the trial after {n} good ones failed"),
    }
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  fullclock bench                           what there is to run
  fullclock bench cpu-loop                  the CPU test, on the last CPU
  fullclock bench cpu-loop --sweep          each CPU in turn: the slow core
  fullclock bench cpu-loop --until 0.3%     until it is known to +-0.3 %
  fullclock bench cpu-speed --peers t.json  is it as fast as its twin?
  fullclock bench plsql-loop --engine postgresql     inside a server of its own
  fullclock bench commit --sessions 64      group commit, and what it waits for
  fullclock bench command --metric 'tps = ([0-9.]+)' -- pgbench -T 10
  fullclock bench --server postgresql --metric 'tps = ([0-9.]+)' -- ./run
  fullclock bench cpu-loop -o trials.csv
  fullclock bench --vs 'cpu-loop --cpus 2' 'cpu-loop --cpus 3'
  fullclock bench --vs './query-v1' './query-v2' --cpus 3
  fullclock bench --vs 'cpu-loop --cpus 2' 'cpu-loop --cpus 3' --same 1%";
