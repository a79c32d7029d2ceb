//! Where the cycles of this machine went: an interval is measured and its ledger closed.

mod recorded;
mod spans;

pub use recorded::{Period, Point, Recorded, point, recorded};
pub use spans::{Course, spans};

use crate::clock::now;
use crate::interrupt::Interrupt;
use crate::measure::choice::{self, Trace};
use crate::measure::command::{Output, Workload};
use crate::measure::family::Family;
use crate::measure::server::{self, ServerWatch};
use crate::measure::tracing::{Fork, kin};
use crate::measure::{self, Gauge, Measured, Plan, costs, spin};
use anyhow::{Result, bail};
use facts::counters;
use facts::probe::{EventCost, EventCosts, Gaps};
use facts::system::process::Process;
use facts::trace::Event;
use facts::{CpuSet, Fact, HostView, Missing};
use host::counters::{Sampler, Wanted};
use host::perf::Tracer;
use host::process::process_of;
use host::{Live, Source};
use lab::server::ServerSelection;
use rules::interval::Interval;
use rules::ledger::{EndedTasks, Evidence, Ledger, Spun, close};
use rules::spin::{Counts, GapBooks, explain};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::process::ExitStatus;
use std::time::Duration;

/// Long enough for sources that count in steps of 10 ms to be within half a percent.
const DEFAULT: Duration = Duration::from_secs(5);

/// What is measured, and for how long.
pub struct Task {
    /// The CPUs to account for.
    pub cpus: CpuSet,
    /// Whether the scheduler and interrupts are traced.
    pub trace: Trace,
    /// Processes whose cycles count as useful.
    pub pids: Vec<u32>,
    /// A server whose cycles count as useful, with its processes that begin later.
    pub server: Option<ServerSelection>,
    /// A command to run, whose cycles count as useful too; none where it is empty.
    pub command: Vec<OsString>,
    /// Whether the command's output is kept out of ours.
    pub beside_results: bool,
    /// For how long; otherwise until the command ends, or for five seconds.
    pub duration: Option<Duration>,
}

/// The ledger of an interval of this machine.
pub struct Closed {
    /// The ledger.
    pub ledger: Ledger,
    /// How the command ended, where it ended by itself.
    pub status: Option<ExitStatus>,
    /// The tracepoints, still open: closing them takes time, and a result comes first.
    _tracer: Option<Tracer>,
}

/// Measures this machine, which is `host`, and closes its ledger.
///
/// Errors: one of the processes is none of a user; the server does not run here; the command could not be run; tracing was asked for,
/// and is not possible here.
pub fn measure(
    host: &HostView,
    task: &Task,
    interrupt: &Interrupt,
    gauge: &Gauge<'_>,
) -> Result<Closed> {
    let source = Live::this_machine();
    task.pids.iter().try_for_each(|&pid| is_process(&source, pid))?;
    let find = |it| lab::server::find(it, &source, interrupt.flag());
    let server = task.server.as_ref().map(find).transpose()?;
    let watch = server.as_ref().map(ServerWatch::of);
    let mut session = Session {
        task,
        source: &source,
        host,
        interrupt,
        gauge,
        chosen: task.pids.clone(),
        command: None,
        family: Family::of(&source, &task.pids, watch),
        costs: Err(Missing::not_here("cost of an event", "interrupts were traced")),
        edge: Err(Missing::not_here("edge of an interrupt", "nothing was traced")),
    };
    let (measured, status, ended) = session.measure()?;
    let audit = crate::advised::audit(&source, host);
    let host_after = host::view(&source);
    let traced = measured.traced;
    let kin = session.kin(&traced.forks);
    let evidence = Evidence {
        cpus: task.cpus.clone(),
        traced: traced.totals,
        clocks: measured.clocks,
        loads: Vec::new(),
        costs: session.costs,
        edge: session.edge,
        chosen: session.chosen,
        kin,
        server: session.family.server.as_ref().map(ServerWatch::tasks),
        ended,
        passing: session.family.threads(),
        observer: std::process::id(),
        kept_off: traced.kept_off,
        exits: session.family.exits(),
        host_after: Some(&host_after),
        findings: &audit.findings,
        ..Evidence::of(Interval { host, before: &measured.before, after: &measured.after })
    };
    let mut ledger = close(&evidence);
    let why = ledger.cpus.iter().find_map(|cpu| evidence.traced.get(cpu)?.as_ref().err());
    ledger.notes.extend(untraced(task.trace, why));
    ledger.notes.extend(server.and_then(|it| it.note));
    ledger.notes.extend(server::hint(&source, &task.pids));
    Ok(Closed { ledger, status, _tracer: traced.tracer })
}

/// What has to be said where something that was to be traced was counted instead.
fn untraced(trace: Trace, why: Option<&Missing>) -> Option<String> {
    let why = why.filter(|_| trace != Trace::Never)?;
    Some(format!("tasks and interrupts were counted, not traced: {}", why.advice()))
}

/// Tasks that descend from the command that was run, each with it; and the threads of this program.
fn descendants(forks: &[Fork], command: Option<u32>) -> BTreeMap<u32, u32> {
    kin(forks, command.into_iter().chain([std::process::id()]).map(|it| (it, it)).collect())
}

/// Refuses a number that is no process of a user.
fn is_process(source: &Live, pid: u32) -> Result<()> {
    let source: &dyn Source = source;
    let Ok(process) = source.parsed(&format!("/proc/{pid}/stat"), Process::parse) else {
        bail!("there is no process {pid}");
    };
    if process.is_kernel_thread {
        bail!("{pid} is the kernel thread {}, which has a line of its own", process.name);
    }
    match process_of(source, pid) {
        Some(group) if group != pid => bail!("{pid} is a thread of process {group}: name that"),
        _ => Ok(()),
    }
}

struct Session<'a> {
    task: &'a Task,
    source: &'a Live,
    host: &'a HostView,
    interrupt: &'a Interrupt,
    gauge: &'a Gauge<'a>,
    chosen: Vec<u32>,
    /// The command that was run.
    command: Option<u32>,
    /// Who belongs to the chosen processes and to the command.
    family: Family,
    /// What an interrupt costs, where they cannot be traced.
    costs: Fact<EventCosts>,
    /// What of an interrupt a trace does not show.
    edge: Fact<EventCost>,
}

impl Session<'_> {
    /// Tasks that belong to a process because they descend from it.
    fn kin(&self, traced: &[Fork]) -> BTreeMap<u32, u32> {
        let forks = [traced, &self.family.forks()].concat();
        // A command may start a server: what is the command's stays its own.
        let mut kin = self.family.server.as_ref().map_or_else(BTreeMap::new, |it| it.kin(&forks));
        kin.extend(descendants(&forks, self.command));
        kin
    }

    /// What an interval showed, how the command ended, and how long tasks ran that ended in it.
    fn measure(&mut self) -> Result<(Measured, Option<ExitStatus>, Fact<EndedTasks>)> {
        let cpus = &self.task.cpus;
        let runs_command = !self.task.command.is_empty();
        let wanted =
            choice::wanted(runs_command || !self.chosen.is_empty() || self.family.server.is_some());
        let Session { source, host, interrupt, .. } = *self;
        let mut tracer = choice::tracer(source, host, self.task.trace, cpus, wanted, interrupt)?;
        match &mut tracer {
            Ok(tracer) => self.edge = costs::edge(self.host, tracer),
            Err(_) => self.costs = costs::costs(self.host, cpus),
        }
        let wanted = Wanted { groups_of: self.chosen.clone(), ..Wanted::ledger() };
        let mut sampler = Sampler::open(Live::this_machine(), self.host, wanted);
        let mut followed: Vec<u32> = self.family.threads().into_iter().collect();
        // The command is made by this program, whose first thread this is.
        followed.extend(runs_command.then(std::process::id));
        let plan = Plan {
            cpus: cpus.clone(),
            tracer,
            probes_clocks: !counts_cycles(&mut sampler),
            followed,
        };
        let mut workload = None;
        let Session { source, task, interrupt, gauge, chosen, command, family, .. } = self;
        let measured = measure::observe(plan, &mut sampler, || {
            family.begin(source);
            if task.command.is_empty() {
                let length = task.duration.unwrap_or(DEFAULT);
                measure::wait(interrupt, length, gauge, || family.glance(source, None));
            } else {
                let output = if task.beside_results { Output::BesideResults } else { Output::Ours };
                let started = Workload::start(&task.command, output, None)?;
                let pid = started.pid();
                *command = Some(pid);
                chosen.push(pid);
                let started = workload.insert(started);
                watch(started, task.duration, interrupt, gauge, |command| {
                    family.glance(source, Some(command));
                })?;
            }
            family.look(source, workload.as_ref());
            Ok(())
        })?;
        let interval =
            Interval { host: self.host, before: &measured.before, after: &measured.after };
        let ended = self.family.ended(self.source, workload.as_ref(), &interval);
        let Some(mut command) = workload else { return Ok((measured, None, ended)) };
        // What it does to end is no part of the interval.
        let ended_by_itself = command.has_ended()?;
        command.stop(self.interrupt)?;
        let status = command.outcome()?;
        Ok((measured, ended_by_itself.then_some(status), ended))
    }
}

/// Whether a counter shows the clock of the CPUs.
fn counts_cycles(sampler: &mut Sampler) -> bool {
    let mut counters = counters::Counters::unread();
    sampler.sample(&mut counters);
    counters.table(counters::Family::Clocks).is_ok_and(|it| it.column("aperf").is_ok())
}

/// Waits until the command ends, the time is over or the user wants to stop.
fn watch(
    command: &Workload,
    duration: Option<Duration>,
    interrupt: &Interrupt,
    gauge: &Gauge<'_>,
    mut glance: impl FnMut(&Workload),
) -> Result<()> {
    let mut show = gauge(duration);
    let (started, mut shown) = (now(), Duration::ZERO);
    while !command.has_ended()? {
        let elapsed = started.elapsed();
        if elapsed.saturating_sub(shown) >= measure::STEP {
            show(elapsed);
            shown = elapsed;
        }
        glance(command);
        let is_over = duration.is_some_and(|length| elapsed >= length);
        if interrupt.wait(Duration::from_millis(10)) || is_over {
            break;
        }
    }
    Ok(())
}

/// Occupies the CPUs of `task`, and closes the ledger of that: how much of each CPU one task could get. Processes and commands of
/// the task are ignored.
///
/// Errors: tracing was asked for, and is not possible here.
pub fn spun(
    host: &HostView,
    task: &Task,
    interrupt: &Interrupt,
    gauge: &Gauge<'_>,
) -> Result<Closed> {
    let cpus = &task.cpus;
    let source = Live::this_machine();
    let wanted = choice::wanted(false);
    let tracer = choice::tracer(&source, host, task.trace, cpus, wanted, interrupt)?;
    let mut sampler = Sampler::open(Live::this_machine(), host, Wanted::ledger());
    let length = task.duration.unwrap_or(DEFAULT);
    let seen = spin::spin(cpus, tracer, &mut sampler, length, || {
        measure::wait(interrupt, length, gauge, || ());
    });
    let interval = Interval { host, before: &seen.before, after: &seen.after };
    let events = seen.events.as_ref();
    let spun = |(cpu, gaps): (u32, &Fact<Gaps>)| {
        let of =
            |gaps: &Gaps| Spun { wall_ns: gaps.wall_ns(), gaps: books(&interval, gaps, events) };
        (cpu, gaps.as_ref().map(of).map_err(Missing::clone))
    };
    let audit = crate::advised::audit(&source, host);
    let host_after = host::view(&source);
    let evidence = Evidence {
        cpus: cpus.clone(),
        clocks: seen.clocks.clone(),
        observer: std::process::id(),
        spun: seen.gaps.iter().map(spun).collect(),
        host_after: Some(&host_after),
        findings: &audit.findings,
        ..Evidence::of(interval)
    };
    let mut ledger = close(&evidence);
    ledger.notes.extend(untraced(task.trace, events.err()));
    Ok(Closed { ledger, status: None, _tracer: seen.tracer })
}

/// Who had the CPU in the gaps of its spinner: by what was traced, or else by what was counted.
fn books(interval: &Interval<'_>, gaps: &Gaps, events: Result<&Vec<Event>, &Missing>) -> GapBooks {
    let counts = Counts::between(interval, gaps.cpu, gaps.thread);
    let is_guest = interval.host.platform.is_guest();
    explain(gaps, &counts, events.map(Vec::as_slice), is_guest).books
}
