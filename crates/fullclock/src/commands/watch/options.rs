//! The options of `fullclock watch`.

use crate::cli::cpu_list;
use clap::{Args, ValueEnum};
use facts::{CpuSet, quantity};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// What is shown, and how.
#[derive(Args, Debug)]
pub(crate) struct WatchArguments {
    /// The time between two samples: 500ms, 1s, 2m
    #[arg(short, long, value_name = "TIME", default_value = "1s", value_parser = quantity::duration)]
    pub(crate) interval: Duration,
    /// Print one interval and exit
    #[arg(long, conflicts_with_all = ["count", "command"])]
    pub(crate) once: bool,
    /// Print that many intervals and exit
    #[arg(short = 'n', long, value_name = "COUNT", conflicts_with = "command", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: Option<u64>,
    /// The metrics to show, by id: busy,busy-mhz,interrupts:LOC [default: all that are known here]
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    pub(crate) columns: Vec<String>,
    /// Print CSV
    #[arg(long)]
    pub(crate) csv: bool,
    /// The CPUs to show, a list like 0-3,8 [default: all that are online]
    #[arg(long, value_name = "LIST", value_parser = cpu_list)]
    pub(crate) cpus: Option<CpuSet>,
    /// Where no counter shows the clock, whether to probe it: auto does so on busy CPUs, for 1 ms of an interval
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) probe: Probe,
    /// Keep every sample in FILE, for --replay and `fullclock ledger --from`
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// Let --record replace FILE where there is one
    #[arg(long, requires = "record")]
    pub(crate) overwrite: bool,
    /// Show a recording
    #[arg(long, value_name = "FILE", conflicts_with_all = ["record", "interval", "probe", "command"])]
    pub(crate) replay: Option<PathBuf>,
    /// A command to run and watch
    #[arg(value_name = "COMMAND", last = true)]
    pub(crate) command: Vec<OsString>,
}

/// When to probe the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Probe {
    Auto,
    Always,
    Never,
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  fullclock watch                             the screen, a sample a second
  fullclock watch -i 5s --record friday.tape  the same, and every sample kept
  fullclock watch --replay friday.tape
  fullclock watch --once                      one interval as a table
  fullclock watch --json -n 60 > minute.json  an object a line
  fullclock watch --columns busy,busy-mhz,steal --cpus 0-7 | tee log
  fullclock watch -- pgbench -T 60            until the command ends";
