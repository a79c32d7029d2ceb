//! A ledger: `schemas/ledger-2.json`.

use crate::json::{Answer, Head, Id, Machine, Opening, Reason, pretty, seconds, signed_seconds};
use facts::{HostView, Missing};
use rules::ledger::{self, Ledger};
use rules::loss::Party;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Result;

/// Where the time of the CPUs went. The known `time_s` of all lines and `unexplained.time_s` sum to `capacity_s`, to the nanosecond.
#[derive(Serialize, JsonSchema)]
pub(crate) struct LedgerDocument<'a> {
    #[serde(flatten)]
    opening: Opening<'a, 2>,
    machine: Machine<'a>,
    /// The CPUs accounted for, a list such as 0-3,8.
    cpus: String,
    /// The time accounted for on each of them.
    #[schemars(range(min = 0))]
    wall_s: f64,
    /// The time accounted for on all of them.
    #[schemars(range(min = 0))]
    capacity_s: f64,
    /// The clock that counts as the whole, and who says so.
    reference_clock: Answer<'a, ReferenceClock<'a>>,
    /// In display order.
    lines: Vec<Line<'a>>,
    /// What no line accounts for; negative where lines overlap.
    unexplained: Unexplained,
    /// How long the threads of the chosen processes were runnable and waited; null where none was chosen. It is demand, and no
    /// part of the capacity.
    waiting: Option<Answer<'a, Waiting>>,
    /// How long a load that needs the one before took, by the load probe; null where it did not run.
    loads: Option<Loads<'a>>,
    /// What has to be said with the results.
    notes: &'a [String],
}

/// The time of loads, by where they came from.
#[derive(Serialize, JsonSchema)]
struct Loads<'a> {
    memory: Answer<'a, LoadTimes>,
    last_level: Answer<'a, LoadTimes>,
}

/// The time of one load over several readings.
#[derive(Serialize, JsonSchema)]
struct LoadTimes {
    median_s: f64,
    lowest_s: f64,
    readings: usize,
}

/// The clock that counts as the whole.
#[derive(Serialize, JsonSchema)]
struct ReferenceClock<'a> {
    #[schemars(range(min = 1))]
    hz: u64,
    source: &'a str,
}

/// Where time went.
#[derive(Serialize, JsonSchema)]
struct Line<'a> {
    loss: Id<'static>,
    /// A kernel thread's name, a cause; empty where the line is one thing.
    part: &'a str,
    #[schemars(extend("enum" = ["idle", "lost", "useful"]))]
    kind: &'static str,
    /// Time of all CPUs at the reference clock; null where unknown.
    time_s: Option<f64>,
    /// Of the capacity, 1 being all of it; null where unknown.
    share: Option<f64>,
    /// Why it is unknown.
    missing: Option<Reason<'a>>,
    /// How it was obtained, from the surest to the least sure.
    #[schemars(extend("enum" = ["counter", "tracepoint", "probe", "derived", "bound"]))]
    method: &'static str,
    /// The counter, tracepoint or probe.
    source: &'a str,
    /// How far off it may be either way.
    #[schemars(range(min = 0))]
    uncertainty_s: f64,
    /// Of a line of tasks: interrupts and softirqs that came while they ran. They are not in `time_s` and have lines of their own;
    /// the scheduler counts both together, unless the kernel was built with CONFIG_IRQ_TIME_ACCOUNTING; of useful work with the
    /// lines of the clock, which were taken from it. null on other lines.
    #[schemars(range(min = 0))]
    interrupted_s: Option<f64>,
    /// Of traced softirqs: which tasks they ran on top of, the largest first. A softirq of the loopback interface runs on top of the
    /// task that sends. Empty where that is unknown, and on other lines.
    on_top_of: Vec<OnTopOf<'a>>,
    /// CPUs of which it is unknown; on the first line of a loss only.
    missing_cpus: Vec<MissingCpu<'a>>,
    /// Who is responsible, where evidence shows it.
    #[schemars(extend("enum" = ["operating system", "firmware", "management controller", "hypervisor", "power and heat", null]))]
    party: Option<&'static str>,
    cpus: Vec<CpuTime>,
    /// Findings of the audit that explain it.
    findings: Vec<Explaining<'a>>,
}

/// Tasks that softirqs ran on top of.
#[derive(Serialize, JsonSchema)]
struct OnTopOf<'a> {
    /// What the tasks are called; null of idle CPUs.
    task: Option<&'a str>,
    #[schemars(range(min = 0))]
    time_s: f64,
}

/// What no line accounts for.
#[derive(Serialize, JsonSchema)]
struct Unexplained {
    time_s: f64,
    /// Of the capacity, 1 being all of it.
    share: f64,
}

/// How long the chosen threads did not run.
#[derive(Serialize, JsonSchema)]
struct Waiting {
    /// Runnable, and not running.
    #[schemars(range(min = 0))]
    time_s: f64,
    /// What of that is the server's; null where no server was chosen, or nothing else.
    server_s: Option<f64>,
    /// How long they were stopped by a signal or a debugger; null where that was not traced.
    stopped_s: Option<f64>,
}

/// A CPU of which a line is unknown.
#[derive(Serialize, JsonSchema)]
struct MissingCpu<'a> {
    cpu: u32,
    missing: Reason<'a>,
}

/// The time of one CPU.
#[derive(Serialize, JsonSchema)]
struct CpuTime {
    cpu: u32,
    time_s: f64,
}

/// A finding that explains a line.
#[derive(Serialize, JsonSchema)]
struct Explaining<'a> {
    check: Id<'a>,
    cpus: Option<String>,
    /// The first command that would fix it until the next boot.
    fix: Option<&'a str>,
}

/// A ledger as JSON.
pub fn ledger(head: &Head, host: &HostView, ledger: &Ledger) -> Result<String> {
    let capacity = ledger.capacity_ns();
    pretty(&LedgerDocument {
        opening: head.opening(),
        machine: Machine::of(host),
        cpus: ledger.cpus.to_string(),
        wall_s: seconds(ledger.wall_ns),
        capacity_s: signed_seconds(capacity),
        reference_clock: Answer::of(&ledger.reference, |it| ReferenceClock {
            hz: it.clock.0,
            source: &it.source,
        }),
        lines: ledger.lines.iter().map(|it| line(it, capacity)).collect(),
        unexplained: Unexplained {
            time_s: signed_seconds(ledger.unexplained_ns),
            share: share(ledger.unexplained_ns, capacity),
        },
        waiting: ledger.waiting.as_ref().map(|it| {
            Answer::of(it, |it| Waiting {
                time_s: seconds(it.ns),
                server_s: it.server_ns.map(seconds),
                stopped_s: it.stopped_ns.map(seconds),
            })
        }),
        loads: ledger.loads.as_ref().map(|it| Loads {
            memory: Answer::of(&it.memory, load_times),
            last_level: Answer::of(&it.last_level, load_times),
        }),
        notes: &ledger.notes,
    })
}

fn load_times(it: &ledger::LoadTimes) -> LoadTimes {
    let seconds = |ps: u64| ps as f64 / 1e12;
    LoadTimes {
        median_s: seconds(it.median_ps),
        lowest_s: seconds(it.lowest_ps),
        readings: it.readings,
    }
}

fn line(line: &ledger::Line, capacity: i64) -> Line<'_> {
    let ns = line.ns.as_ref();
    Line {
        loss: Id(line.loss.id),
        part: &line.part,
        kind: line.loss.kind.name(),
        time_s: ns.ok().map(|ns| signed_seconds(*ns)),
        share: ns.ok().map(|ns| share(*ns, capacity)),
        missing: ns.err().map(Reason::of),
        method: line.method.name(),
        source: &line.source,
        uncertainty_s: seconds(line.uncertainty_ns),
        interrupted_s: line.interrupted_ns.map(seconds),
        on_top_of: line
            .on_top_of
            .iter()
            .map(|it| OnTopOf { task: it.task.as_deref(), time_s: seconds(it.ns) })
            .collect(),
        missing_cpus: line.missing.iter().map(missing_cpu).collect(),
        party: line.party.map(Party::name),
        cpus: line
            .cpus
            .iter()
            .map(|(cpu, ns)| CpuTime { cpu: *cpu, time_s: signed_seconds(*ns) })
            .collect(),
        findings: line.findings.iter().map(explaining).collect(),
    }
}

fn missing_cpu((cpu, why): &(u32, Missing)) -> MissingCpu<'_> {
    MissingCpu { cpu: *cpu, missing: Reason::of(why) }
}

fn explaining(it: &ledger::Explanation) -> Explaining<'_> {
    Explaining {
        check: Id(it.check),
        cpus: it.cpus.as_ref().map(ToString::to_string),
        fix: it.fix.as_deref(),
    }
}

fn share(ns: i64, capacity: i64) -> f64 {
    ns as f64 / capacity.max(1) as f64
}
