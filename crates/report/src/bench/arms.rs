//! What an arm ran and what it measured, in lines.

use super::quantity::{percent, quantity, range};
use crate::page::{BOLD, Page};
use lab::record::Arm;
use lab::summary::{Spread, Summary};
use lab::workload::Settings;
use rules::losses;

/// Losses below a thousandth say nothing that a trial could show.
const LEAST_LOSS: f64 = 0.001;
const MOST_LOSSES: usize = 4;
/// Columns of a label, unless a figure has a longer name.
const LABEL: usize = 14;

/// Everything of one arm.
pub(super) fn whole(page: &mut Page, arm: &Arm, summary: &Summary) {
    let heading = page.paint(BOLD, &described(arm));
    page.line(&format!("{heading}, {} trials", summary.trials));
    let figures = summary.figures.iter().map(|it| &it.name);
    let names = figures.chain(arm.about.iter().map(|(name, _)| name));
    let longest = names.map(|it| it.chars().count()).max().unwrap_or(0);
    let label = LABEL.max("  ".len() + longest + 1);
    for figure in &summary.figures {
        page.labelled(label, &format!("  {}", figure.name), &spread(figure));
    }
    let clock = summary
        .clock
        .value()
        .map_or_else(|| format!("unknown: {}", summary.clock.reason().unwrap_or_default()), spread);
    page.labelled(label, "  clock", &clock);
    if let Some(cycles) = summary.cycles.value() {
        let what = format!("{}, by the clock around each trial", spread(cycles));
        page.labelled(label, "  cycles", &what);
    }
    if !summary.lost.is_empty() {
        page.labelled(label, "  lost around", &lost(summary));
    }
    for (name, value) in &arm.about {
        page.labelled(label, &format!("  {name}"), value);
    }
}

/// The same in one line; `pieces` as in [`Record::pieces`](lab::record::Record::pieces).
pub(super) fn short(summary: &Summary, pieces: u32) -> String {
    let figure = summary
        .figures
        .first()
        .map_or_else(String::new, |it| format!("{} {}", it.name, with_precision(it)));
    let beside: Vec<String> = [&summary.clock, &summary.cycles]
        .into_iter()
        .filter_map(|it| it.value())
        .map(with_precision)
        .collect();
    let beside = beside.iter().fold(String::new(), |text, it| text + ", " + it);
    let cut = if pieces > 1 { format!(" in {pieces} pieces each") } else { String::new() };
    format!("{figure}{beside}, {} trials{cut}", summary.trials)
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

fn spread(spread: &Spread) -> String {
    let precision = spread.precision();
    let shown = |value| quantity(value, &spread.unit, precision);
    let interval = match (spread.interval.value(), precision) {
        (Some(it), Some(half)) => format!(
            "95 % interval {} (+-{} %), ",
            range(&shown(it.low), &shown(it.high)),
            percent(half)
        ),
        _ => String::new(),
    };
    // The unit stands once where both have the same.
    let all = range(&shown(spread.lowest), &shown(spread.highest));
    let (lowest, highest) = all.split_once(" to ").unwrap_or((&all, &all));
    format!("{}, {interval}min {lowest}, max {highest}", shown(spread.mean))
}

fn with_precision(spread: &Spread) -> String {
    let precision = spread.precision();
    let shown = quantity(spread.mean, &spread.unit, precision);
    precision.map_or(shown.clone(), |it| format!("{shown} +-{} %", percent(it)))
}

fn lost(summary: &Summary) -> String {
    let title = |id: &str| losses::find(id).map_or_else(|| id.to_owned(), |it| it.title.to_owned());
    let largest: Vec<String> = summary
        .lost
        .iter()
        .filter(|it| it.share >= LEAST_LOSS)
        .take(MOST_LOSSES)
        .map(|it| format!("{} {} %", title(&it.loss), percent(it.share)))
        .collect();
    if largest.is_empty() {
        "less than 0.1 % to any one cause".to_owned()
    } else {
        largest.join(", ")
    }
}
