//! `fullclock tick`: how often each CPU ticks, and why one ticks that should not.

use crate::cli::{Arguments, cpu_list};
use crate::head::head;
use crate::output;
use crate::result::{Form, RowsArguments};
use anyhow::{Result, bail};
use clap::Args;
use engine::interrupt::Interrupt;
use engine::tick::{count, trace};
use facts::{CpuSet, HostView, Missing, quantity};
use host::Live;
use report::tick::{Report, csv, document, json};
use std::process::ExitCode;
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
    #[command(flatten)]
    pub(crate) result: RowsArguments,
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  fullclock tick                      every CPU, for 5 seconds
  fullclock tick --cpus 2-15 -d 1m
  perf stat -aA -e irq_vectors:local_timer_entry fullclock tick";

pub(super) fn run(arguments: &Arguments, options: &TickArguments) -> Result<ExitCode> {
    let (output, time) = (&arguments.output, options.duration);
    let destination = options.result.destination(output)?;
    let host = host::view(&Live::this_machine());
    let cpus = chosen(&host, options)?;
    let interrupt = Interrupt::listen()?;
    let counting = format!("counting ticks for {:.1} s ...", time.as_secs_f64());
    let counted =
        output::with_progress(output, &counting, || count(&host, &cpus, time, &interrupt));
    let traced = counted.suspects(&host, &cpus).and_then(|suspects| {
        output::with_progress(output, "asking why ticks were kept ...", || {
            trace(&host, &suspects, time, &interrupt)
        })
    });
    let found = counted.found(&host, &cpus, &traced)?;
    let report =
        Report { ticks: &found.ticks, elapsed_ns: found.elapsed_ns, full_rate: found.full_rate };
    destination.print(&match destination.form {
        Form::Csv => csv(&report),
        Form::Json => json(&head(arguments), &report)?,
        Form::Document(format) => document(&report).render(format),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The requested CPUs, all of which must be online; else every one that is.
fn chosen(host: &HostView, options: &TickArguments) -> Result<CpuSet> {
    let online = host.topology.online.as_ref().map_err(Missing::clone)?;
    let Some(asked) = &options.cpus else { return Ok(online.clone()) };
    let offline = asked.minus(online);
    if asked.is_empty() || !offline.is_empty() {
        bail!("--cpus names {offline}, which are not online: {online} are");
    }
    Ok(asked.clone())
}
