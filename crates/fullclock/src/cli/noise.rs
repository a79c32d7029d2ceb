//! The options of `fullclock noise`.

use super::{Trace, cpu_list, trace};
use clap::Args;
use facts::{CpuSet, quantity};
use std::time::Duration;

/// Which CPUs are watched, and for how long.
#[derive(Args, Debug)]
pub(crate) struct NoiseArguments {
    /// How long to occupy the CPUs: 500ms, 10s, 2m
    #[arg(short, long, value_name = "TIME", default_value = "10s", value_parser = quantity::duration)]
    pub(crate) duration: Duration,
    /// The CPUs to occupy, all at once, a list like 0-3,8 [default: all that are online]
    #[arg(long, value_name = "LIST", value_parser = cpu_list)]
    pub(crate) cpus: Option<CpuSet>,
    /// Whether to trace who interrupts: auto does so where it is allowed and costs little
    #[arg(long, value_name = "WHEN", default_value = "auto", value_parser = trace())]
    pub(crate) trace: Trace,
    /// Print CSV
    #[arg(long)]
    pub(crate) csv: bool,
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  fullclock noise                             every CPU, 10 seconds
  fullclock noise -d 1m --cpus 2-15           the trace is emptied on CPU 0 or 1
  fullclock noise --verbose                   causes and histogram of each CPU
  fullclock noise --csv --cpus 4 > noise.csv  a line for each value";
