//! `fullclock noise`: how often and for how long each CPU is taken from a task that never gives it up.
//!
//! All CPUs are watched at once: one after another, a large machine would take an hour, and what strikes all of them
//! in the same moment would look like chance. Whoever empties the trace needs a CPU meanwhile: one that is not watched
//! where there is one, and else time of the spinners, which is told apart from the noise.

use super::ledger::{threads, wait, within};
use crate::cli::{Arguments, NoiseArguments};
use crate::output::{self};
use anyhow::{Context, Result, bail};
use engine::interrupt::Interrupt;
use engine::measure::choice::Trace;
use engine::measure::{choice, spin};
use facts::{CpuSet, Missing};
use host::Live;
use host::counters::{Sampler, Wanted};
use report::noise::{Report, csv, json, text};
use rules::interval::Interval;
use rules::noise::{Noise, Seen};
use std::collections::BTreeSet;
use std::process::ExitCode;

pub(super) fn run(arguments: &Arguments, options: &NoiseArguments) -> Result<ExitCode> {
    if options.csv && arguments.output.json {
        bail!("--csv and --json are two formats; give one of them");
    }
    let source = Live::this_machine();
    let host = host::view(&source);
    let online = host.topology.online.as_ref().map_err(Missing::clone)?;
    let cpus = within(options.cpus.as_ref(), online)?;
    let interrupt = Interrupt::listen()?;
    let tracer = choice::tracer(&source, &host, options.trace, &cpus, &interrupt);
    let mut sampler = Sampler::open(Live::this_machine(), &host, Wanted::ledger());
    // Threads inherit it, and spinners go to their CPUs all the same.
    let is_apart = host::probe::keep_off(&cpus);
    announce(arguments, options, &cpus);
    let mut own = BTreeSet::new();
    let seen = spin::spin(&cpus, tracer, &mut sampler, options.duration, || {
        wait(arguments, &interrupt, options.duration);
        own.extend(threads(&source, std::process::id()));
    });
    let interval = Interval { host: &host, before: &seen.before, after: &seen.after };
    let noise = Noise::of(&Seen {
        interval,
        gaps: &seen.gaps,
        events: seen.events.as_ref().map(Vec::as_slice),
        own: &own,
    });
    if noise.cpus.is_empty()
        && let Some((_, missing)) = noise.unwatched.first()
    {
        return Err(missing.clone().into());
    }
    let untraced = seen.events.as_ref().err().filter(|_| options.trace != Trace::Never);
    let report = Report { host: &host, noise: &noise, at: seen.before.at, untraced, is_apart };
    print(arguments, options, &report)?;
    drop(seen.tracer);
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
