//! The options of `fullclock ledger`.

use super::{cpu_list, trace};
use clap::Args;
use engine::ledger::{Point, point};
use engine::measure::choice::Trace;
use facts::{CpuSet, quantity};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

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

pub(crate) const EXAMPLES: &str = "\
Examples:
  fullclock ledger                        five seconds of the whole machine
  fullclock ledger -d 30s --pid 4711      one process; its children are others
  fullclock ledger -- pgbench -T 60       until the command ends
  fullclock ledger --cpus 4-7 --verbose   every part, source and uncertainty
  fullclock ledger --cpus 4-7 --spin      what one task could get; occupies them
  fullclock ledger --from friday.tape     of a recording
  fullclock ledger --from friday.tape --since 12:14 --until 12:20";
