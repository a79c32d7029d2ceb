//! `fullclock ipmi latency`: every round trip to the controller, and what waiting for them took of a CPU.

use crate::cli::{Arguments, cpu_list};
use crate::head::head;
use crate::output;
use crate::result::ResultArguments;
use anyhow::{Result, bail};
use clap::Args;
use engine::interrupt::Interrupt;
use engine::ipmi::latency::{Session, Wanted, occupy};
use facts::{CpuSet, quantity};
use host::Live;
use lab::failure::Failure;
use report::ipmi::{latency_document, latency_json};
use std::process::ExitCode;
use std::time::Duration;

/// How often it is asked, and under which load.
#[derive(Args, Debug)]
pub(crate) struct LatencyArguments {
    /// How many round trips of each kind
    #[arg(short = 'n', long, value_name = "COUNT", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(crate) count: u64,
    /// Ask once more while every CPU is busy: kipmi0 is the last to get one, and answers wait for it; only out of production
    #[arg(long)]
    pub(crate) load: bool,
    /// The CPUs that the asking thread runs on, a list like 0-3,8
    #[arg(long, value_name = "LIST", value_parser = cpu_list)]
    pub(crate) cpus: Option<CpuSet>,
    /// Give up after this long, and show what there is
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    pub(crate) timeout: Option<Duration>,
    #[command(flatten)]
    pub(crate) result: ResultArguments,
}

pub(super) fn run(arguments: &Arguments, options: &LatencyArguments) -> Result<ExitCode> {
    let destination = options.result.destination(&arguments.output)?;
    let host = host::view(&Live::this_machine());
    let interrupt = Interrupt::listen()?;
    let (count, timeout) = (options.count, options.timeout);
    let wanted = Wanted { count, cpus: options.cpus.as_ref(), timeout };
    let mut session = Session::begin(&host, wanted, &interrupt)?;
    let mut ended =
        output::with_progress(&arguments.output, "asking ...", || session.measure(false));
    if ended.is_ok() && options.load {
        let busy = occupy(&host)?;
        let told = "asking while every CPU is busy ...";
        ended = output::with_progress(&arguments.output, told, || session.measure(true));
        drop(busy);
    }
    let is_stopped = matches!(ended, Err(Failure::Stopped));
    let latency = session.finish();
    if latency.conditions.is_empty() {
        ended?;
        bail!("no round trip was over");
    }
    destination.print(&match destination.format() {
        None => latency_json(&head(arguments), &latency)?,
        Some(format) => latency_document(&latency).render(format),
    })?;
    // Who stops it wants what there is.
    if !is_stopped {
        ended?;
    }
    Ok(ExitCode::SUCCESS)
}
