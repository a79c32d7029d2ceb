//! `fullclock tick`: how often each CPU ticks, and why one ticks that should not.
//!
//! Ticks are counted first, and only then is the kernel asked why it kept them: some kernels stop the tick only while
//! somebody traces the attempts.

use crate::cli::{Arguments, TickArguments};
use crate::output::{self};
use anyhow::{Result, bail};
use engine::interrupt::Interrupt;
use facts::counters::{Counters, Family, Tasks};
use facts::{CpuSet, Fact, HostView, Missing, Why};
use host::Live;
use host::counters::{Processes, Sampler, Wanted};
use host::perf::{Grid, counters};
use rules::interval::Interval;
use rules::tick::{Samples, suspects, ticks};
use std::process::ExitCode;
use std::time::Duration;

/// A second holds a hundred ticks of the slowest kernel, and as many reasons.
const LONGEST_TRACE: Duration = Duration::from_secs(1);

pub(super) fn run(arguments: &Arguments, options: &TickArguments) -> Result<ExitCode> {
    let host = host::view(&Live::this_machine());
    let cpus = chosen(&host, options)?;
    let interrupt = Interrupt::listen()?;
    let counting = format!("counting ticks for {:.1} s ...", options.duration.as_secs_f64());
    let counted = output::with_progress(&arguments.output, &counting, || {
        measure(count(&host, &cpus), options.duration, &interrupt)
    });
    let interval = Interval { host: &host, before: &counted.before, after: &counted.after };
    let suspects = suspects(&interval, &cpus);
    let traced = if counted.stopped {
        let why = Why::Failed("it was stopped before it came to that".to_owned());
        Err(Missing { what: Family::TickStops.source().to_owned(), why })
    } else if suspects.is_empty() {
        Err(Missing::not_collected(Family::TickStops.source()))
    } else {
        let time = options.duration.min(LONGEST_TRACE);
        output::with_progress(&arguments.output, "asking why ticks were kept ...", || {
            trace(&host, &suspects).map(|probe| measure(probe, time, &interrupt))
        })
    };
    let traced_interval = match &traced {
        Ok(it) => Ok(Interval { host: &host, before: &it.before, after: &it.after }),
        Err(missing) => Err(missing.clone()),
    };
    let ticks = ticks(&Samples { counted: interval, traced: traced_interval }, &cpus)?;
    let full_rate = rules::tick::full_rate(&interval);
    let report =
        report::tick::Report { ticks: &ticks, elapsed_ns: interval.elapsed_ns()?, full_rate };
    let text = if arguments.output.json {
        report::tick::json(&report)?
    } else {
        report::tick::text(&report, output::style(arguments.output.color))
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The CPUs that were asked for, all of which must be online; else every one that is.
fn chosen(host: &HostView, options: &TickArguments) -> Result<CpuSet> {
    let online = host.topology.online.as_ref().map_err(Missing::clone)?;
    let Some(asked) = &options.cpus else { return Ok(online.clone()) };
    let offline = asked.minus(online);
    if asked.is_empty() || !offline.is_empty() {
        bail!("--cpus names {offline}, which are not online: {online} are");
    }
    Ok(asked.clone())
}

/// What is read at both ends of a measurement.
struct Probe {
    /// The tasks, which take long to read.
    tasks: Option<Sampler>,
    /// Counters of perf, and the family that their table is.
    grid: Fact<Grid>,
    family: Family,
    /// /proc/interrupts and /proc/stat.
    timers: Sampler,
}

struct Measured {
    before: Counters,
    after: Counters,
    /// Whether the user wanted to wait no longer.
    stopped: bool,
}

/// Counts the interrupts of the CPUs' own timers, by /proc/interrupts and by tracepoint.
fn count(host: &HostView, cpus: &CpuSet) -> Probe {
    let tasks = Wanted { tasks: Some(Processes::All), ..nothing() };
    // A sampler raises the limit of open files, which a large machine needs for the tracepoint too.
    let tasks = Some(Sampler::open(Live::this_machine(), host, tasks));
    let timers = sampler(host, &[Family::Interrupts, Family::CpuTimes]);
    let entry = counters::tracepoint(&Live::this_machine(), "irq_vectors", "local_timer_entry");
    let grid = entry.and_then(|entry| Grid::open(cpus, &[entry], &["local_timer"]));
    Probe { tasks, grid, family: Family::TimerEntries, timers }
}

/// Counts the attempts to stop the tick of these CPUs by their outcome, and the timer's interrupts again.
fn trace(host: &HostView, cpus: &CpuSet) -> Fact<Probe> {
    let stops = counters::tick_stops(&Live::this_machine())?;
    let names: Vec<&str> = counters::TICK_DEPENDENCIES.iter().map(|(_, name)| *name).collect();
    let grid = Ok(Grid::open(cpus, &stops, &names)?);
    let timers = sampler(host, &[Family::Interrupts, Family::CpuTimes]);
    Ok(Probe { tasks: None, grid, family: Family::TickStops, timers })
}

fn sampler(host: &HostView, families: &[Family]) -> Sampler {
    let wanted = Wanted { families: families.to_vec(), ..nothing() };
    Sampler::open(Live::this_machine(), host, wanted)
}

fn nothing() -> Wanted {
    Wanted { families: Vec::new(), tasks: None, groups: false, groups_of: Vec::new(), wake: false }
}

fn measure(mut probe: Probe, time: Duration, interrupt: &Interrupt) -> Measured {
    let mut before = Counters::unread();
    let earlier_tasks = probe.tasks();
    // perf's counts are read right around /proc/interrupts, so that they hold everything that it does.
    probe.read_grid(&mut before);
    probe.timers.sample(&mut before);
    let stopped = interrupt.wait(time);
    let mut after = before.clone();
    probe.timers.sample(&mut after);
    probe.read_grid(&mut after);
    before.tasks = earlier_tasks;
    after.tasks = probe.tasks();
    Measured { before, after, stopped }
}

impl Probe {
    fn read_grid(&mut self, into: &mut Counters) {
        *into.table_mut(self.family) = match &mut self.grid {
            Ok(grid) => Ok(grid.read()),
            Err(missing) => Err(missing.clone()),
        };
    }

    fn tasks(&mut self) -> Fact<Tasks> {
        let mut counters = Counters::unread();
        if let Some(sampler) = &mut self.tasks {
            sampler.sample(&mut counters);
        }
        counters.tasks
    }
}
