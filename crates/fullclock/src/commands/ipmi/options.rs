//! The options of `fullclock ipmi`.

use crate::cli::cpu_list;
use crate::commands::change::options::StateArguments;
use clap::{Args, Subcommand};
use facts::{CpuSet, quantity};
use lab::experiment::Experiment;
use std::path::PathBuf;
use std::time::Duration;

/// What is asked of the controller.
#[derive(Args, Debug)]
pub(crate) struct IpmiArguments {
    #[command(subcommand)]
    pub(crate) action: IpmiAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum IpmiAction {
    /// How long the controller takes to answer, and what waiting for it takes of a CPU
    ///
    /// Asks for its device id and fetches a sensor record, in turn, and shows every round trip by its length; beside that, what
    /// the kernel's thread that polls it (kipmi0) is accounted. Changes nothing. `fullclock bench ipmi-roundtrip` compares.
    Latency(LatencyArguments),
    /// What the sensors read, without fetching the sensor records each time
    ///
    /// A reading is a byte that only the sensor's record explains, and most of what `ipmitool sdr` does is to fetch the records
    /// anew. Here they are fetched once and kept on disk, for as long as the controller says that they have not changed; then
    /// each sensor takes one question. --watch stays, prints what changes, follows the event log, and takes events as they
    /// come where the controller sends them.
    Sensors(SensorsArguments),
    /// Which limit of polling (kipmid_max_busy_us) suits this controller, by trying them
    ///
    /// Asks the controller under each limit, with the other CPUs idle and busy, in trials of random order: each limit is in force for
    /// its trial alone, and taken back whatever happens. What answers take is shown against what waiting for them takes of a
    /// CPU; the knee of the two is the limit to have. Beside it stands what the kernel's driver would make of the waits that
    /// were seen without a limit. Keeps CPUs busy: only out of production.
    Tune(TuneArguments),
    /// What the board draws against the controller's power limit, and whether that goes together with PROCHOT#
    ///
    /// Asks every second what the board draws (DCMI), and reads at the same moments whether PROCHOT# is pulled and whether the
    /// processors' own power limits hold, from their registers. A controller that holds a power limit pulls PROCHOT# to keep it,
    /// and no file of the kernel shows that. Changes nothing and clears no log. Best while the machine has work.
    Power(PowerArguments),
}

/// Which limits are tried, how often, and what becomes of the best.
#[derive(Args, Debug)]
pub(crate) struct TuneArguments {
    /// Limits in microseconds, with commas between; 0 is none, and the others are compared with the first
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "0,2000,1000,500,200,100,50", value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    pub(crate) limits: Vec<u32>,
    /// Leave the other CPUs alone: no trials beside load
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
}

/// For how long, and how often.
#[derive(Args, Debug)]
pub(crate) struct PowerArguments {
    /// For how long; Ctrl-C ends it earlier, with what there is
    #[arg(short, long, value_name = "TIME", default_value = "30s", value_parser = quantity::duration)]
    pub(crate) duration: Duration,
    /// The time between two samples, 100ms at least
    #[arg(short, long, value_name = "TIME", default_value = "1s", value_parser = quantity::duration)]
    pub(crate) interval: Duration,
    /// How long the controller may take over one answer
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = quantity::duration)]
    pub(crate) timeout: Duration,
}

/// Which sensors' readings are shown, how often, and where.
#[derive(Args, Debug)]
pub(crate) struct SensorsArguments {
    /// Stay, and read them again and again
    #[arg(long)]
    pub(crate) watch: bool,
    /// The time between two rounds of --watch
    #[arg(short, long, value_name = "TIME", default_value = "10s", value_parser = quantity::duration, requires = "watch")]
    pub(crate) interval: Duration,
    /// End after that many rounds
    #[arg(short = 'n', long, value_name = "COUNT", requires = "watch", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: Option<u64>,
    /// Write the readings for Prometheus into FILE, whole in each round, as its node exporter's textfile collector wants it;
    /// - for the terminal
    #[arg(long, value_name = "FILE")]
    pub(crate) metrics: Option<PathBuf>,
    /// Ask for the thresholds of each sensor, too; once, as long as its records stay the same
    #[arg(long)]
    pub(crate) thresholds: bool,
    /// Print the whole event log, too, not only what is new in it
    #[arg(long)]
    pub(crate) log: bool,
    /// The folder to keep the sensor records in [default: /var/lib/fullclock as root, or ~/.local/state/fullclock]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) cache: Option<PathBuf>,
    /// Fetch the sensor records, and keep none
    #[arg(long, conflicts_with = "cache")]
    pub(crate) no_cache: bool,
    /// How long the controller may take over one answer
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = quantity::duration)]
    pub(crate) timeout: Duration,
}

/// How often it is asked, and under which load.
#[derive(Args, Debug)]
pub(crate) struct LatencyArguments {
    /// How many round trips of each kind
    #[arg(short = 'n', long, value_name = "COUNT", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(crate) count: u64,
    /// Ask once more while every CPU is busy: kipmi0 is the last to get one, and answers wait for it; only out of production
    #[arg(long)]
    pub(crate) load: bool,
    /// The CPUs that whoever asks stays on, a list like 0-3,8
    #[arg(long, value_name = "LIST", value_parser = cpu_list)]
    pub(crate) cpus: Option<CpuSet>,
    /// Give up after this long, and show what there is
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    pub(crate) timeout: Option<Duration>,
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  fullclock ipmi latency                      100 round trips of each kind
  fullclock ipmi latency --load               and again while every CPU is busy
  fullclock ipmi latency -n 1000 --json       as data
  fullclock ipmi tune --persist               find the limit, and keep it
  fullclock ipmi sensors --thresholds         every sensor once
  fullclock ipmi sensors --watch -i 1m        what changes, and events
  fullclock ipmi sensors --watch --metrics /var/lib/node_exporter/bmc.prom
  fullclock ipmi power -d 5m                  the board's power and its limit";
