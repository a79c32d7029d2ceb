//! The options of `fullclock tick`.

use super::cpu_list;
use clap::Args;
use facts::{CpuSet, quantity};
use std::time::Duration;

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

pub(crate) const EXAMPLES: &str = "\
Examples:
  fullclock tick                      every CPU, for 5 seconds
  fullclock tick --cpus 2-15 -d 1m
  perf stat -aA -e irq_vectors:local_timer_entry fullclock tick   beside perf";
