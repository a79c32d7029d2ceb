//! What an arm ran, and what was measured of one arm or of several.

use super::manner::Manner;
use super::quantity::{
    Scale, confidence, decimals, percent, quantity, range, signed_percents, with_interval,
};
use crate::document::{Align, Table, Text};
use lab::compare::Design;
use lab::comparison::Comparison;
use lab::record::Arm;
use lab::summary::{Spread, Summary};
use lab::workload::Settings;
use rules::losses;

/// Losses below a thousandth say nothing that a trial could show.
const LEAST_LOSS: f64 = 0.001;
const MOST_LOSSES: usize = 4;

/// More arms than this have a row each, and of their results only the first: three columns fit into 80.
const FEW: usize = 3;

/// What stands for a value that there is none of.
const UNKNOWN: &str = "unknown";

/// The result of one arm in a sentence.
pub(super) fn result(summary: &Summary, manner: Manner) -> String {
    let n = u32::try_from(summary.trials).unwrap_or(u32::MAX);
    let from = format!("from {}", manner.counted(n));
    let Some(figure) = summary.figures.first() else { return format!("No result {from}") };
    let value = match figure.interval.value() {
        Some(interval) => {
            let (value, ends) = with_interval(figure.typical, *interval, &figure.unit);
            format!("{value} ({ends}, {} interval)", confidence(figure.confidence))
        }
        None => quantity(figure.typical, &figure.unit, None),
    };
    format!("{} {value}, {from}", figure.name)
}

/// A row for each result of one arm.
pub(super) fn results(summary: &Summary) -> Table {
    let level = summary.figures.first().map_or_else(String::new, |it| confidence(it.confidence));
    let columns = [
        ("", Align::Left),
        ("typical", Align::Right),
        (&*format!("{level} interval"), Align::Right),
        ("min", Align::Right),
        ("max", Align::Right),
    ];
    let row = |Row { label, spread }: Row<'_>| {
        let scale = Scale::of(spread.typical, &spread.unit);
        let interval = spread.interval.value();
        let places = interval.map_or_else(
            || decimals(scale.number(spread.typical), None),
            |it| scale.decimals(spread.typical, *it),
        );
        let number = |value: f64| format!("{:.places$}", scale.number(value));
        let ends =
            interval.map_or(UNKNOWN.to_owned(), |it| range(&number(it.low), &number(it.high)));
        let [typical, lowest, highest] =
            [spread.typical, spread.lowest, spread.highest].map(number);
        [scale.heading(label), typical, ends, lowest, highest].map(Text::from).into()
    };
    Table::new(&columns, rows(summary).into_iter().map(row))
}

/// What [`results`] calls typical.
pub(super) const TYPICAL: &str =
    "The typical value is the geometric mean without the highest and the lowest fifth.";

/// The results of several arms that are compared, as medians: a row for each result and a column for each arm, or of many arms a
/// row for each arm. They have no interval of their own: that of the comparison says what may be said. `pieces` as in
/// [`Record::pieces`](lab::record::Record::pieces).
pub(super) fn side_by_side(arms: &[(&str, &Summary)], manner: Manner, pieces: u32) -> Table {
    if arms.len() > FEW { by_arm(arms, manner) } else { by_result(arms, manner, pieces) }
}

fn by_result(arms: &[(&str, &Summary)], manner: Manner, pieces: u32) -> Table {
    let names = arms.iter().map(|(name, _)| (*name, Align::Right));
    let columns: Vec<(&str, Align)> = [("", Align::Left)].into_iter().chain(names).collect();
    let mut table = Table::new(&columns, []);
    let cut = if pieces > 1 { format!(" in {pieces} pieces") } else { String::new() };
    let trials = arms.iter().map(|(_, it)| format!("{}{cut}", it.trials));
    table.push(cells(format!("{}s", manner.one()), trials));
    let of_each: Vec<Vec<Row<'_>>> = arms.iter().map(|(_, it)| rows(it)).collect();
    for Row { label, spread } in of_each.first().into_iter().flatten() {
        let scale = Scale::of(spread.median, &spread.unit);
        let is_same = |it: &&Row<'_>| it.label == *label && it.spread.unit == spread.unit;
        let spreads: Vec<Option<&Spread>> =
            of_each.iter().map(|it| it.iter().find(is_same).map(|it| it.spread)).collect();
        table.push(cells(scale.heading(label), medians(&spreads, scale).into_iter()));
    }
    table
}

fn by_arm(arms: &[(&str, &Summary)], manner: Manner) -> Table {
    let first = arms.iter().find_map(|(_, it)| it.figures.first());
    let figure_scale = scale(first);
    let clock_scale = scale(arms.iter().find_map(|(_, it)| it.clock.value()));
    let name = first.map_or("", |it| &*it.name);
    let headings =
        [format!("{}s", manner.one()), figure_scale.heading(name), clock_scale.heading(CLOCK)];
    let headings = headings.iter().map(|it| (&**it, Align::Right));
    let columns: Vec<(&str, Align)> = [("", Align::Left)].into_iter().chain(headings).collect();
    let of_figures: Vec<_> = arms.iter().map(|(_, it)| it.figures.first()).collect();
    let of_clocks: Vec<_> = arms.iter().map(|(_, it)| it.clock.value()).collect();
    let values =
        medians(&of_figures, figure_scale).into_iter().zip(medians(&of_clocks, clock_scale));
    let row = |((name, it), (of_figure, of_clock)): (&(&str, &Summary), (String, String))| {
        [(*name).to_owned(), it.trials.to_string(), of_figure, of_clock].map(Text::from).into()
    };
    Table::new(&columns, arms.iter().zip(values).map(row))
}

/// The unit to print such values in.
pub(super) fn scale(of: Option<&Spread>) -> Scale<'_> {
    of.map_or(Scale::of(0.0, ""), |it| Scale::of(it.median, &it.unit))
}

fn cells(label: String, values: impl Iterator<Item = String>) -> Vec<Text> {
    std::iter::once(label).chain(values).map(Text::from).collect()
}

/// Medians of one quantity with the same decimals: those that the intervals of all arms allow, and four digits at least.
fn medians(spreads: &[Option<&Spread>], scale: Scale<'_>) -> Vec<String> {
    let places = spreads.iter().flatten().map(|it| {
        let number = scale.number(it.median);
        decimals(number, it.precision()).max(decimals(number, None))
    });
    let places = places.min().unwrap_or_default();
    let shown = |it: &Spread| format!("{:.places$}", scale.number(it.median));
    spreads.iter().map(|it| it.map_or(UNKNOWN.to_owned(), shown)).collect()
}

/// What the values of [`side_by_side`] are; and what they differ by, where the interval of the comparison leaves that out.
pub(super) fn about_medians(
    arms: &[(&str, &Summary)],
    found: &[Comparison],
    manner: Manner,
) -> String {
    let alone = found.iter().filter_map(|it| medians_alone(arms, it));
    let sentences = std::iter::once(format!("Values are medians of the {}s.", manner.one()));
    sentences.chain(alone).collect::<Vec<_>>().join(" ")
}

fn medians_alone(arms: &[(&str, &Summary)], it: &Comparison) -> Option<String> {
    let of = |name: &str| Some(arms.iter().find(|arm| arm.0 == name)?.1.figures.first()?.median);
    let ratio = it.difference.verdict.ratio()?;
    let change = (of(&it.b)? / of(&it.a)?).ln();
    let is_outside =
        it.difference.design == Design::Interleaved && !ratio.interval.contains(change);
    let [shown] = signed_percents([change.exp_m1()], ratio.half_width());
    (is_outside && change.is_finite()).then(|| {
        format!(
            "The medians of {} and {} alone differ by {shown} %; comparing within blocks also removes what changed \
             during the run.",
            it.a, it.b
        )
    })
}

/// The clock that was probed right before and right after each trial: a workload may have a result that is called clock.
pub(super) const CLOCK: &str = "probed clock";

/// A result of an arm.
struct Row<'a> {
    label: &'a str,
    spread: &'a Spread,
}

/// What is known of an arm: its figures, the clock, and the first figure with the clock taken out.
fn rows(summary: &Summary) -> Vec<Row<'_>> {
    let row = |label, spread| Row { label, spread };
    let mut rows: Vec<Row<'_>> = summary.figures.iter().map(|it| row(&*it.name, it)).collect();
    rows.extend(summary.clock.value().map(|it| row(CLOCK, it)));
    // Its unit says that it is the same in cycles.
    let main = summary.figures.first().map_or("", |it| &*it.name);
    rows.extend(summary.cycles.value().map(|it| row(main, it)));
    rows
}

/// What took the most of the CPUs' time around the trials.
pub(super) fn lost(summary: &Summary, manner: Manner) -> String {
    let title = |id: &str| losses::find(id).map_or_else(|| id.to_owned(), |it| it.title.to_owned());
    let around = format!("of the CPUs' time around the {}s", manner.one());
    let largest: Vec<String> = summary
        .lost
        .iter()
        .filter(|it| it.share >= LEAST_LOSS)
        .take(MOST_LOSSES)
        .map(|it| format!("{} {} %", title(&it.loss), percent(it.share)))
        .collect();
    if largest.is_empty() {
        format!("less than 0.1 % {around} to any one cause")
    } else {
        format!("{} {around}", largest.join(", "))
    }
}

/// The workload with what was asked of it, as on the command line.
pub fn described(arm: &Arm) -> String {
    // Where it was kept, and not where it was asked to be: some find their CPUs themselves.
    let place = match &arm.cpus {
        None if arm.is_foreign => String::new(),
        None => ", on any CPU".to_owned(),
        Some(cpus) if cpus.contains([',', '-']) => format!(", on CPUs {cpus}"),
        Some(cpu) => format!(", on CPU {cpu}"),
    };
    asked(arm, &[]).join(" ") + &place
}

/// What runs it again: the workload with its options, its CPUs and as many trials.
pub(crate) fn command_line(arm: &Arm, trials: usize) -> String {
    let cpus = arm.settings.cpus.iter().map(|it| format!("--cpus {it}"));
    let more: Vec<String> = cpus.chain([format!("-n {trials}")]).collect();
    asked(arm, &more).join(" ")
}

/// The workload, its options, `more` of them, and the command that it runs.
fn asked(arm: &Arm, more: &[String]) -> Vec<String> {
    let Settings {
        cpus: _,
        iterations,
        engine,
        dsn,
        server,
        rows,
        sessions,
        folder,
        metric,
        better,
        timeout,
        command,
    } = &arm.settings;
    let mut words = vec![arm.workload.clone()];
    let mut option = |name: &str, value: Option<String>| {
        words.extend(value.map(|it| format!("{name} {it}")));
    };
    option("--iterations", iterations.map(|it| it.to_string()));
    option("--engine", engine.clone());
    option("--dsn", dsn.clone());
    option("--server", server.as_ref().map(|it| quoted(it)));
    option("--rows", rows.map(|it| it.to_string()));
    option("--sessions", sessions.map(|it| it.to_string()));
    option("--folder", folder.as_ref().map(|it| quoted(it)));
    option("--metric", metric.as_ref().map(|it| quoted(it)));
    option("--better", better.map(|it| it.name().to_owned()));
    option("--timeout", timeout.map(|it| format!("{}s", it.as_secs_f64())));
    words.extend_from_slice(more);
    if !command.is_empty() {
        let command = command.iter().map(|it| quoted(it)).collect::<Vec<_>>().join(" ");
        words.push(format!("-- {command}"));
    }
    words
}

/// A word as a shell takes it.
pub(crate) fn quoted(word: &str) -> String {
    // Only a NUL byte cannot be quoted, and no argument holds one.
    shlex::try_quote(word).map_or_else(|_| word.to_owned(), std::borrow::Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{QUIET, interleaved};
    use super::*;
    use lab::comparison::within;
    use lab::summary::summary;

    #[test]
    fn medians_that_the_interval_of_the_blocks_leaves_out_are_explained() {
        let record = interleaved(QUIET, QUIET, 10);
        let found = within(&record).unwrap();
        let (a, mut b) = (summary(&record, 0).unwrap(), summary(&record, 1).unwrap());
        let manner = Manner::of(&record);
        let note = |b: &Summary| about_medians(&[("A", &a), ("B", b)], &found, manner);
        assert_eq!(note(&b), "Values are medians of the trials.");
        b.figures[0].median *= 1.1;
        let text = note(&b);
        assert!(text.contains(" The medians of A and B alone differ by +1"), "{text}");
    }
}
