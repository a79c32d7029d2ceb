//! The command line.

mod bench;
mod certificate;
mod change;
mod compare;
mod experiment;
mod foreign;
mod history;
mod ipmi;
mod net;
mod noise;
mod race;
mod serve;
mod watch;

pub(crate) use bench::{ArmArguments, BenchArguments, Dialect, Place, WorkArguments};
pub(crate) use certificate::CertificateArguments;
pub(crate) use change::{
    ApplyArguments, ConfirmArguments, DriftArguments, PlanArguments, ProofArguments,
    RevertArguments, StatusArguments,
};
pub(crate) use compare::CompareArguments;
pub(crate) use experiment::{ExperimentArguments, ReportArguments, ShapeName};
pub(crate) use foreign::parse;
pub(crate) use history::{HistoryAction, HistoryArguments};
pub(crate) use ipmi::{
    IpmiAction, IpmiArguments, LatencyArguments, PowerArguments, SensorsArguments, TuneArguments,
};
pub(crate) use net::{
    ClientArguments, CurveArguments, GivenArguments, NetAction, NetArguments, ServerArguments,
    ZeroCopy,
};
pub(crate) use noise::NoiseArguments;
pub(crate) use race::{AgentArguments, RaceArguments};
pub(crate) use serve::ServeArguments;
pub(crate) use watch::{Probe, WatchArguments};

use crate::output::OutputArguments;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use engine::ledger::{Point, point};
use engine::measure::choice::Trace;
use facts::{CpuSet, quantity};
use rules::finding::Severity;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Finds what keeps a server's CPUs below the clock they were bought for, and says what each thief costs.
///
/// Without a command, audits this machine. Reading changes nothing on the host; some facts need root, and
/// the report says which.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true, args_conflicts_with_subcommands = false, after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) host: HostArguments,
    #[command(flatten)]
    pub(crate) audit: AuditArguments,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Judge a host: what is set wrong, what it costs, what mends it
    ///
    /// Exit codes: 0 nothing that --fail-on names, 1 something that it names, 2 could not run; a copy of a host in which
    /// nothing could be read is 2.
    #[command(after_help = AUDIT_EXAMPLES)]
    Audit,
    /// Write down everything an audit asks of this host, as text to review and send
    ///
    /// It contains: the names, states and control groups of all processes and of their threads; the kernel's boot line,
    /// version and configuration; mount points; the names of network interfaces, PCI devices, interrupts and sensors; models
    /// and versions of the machine, its firmware and processors; the settings and counters of the CPUs, with MSRs and CPUID
    /// as root; answers of the management controller (BMC); and which devices in /dev processes have open. It contains no command
    /// lines or environments of processes, names of open files, logs, or files of /etc but tuned's profile.
    ///
    /// Replaced by marks like <mac1>: serial numbers, UUIDs, MAC and IP addresses, and the host's own name. Other names
    /// stay: of users in mount points and control groups, of other hosts in the boot line. Read it before you send it.
    ///
    /// A file is written with mode 0600, and only as a whole. Audit it elsewhere with `fullclock audit --host FILE`.
    #[command(after_help = CAPTURE_EXAMPLES)]
    Capture {
        /// File to write; standard output without it. A file that exists is not overwritten
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
        /// Replace FILE if it exists
        #[arg(long, requires = "output")]
        force: bool,
    },
    /// Say what a check, a metric, a line of the ledger, a workload or a setting is about, or what a line of another tool means
    ///
    /// Knows the ids of checks, metrics, lines of the ledger, workloads and settings, perftest's "Conflicting CPU frequency values",
    /// the kernel's "cpu clock throttled" and rows of turbostat. Without a subject, lists the ids.
    #[command(after_help = EXPLAIN_EXAMPLES)]
    Explain {
        /// An id, or pasted text; `-` reads it from standard input
        #[arg(value_name = "ID|TEXT")]
        subject: Vec<String>,
    },
    /// Say where the cycles of this machine went: what each thief took, in lines that sum to 100 %
    ///
    /// Counts what happened while the CPUs did their own work, which is safe in production. With COMMAND,
    /// runs it and measures until it ends; with --pid, that process's cycles are the useful ones. Ctrl-C
    /// prints what there is. `fullclock explain LINE` says what a line is made of and what mends it.
    #[command(after_help = LEDGER_EXAMPLES)]
    Ledger(LedgerArguments),
    /// Show what the CPUs do, live: a screen on a terminal, lines elsewhere
    ///
    /// One row for each CPU, package and the machine; a column for each metric (`fullclock explain ID` says what
    /// one is); where the time of all CPUs went; and the selected value over time. `?` on the screen lists the keys.
    /// With COMMAND, runs it, watches until it ends and exits with its exit code; what it prints goes to standard
    /// error, or is printed when the screen is left.
    #[command(after_help = watch::EXAMPLES)]
    Watch(WatchArguments),
    /// Count the ticks of each CPU, and say why one ticks that should not
    ///
    /// Counts the interrupts of the CPUs' own timers, and asks the kernel of each nohz_full CPU that ticked although
    /// it was busy what needed its tick. perf's count and the reasons need root.
    #[command(after_help = TICK_EXAMPLES)]
    Tick(TickArguments),
    /// Occupy CPUs and say how often, for how long and by whom each is taken away; only out of production
    ///
    /// A loop on each CPU, all of them at once, reads the time and notes every gap: how long, when, and who had the CPU.
    /// Ranks the CPUs from the noisiest. Causes of single gaps need root, to trace. The thread that empties the trace runs
    /// on a CPU that is not occupied, where one is left. Ctrl-C prints what there is.
    #[command(after_help = noise::EXAMPLES)]
    Noise(NoiseArguments),
    /// Say what network links can carry, measure them, and read what a test measured
    ///
    /// `ceiling` and `curve` look at adapters, their slots, and tables of perftest that were saved, and send nothing; `server` and
    /// `client` are the two ends of a test.
    #[command(after_help = net::EXAMPLES)]
    Net(NetArguments),
    /// Run a workload with a known answer, or a command, until its figure can be trusted; or compare two
    ///
    /// Every trial is kept with the clock and the ledger of its CPUs, so that what disturbed it can be told. Two things
    /// are compared by trials in random order, with the clock taken out. Without a workload, lists them; `fullclock explain
    /// WORKLOAD` says what one does. It occupies CPUs: only out of production. Ctrl-C prints what there is.
    #[command(after_help = bench::EXAMPLES)]
    Bench(Box<BenchArguments>),
    /// Compare results of `fullclock bench`: what differs, by how much, and how much of it the clock explains
    ///
    /// Of two files, what each measured first is compared; of more, each with the first file; of one, the two things that
    /// `--vs` measured. What cannot be told is not claimed, and the doubts that forbid a claim are named.
    #[command(after_help = compare::EXAMPLES)]
    Compare(CompareArguments),
    /// Write a page that shows what a change of this machine did: before and after, with the hashes of the data
    ///
    /// One HTML file for a change request or a vendor's ticket: the verdict of `compare`, every trial, the clock, the ledger, the
    /// change from the journal or what differs between the machines, firmware and microcode, doubts, how to repeat it, and the
    /// SHA-256 of each result. Never claims more than `compare` does.
    #[command(after_help = certificate::EXAMPLES)]
    Certificate(CertificateArguments),
    /// Let nodes commit at the same time, and say why one of them is slower
    ///
    /// Each node runs the sessions and the log writer of `bench commit`, on this machine or another, for as long as the race
    /// lasts, and tells commits, log writes and their time, in the call and waiting for a CPU, for each interval. What changes
    /// meanwhile is marked: settings, quotas, findings of an audit, and lines that you type. The result is kept and compared
    /// like any other. It occupies CPUs and disks: only out of production. Ctrl-C ends it and says what there is.
    #[command(after_help = race::RACE_EXAMPLES)]
    Race(Box<RaceArguments>),
    /// Run a node of a race, for `fullclock race` elsewhere
    ///
    /// Listens to this machine only; ssh brings it elsewhere, encrypted. Runs one race at a time, remembers what a lost
    /// connection has not taken, and ends a race that nobody has asked for during five minutes.
    #[command(after_help = race::AGENT_EXAMPLES)]
    Agent(AgentArguments),
    /// Show this machine in a browser, live, and its figures to Prometheus
    ///
    /// Pages for what the CPUs do now, for races, for findings and for results; `/metrics` for Prometheus; `/api/v1` for scripts.
    /// Reads only, changes nothing, and fetches nothing from anywhere. Others than this machine are let in with --listen, and have
    /// to know a token.
    #[command(after_help = serve::EXAMPLES)]
    Serve(ServeArguments),
    /// Ask the management controller (BMC) of this machine: how long its answers take, its sensors, its power limit
    ///
    /// Needs root and the drivers (`modprobe -a ipmi_si ipmi_devintf`). To ask costs CPU time where the kernel polls for answers.
    #[command(after_help = ipmi::EXAMPLES)]
    Ipmi(IpmiArguments),
    /// List the results of `fullclock bench` that were kept, and show or remove one
    ///
    /// Results are JSON files in one folder, and the history is an index of it that makes itself. A run that was killed
    /// is among them, with the trials that it had: it was cut short.
    #[command(after_help = history::EXAMPLES)]
    History(HistoryArguments),
    /// Say what would be written to mend findings or to change settings; writes nothing
    ///
    /// Without an argument, what would mend the findings of an audit. `fullclock explain SETTING` says what a setting changes,
    /// what it costs and when to leave it alone; `fullclock explain` lists them. Exit codes: 0, or 3 where something is
    /// refused.
    #[command(after_help = change::PLAN_EXAMPLES)]
    Plan(PlanArguments),
    /// Change this machine, all of a plan or nothing, and remember how it was
    ///
    /// Prints the plan, then writes it: each old value is on disk before its write, each write is read back, and what does not
    /// stick undoes the whole. Stays until `fullclock revert`, or until reboot. Needs root. Exit codes: 0 in force, 2 could not
    /// run, 3 refused or did not stick.
    #[command(after_help = change::APPLY_EXAMPLES)]
    Apply(Box<ApplyArguments>),
    /// Keep a change that `apply --confirm-within` made
    #[command(after_help = change::CONFIRM_EXAMPLES)]
    Confirm(ConfirmArguments),
    /// Take a change back: every place gets the value that it had before
    ///
    /// What somebody else has changed since is left alone, and said. Exit codes: 0 as before, 2 could not run, 3 something
    /// could not be brought back.
    #[command(after_help = change::REVERT_EXAMPLES)]
    Revert(RevertArguments),
    /// Show what is applied, what somebody has changed since, and what the next boot will do
    #[command(after_help = change::STATUS_EXAMPLES)]
    Status(StatusArguments),
    /// Watch what is applied, and say when something undoes it, and who
    ///
    /// Exit codes: 0 nothing drifted, 1 something did, 2 could not run.
    #[command(after_help = change::DRIFT_EXAMPLES)]
    WatchDrift(DriftArguments),
    /// Settle which settings matter for a workload: trials of every combination in random order, and a report
    ///
    /// Changes the settings through the journal of `apply` around each trial, and takes them back after it, also when this
    /// program is killed. Says what each setting does to each workload and how much of it the clock explains, and recommends
    /// a change or none. Needs root where settings are varied. Occupies CPUs: only out of production. Ctrl-C reports what
    /// there is; `resume` goes on. Exit codes: 0 reported, 2 could not run, 3 a setting was refused or did not stick.
    #[command(after_help = experiment::EXAMPLES)]
    Experiment(Box<ExperimentArguments>),
    /// Write the report of an experiment once more: report.html, report.md, report.json, trials.csv
    #[command(after_help = experiment::REPORT_EXAMPLES)]
    Report(ReportArguments),
    /// Keep CPUs busy until standard input ends; `experiment load=...` starts it
    #[command(hide = true, after_help = change::HELD_EXAMPLES)]
    OccupyCpus {
        #[arg(value_name = "LIST", value_parser = cpu_list)]
        cpus: CpuSet,
    },
    /// Keep /dev/cpu_dma_latency open; `apply cpu-dma-latency=...` starts it
    #[command(hide = true, after_help = change::HELD_EXAMPLES)]
    HoldLatency {
        #[arg(value_name = "MICROSECONDS")]
        microseconds: i32,
    },
    /// Revert what is interrupted or not confirmed; `apply --confirm-within` and `experiment` start it
    #[command(hide = true, after_help = change::HELD_EXAMPLES)]
    GuardChange {
        #[arg(value_name = "FOLDER")]
        folder: PathBuf,
        #[arg(value_name = "CHANGE")]
        change: Option<String>,
    },
}

/// What is accounted for, and how.
#[derive(Args, Debug)]
pub(crate) struct LedgerArguments {
    /// How long to measure: 500ms, 5s, 2m; asks a COMMAND that still runs then to end [default: 5s, or until it ends]
    #[arg(short, long, value_name = "TIME", value_parser = quantity::duration)]
    pub(crate) duration: Option<Duration>,
    /// The CPUs to account for, a list like 0-3,8 [default: all that are online]
    #[arg(long, value_name = "LIST", value_parser = cpu_list)]
    pub(crate) cpus: Option<CpuSet>,
    /// A process whose cycles are asked for; may be given several times
    #[arg(short, long = "pid", value_name = "PID", conflicts_with = "spin")]
    pub(crate) pids: Vec<u32>,
    /// Occupy the CPUs and ask how much of each one task could get; only out of production
    #[arg(long, conflicts_with = "command")]
    pub(crate) spin: bool,
    /// Whether to trace the scheduler and interrupts: auto does so where it is allowed and costs little
    #[arg(long, value_name = "WHEN", default_value = "auto", value_parser = trace())]
    pub(crate) trace: Trace,
    /// A recording made by `fullclock watch --record`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["pids", "spin", "duration", "command"])]
    pub(crate) from: Option<PathBuf>,
    /// Of a recording, the samples from then on: 90s or 5m after its start, 12:14:05 or 2026-11-20T12:14:05Z in UTC
    #[arg(long, value_name = "WHEN", requires = "from", value_parser = point)]
    pub(crate) since: Option<Point>,
    /// Of a recording, the samples up to then
    #[arg(long, value_name = "WHEN", requires = "from", value_parser = point)]
    pub(crate) until: Option<Point>,
    /// A command to run and measure
    #[arg(value_name = "COMMAND", last = true)]
    pub(crate) command: Vec<OsString>,
}

fn cpu_list(text: &str) -> Result<CpuSet, String> {
    let cpus = CpuSet::parse_list(text).map_err(|error| error.to_string())?;
    if cpus.is_empty() { Err("it names no CPU".to_owned()) } else { Ok(cpus) }
}

/// `auto`, `always` or `never`.
fn trace() -> impl TypedValueParser<Value = Trace> {
    PossibleValuesParser::new(["auto", "always", "never"]).map(|it| match &*it {
        "always" => Trace::Always,
        "never" => Trace::Never,
        _ => Trace::Auto,
    })
}

const EXAMPLES: &str = "\
Examples:
  fullclock                      judge this machine
  fullclock explain ID           what a finding, a metric or a workload is about
  fullclock ledger -- COMMAND    where the cycles went while a command ran
  fullclock watch                every CPU, live
  fullclock bench cpu-loop       a figure with a known answer; occupies a CPU";

const LEDGER_EXAMPLES: &str = "\
Examples:
  fullclock ledger                        five seconds of the whole machine
  fullclock ledger -d 30s --pid 4711      one process; its children are others
  fullclock ledger -- pgbench -T 60       until the command ends
  fullclock ledger --cpus 4-7 --verbose   every part, source and uncertainty
  fullclock ledger --cpus 4-7 --spin      what one task could get; occupies them
  fullclock ledger --from friday.tape     of a recording
  fullclock ledger --from friday.tape --since 12:14 --until 12:20";

const AUDIT_EXAMPLES: &str = "\
Examples:
  fullclock audit                           this machine
  fullclock audit --root sosreport.tar.xz   a bundle that holds proc/ and sys/
  fullclock audit --host db7.host           made by `fullclock capture`
  fullclock audit --json --fail-on medium,unknown   for a pipeline";

const CAPTURE_EXAMPLES: &str = "\
Examples:
  fullclock capture -o db7.host    on the host, as root for the registers too
  fullclock capture -o db7.host --force   replaces an earlier one
  ssh db7 fullclock capture | fullclock audit --host /dev/stdin";

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  fullclock explain                   every id there is
  fullclock explain clock-modulation
  fullclock explain cpu-loop
  fullclock explain \"Conflicting CPU frequency values detected: 1600 != 2534\"
  dmesg | grep throttled | fullclock explain -";

const TICK_EXAMPLES: &str = "\
Examples:
  fullclock tick                      every CPU, for 5 seconds
  fullclock tick --cpus 2-15 -d 1m
  perf stat -aA -e irq_vectors:local_timer_entry fullclock tick   beside perf";

/// What to count ticks of.
#[derive(Args, Debug)]
pub(crate) struct TickArguments {
    /// For how long to count: 500ms, 5s, 2m
    #[arg(short, long, value_name = "TIME", default_value = "5s", value_parser = quantity::duration)]
    pub(crate) duration: Duration,
    /// The CPUs to count on, a list like 0-3,8 [default: all that are online]
    #[arg(long, value_name = "LIST", value_parser = cpu_list)]
    pub(crate) cpus: Option<CpuSet>,
}

/// Which host is meant.
#[derive(Args, Debug)]
pub(crate) struct HostArguments {
    /// A copy of a host: a folder or tarball (.tar, .gz, .bz2, .xz, .zst) that holds proc/ and sys/
    #[arg(long, value_name = "PATH", global = true)]
    pub(crate) root: Option<PathBuf>,
    /// A capture made by `fullclock capture`
    #[arg(long, value_name = "FILE", global = true, conflicts_with = "root")]
    pub(crate) host: Option<PathBuf>,
}

/// What an audit does with its findings.
#[derive(Args, Debug)]
pub(crate) struct AuditArguments {
    /// Exit with 1 when a finding is at least this severe, or with `unknown` when a check could not be judged; several
    /// are separated by commas: medium,unknown
    #[arg(long, value_name = "LEVEL", global = true, value_delimiter = ',')]
    pub(crate) fail_on: Vec<Level>,
    /// Leave nothing out: of an audit the clean checks and why others have no verdict, of a ledger the smallest part
    /// and each line's source, of noise the causes and the histogram of each CPU
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
}

/// What fails a pipeline: a [`Severity`], or a check without a verdict.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Level {
    Unknown,
    Info,
    Low,
    Medium,
    High,
    Critical,
}

impl Level {
    /// The severity of a finding; `None` for a check without a verdict.
    pub(crate) fn severity(self) -> Option<Severity> {
        Some(match self {
            Level::Unknown => return None,
            Level::Info => Severity::Info,
            Level::Low => Severity::Low,
            Level::Medium => Severity::Medium,
            Level::High => Severity::High,
            Level::Critical => Severity::Critical,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn examples_fit_into_80_columns() {
        for command in Arguments::command().get_subcommands() {
            let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(examples.starts_with("Examples:"), "{}", command.get_name());
            for line in examples.lines() {
                assert!(line.chars().count() <= 80, "{}: {line}", command.get_name());
            }
        }
    }

    #[test]
    fn the_list_of_commands_has_one_short_phrase_for_each() {
        for command in Arguments::command().get_subcommands() {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            assert!((1..=120).contains(&about.chars().count()), "{about}");
            assert!(!about.contains(". "), "{about}");
        }
    }
}
