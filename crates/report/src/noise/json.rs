//! What CPUs lost: `schemas/noise-2.json`.

use super::Report;
use crate::json::{Answer, Head, Machine, Opening, Reason, Time, pretty, seconds};
use facts::Missing;
use rules::noise::{self, CpuNoise, Histogram, Percentiles, Taker};
use rules::spin;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Result;

/// What interrupted each CPU, how often and for how long. Of each CPU the `time_s` of all causes sum to `lost_s` and `own_s`, to the nanosecond.
#[derive(Serialize, JsonSchema)]
pub(crate) struct NoiseDocument<'a> {
    #[serde(flatten)]
    opening: Opening<'a, 2>,
    machine: Machine<'a>,
    /// When the first spinner began.
    started: Time<'static>,
    /// The CPUs that were watched; the one that lost the largest share of its time first.
    #[schemars(length(min = 1))]
    cpus: Vec<Cpu<'a>>,
    /// The CPUs that could not be watched.
    unwatched: Vec<Unwatched<'a>>,
    /// Why nothing was traced; null where something was, or was not to be.
    untraced: Option<Reason<'a>>,
}

/// What one CPU lost.
#[derive(Serialize, JsonSchema)]
struct Cpu<'a> {
    cpu: u32,
    /// For how long it was watched.
    #[schemars(range(min = 0))]
    wall_s: f64,
    /// The mean time between two readings with no gap in between; null where there were none.
    step_s: Option<f64>,
    /// Steps up to this are ordinary, and no gaps.
    #[schemars(range(min = 0))]
    floor_s: f64,
    /// How many gaps there were.
    gaps: u64,
    /// Gaps for which there was no room: they are in `lost_s` and among the causes as unexplained, and nowhere else.
    gaps_not_kept: u64,
    /// How long the gaps lasted, less `own_s`. An ordinary step is part of each.
    #[schemars(range(min = 0))]
    lost_s: f64,
    /// Of `wall_s`, 1 being all of it.
    #[schemars(range(min = 0))]
    lost_share: f64,
    /// What this program took of its own spinner.
    #[schemars(range(min = 0))]
    own_s: f64,
    method: Method,
    /// Lengths of gaps, by nearest rank.
    percentiles_s: Answer<'a, Lengths>,
    /// Ticks that were found in gaps, and ticks that the kernel counted, from a little before the first reading to a little
    /// after the last.
    ticks: Answer<'a, Ticks>,
    /// The largest first.
    causes: Vec<Part>,
    /// The longest gaps, the longest first.
    longest: Vec<Gap>,
    /// Gaps by length, from the first bucket that has one to the last, ascending.
    histogram: Vec<Bucket>,
}

/// How causes were found.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Method {
    /// Gap by gap, from a trace.
    Trace,
    /// From what was counted over the whole time, which is an estimate.
    Counts,
}

/// Percentiles of the lengths of gaps, and the longest.
#[derive(Serialize, JsonSchema)]
struct Lengths {
    p50: f64,
    p90: f64,
    p99: f64,
    #[serde(rename = "p99.9")]
    p99_9: f64,
    longest: f64,
}

/// Ticks by two counts.
#[derive(Serialize, JsonSchema)]
struct Ticks {
    found: u64,
    counted: u64,
}

/// Who had the CPU.
#[derive(Serialize, JsonSchema)]
struct Cause {
    /// In a few words: a name is the task's or the device's own.
    cause: String,
    /// own: this program, while it reads the trace. nobody: the CPU was idle, because a quota or a signal kept the spinner from
    /// running.
    #[schemars(extend("enum" = [
        "interrupt", "softirq", "nmi", "task", "nobody", "hypervisor", "firmware", "own", "unexplained"
    ]))]
    kind: &'static str,
    #[schemars(range(min = 0))]
    time_s: f64,
}

/// What one cause took of a CPU.
#[derive(Serialize, JsonSchema)]
struct Part {
    #[serde(flatten)]
    cause: Cause,
    /// Of `wall_s`.
    #[schemars(range(min = 0))]
    share: f64,
    /// How often it began; of what is known by gaps only, how many; 0 of what is known by its time only.
    count: u64,
}

/// One gap.
#[derive(Serialize, JsonSchema)]
struct Gap {
    at: Time<'static>,
    /// The same, counted from `started`.
    #[schemars(range(min = 0))]
    after_s: f64,
    #[schemars(range(min = 0))]
    length_s: f64,
    /// Who had it, who had the most of it first; together all of it. null where nothing was traced.
    causes: Option<Vec<Cause>>,
}

/// Gaps of similar length.
#[derive(Serialize, JsonSchema)]
struct Bucket {
    /// The shortest length that belongs to it.
    #[schemars(range(min = 0))]
    from_s: f64,
    /// The shortest length that is too long; null where none is.
    below_s: Option<f64>,
    count: u64,
    /// How long they lasted together.
    #[schemars(range(min = 0))]
    time_s: f64,
}

/// A CPU that could not be watched.
#[derive(Serialize, JsonSchema)]
struct Unwatched<'a> {
    cpu: u32,
    missing: Reason<'a>,
}

/// Of the whole report.
pub fn noise(head: &Head, report: &Report<'_>) -> Result<String> {
    let noise = report.noise;
    pretty(&NoiseDocument {
        opening: head.opening(),
        machine: Machine::of(report.host),
        started: Time::of_ns(report.real_ns(noise.started_ns())),
        cpus: noise.cpus.iter().map(|it| cpu(report, it)).collect(),
        unwatched: noise.unwatched.iter().map(unwatched).collect(),
        untraced: report.untraced.map(Reason::of),
    })
}

fn unwatched((cpu, why): &(u32, Missing)) -> Unwatched<'_> {
    Unwatched { cpu: *cpu, missing: Reason::of(why) }
}

fn cpu<'a>(report: &Report<'_>, cpu: &'a CpuNoise) -> Cpu<'a> {
    Cpu {
        cpu: cpu.cpu,
        wall_s: seconds(cpu.wall_ns),
        step_s: cpu.step_ns.as_ref().ok().map(|ns| ns / 1e9),
        floor_s: seconds(cpu.floor_ns),
        gaps: cpu.n_gaps,
        gaps_not_kept: cpu.not_kept.count,
        lost_s: seconds(cpu.lost_ns),
        lost_share: cpu.lost_share(),
        own_s: seconds(cpu.own_ns),
        method: match cpu.method {
            spin::Method::Trace => Method::Trace,
            spin::Method::Counts => Method::Counts,
        },
        percentiles_s: Answer::of(&cpu.percentiles, lengths),
        ticks: Answer::of(&cpu.ticks, |it| Ticks { found: it.found, counted: it.counted }),
        causes: cpu.parts.iter().map(|it| part(cpu, it)).collect(),
        longest: cpu.longest.iter().map(|it| gap(report, it)).collect(),
        histogram: buckets(&cpu.histogram),
    }
}

fn lengths(it: &Percentiles) -> Lengths {
    Lengths {
        p50: seconds(it.p50),
        p90: seconds(it.p90),
        p99: seconds(it.p99),
        p99_9: seconds(it.p99_9),
        longest: seconds(it.longest),
    }
}

fn cause(taker: &Taker, ns: u64) -> Cause {
    Cause { cause: taker.to_string(), kind: taker.kind(), time_s: seconds(ns) }
}

fn part(cpu: &CpuNoise, part: &noise::Part) -> Part {
    let taken = part.taken;
    Part { cause: cause(&part.taker, taken.ns), share: cpu.share(taken.ns), count: taken.count }
}

fn gap(report: &Report<'_>, gap: &noise::LongGap) -> Gap {
    let causes =
        |takers: &Vec<(Taker, u64)>| takers.iter().map(|(taker, ns)| cause(taker, *ns)).collect();
    Gap {
        at: Time::of_ns(report.real_ns(gap.at_ns)),
        after_s: seconds(report.since_start_ns(gap.at_ns)),
        length_s: seconds(gap.length_ns),
        causes: gap.takers.as_ref().map(causes),
    }
}

fn buckets(histogram: &Histogram) -> Vec<Bucket> {
    let bucket = |it: noise::Bucket| Bucket {
        from_s: seconds(it.from_ns),
        below_s: it.below_ns.map(seconds),
        count: it.count,
        time_s: seconds(it.ns),
    };
    histogram.buckets().into_iter().map(bucket).collect()
}
