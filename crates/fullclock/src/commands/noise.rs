//! `fullclock noise`: how often and for how long each CPU is taken from a task that never gives it up.

use crate::cli::{Arguments, cpu_list, trace};
use crate::head::head;
use crate::output;
use crate::result::{Destination, Form, RowsArguments};
use anyhow::{Context, Result};
use clap::Args;
use engine::interrupt::Interrupt;
use engine::measure::choice::{Trace, within};
use engine::noise::{Task, measure};
use facts::{CpuSet, Missing, quantity};
use host::Live;
use report::noise::{Report, csv, document, json};
use std::process::ExitCode;
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
    /// Whether to trace who interrupts: auto does so where it is allowed and costs little; always fails where it cannot
    #[arg(long, value_name = "WHEN", default_value = "auto", value_parser = trace())]
    pub(crate) trace: Trace,
    #[command(flatten)]
    pub(crate) result: RowsArguments,
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  fullclock noise                             every CPU, 10 seconds
  fullclock noise -d 1m --cpus 2-15           the trace is emptied on CPU 0 or 1
  fullclock noise --verbose                   causes and histogram of each CPU
  fullclock noise --csv --cpus 4 > noise.csv  a line for each value";

pub(super) fn run(arguments: &Arguments, options: &NoiseArguments) -> Result<ExitCode> {
    let destination = options.result.destination(&arguments.output)?;
    let host = host::view(&Live::this_machine());
    let online = host.topology.online.as_ref().map_err(Missing::clone)?;
    let cpus = within(options.cpus.as_ref(), online)?;
    let interrupt = Interrupt::listen()?;
    announce(arguments, options, &cpus);
    let task = Task { cpus: &cpus, trace: options.trace, duration: options.duration };
    let gauge = output::gauge(&arguments.output, arguments.audit.verbose);
    let measured = measure(&host, &task, &interrupt, &gauge)?;
    let report = Report {
        host: &host,
        noise: &measured.noise,
        at: measured.at,
        untraced: measured.untraced.as_ref(),
        is_apart: measured.is_apart,
    };
    print(arguments, &destination, &report)?;
    Ok(ExitCode::SUCCESS)
}

/// Nobody is to find out from his users that the CPUs were taken.
fn announce(arguments: &Arguments, options: &NoiseArguments, cpus: &CpuSet) {
    let whose = if cpus.len() == 1 { "CPU" } else { "CPUs" };
    let seconds = options.duration.as_secs_f64();
    let note =
        format!("occupies {whose} {cpus} for {seconds} s; Ctrl-C ends it and prints what there is");
    output::note(&arguments.output, &note);
}

fn print(arguments: &Arguments, destination: &Destination, report: &Report<'_>) -> Result<()> {
    destination.print(&match destination.form {
        Form::Csv => csv::noise(report),
        Form::Json => json::noise(&head(arguments), report).context("cannot write JSON")?,
        Form::Document(format) => {
            document::document(report, arguments.audit.verbose).render(format)
        }
    })
}
