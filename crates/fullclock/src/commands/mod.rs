//! The commands, one module each: options become arguments of the engine, what it answers is worded and printed.

mod advisories;
mod agent;
mod audit;
mod baseline;
mod bench;
mod bmc;
mod capture;
pub(crate) mod certificate;
pub(crate) mod change;
pub(crate) mod compare;
mod defaults;
mod diff;
mod doctor;
mod experiment;
mod explain;
mod fleet;
mod foreign;
mod history;
mod ipmi;
pub(crate) mod ledger;
pub(crate) mod manual;
mod mcp;
mod metrics;
mod net;
mod noise;
mod overview;
mod race;
mod serve;
mod tick;
mod watch;

pub(crate) use foreign::{command, parse};

use crate::cli::{Arguments, cpu_list};
use crate::output;
use anyhow::{Result, bail};
use clap::{Parser, Subcommand};
use engine::copies;
use facts::CpuSet;
use host::{Live, Source, WithController};
use rules::config::Config;
use std::path::PathBuf;
use std::process::ExitCode;

/// Finds what keeps a server's CPUs below the clock they were bought for, and says what each cause costs.
///
/// Without a command, audits this machine. Reading changes nothing on the host; some facts need root, and
/// the report says which.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true, args_conflicts_with_subcommands = false, after_help = EXAMPLES)]
pub(crate) struct Invocation {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    arguments: Arguments,
}

/// Every command, in the order of the help.
#[derive(Debug, Subcommand)]
enum Command {
    /// Judge a host: what is set wrong, what it costs, how to fix it
    ///
    /// Exit codes: 0 nothing that --fail-on names, 1 something that it names, 2 could not run; a copy of a host in which
    /// nothing could be read is 2. With --format nagios those of its plugins: 0 OK, 1 WARNING (medium), 2 CRITICAL (high and
    /// critical, or what --fail-on names), 3 UNKNOWN (could not run). With --format checkmk always 0: the state is in the line.
    #[command(after_help = audit::EXAMPLES)]
    Audit(audit::AuditOptions),
    /// Write what an audit reads of this host to a text file
    ///
    /// It contains: the names, states and control groups of all processes and of their threads; the kernel's boot line,
    /// version and configuration; mount points; the names of network interfaces, PCI devices, interrupts and sensors; models
    /// and versions of the machine, its firmware and processors; the settings and counters of the CPUs, with MSRs and CPUID
    /// as root; answers of the management controller (BMC); and which devices in /dev processes have open. Of logs: the kernel's lines
    /// about clocks, heat, power and firmware. Of /etc: the release of the distribution, tuned's profile, and whether
    /// files that set clocks at boot are there. It contains no command lines or environments of processes, names of
    /// open files, or other logs.
    ///
    /// Replaced by marks like <mac1>: serial numbers, UUIDs, MAC and IP addresses, and the host's own name. Other names
    /// stay: of users in mount points and control groups, of other hosts in the boot line. Read it before you send it.
    ///
    /// A file is written with mode 0600, and only as a whole. Audit it elsewhere with `fullclock audit --host FILE`.
    #[command(after_help = capture::EXAMPLES)]
    Capture {
        /// File to write; standard output without it. A file that exists is not overwritten
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
        /// Replace FILE if it exists
        #[arg(long, requires = "output")]
        force: bool,
    },
    /// Say which machines of a fleet are slow, and why those
    ///
    /// Compares machines with their peers (same CPU model), names the slow ones, and what they have in common that their peers lack: a
    /// BIOS, a microcode, a kernel, a rack, a finding, a setting. Asks an engine that speaks PromQL, or reads captures, audits and
    /// results. It reads only and keeps nothing. Exit codes: 0, or 1 with --fail-on-slow where a machine is slow; 2 could not run.
    #[command(after_help = fleet::EXAMPLES)]
    Fleet(Box<fleet::FleetArguments>),
    /// Show in what two hosts differ
    ///
    /// Firmware, kernel, findings, settings and facts of two hosts, or of one before and after. Exit codes: 0 nothing differs, 1
    /// something does, 2 could not run.
    #[command(after_help = diff::EXAMPLES)]
    Diff(diff::DiffArguments),
    /// Explain an id, or a pasted line of another tool
    ///
    /// Knows the ids of checks, metrics, lines of the ledger, workloads, settings and advisories; words such as HWP, EPP, PROCHOT, hpet or kipmi0;
    /// columns of turbostat (Bzy_MHz, CPU%c6); and lines: perftest's "Conflicting CPU frequency values", the kernel's "cpu clock
    /// throttled" and "power limit notification", rows of turbostat. Without a subject, lists the ids.
    #[command(after_help = explain::EXAMPLES)]
    Explain(explain::ExplainOptions),
    /// List published faults that concern this machine; explain one
    ///
    /// Advisories name versions of firmware, microcode and kernels that cost clock or time, with their sources. A version that is named is
    /// affected; where a check finds what the fault does, it is seen here. A distribution's kernel has fixes of later releases, so that its
    /// number alone says "perhaps". A site adds its own in /etc/fullclock/advisories. Exit codes: 0; 2 could not run.
    #[command(after_help = advisories::EXAMPLES)]
    Advisories(advisories::AdvisoriesOptions),
    /// Say what fullclock lacks here, and the command that provides it
    ///
    /// Looks at rights, modules, mounts, options of the kernel and programs. What is missing comes first, with what it would add (checks that are unknown here, metrics, lines of the ledger, commands)
    /// and the command of this distribution that provides it, or why none does. Reads only: it loads, mounts and installs
    /// nothing. Of a copy of a host (--root, --host) it says what that host lacked. Exit codes: 0, whatever is missing; 2 could
    /// not run.
    #[command(after_help = doctor::EXAMPLES)]
    Doctor(doctor::DoctorOptions),
    /// Show where the CPU cycles went, in lines that sum to 100 %
    ///
    /// Counts what happened while the CPUs did their own work, which is safe in production. With COMMAND,
    /// runs it and measures until it ends; with --pid, that process's cycles are the useful ones. Ctrl-C
    /// prints what there is. `fullclock explain LINE` says what a line is made of and what fixes it.
    #[command(after_help = ledger::EXAMPLES)]
    Ledger(ledger::LedgerArguments),
    /// Show what the CPUs do, live: a screen in a terminal, lines in a pipe
    ///
    /// One row for each CPU, package and the machine; a column for each metric (`fullclock explain ID` says what
    /// one is); where the time of all CPUs went; and the selected value over time. `?` on the screen lists the keys.
    /// With COMMAND, runs it, watches until it ends and exits with its exit code; what it prints goes to standard
    /// error, or is printed when the screen is left. --client, --metric and --mark keep the numbers and phases that it
    /// prints next to what the CPUs did.
    #[command(after_help = watch::EXAMPLES)]
    Watch(watch::WatchArguments),
    /// Count each CPU's timer ticks, and say why a nohz_full CPU still ticks
    ///
    /// Counts the interrupts of the CPUs' own timers, and asks the kernel of each nohz_full CPU that ticked although
    /// it was busy what needed its tick. perf's count and the reasons need root.
    #[command(after_help = tick::EXAMPLES)]
    Tick(tick::TickArguments),
    /// Occupy CPUs and measure what interrupts them, how often and for how long
    ///
    /// A loop on each CPU, all of them at once, reads the time and notes every gap: how long, when, and who had the CPU.
    /// Ranks the CPUs from the noisiest. Causes of single gaps need root, to trace. The thread that empties the trace runs
    /// on a CPU that is not occupied, where one is left. Ctrl-C prints what there is.
    #[command(after_help = noise::EXAMPLES)]
    Noise(noise::NoiseArguments),
    /// Say what network links can carry, and measure them
    ///
    /// `ceiling` and `curve` look at adapters, their slots, and tables of perftest that were saved, and send nothing; `server` and
    /// `client` are the two ends of a test.
    #[command(after_help = net::EXAMPLES)]
    Net(net::NetArguments),
    /// Measure a workload or a command until the result is reliable, or compare two
    ///
    /// Every trial is kept with the clock and the ledger of its CPUs, so that what disturbed it is known. Two things
    /// are compared by trials in random order, with the clock taken out. Without a workload, lists them; `fullclock explain
    /// WORKLOAD` says what one does. It occupies CPUs: only out of production. Ctrl-C prints what there is.
    #[command(after_help = bench::EXAMPLES)]
    Bench(Box<bench::BenchCommand>),
    /// Keep the speed of each boot (5 s, once idle), and say which change made it slower
    ///
    /// Keeps firmware, microcode, kernel, boot line, mitigations and settings of each boot, with the speed of one core and of all, wake-up
    /// latency and memory latency: at most 5 s once the machine is idle, and less than 2 kB. A difference is claimed if it exceeds what
    /// boots of the same settings differ by. Exit codes: 0 kept, or kept before; 1 not idle in all that time, so that the settings alone
    /// are kept; 2 could not run.
    #[command(after_help = baseline::EXAMPLES)]
    Baseline(baseline::BaselineArguments),
    /// Compare results: what differs, by how much, and what the clock explains
    ///
    /// Of two files, what each measured first is compared; of more, each with the first file; of one, the two things that
    /// `--vs` measured. A difference of two results is claimed if it exceeds what moved within either, and what two runs of the same
    /// differ by: earlier results tell, or 1 % each is assumed. Several results of each (`--vs`) are compared as runs.
    #[command(after_help = compare::EXAMPLES)]
    Compare(compare::CompareArguments),
    /// Write a page that shows what a change did, before and after
    ///
    /// One HTML file for a change request or a vendor's ticket: the verdict of `compare`, every trial, the clock, the ledger, the
    /// change from the journal or what differs between the machines, firmware and microcode, doubts, how to repeat it, and the
    /// SHA-256 of each result. Never claims more than `compare` does.
    #[command(after_help = certificate::EXAMPLES)]
    Certificate(certificate::CertificateArguments),
    /// Let database nodes commit at the same time, and say why one is slower
    ///
    /// Each node runs the sessions and the log writer of `bench commit`, on this machine or another, for as long as the race
    /// lasts, and reports commits, log writes and their time, in the call and waiting for a CPU, for each interval. Changes
    /// during the race are marked: settings, quotas, findings of an audit, and lines that you type. The result is kept and compared
    /// like any other. It occupies CPUs and disks: only out of production. Ctrl-C ends it and says what there is.
    #[command(after_help = race::EXAMPLES)]
    Race(Box<race::RaceArguments>),
    /// Run a node of a race for `fullclock race` on another machine
    ///
    /// Listens to this machine only; ssh brings it elsewhere, encrypted. Runs one race at a time, remembers what a lost
    /// connection has not taken, and ends a race after five minutes without a client.
    #[command(after_help = agent::EXAMPLES)]
    Agent(agent::AgentArguments),
    /// Show this machine in a browser
    ///
    /// Pages for what the CPUs do now, for races, for findings and for results; `/metrics` for Prometheus; `/api/v1` for scripts.
    /// Reads only, changes nothing, and fetches nothing from anywhere. Others than this machine are let in with --listen, and have
    /// to know a token.
    #[command(after_help = serve::EXAMPLES)]
    Serve(serve::ServeArguments),
    /// Export metrics to Prometheus
    ///
    /// Prints once what `/metrics` of `serve` has, in the text format of Prometheus: findings, what the machine is, and what its kernel
    /// has counted since boot. What only intervals show, the ledger and the clock, is not there. With --textfile, writes a file for
    /// node_exporter's textfile collector, where no port is wanted. Reads only.
    #[command(after_help = metrics::EXAMPLES)]
    Metrics(metrics::MetricsOptions),
    /// Answer an assistant's questions (Model Context Protocol)
    ///
    /// A client starts it and speaks to it on standard input and output. It audits this machine or a copy of another, explains, plans,
    /// measures where CPU time goes, and compares results. Reads only: it has no tool that changes a setting or removes a result.
    /// Ends when the client closes standard input.
    #[command(after_help = mcp::EXAMPLES)]
    Mcp(mcp::McpArguments),
    /// Query the management controller (BMC): response times, sensors, power limit
    ///
    /// Needs root and the drivers (`modprobe -a ipmi_si ipmi_devintf`). Each question costs CPU time where the kernel polls for answers.
    #[command(after_help = ipmi::EXAMPLES)]
    Ipmi(ipmi::IpmiArguments),
    /// Ask the management controller what limits (Redfish)
    ///
    /// Asks the controller at most eight times and 10 s long: limits on power, throttled processors and why, temperatures; and shows
    /// how long each answer took. Reads only, follows no link to another server, and never shows a secret. Without --redfish it takes the
    /// controller of the configuration, or this machine's own by its host interface. `audit` and `capture` ask it only where
    /// the configuration names it.
    #[command(after_help = bmc::EXAMPLES)]
    Bmc(Box<bmc::BmcArguments>),
    /// List kept results; show or remove one
    ///
    /// Results are JSON files in one folder, and the history is an index of it that makes itself. A run that was killed
    /// is among them, with the trials that it had: it was cut short.
    #[command(after_help = history::EXAMPLES)]
    History(history::HistoryArguments),
    /// Show what a fix or a change would write
    ///
    /// Without an argument, what would fix the findings of an audit. `fullclock explain SETTING` says what a setting changes,
    /// what it costs and when to leave it alone; `fullclock explain` lists them. Exit codes: 0, or 3 where something is
    /// refused.
    #[command(after_help = change::plan::EXAMPLES)]
    Plan(change::plan::PlanCommand),
    /// Change settings, all or none, and record the old values
    ///
    /// Prints the plan, then writes it: each old value is on disk before its write, each write is read back, and what does not
    /// stick undoes the whole. Stays until `fullclock revert`, or until reboot. Needs root. Exit codes: 0 in force, 2 could not
    /// run, 3 refused or did not stick.
    #[command(after_help = change::apply::EXAMPLES)]
    Apply(Box<change::apply::ApplyArguments>),
    /// Keep a change that `apply --confirm-within` made
    #[command(after_help = change::revert::CONFIRM_EXAMPLES)]
    Confirm(change::revert::ConfirmArguments),
    /// Undo a change: every setting gets its previous value
    ///
    /// What somebody else has changed since is left alone, and said. Exit codes: 0 as before, 2 could not run, 3 something
    /// could not be brought back.
    #[command(after_help = change::revert::REVERT_EXAMPLES)]
    Revert(change::revert::RevertArguments),
    /// Show what is applied, and what was changed since
    #[command(after_help = change::status::STATUS_EXAMPLES)]
    Status(change::status::StatusArguments),
    /// Watch applied changes, and say who undoes one
    ///
    /// Exit codes: 0 nothing drifted, 1 something did, 2 could not run.
    #[command(after_help = change::status::DRIFT_EXAMPLES)]
    WatchDrift(change::status::DriftArguments),
    /// Find which settings matter for a workload, by trials in random order
    ///
    /// Changes the settings through the journal of `apply` around each trial, and takes them back after it, also when this
    /// program is killed. Says what each setting does to each workload and how much of it the clock explains, and recommends
    /// a change or none. Needs root where settings are varied. Occupies CPUs: only out of production. Ctrl-C reports what
    /// there is; `resume` goes on. Exit codes: 0 reported, 2 could not run, 3 a setting was refused or did not stick.
    #[command(after_help = experiment::EXAMPLES)]
    Experiment(Box<experiment::ExperimentArguments>),
    /// Write the report of an experiment again
    #[command(after_help = experiment::REPORT_EXAMPLES)]
    Report(experiment::ReportArguments),
    /// Print a manual page, or write those of all commands
    ///
    /// Packages install these pages: `man fullclock-apply` shows one. This is for who has only the program.
    #[command(hide = true, after_help = manual::MANUAL_EXAMPLES)]
    Manual(manual::ManualOptions),
    /// Print the script by which a shell completes commands, ids, changes and results
    ///
    /// Packages install these scripts. What may follow is asked of fullclock itself whenever Tab is pressed: ids of checks,
    /// settings and workloads, profiles, and the changes and results of this machine. Asking writes nothing.
    #[command(hide = true, after_help = manual::COMPLETIONS_EXAMPLES)]
    Completions {
        /// The shell
        #[arg(value_name = "SHELL")]
        shell: manual::Shell,
    },
    /// Keep CPUs busy until standard input ends; `experiment load=...` starts it
    #[command(hide = true, after_help = change::HELD_EXAMPLES)]
    OccupyCpus {
        #[arg(value_name = "LIST", value_parser = cpu_list)]
        cpus: CpuSet,
    },
    /// Print the firmware version of the management controller; `metrics` and `serve` start it
    #[command(hide = true, after_help = metrics::EXAMPLES)]
    ReadControllerFirmware,
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

/// Runs what the command line asks for.
pub(crate) fn run(invocation: &Invocation) -> Result<ExitCode> {
    let arguments = &invocation.arguments;
    match &invocation.command {
        None => audit::run(arguments, &audit::AuditOptions::default()),
        Some(Command::Audit(options)) => audit::run(arguments, options),
        Some(Command::Capture { output, force }) => {
            capture::run(arguments, output.as_deref(), *force)
        }
        Some(Command::Ledger(options)) => ledger::run(arguments, options),
        Some(Command::Watch(options)) => watch::run(arguments, options),
        Some(Command::Fleet(options)) => fleet::run(arguments, options),
        Some(Command::Diff(options)) => diff::run(arguments, options),
        Some(Command::Explain(options)) => explain::run(arguments, options),
        Some(Command::Advisories(options)) => advisories::run(arguments, options),
        Some(Command::Doctor(options)) => doctor::run(arguments, options),
        Some(Command::Net(options)) => net::run(arguments, options),
        Some(Command::Noise(options)) => noise::run(arguments, options),
        Some(Command::Tick(options)) => tick::run(arguments, options),
        Some(Command::Ipmi(options)) => ipmi::run(arguments, options),
        Some(Command::Bmc(options)) => bmc::run(arguments, options),
        Some(Command::History(options)) => history::run(arguments, options),
        Some(Command::Bench(options)) => bench::run(arguments, options),
        Some(Command::Baseline(options)) => baseline::run(arguments, options),
        Some(Command::Compare(options)) => compare::run(arguments, options),
        Some(Command::Race(options)) => race::run(arguments, options),
        Some(Command::Agent(options)) => agent::run(arguments, options),
        Some(Command::Serve(options)) => serve::run(arguments, options),
        Some(Command::Metrics(options)) => metrics::run(arguments, options),
        Some(Command::Mcp(options)) => mcp::run(arguments, options),
        Some(Command::Certificate(options)) => certificate::run(arguments, options),
        Some(Command::Plan(options)) => change::plan::run(arguments, options),
        Some(Command::Apply(options)) => change::apply::run(arguments, options),
        Some(Command::Confirm(options)) => change::revert::confirm(arguments, options),
        Some(Command::Revert(options)) => change::revert::run(arguments, options),
        Some(Command::Status(options)) => change::status::run(arguments, options),
        Some(Command::WatchDrift(options)) => change::status::watch_drift(arguments, options),
        Some(Command::Experiment(options)) => experiment::run(arguments, options),
        Some(Command::Report(options)) => experiment::report(arguments, options),
        Some(Command::Manual(options)) => manual::run(options),
        Some(Command::Completions { shell }) => manual::completions(*shell),
        Some(Command::OccupyCpus { cpus }) => {
            engine::experiment::occupy(cpus).map(|()| ExitCode::SUCCESS)
        }
        Some(Command::ReadControllerFirmware) => metrics::controller_firmware(),
        Some(Command::HoldLatency { microseconds }) => change::hold_latency(*microseconds),
        Some(Command::GuardChange { folder, change }) => {
            change::guard_change(folder, change.as_deref())
        }
    }
}

/// The host that the options name, and what to call it. This machine's management controller is left alone.
fn open(arguments: &Arguments) -> Result<(Box<dyn Source>, String)> {
    open_as(arguments, || Box::new(Live::this_machine()))
}

/// The same, but that this machine's management controller is asked, once and for a moment: for who looks by hand. Over Redfish it is
/// asked where the configuration names it.
fn open_with_controller(
    arguments: &Arguments,
    config: &Config,
) -> Result<(Box<dyn Source>, String)> {
    let machine = || bmc::with_controller(Box::new(WithController::this_machine()), config);
    open_as(arguments, machine)
}

fn open_as(
    arguments: &Arguments,
    this_machine: impl FnOnce() -> Box<dyn Source>,
) -> Result<(Box<dyn Source>, String)> {
    // clap sees this only where both stand on the same side of the command's name.
    if arguments.host.root.is_some() && arguments.host.host.is_some() {
        bail!("--root and --host name two hosts; give one of them");
    }
    let root = arguments.host.root.as_deref().map(copies::open_root);
    let capture = arguments.host.host.as_deref().map(copies::open_capture);
    let Some(opened) = root.or(capture).transpose()? else {
        return Ok((this_machine(), "this machine".to_owned()));
    };
    if let Some(path) = arguments.host.root.as_deref().filter(|_| !opened.others.is_empty()) {
        let (name, others) = (path.display(), opened.others.join(", "));
        let note = format!("{name} holds other hosts, too; --root PATH takes one: {others}");
        output::note(&arguments.output, &note);
    }
    note_incomplete(arguments, &opened.name, &*opened.source);
    Ok((opened.source, opened.name))
}

/// Says that not all of a copy could be read.
fn note_incomplete(arguments: &Arguments, name: &str, source: &dyn Source) {
    if let Some(why) = source.incomplete() {
        output::note(
            &arguments.output,
            &format!("{name}: {}", report::audit::incomplete_copy(why)),
        );
    }
}

const EXAMPLES: &str = "\
Examples:
  fullclock                      judge this machine
  fullclock explain ID           what a finding, a metric or a workload is about
  fullclock ledger -- COMMAND    where the cycles went while a command ran
  fullclock watch                every CPU, live
  fullclock bench cpu-loop       a speed test with a known answer; occupies a CPU";

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn examples_fit_into_80_columns() {
        for command in Invocation::command().get_subcommands() {
            let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(examples.starts_with("Examples:"), "{}", command.get_name());
            for line in examples.lines() {
                assert!(line.chars().count() <= 80, "{}: {line}", command.get_name());
            }
        }
    }

    #[test]
    fn the_list_of_commands_has_one_short_phrase_for_each() {
        for command in Invocation::command().get_subcommands() {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            assert!((1..=120).contains(&about.chars().count()), "{about}");
            assert!(!about.contains(". "), "{about}");
        }
    }

    #[test]
    fn docs_list_every_command_that_prints_csv() {
        fn with_csv(command: &clap::Command, path: &str) -> Vec<String> {
            let path = format!("{path} {}", command.get_name()).trim().to_owned();
            let has_csv = command.get_arguments().any(|it| it.get_long() == Some("csv"));
            let below = command.get_subcommands().flat_map(|it| with_csv(it, &path));
            has_csv.then(|| path.clone()).into_iter().chain(below).collect()
        }
        let documented =
            include_str!("../../../../docs/json.md").split_once("\n## CSV\n").unwrap().1;
        let found: Vec<String> =
            Invocation::command().get_subcommands().flat_map(|it| with_csv(it, "")).collect();
        let listed: Vec<&str> = documented
            .lines()
            .filter(|it| it.starts_with("- "))
            .filter_map(|it| Some(it.rsplit_once(": `")?.1.trim_end_matches('`')))
            .collect();
        assert_eq!(found.len(), listed.len(), "{found:?}");
        assert!(found.iter().all(|it| listed.contains(&&**it)), "{found:?}");
    }
}
