//! The options of `fullclock ipmi`.

use super::cpu_list;
use crate::duration;
use clap::{Args, Subcommand};
use facts::CpuSet;
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
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub(crate) timeout: Option<Duration>,
}

pub(super) const EXAMPLES: &str = "\
Examples:
  fullclock ipmi latency                      100 round trips of each kind
  fullclock ipmi latency --load               and again while every CPU is busy
  fullclock ipmi latency -n 1000 --json       as data";
