//! `fullclock ledger`: where the cycles of this machine went.
#![expect(clippy::disallowed_methods, reason = "waits for as long as the user asked for")]

mod recorded;
mod spun;

use crate::cli::{Arguments, LedgerArguments};
use crate::output::{self, Progress};
use anyhow::{Context, Result, bail};
use engine::interrupt::Interrupt;
use engine::measure;
use engine::measure::choice::Trace;
use engine::measure::command::{Workload, exit_code};
use engine::measure::kin::{Fork, kin};
use engine::measure::{Measured, Plan, choice, costs};
use facts::counters::Family;
use facts::probe::{EventCost, EventCosts};
use facts::system::process::Process;
use facts::{CpuSet, Fact, HostView, Missing};
use host::counters::{Sampler, Wanted};
use host::{Live, Source};
use rules::interval::Interval;
use rules::ledger::{Evidence, Ledger, close};
use std::collections::{BTreeMap, BTreeSet};
use std::process::{ExitCode, ExitStatus};
use std::time::{Duration, Instant};

/// Long enough for sources that count in steps of 10 ms to be within half a percent.
const DEFAULT: Duration = Duration::from_secs(5);

/// What a ledger of a command says where nobody saw whom it made.
const UNSEEN_CHILDREN: &str = "nothing was traced: of the command's children only those that ran on at its end count as \
                               its own; others are among other tasks, or unexplained";

pub(super) fn run(arguments: &Arguments, options: &LedgerArguments) -> Result<ExitCode> {
    if let Some(file) = &options.from {
        return recorded::run(arguments, options, file);
    }
    let source = Live::this_machine();
    let host = host::view(&source);
    let online = host.topology.online.as_ref().map_err(Clone::clone)?;
    let cpus = within(options.cpus.as_ref(), online)?;
    if options.spin {
        return spun::run(arguments, options, &host, cpus);
    }
    options.pids.iter().try_for_each(|&pid| is_process(&source, pid))?;
    let interrupt = Interrupt::listen()?;
    let chosen = options.pids.clone();
    let mut session = Session {
        arguments,
        options,
        source: &source,
        host: &host,
        interrupt,
        chosen,
        command: None,
        family: Vec::new(),
        costs: Err(Missing::not_here("cost of an event", "interrupts were traced")),
        edge: Err(Missing::not_here("edge of an interrupt", "nothing was traced")),
    };
    let (measured, status) = session.measure(&cpus)?;
    let audit = engine::advised::audit(&source, &host);
    let host_after = host::view(&source);
    let traced = measured.traced;
    let evidence = Evidence {
        cpus,
        traced: traced.totals,
        clocks: measured.clocks,
        costs: session.costs,
        edge: session.edge,
        chosen: session.chosen,
        kin: descendants(&[traced.forks, session.family].concat(), session.command),
        observer: std::process::id(),
        kept_off: traced.kept_off,
        host_after: Some(&host_after),
        findings: &audit.findings,
        ..Evidence::of(Interval { host: &host, before: &measured.before, after: &measured.after })
    };
    let mut ledger = close(&evidence);
    let mut traces = ledger.cpus.iter().filter_map(|cpu| evidence.traced.get(cpu));
    ledger.notes.extend(untraced(options, traces.find_map(|it| it.as_ref().err())));
    if session.command.is_some() && traced.tracer.is_none() {
        ledger.notes.push(UNSEEN_CHILDREN.to_owned());
    }
    print(arguments, "this machine", &host, &ledger)?;
    drop(traced.tracer);
    Ok(status.map_or(ExitCode::SUCCESS, exit_code))
}

/// What has to be said where something that was to be traced was counted instead.
fn untraced(options: &LedgerArguments, why: Option<&Missing>) -> Option<String> {
    let why = why.filter(|_| options.trace != Trace::Never)?;
    Some(format!("tasks and interrupts were counted, not traced: {}", why.advice()))
}

/// The threads that a process has.
pub(super) fn threads(source: &Live, pid: u32) -> Vec<u32> {
    let folder = format!("/proc/{pid}/task");
    let names = source.list(&folder).unwrap_or_default();
    names.iter().filter_map(|name| name.parse().ok()).collect()
}

/// Tasks that descend from the command that was run, each with it; and the threads of this program.
fn descendants(forks: &[Fork], command: Option<u32>) -> BTreeMap<u32, u32> {
    let observer = std::process::id();
    let of_command = command.map(|pid| (kin(forks, pid, &[]), pid));
    let own = (kin(forks, observer, command.as_slice()), observer);
    let belong = |(tasks, pid): (BTreeSet<u32>, u32)| tasks.into_iter().map(move |tid| (tid, pid));
    of_command.into_iter().chain([own]).flat_map(belong).collect()
}

/// Who descends from the command by the processes and threads that there are, as if each had been seen to come.
fn family(source: &Live, command: u32) -> Vec<Fork> {
    let processes = host::view(source).processes.unwrap_or_default();
    let mut forks: Vec<Fork> =
        processes.iter().map(|it| Fork { parent: it.parent, child: it.pid }).collect();
    for pid in kin(&forks, command, &[]) {
        let of_process = threads(source, pid).into_iter().filter(|tid| *tid != pid);
        forks.extend(of_process.map(|tid| Fork { parent: pid, child: tid }));
    }
    forks
}

/// The CPUs to account for: those that were asked for, all of which have to be online.
pub(super) fn within(asked: Option<&CpuSet>, online: &CpuSet) -> Result<CpuSet> {
    let Some(asked) = asked else { return Ok(online.clone()) };
    let offline = asked.minus(online);
    if !offline.is_empty() {
        bail!("--cpus names {offline}, and only {online} are online");
    }
    Ok(asked.clone())
}

/// Refuses what is no process of a user: its cycles would be nobody's.
fn is_process(source: &Live, pid: u32) -> Result<()> {
    let source: &dyn Source = source;
    let Ok(process) = source.parsed(&format!("/proc/{pid}/stat"), Process::parse) else {
        bail!("there is no process {pid}");
    };
    if process.is_kernel_thread {
        bail!("{pid} is the kernel thread {}, which has a line of its own", process.name);
    }
    let status = source.text(&format!("/proc/{pid}/status")).unwrap_or_default();
    let group = status.lines().find_map(|line| line.strip_prefix("Tgid:"));
    match group.map(str::trim) {
        Some(group) if group != pid.to_string() => {
            bail!("{pid} is a thread of process {group}: name that")
        }
        _ => Ok(()),
    }
}

struct Session<'a> {
    arguments: &'a Arguments,
    options: &'a LedgerArguments,
    source: &'a Live,
    host: &'a HostView,
    interrupt: Interrupt,
    chosen: Vec<u32>,
    /// The command that was run.
    command: Option<u32>,
    /// Who descended from whom when the command was over, where forks could not be traced.
    family: Vec<Fork>,
    /// What an interrupt costs, where they cannot be traced.
    costs: Fact<EventCosts>,
    /// What of an interrupt a trace does not show.
    edge: Fact<EventCost>,
}

impl Session<'_> {
    fn measure(&mut self, cpus: &CpuSet) -> Result<(Measured, Option<ExitStatus>)> {
        let mut tracer =
            choice::tracer(self.source, self.host, self.options.trace, cpus, &self.interrupt);
        match &mut tracer {
            Ok(tracer) => self.edge = costs::edge(self.host, tracer),
            Err(_) => self.costs = costs::costs(self.host, cpus),
        }
        let wanted = Wanted { groups_of: self.chosen.clone(), ..Wanted::ledger() };
        let mut sampler = Sampler::open(Live::this_machine(), self.host, wanted);
        let is_traced = tracer.is_ok();
        let plan = Plan {
            cpus: cpus.clone(),
            tracer,
            probes_clocks: !counts_cycles(&mut sampler),
            followed: self.chosen.iter().flat_map(|pid| threads(self.source, *pid)).collect(),
        };
        let mut workload = None;
        let Session { source, arguments, options, interrupt, chosen, command, family, .. } = self;
        let measured = measure::observe(plan, &mut sampler, || {
            if options.command.is_empty() {
                wait(arguments, interrupt, options.duration.unwrap_or(DEFAULT));
            } else {
                let started = Workload::start(&options.command, arguments.output.json)?;
                let pid = started.pid();
                *command = Some(pid);
                chosen.push(pid);
                watch(workload.insert(started), arguments, options, interrupt)?;
                if !is_traced {
                    *family = self::family(source, pid);
                }
            }
            Ok(())
        })?;
        let Some(mut command) = workload else { return Ok((measured, None)) };
        // What it does to end is no part of the interval.
        let ended_by_itself = command.has_ended()?;
        command.stop(interrupt)?;
        let status = command.outcome()?;
        Ok((measured, ended_by_itself.then_some(status)))
    }
}

/// Whether a counter shows the clock of the CPUs.
fn counts_cycles(sampler: &mut Sampler) -> bool {
    let mut counters = facts::counters::Counters::unread();
    sampler.sample(&mut counters);
    counters.table(Family::Clocks).is_ok_and(|it| it.column("aperf").is_ok())
}

/// Waits that long, or until Ctrl-C.
pub(super) fn wait(arguments: &Arguments, interrupt: &Interrupt, length: Duration) {
    let mut progress = Progress::new(&arguments.output, arguments.audit.verbose, Some(length));
    let started = Instant::now();
    while let Some(left) = length.checked_sub(started.elapsed()).filter(|it| !it.is_zero()) {
        progress.show(started.elapsed());
        if interrupt.wait(left.min(Progress::STEP)) {
            break;
        }
    }
}

/// Waits until the command ends, the time is over or Ctrl-C.
fn watch(
    command: &Workload,
    arguments: &Arguments,
    options: &LedgerArguments,
    interrupt: &Interrupt,
) -> Result<()> {
    let mut progress = Progress::new(&arguments.output, arguments.audit.verbose, options.duration);
    let (started, mut shown) = (Instant::now(), Duration::ZERO);
    while !command.has_ended()? {
        let elapsed = started.elapsed();
        if elapsed.saturating_sub(shown) >= Progress::STEP {
            progress.show(elapsed);
            shown = elapsed;
        }
        let is_over = options.duration.is_some_and(|length| elapsed >= length);
        if interrupt.wait(Duration::from_millis(10)) || is_over {
            break;
        }
    }
    Ok(())
}

fn print(arguments: &Arguments, name: &str, host: &HostView, ledger: &Ledger) -> Result<()> {
    let text = if arguments.output.json {
        report::ledger::json::ledger(host, ledger).context("cannot write JSON")?
    } else {
        let style = output::style(arguments.output.color);
        report::ledger::text::ledger(name, host, ledger, arguments.audit.verbose, style)
    };
    output::print(&text)
}
