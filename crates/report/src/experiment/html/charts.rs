//! Charts of a workload: effects with their intervals, trials by arm, and the ledger of each arm.

use crate::bench::signed_percents;
use crate::experiment::Study;
use crate::html::chart::{self, ArmTrials};
use crate::html::losses::{self, Bar};
use crate::html::markup::Markup;
use crate::html::scale::Scale;
use lab::experiment::analysis::{ArmAnalysis, Effect, Estimate, WorkloadAnalysis};
use std::collections::BTreeMap;

/// Effects with their intervals and a line at zero; empty if no level could be compared.
pub(super) fn effects(study: &Study<'_>, workload: &WorkloadAnalysis) -> Markup {
    let drawn: Vec<(&Effect, &Estimate)> = workload
        .effects
        .iter()
        .filter_map(|it| it.estimate.value().map(|estimate| (it, estimate)))
        .collect();
    let ends = drawn.iter().flat_map(|(effect, it)| {
        let by_clock = effect.by_clock.value().copied().unwrap_or(0.0);
        [it.change, it.interval.low, it.interval.high, by_clock]
    });
    let Some(scale) = Scale::around(ends.chain([0.0])).filter(|_| !drawn.is_empty()) else {
        return Markup::default();
    };
    let rows = drawn.iter().map(|(effect, it)| effect_row(study, effect, it, &scale));
    let axis = chart::axis(&scale, chart::share_labels);
    let legend = chart::legend(&[
        ("slower", "slower"),
        ("faster", "faster"),
        ("untold", "no difference found"),
        ("clock", "what the clock alone would change"),
    ]);
    let about = "Change of time against the first level of the factor, averaged over the other factors; the \
                 bar is the 95 % interval.";
    chart::figure("Effects", about, [legend].into_iter().chain(rows).chain([axis]))
}

fn effect_row(study: &Study<'_>, effect: &Effect, it: &Estimate, scale: &Scale) -> Markup {
    let class = match (it.is_claimed, it.change < 0.0) {
        (false, _) => "untold",
        (true, true) => "faster",
        (true, false) => "slower",
    };
    let shares = [it.change, it.interval.low, it.interval.high];
    let [change, low, high] = signed_percents(shares, it.interval.half_width());
    let setting = study.setting(effect.factor, effect.level);
    let interval = format!("95 % interval {low} to {high} %");
    let words = format!("{setting}: {change} %, {interval}");
    let (from, to) = (scale.percent(it.interval.low), scale.percent(it.interval.high));
    let group = Markup::element(
        "g",
        &[("class", class)],
        [
            chart::hint(&words),
            chart::line(&[
                ("class", "interval"),
                ("x1", &from),
                ("x2", &to),
                ("y1", "50%"),
                ("y2", "50%"),
            ]),
            Markup::empty(
                "circle",
                &[("class", "effect"), ("cx", &scale.percent(it.change)), ("cy", "50%")],
            ),
        ],
    );
    let marks =
        [chart::grid(scale), chart::upright("zero", scale, 0.0), by_clock(effect, scale), group];
    let label = format!("{setting} against {}", study.level(effect.factor, 0));
    chart::row(&label, &format!("{change} %, {low} to {high} %"), &words, marks)
}

fn by_clock(effect: &Effect, scale: &Scale) -> Markup {
    let Some(alone) = effect.by_clock.value() else { return Markup::default() };
    let x = scale.percent(*alone);
    let [change] = signed_percents([*alone], 0.001);
    let hint = chart::hint(&format!("the clock alone: {change} %"));
    let attributes = [("class", "clock"), ("x1", &*x), ("x2", &x), ("y1", "15%"), ("y2", "85%")];
    Markup::element("line", &attributes, [hint])
}

/// The numbers of an arm's trials and their figures.
type Points = BTreeMap<usize, Vec<(u32, f64)>>;

/// Every trial of every arm; empty if all trials failed.
pub(super) fn trials(study: &Study<'_>, workload: &WorkloadAnalysis) -> Markup {
    let points = points_by_arm(study);
    let row = |it: &ArmAnalysis| ArmTrials {
        label: study.label(it.arm),
        median: it.median,
        failed: it.failed,
        points: points.get(&it.arm).map_or(&[][..], Vec::as_slice),
    };
    let rows: Vec<ArmTrials<'_>> = workload.arms.iter().map(row).collect();
    let about = format!(
        "{} of each trial, {}; the upright mark is the median.",
        workload.figure,
        study.key()
    );
    chart::trials(&about, &workload.unit, &rows)
}

/// The points of all arms, in one pass over the trials.
fn points_by_arm(study: &Study<'_>) -> Points {
    let mut points = Points::new();
    for trial in study.record.trials.iter().filter(|it| it.failed.is_none()) {
        if let Some(figure) = trial.outcome.figures.first() {
            points.entry(trial.arm).or_default().push((trial.number, figure.value));
        }
    }
    points
}

/// The losses of each arm; empty if no trial has a ledger.
pub(super) fn ledgers(study: &Study<'_>, workload: &WorkloadAnalysis) -> Markup {
    let bars = workload.arms.iter();
    let bars: Vec<Bar<'_>> =
        bars.map(|it| Bar { label: study.label(it.arm), ledger: &it.ledger }).collect();
    losses::chart(&study.key(), &bars)
}
