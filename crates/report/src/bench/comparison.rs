//! A comparison in words.

use super::quantity::{percent, percents, signed_percent, signed_percents};
use crate::page::{BOLD, Page};
use lab::compare::{Design, Evidence, Measure, Reading, SettingDifference};
use lab::comparison::Comparison;

const LABEL: usize = 14;

/// The verdict first, then what it rests on.
pub(super) fn comparison(page: &mut Page, it: &Comparison) {
    page.painted_paragraph(BOLD, &verdict(it));
    if let Some(raw) = it.verdict.reading(Measure::Figure) {
        page.labelled(LABEL, "  raw", &format!("{}: {}", it.figure, measured(raw, it)));
    }
    let by_clock = match &it.normalised.value() {
        Some(evidence) => format!("{} in cycles: {}", it.figure, change(evidence)),
        None => format!("unknown: {}", it.normalised.reason().unwrap_or_default()),
    };
    page.labelled(LABEL, "  clock out", &by_clock);
    page.labelled(LABEL, "  clock", &clock(it));
    if let Some(delta) = it.effect_size.value() {
        page.labelled(LABEL, "  effect size", &effect_size(&it.b, *delta));
    }
    if it.verdict.design == Design::Separate {
        settings(page, it);
    }
}

/// What may be said, in one sentence.
pub(crate) fn verdict(it: &Comparison) -> String {
    let (a, b) = (&it.a, &it.b);
    if !it.verdict.forbidding.is_empty() {
        let n = it.verdict.forbidding.len();
        let doubts =
            if n == 1 { "a doubt forbids".to_owned() } else { format!("{n} doubts forbid") };
        return format!("No claim about {a} and {b}: {doubts} it");
    }
    let Some(headline) = it.verdict.headline() else {
        return format!(
            "No claim about {a} and {b}: nothing was measured in enough trials of both"
        );
    };
    let Evidence { change, interval, pairs, detectable, .. } = headline.evidence;
    let measure = measure(headline.measure, &it.figure);
    let n = counted(pairs, it.verdict.design);
    if !headline.is_claimed {
        let detectable = percent(detectable);
        return format!(
            "No difference found between {a} and {b}, by {measure}, from {n}; one of {detectable} % would have been detected"
        );
    }
    let way = way(change);
    let ends = [interval.low.abs(), interval.high.abs()];
    let [low, high] = [ends[0].min(ends[1]), ends[0].max(ends[1])];
    let factor = factor(change);
    let [change, low, high] = percents([change.abs(), low, high], interval.half_width());
    format!(
        "{b} is {change} % {way} than {a}{factor}, 95 % interval {low} to {high} %, by {measure}, from {n}"
    )
}

/// A difference that may not be claimed says from which size on it could have been, unless doubts forbid it.
fn measured(reading: &Reading, it: &Comparison) -> String {
    if reading.is_claimed || !it.verdict.forbidding.is_empty() {
        return change(&reading.evidence);
    }
    let detectable = percent(reading.evidence.detectable);
    format!("{}: too noisy for a claim below {detectable} %", change(&reading.evidence))
}

fn change(evidence: &Evidence) -> String {
    let Evidence { change, interval, .. } = evidence;
    let shares = [*change, interval.low, interval.high];
    let [change, low, high] = signed_percents(shares, interval.half_width());
    format!("{change} % time, 95 % interval {low} to {high} %")
}

/// What share of pairs it is says more than the number that statisticians have for it; both are the same.
fn effect_size(b: &str, delta: f64) -> String {
    let slower = (1.0 + delta) / 2.0 * 100.0;
    format!(
        "of a trial of each, that of {b} is the slower one in {slower:.0} % (Cliff's delta {delta:+.2})"
    )
}

/// How the clocks differ, and how much of the difference that explains.
pub(crate) fn clock(it: &Comparison) -> String {
    let Some(share) = it.verdict.clock.value() else {
        return format!("unknown: {}", it.verdict.clock.reason().unwrap_or_default());
    };
    let is_told = it.verdict.reading(Measure::Figure).is_some_and(|it| it.is_claimed);
    // The share is of the time of a cycle; people speak of the clock.
    let change = 1.0 / (1.0 + share.by_clock) - 1.0;
    if change.abs() < SAME {
        return format!("the same for {} and {} within 0.01 %", it.a, it.b);
    }
    let left = it.normalised.value().map_or_else(
        || signed_percent(share.left),
        |it| signed_percents([share.left], it.interval.half_width()).concat(),
    );
    let explained = match share.part.value().filter(|_| is_told) {
        _ if share.explains_all => {
            "which explains the difference: the cycles are the same within 3 %".to_owned()
        }
        Some(part) => format!(
            "which makes {:.0} % of the raw difference; {left} % time is left without it",
            // Without the sign of a 0.
            (part * 100.0).round() + 0.0
        ),
        None => format!("{left} % time is left without it"),
    };
    let way = if change < 0.0 { "lower" } else { "higher" };
    format!("{} % {way} for {} than for {}; {explained}", percent(change.abs()), it.b, it.a)
}

/// The probe disagrees with itself by that much.
const SAME: f64 = 1e-4;

/// A line for each setting, or one for each of two long values; a result without any says nothing about a machine.
fn settings(page: &mut Page, it: &Comparison) {
    /// What fits in a line of 80 columns.
    const SHORT: usize = 60;
    let found = &it.verdict.settings;
    let lacks = |of: fn(&SettingDifference) -> bool| found.len() > 1 && found.iter().all(of);
    let words = match found.len() {
        0 => "the same in both".to_owned(),
        _ if lacks(|it| it.a.is_none()) => format!("unknown: {} names none", it.a),
        _ if lacks(|it| it.b.is_none()) => format!("unknown: {} names none", it.b),
        n => {
            page.labelled(LABEL, "  settings", &format!("{n} differ, {} / {}", it.a, it.b));
            for SettingDifference { name, a, b } in found {
                let value = |of: &Option<String>| of.clone().unwrap_or("not recorded".to_owned());
                let (a, b) = (value(a), value(b));
                if name.len() + a.len() + b.len() <= SHORT {
                    page.paragraph(LABEL, &format!("{name}: {a} / {b}"));
                    continue;
                }
                page.paragraph(LABEL, name);
                for (machine, value) in [(&it.a, a), (&it.b, b)] {
                    page.paragraph(LABEL + 2, &format!("{machine}: {value}"));
                }
            }
            return;
        }
    };
    page.labelled(LABEL, "  settings", &words);
}

fn way(change: f64) -> &'static str {
    if change < 0.0 { "faster" } else { "slower" }
}

/// Percentages of large differences are misread, so that a factor stands beside them.
fn factor(change: f64) -> String {
    const LARGE: f64 = 0.05;
    if change.abs() < LARGE {
        String::new()
    } else {
        format!(" (takes {:.3} times as long)", 1.0 + change)
    }
}

fn counted(pairs: usize, design: Design) -> String {
    match design {
        Design::Interleaved => format!("{pairs} pairs"),
        Design::Separate => format!("{pairs} trials each"),
    }
}

fn measure(measure: Measure, figure: &str) -> String {
    let time = if figure == "elapsed" { " time" } else { "" };
    match measure {
        Measure::Figure => figure.to_owned() + time,
        Measure::FigureCycles => format!("{figure}{time} in cycles"),
        Measure::CpuTime => "time on the CPU".to_owned(),
        Measure::CpuCycles => "time on the CPU in cycles".to_owned(),
        Measure::Clock => "the clock".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_effect_is_told_by_the_pairs_in_which_b_is_slower() {
        assert_eq!(
            effect_size("B", 0.74),
            "of a trial of each, that of B is the slower one in 87 % (Cliff's delta +0.74)"
        );
    }
}
