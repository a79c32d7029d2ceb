//! `fullclock ipmi latency`: every round trip to the controller, and what waiting for them took of a CPU.

use crate::cli::Arguments;
use crate::commands::ipmi::options::LatencyArguments;
use crate::output::{self};
use anyhow::{Result, bail};
use engine::interrupt::Interrupt;
use engine::ipmi::latency::{Session, Wanted, occupy};
use host::Live;
use lab::failure::Failure;
use report::ipmi::{latency_json, latency_text};
use std::process::ExitCode;

pub(super) fn run(arguments: &Arguments, options: &LatencyArguments) -> Result<ExitCode> {
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
    let text = if arguments.output.json {
        latency_json(&latency)?
    } else {
        latency_text(&latency, output::style(arguments.output.color))
    };
    output::print(&text)?;
    // Who stops it wants what there is.
    if !is_stopped {
        ended?;
    }
    Ok(ExitCode::SUCCESS)
}
