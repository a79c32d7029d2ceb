//! Charts of a workload: effects with their intervals, trials by arm, and the ledger of each arm.

use crate::bench::signed_percents;
use crate::chart::losses::{self, Bar};
use crate::chart::parts::{self, Quantity};
use crate::chart::scale::Scale;
use crate::chart::trials::{self, ArmTrials};
use crate::document::Chart;
use crate::experiment::Study;
use crate::experiment::prose::Changed;
use lab::experiment::analysis::{ArmAnalysis, Effect, Estimate, WorkloadAnalysis};
use maud::{Markup, html};
use std::collections::BTreeMap;

/// Effects with their intervals and a line at zero; `None` if no level could be compared.
pub(super) fn effects(study: &Study<'_>, workload: &WorkloadAnalysis) -> Option<Chart> {
    let drawn: Vec<(&Effect, &Estimate)> = workload
        .effects
        .iter()
        .filter_map(|it| it.estimate.value().map(|estimate| (it, estimate)))
        .collect();
    if drawn.is_empty() {
        return None;
    }
    let changed = Changed::of(study, workload);
    let ends = drawn.iter().flat_map(|(effect, it)| {
        let by_clock = effect.by_clock.value().map_or(0.0, |it| changed.own(*it));
        changed.ends(it).into_iter().chain([by_clock])
    });
    let scale = Scale::around(ends.chain([0.0]))?;
    let rows = drawn.iter().map(|(effect, it)| effect_row(study, changed, (effect, it), &scale));
    let legend = [
        ("slower", "slower"),
        ("faster", "faster"),
        ("untold", "no effect shown"),
        ("clock", "what the clock alone would change"),
    ];
    let WorkloadAnalysis { figure, .. } = workload;
    let about = format!(
        "Change of {figure} compared with the first level of the factor, averaged over the other factors; the bar is its interval; \
         all intervals hold together with 99 %."
    );
    let drawing = html! {
        (parts::legend(&legend.map(|(class, meaning)| (class.to_owned(), meaning))))
        (parts::rows(rows, &parts::axis_of_shares(&scale, &format!("change of {figure}"))))
    };
    // Each effect is a sentence of the document.
    Some(Chart { title: "Effects".to_owned(), about, drawing, values: None })
}

fn effect_row(
    study: &Study<'_>,
    changed: Changed<'_>,
    (effect, it): (&Effect, &Estimate),
    scale: &Scale,
) -> Markup {
    let class = match (it.is_claimed, it.change < 0.0) {
        (false, _) => "untold",
        (true, true) => "faster",
        (true, false) => "slower",
    };
    let [change, low, high] = changed.signed(it);
    let [at, at_low, at_high] = changed.ends(it).map(|it| scale.percent(it));
    let setting = study.setting(effect.factor, effect.level);
    let description = format!("{setting}: {change} % ({low} to {high} %)");
    let marks = html! {
        (parts::grid(scale))
        (parts::upright("zero", scale, 0.0))
        @if let Some(alone) = effect.by_clock.value() { (by_clock(changed.own(*alone), scale)) }
        g.(class) {
            (parts::hint(&description))
            line.interval x1=(at_low) x2=(at_high) y1="50%" y2="50%" {}
            circle.effect cx=(at) cy="50%" {}
        }
    };
    let label = format!("{setting} compared with {}", study.level(effect.factor, 0));
    parts::row(&label, &format!("{change} %, {low} to {high} %"), &description, &marks)
}

fn by_clock(alone: f64, scale: &Scale) -> Markup {
    let x = scale.percent(alone);
    let [change] = signed_percents([alone], 0.001);
    html! {
        line.clock x1=(x) x2=(x) y1="15%" y2="85%" {
            (parts::hint(&format!("the clock alone: {change} %")))
        }
    }
}

/// The numbers of an arm's trials and their figures.
type Points = BTreeMap<usize, Vec<(u32, f64)>>;

/// Every trial of every arm; `None` if all trials failed.
pub(super) fn trials(study: &Study<'_>, workload: &WorkloadAnalysis) -> Option<Chart> {
    let points = points_by_arm(study);
    let row = |it: &ArmAnalysis| ArmTrials {
        label: study.label(it.arm),
        median: it.median,
        failed: it.failed,
        points: points.get(&it.arm).map_or(&[][..], Vec::as_slice),
    };
    let rows: Vec<ArmTrials<'_>> = workload.arms.iter().map(row).collect();
    let WorkloadAnalysis { figure, unit, .. } = workload;
    let about = format!("{figure} of each trial, {}; the upright mark is the median.", study.key());
    trials::chart(about, Quantity { name: figure, unit }, &rows)
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

/// The losses of each arm; `None` if no trial has a ledger.
pub(super) fn ledgers(study: &Study<'_>, workload: &WorkloadAnalysis) -> Option<Chart> {
    let bars = workload.arms.iter();
    let bars: Vec<Bar<'_>> =
        bars.map(|it| Bar { label: study.label(it.arm), ledger: &it.ledger }).collect();
    losses::chart(&study.labels(), &study.key(), &bars)
}
