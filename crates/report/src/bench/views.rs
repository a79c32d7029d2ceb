//! Comparisons and rankings as JSON shows them.

use super::race::RaceView;
use super::server_log::LogView;
use super::verdict_view::{AllowanceView, Change, VerdictView};
use lab::compare::{Close, Design, Run};
use lab::comparison::{Comparison, Ranked};
use lab::doubt::Raised;
use lab::known::Known;
use lab::record::SettingDifference;
use lab::trial::Better;
use lab::verdict::{Closeness, Ratio};
use schemars::JsonSchema;
use serde::Serialize;

/// Two arms and what can be said of them. Changes are of the main result in its own unit, as shares of A: -0.38 of a rate is 38 % fewer,
/// 0.06 of a time is 6 % longer.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ComparisonView<'a> {
    /// What the first arm is called.
    a: &'a str,
    /// What the other one is called.
    b: &'a str,
    /// What the main result is called.
    figure: &'a str,
    /// What it is counted in.
    unit: &'a str,
    /// Which way of it is faster.
    better: Better,
    /// How the trials were taken.
    design: DesignName,
    /// On how many blocks it rests; of two results, on how many trials of the arm that has fewer; of several results of each, on how
    /// many of the arm that has fewer; of a race, on how many legs, or else intervals.
    n: usize,
    /// What may be said.
    verdict: VerdictView,
    /// --same: what is shown of the margin.
    #[serde(skip_serializing_if = "Option::is_none")]
    same: Option<SameView>,
    /// Of blocks that show no difference: how many would show one.
    #[serde(skip_serializing_if = "Option::is_none")]
    planning: Option<PlanningView>,
    /// Of several results of each: what each came to.
    #[serde(skip_serializing_if = "Option::is_none")]
    runs: Option<RunsView<'a>>,
    /// Of nodes of a race: its facts, and its pieces.
    #[serde(skip_serializing_if = "Option::is_none")]
    race: Option<RaceView<'a>>,
    /// The main result with the clock taken out.
    cycles: Known<Change>,
    /// Time on the CPU.
    cpu_time: Known<Change>,
    /// How much of the difference the clock explains.
    clock: Known<ClockView>,
    /// Trials that were far slower than a typical one of both; null where a trial has no result.
    slow_trials: Option<SlowView>,
    /// The settings in which the machines differ, by name.
    settings: &'a [SettingDifference],
    /// What the trials took of a database server's log (--server).
    #[serde(skip_serializing_if = "Option::is_none")]
    log: Option<LogView>,
    /// Everything that makes either doubtful.
    doubts: &'a [Raised],
}

/// How the trials of two arms were taken.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum DesignName {
    /// In blocks, each with both arms in random order.
    Interleaved,
    /// Each arm at another time, one result of each.
    Separate,
    /// Several results of each arm: what differs from run to run is in the interval.
    Runs,
    /// Nodes of a race, at the same time.
    Race,
}

/// What is shown of a margin that was requested with --same.
#[derive(Serialize, JsonSchema)]
struct SameView {
    /// The margin, as a share.
    margin: f64,
    /// Whether the difference is smaller.
    is: ClosenessName,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ClosenessName {
    /// The difference is smaller than the margin.
    Within,
    /// It is larger.
    Beyond,
    /// Neither is shown.
    Open,
}

/// What it would take to show a difference.
#[derive(Serialize, JsonSchema)]
struct PlanningView {
    /// The difference, as a share.
    sought: f64,
    /// So many blocks show it in 19 of 20 attempts.
    blocks: u64,
    /// How long they would take, in seconds; null where it is unknown how long the others took.
    seconds: Option<f64>,
}

/// The results of each arm.
#[derive(Serialize, JsonSchema)]
struct RunsView<'a> {
    a: Vec<RunView<'a>>,
    b: Vec<RunView<'a>>,
}

/// One result of several.
#[derive(Serialize, JsonSchema)]
struct RunView<'a> {
    /// As it was given.
    result: &'a str,
    trials: usize,
    /// The trimmed mean of the trials in logarithms, in the unit of the main result; null where a trial has no value.
    middle: Option<f64>,
}

/// The part of the clock in a difference, as shares.
#[derive(Serialize, JsonSchema)]
struct ClockView {
    /// How much higher the clock was for B.
    clock: f64,
    /// What the clock alone would have changed of the result.
    by_clock: f64,
    /// The part of the change that this is, in logarithms.
    part: Known<f64>,
    /// Whether nothing but the clock is needed to explain the difference.
    explains_all: bool,
}

/// Slow trials.
#[derive(Serialize, JsonSchema)]
struct SlowView {
    a: usize,
    b: usize,
    /// The chance of shares as different as these where both have them equally often.
    p: f64,
    /// How much longer B takes on average, slow trials included, as a share.
    change_of_mean: f64,
}

/// An arm among several.
#[derive(Serialize, JsonSchema)]
pub(crate) struct RankedView<'a> {
    /// What it is called.
    arm: &'a str,
    /// The main result's median.
    median: f64,
    /// Against the arm whose median is the middle of all; null of that one.
    against_middle: Option<VerdictView>,
}

fn change(ratio: &Known<Ratio>) -> Known<Change> {
    match ratio {
        Known::Value(it) => Known::Value(Change::of(it)),
        Known::Missing { missing } => Known::missing(missing),
    }
}

impl SameView {
    fn of(close: Close) -> SameView {
        let is = match close.is {
            Closeness::Within => ClosenessName::Within,
            Closeness::Beyond => ClosenessName::Beyond,
            Closeness::Open => ClosenessName::Open,
        };
        SameView { margin: close.margin, is }
    }
}

impl<'a> RunView<'a> {
    fn of(run: &'a Run) -> RunView<'a> {
        RunView { result: &run.name, trials: run.trials, middle: run.middle }
    }
}

impl<'a> ComparisonView<'a> {
    pub(crate) fn of(it: &'a Comparison) -> ComparisonView<'a> {
        let difference = &it.difference;
        let allowance = difference.allowance.as_ref().map(AllowanceView::of);
        let clock = match &difference.clock {
            Known::Value(it) => Known::Value(ClockView {
                clock: it.clock,
                by_clock: it.by_clock,
                part: it.part.clone(),
                explains_all: it.explains_all,
            }),
            Known::Missing { missing } => Known::missing(missing),
        };
        ComparisonView {
            a: &it.a,
            b: &it.b,
            figure: &it.figure,
            unit: &it.unit,
            better: it.better,
            design: match difference.design {
                Design::Interleaved => DesignName::Interleaved,
                Design::Separate(..) => DesignName::Separate,
                Design::Runs(..) => DesignName::Runs,
                Design::Race => DesignName::Race,
            },
            n: difference.n,
            verdict: match &difference.raced {
                Some(raced) if raced.verdict().is_none() => VerdictView::described(),
                _ => VerdictView::of(&difference.verdict).cleared(allowance),
            },
            same: difference.close.map(SameView::of),
            planning: difference.planning.map(|it| PlanningView {
                sought: it.sought.exp_m1(),
                blocks: it.blocks,
                seconds: it.seconds,
            }),
            runs: it.runs.as_ref().map(|[a, b]| RunsView {
                a: a.iter().map(RunView::of).collect(),
                b: b.iter().map(RunView::of).collect(),
            }),
            race: difference.raced.as_ref().map(RaceView::of),
            cycles: change(&difference.cycles),
            cpu_time: change(&difference.cpu_time),
            clock,
            slow_trials: difference.slow_trials.map(|it| SlowView {
                a: it.a[0],
                b: it.b[0],
                p: it.p,
                change_of_mean: it.change_of_mean.exp_m1(),
            }),
            settings: &difference.settings,
            log: it.log.as_ref().map(LogView::of),
            doubts: &it.doubts,
        }
    }
}

impl<'a> RankedView<'a> {
    pub(crate) fn of(it: &'a Ranked) -> RankedView<'a> {
        let against_middle = it.against_middle.as_ref().map(VerdictView::of);
        RankedView { arm: &it.arm, median: it.median, against_middle }
    }
}
