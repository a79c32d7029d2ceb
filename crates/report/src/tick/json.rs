//! The ticks of each CPU: `schemas/tick-2.json`.

use super::Report;
use crate::json::{Head, Opening, pretty, seconds};
use facts::Fact;
use rules::interval::Delta;
use rules::tick::{self, CpuTicks, Dependency, Kept};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Result;

/// How often each CPU ticked, and why one ticked that should not.
#[derive(Serialize, JsonSchema)]
pub(crate) struct TickDocument<'a> {
    #[serde(flatten)]
    opening: Opening<'a, 2>,
    /// For how long was counted.
    #[schemars(extend("exclusiveMinimum" = 0))]
    elapsed_s: f64,
    /// Ticks a second of a CPU whose tick does not stop; null where unknown.
    full_rate: Option<f64>,
    cpus: Vec<Cpu<'a>>,
}

/// The ticks of one CPU.
#[derive(Serialize, JsonSchema)]
struct Cpu<'a> {
    cpu: u32,
    /// nohz_full: should stop its tick while it runs one task; isolated: kept free of other tasks, and not of the tick.
    #[schemars(extend("enum" = ["nohz_full", "isolated", "ordinary"]))]
    role: &'static str,
    /// By perf where it may count, else by /proc/interrupts.
    per_second: Option<f64>,
    /// Tracepoint irq_vectors:local_timer_entry.
    perf: Counted,
    /// The line of the CPU's own timer in /proc/interrupts.
    interrupts: Counted,
    busy_percent: Option<f64>,
    /// null of a CPU that may tick.
    verdict: Option<Verdict<'a>>,
}

/// A count and the time between its two readings, or the reason there is none.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum Counted {
    Count {
        count: u64,
        /// The time between its two readings.
        #[schemars(extend("exclusiveMinimum" = 0))]
        elapsed_s: f64,
        /// CLOCK_MONOTONIC_RAW at its first reading, so that a trace can be cut to what was counted; only of perf's.
        #[serde(skip_serializing_if = "Option::is_none")]
        from_ns: Option<u64>,
        /// The same at its last one.
        #[serde(skip_serializing_if = "Option::is_none")]
        to_ns: Option<u64>,
    },
    Missing {
        reason: &'static str,
        text: String,
    },
}

/// What to think of the ticks of a CPU that should not tick.
#[derive(Serialize, JsonSchema)]
struct Verdict<'a> {
    outcome: Outcome,
    text: String,
    /// What the kernel named as needing the tick, the most frequent first.
    reasons: Vec<Needed<'a>>,
}

/// What became of the tick.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Outcome {
    /// It stopped while the CPU was busy.
    Stopped,
    /// The CPU was hardly busy, and a busy tick was not seen.
    Idle,
    /// It went on while the CPU was busy.
    Kept,
    /// It could not be counted.
    Unknown,
}

/// What needs the tick.
#[derive(Serialize, JsonSchema)]
struct Needed<'a> {
    #[schemars(extend("enum" = ["posix_timer", "perf_events", "sched", "clock_unstable", "rcu", "rcu_exp"]))]
    dependency: &'static str,
    per_second: f64,
    holder: &'static str,
    /// What on this host points to the holder.
    seen: &'a [String],
    /// What would stop it.
    release: &'static str,
}

/// The ticks as JSON.
pub fn json(head: &Head, report: &Report) -> Result<String> {
    pretty(&TickDocument {
        opening: head.opening(),
        elapsed_s: seconds(report.elapsed_ns),
        full_rate: report.full_rate.as_ref().ok().copied(),
        cpus: report.ticks.iter().map(cpu).collect(),
    })
}

fn cpu(ticks: &CpuTicks) -> Cpu<'_> {
    Cpu {
        cpu: ticks.cpu,
        role: ticks.role.name(),
        per_second: ticks.delta().ok().map(Delta::per_second),
        perf: counted(&ticks.entries, ticks.entries_read_ns),
        interrupts: counted(&ticks.interrupts, None),
        busy_percent: ticks.busy.as_ref().ok().copied(),
        verdict: ticks.verdict.as_ref().map(verdict),
    }
}

fn counted(delta: &Fact<Delta>, read_ns: Option<(u64, u64)>) -> Counted {
    match delta {
        Ok(delta) => Counted::Count {
            count: delta.by,
            elapsed_s: seconds(delta.over_ns),
            from_ns: read_ns.map(|it| it.0),
            to_ns: read_ns.map(|it| it.1),
        },
        Err(missing) => Counted::Missing { reason: missing.reason(), text: missing.to_string() },
    }
}

fn verdict(verdict: &tick::Verdict) -> Verdict<'_> {
    let outcome = match verdict {
        tick::Verdict::Stopped { .. } => Outcome::Stopped,
        tick::Verdict::Idle { .. } => Outcome::Idle,
        tick::Verdict::Kept { .. } => Outcome::Kept,
        tick::Verdict::Unknown(_) => Outcome::Unknown,
    };
    let needed = match verdict {
        tick::Verdict::Kept { why: Kept::Needed(needed), .. } => needed.as_slice(),
        _ => &[],
    };
    Verdict { outcome, text: verdict.text(), reasons: needed.iter().map(reason).collect() }
}

fn reason<'a>(
    (dependency, per_second, seen): &'a (&'static Dependency, f64, Vec<String>),
) -> Needed<'a> {
    Needed {
        dependency: dependency.name,
        per_second: *per_second,
        holder: dependency.holder,
        seen,
        release: dependency.release,
    }
}
