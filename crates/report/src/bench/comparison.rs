//! A comparison of two arms: the verdict, what explains it, and the numbers that it rests on.

use super::doubts::lines;
use super::manner::Manner;
use super::quantity::{percent, percents, signed_percents};
use crate::document::{Align, Block, Document, Table, Text};
use lab::compare::{Design, Evidence, Measure, SettingDifference};
use lab::comparison::Comparison;
use lab::trial::Better;

/// Adds the verdict, and the doubts that forbid a claim.
pub(super) fn conclusion(document: &mut Document, it: &Comparison, manner: Manner) {
    document.paragraph(Text::strong(verdict(it, manner)));
    let forbidding: Vec<_> = it.verdict.forbidding.iter().collect();
    for line in lines(&forbidding, manner) {
        document.labelled("because", line);
    }
}

/// Adds how the clocks differ, and how often the one was slower than the other.
pub(super) fn explanation(document: &mut Document, it: &Comparison, manner: Manner) {
    document.labelled("clock", clock(it, manner));
    if let Some(delta) = it.effect_size.value() {
        document.labelled("effect size", effect_size(&it.b, *delta, manner));
    }
}

/// What may be said, in one sentence.
pub(crate) fn verdict(it: &Comparison, manner: Manner) -> String {
    let (a, b) = (&it.a, &it.b);
    if !it.verdict.forbidding.is_empty() {
        let n = it.verdict.forbidding.len();
        let doubts =
            if n == 1 { "a doubt forbids".to_owned() } else { format!("{n} doubts forbid") };
        return format!("No claim about {a} and {b}: {doubts} it");
    }
    let Some(headline) = it.verdict.headline() else {
        let trials = manner.one();
        return format!(
            "No claim about {a} and {b}: nothing was measured in enough {trials}s of both"
        );
    };
    let Evidence { pairs, detectable, .. } = headline.evidence;
    let measure = measured(headline.measure, &it.figure);
    let n = counted(pairs, it.verdict.design, manner);
    if !headline.is_claimed {
        let detectable = percent(detectable);
        return format!(
            "No difference found between {a} and {b}, by {measure}, from {n}; one of {detectable} % would have been detected"
        );
    }
    let (change, interval) = manner_of(headline.measure, manner).change(&headline.evidence);
    let ends = [interval.low.abs(), interval.high.abs()];
    let [low, high] = [ends[0].min(ends[1]), ends[0].max(ends[1])];
    let [change, low, high] = percents([change.abs(), low, high], interval.half_width());
    let way = if headline.evidence.change < 0.0 { "faster" } else { "slower" };
    format!(
        "{b} is {change} % {way} than {a}, 95 % interval {low} to {high} %, by {measure}, from {n}"
    )
}

fn counted(pairs: usize, design: Design, manner: Manner) -> String {
    match design {
        Design::Interleaved if manner.is_race => format!("{pairs} intervals of each"),
        Design::Interleaved => format!("{pairs} pairs of trials"),
        Design::Separate => format!("{pairs} {}s each", manner.one()),
    }
}

/// A measure in a sentence.
fn measured(measure: Measure, figure: &str) -> String {
    let time = if figure == "elapsed" { " time" } else { "" };
    match measure {
        Measure::Figure => figure.to_owned() + time,
        Measure::FigureCycles => format!("{figure}{time} in cycles"),
        Measure::CpuTime => "time on the CPU".to_owned(),
        Measure::CpuCycles => "time on the CPU in cycles".to_owned(),
        Measure::Clock => "the clock".to_owned(),
    }
}

/// Changes of the main figure are told in its unit. All else is a time.
fn manner_of(measure: Measure, manner: Manner) -> Manner {
    match measure {
        Measure::Figure | Measure::FigureCycles => manner,
        Measure::CpuTime | Measure::CpuCycles | Measure::Clock => {
            Manner { better: Better::Lower, ..manner }
        }
    }
}

/// A row for each measure that was compared: its change, and from which size on one would have been detected.
pub(super) fn differences(it: &Comparison, manner: Manner) -> Table {
    let heading = format!("{} against {}", it.b, it.a);
    let columns = [
        (&*heading, Align::Left),
        ("change", Align::Right),
        ("95 % interval", Align::Right),
        ("detectable", Align::Right),
    ];
    let of = |measure| Some((measure, it.verdict.reading(measure)?.evidence));
    let headline = it.verdict.headline().map(|it| it.measure);
    let is_new = |it: &Measure| !matches!(it, Measure::Figure | Measure::FigureCycles);
    let row = |measure: Measure, evidence: Option<&Evidence>| {
        let label = labelled(measure, &it.figure, manner);
        let numbers = evidence.map_or(["unknown".to_owned(), String::new(), String::new()], |it| {
            let (change, interval) = manner_of(measure, manner).change(it);
            let shares = [change, interval.low, interval.high];
            let [change, low, high] = signed_percents(shares, interval.half_width());
            let detectable = format!("{} %", percent(it.detectable));
            [format!("{change} %"), format!("{low} to {high} %"), detectable]
        });
        std::iter::once(label).chain(numbers).map(Text::from).collect()
    };
    let mut table = Table::new(&columns, []);
    if let Some((measure, evidence)) = of(Measure::Figure) {
        table.push(row(measure, Some(&evidence)));
    }
    // Why it is unknown, the line of the clock says.
    table.push(row(Measure::FigureCycles, it.normalised.value()));
    if let Some((measure, evidence)) = headline.filter(is_new).and_then(of) {
        table.push(row(measure, Some(&evidence)));
    }
    table
}

/// A measure at the head of a row.
fn labelled(measure: Measure, figure: &str, manner: Manner) -> String {
    match (measure, manner.better) {
        (Measure::Figure, _) => figure.to_owned(),
        (Measure::FigureCycles, Better::Higher) => format!("{figure} per cycle"),
        (Measure::FigureCycles, Better::Lower) => format!("{figure} in cycles"),
        (other, _) => measured(other, figure),
    }
}

/// What share of pairs it is says more than the number that statisticians have for it; both are the same.
fn effect_size(b: &str, delta: f64, manner: Manner) -> String {
    let (slower, trial) = ((1.0 + delta) / 2.0 * 100.0, manner.one());
    format!(
        "{b} is slower in {slower:.0} % of all pairs of one {trial} of each (Cliff's delta {delta:+.2})"
    )
}

/// How the clocks differ, and how much of the difference that explains.
pub(crate) fn clock(it: &Comparison, manner: Manner) -> String {
    let Some(share) = it.verdict.clock.value() else {
        return format!("unknown: {}", it.verdict.clock.reason().unwrap_or_default());
    };
    let is_told = it.verdict.reading(Measure::Figure).is_some_and(|it| it.is_claimed);
    // The share is of the time of a cycle; people speak of the clock.
    let change = 1.0 / (1.0 + share.by_clock) - 1.0;
    if change.abs() < SAME {
        return format!("the same for {} and {} within 0.01 %", it.a, it.b);
    }
    let way = if change < 0.0 { "lower" } else { "higher" };
    let differs = format!("{} % {way} for {} than for {}", percent(change.abs()), it.b, it.a);
    if share.explains_all {
        return format!(
            "{differs}, which explains the difference: the cycles are the same within 3 %"
        );
    }
    let half = it.normalised.value().map(|it| manner.change(it).1.half_width());
    let [left] = signed_percents([manner.in_figure(share.left)], half.unwrap_or_default());
    match share.part.value().filter(|_| is_told) {
        // Without the sign of a 0.
        Some(part) => format!(
            "{differs}, which makes {:.0} % of the difference; {left} % is left with the clock taken out",
            (part * 100.0).round() + 0.0
        ),
        None => format!("{differs}; {left} % is left with the clock taken out"),
    }
}

/// The probe disagrees with itself by that much.
const SAME: f64 = 1e-4;

/// Adds the settings in which the machines differ. A result without any says nothing about a machine.
pub(super) fn settings(document: &mut Document, it: &Comparison) {
    let found = &it.verdict.settings;
    let lacks = |of: fn(&SettingDifference) -> bool| found.len() > 1 && found.iter().all(of);
    match found.len() {
        0 if it.verdict.design == Design::Interleaved => {}
        0 => document.labelled("settings", "the same in both"),
        _ if lacks(|it| it.a.is_none()) => {
            document.labelled("settings", format!("unknown: {} names none", it.a));
        }
        _ if lacks(|it| it.b.is_none()) => {
            document.labelled("settings", format!("unknown: {} names none", it.b));
        }
        n => {
            document.heading(if n == 1 {
                "1 setting differs".to_owned()
            } else {
                format!("{n} settings differ")
            });
            document.push(Block::Table(setting_table(it)));
        }
    }
}

fn setting_table(it: &Comparison) -> Table {
    let columns = [("setting", Align::Left), (&*it.a, Align::Left), (&*it.b, Align::Left)];
    let value = |of: &Option<String>| of.clone().unwrap_or("not recorded".to_owned());
    let row = |it: &SettingDifference| {
        [it.name.clone(), value(&it.a), value(&it.b)].map(Text::from).into()
    };
    Table::new(&columns, it.verdict.settings.iter().map(row))
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{QUIET, interleaved};
    use super::*;
    use lab::comparison::within;

    fn of_blocks() -> Manner {
        Manner::of(&interleaved(QUIET, QUIET, 8))
    }

    #[test]
    fn an_effect_is_told_by_the_pairs_in_which_b_is_slower() {
        assert_eq!(
            effect_size("B", 0.74, of_blocks()),
            "B is slower in 87 % of all pairs of one trial of each (Cliff's delta +0.74)"
        );
    }

    #[test]
    fn half_the_rate_is_50_percent_slower_and_half_the_time_50_percent_faster() {
        let twice = super::super::fixture::Pattern { seconds: 2.0 * QUIET.seconds, ..QUIET };
        let found = &within(&interleaved(QUIET, twice, 10))[0];
        let as_rate = Manner { better: Better::Higher, ..of_blocks() };
        let text = verdict(found, as_rate);
        assert!(text.starts_with("B is 50.0") && text.contains("% slower than A"), "{text}");
        let text = verdict(found, of_blocks());
        assert!(text.starts_with("B is 100.") && text.contains("% slower than A"), "{text}");
    }
}
