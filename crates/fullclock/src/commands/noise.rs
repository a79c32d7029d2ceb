//! `fullclock noise`: how often and for how long each CPU is taken from a task that never gives it up.

use crate::cli::{Arguments, NoiseArguments};
use crate::output::{self};
use anyhow::{Context, Result, bail};
use engine::interrupt::Interrupt;
use engine::measure::choice::within;
use engine::noise::{Task, measure};
use facts::{CpuSet, Missing};
use host::Live;
use report::noise::{Report, csv, json, text};
use std::process::ExitCode;

pub(super) fn run(arguments: &Arguments, options: &NoiseArguments) -> Result<ExitCode> {
    if options.csv && arguments.output.json {
        bail!("--csv and --json are two formats; give one of them");
    }
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
    print(arguments, options, &report)?;
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

fn print(arguments: &Arguments, options: &NoiseArguments, report: &Report<'_>) -> Result<()> {
    let text = if options.csv {
        csv::noise(report)
    } else if arguments.output.json {
        json::noise(report).context("cannot write JSON")?
    } else {
        let style = output::style(arguments.output.color);
        text::noise(report, arguments.audit.verbose, style)
    };
    output::print(&text)
}
