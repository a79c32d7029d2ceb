//! Results of the past as text and as JSON.

use super::json::{SCHEMA_VERSION, pretty};
use super::page::{BOLD, Page};
use crate::output::Style;
use lab::doubt::{Doubt, Raised};
use lab::record::Fingerprint;
use lab::store::{ArmSummary, Entry, FigureSummary};
use serde_json::{Result, Value, json};

/// Columns of a moment as RFC 3339 writes it, without fractions.
const MOMENT: usize = 22;
/// Columns of a figure with its unit.
const FIGURE: usize = 14;

/// A line for each arm of each result, the results in the order given.
pub(crate) fn text(entries: &[Entry], style: Style) -> String {
    let mut page = Page::new(style);
    if entries.is_empty() {
        page.line("no results; `fullclock bench` makes some");
        return page.finish();
    }
    let widest = |of: fn(&Entry) -> usize| entries.iter().map(of).max().unwrap_or(0);
    let id = widest(|it| it.id.chars().count()).max("result".len()) + 2;
    let what = widest(widest_title);
    let what = what.max("workload".len()) + 2;
    let heading = format!(
        "{:id$}{:MOMENT$}{:what$}{:>6}{:>FIGURE$}  doubts",
        "result", "began", "workload", "trials", "median"
    );
    page.line(&page.paint(BOLD, &heading));
    for entry in entries {
        let (mut name, mut began) = (entry.id.as_str(), entry.began.as_str());
        let mut doubts = doubts(entry);
        for arm in &entry.arms {
            let median =
                arm.figure.as_ref().map_or("-".to_owned(), |it| number(it.median, &it.unit));
            let columns = format!(
                "{name:id$}{began:MOMENT$}{:what$}{:>6}{median:>FIGURE$}  ",
                title(entry, arm),
                arm.trials
            );
            page.labelled(id + MOMENT + what + 6 + FIGURE + 2, &columns, &doubts);
            // The other arms are below the first.
            (name, began) = ("", "");
            doubts = String::new();
        }
    }
    page.finish()
}

/// One result, and every setting of the machine it was taken on.
pub(crate) fn entry_text(entry: &Entry, machine: &Fingerprint, style: Style) -> String {
    const LABEL: usize = 10;
    let mut page = Page::new(style);
    page.line(&page.paint(BOLD, &entry.id));
    page.labelled(LABEL, "began", &entry.began);
    page.labelled(LABEL, "file", &entry.path.display().to_string());
    for arm in &entry.arms {
        let figure = arm.figure.as_ref().map_or("no trial ended".to_owned(), figure);
        let n_trials = arm.trials;
        page.labelled(
            LABEL,
            "figure",
            &format!("{}: {figure}; {n_trials} trials", title(entry, arm)),
        );
    }
    let doubts = doubts(entry);
    page.labelled(LABEL, "doubts", if doubts.is_empty() { "none" } else { &doubts });
    page.line("");
    page.line(&page.paint(BOLD, "The machine"));
    let widest = machine.0.keys().map(|it| it.chars().count()).max().unwrap_or(0);
    for (name, value) in &machine.0 {
        page.labelled(widest + 4, &format!("  {name}"), value);
    }
    page.finish()
}

/// The results, in the order given.
pub(crate) fn json(entries: &[Entry]) -> Result<String> {
    pretty(&json!({
        "schema_version": SCHEMA_VERSION,
        "fullclock": env!("CARGO_PKG_VERSION"),
        "results": entries,
    }))
}

/// One result, and the machine it was taken on.
pub(crate) fn entry_json(entry: &Entry, machine: &Fingerprint) -> Result<String> {
    pretty(&json!({
        "schema_version": SCHEMA_VERSION,
        "fullclock": env!("CARGO_PKG_VERSION"),
        "result": entry,
        "machine": machine,
    }))
}

/// The workload, and which arm it is where there are several.
fn title(entry: &Entry, arm: &ArmSummary) -> String {
    let ArmSummary { name, workload, .. } = arm;
    if entry.arms.len() > 1 { format!("{workload} ({name})") } else { workload.clone() }
}

fn widest_title(entry: &Entry) -> usize {
    entry.arms.iter().map(|it| title(entry, it).chars().count()).max().unwrap_or(0)
}

fn figure(figure: &FigureSummary) -> String {
    let FigureSummary { name, unit, median, trimmed_mean, interval } = figure;
    let (median, mean) = (number(*median, unit), number(*trimmed_mean, unit));
    let interval = interval.map_or("of unknown precision".to_owned(), |it| {
        format!("95 % interval {} to {}", number(it.low, unit), number(it.high, unit))
    });
    format!("{name} {median} (median), {mean} (trimmed mean, {interval})")
}

/// With five significant digits, which tell 0.01 % apart.
fn number(value: f64, unit: &str) -> String {
    const DIGITS: i32 = 5;
    let whole = if value == 0.0 { 1 } else { value.abs().log10().floor() as i32 + 1 };
    let decimals = usize::try_from(DIGITS - whole).unwrap_or(0);
    format!("{value:.decimals$} {unit}")
}

/// The doubts by the names that JSON has for them, that it was cut short first.
fn doubts(entry: &Entry) -> String {
    let name = |raised: &Raised| -> Option<String> {
        let value = serde_json::to_value(&raised.doubt).ok()?;
        value.get("doubt").and_then(Value::as_str).map(|it| it.replace('-', " "))
    };
    let is_cut_short = |it: &Raised| it.doubt == Doubt::CutShort;
    let is_cut = !entry.is_complete || entry.doubts.iter().any(is_cut_short);
    let others = entry.doubts.iter().filter(|it| !is_cut_short(it)).filter_map(name);
    let mut names: Vec<String> =
        is_cut.then(|| "cut short".to_owned()).into_iter().chain(others).collect();
    // Each arm may raise the same.
    names.dedup();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    const PLAIN: Style = Style { color: false, width: 110 };

    fn arm(name: &str, median: f64) -> ArmSummary {
        let figure = FigureSummary {
            name: "elapsed".to_owned(),
            unit: "s".to_owned(),
            median,
            trimmed_mean: median,
            interval: None,
        };
        let workload = "cpu-loop".to_owned();
        ArmSummary { name: name.to_owned(), workload, trials: 20, figure: Some(figure) }
    }

    fn entry(arms: Vec<ArmSummary>) -> Entry {
        Entry {
            id: "20261120T154305-cpu-loop".to_owned(),
            began: "2026-11-20T15:43:05Z".to_owned(),
            arms,
            cpu_model: None,
            kernel: None,
            doubts: vec![Doubt::Unpinned.into()],
            is_complete: false,
            path: PathBuf::from("/var/lib/fullclock/20261120T154305-cpu-loop.json"),
        }
    }

    #[test]
    fn each_arm_has_a_line_and_what_was_cut_short_says_so() {
        let text = text(&[entry(vec![arm("A", 12.4), arm("B", 12.3105)])], PLAIN);
        insta::assert_snapshot!(text, @r"
        result                    began                 workload      trials        median  doubts
        20261120T154305-cpu-loop  2026-11-20T15:43:05Z  cpu-loop (A)      20      12.400 s  cut short, unpinned
                                                        cpu-loop (B)      20      12.310 s
        ");
    }

    #[test]
    fn one_result_is_shown_with_its_file_and_its_machine() {
        let settings = [("scaling_governor".to_owned(), "performance".to_owned())];
        let machine = Fingerprint(settings.into_iter().collect());
        insta::assert_snapshot!(entry_text(&entry(vec![arm("A", 12.4)]), &machine, PLAIN), @r"
        20261120T154305-cpu-loop
        began     2026-11-20T15:43:05Z
        file      /var/lib/fullclock/20261120T154305-cpu-loop.json
        figure    cpu-loop: elapsed 12.400 s (median), 12.400 s (trimmed mean, of unknown precision); 20 trials
        doubts    cut short, unpinned

        The machine
          scaling_governor  performance
        ");
    }

    #[test]
    fn figures_keep_five_digits_whatever_their_size() {
        let of = |value| number(value, "s");
        assert_eq!(
            [of(12.345_678), of(0.001_234_567), of(1_234_567.8), of(0.0)],
            ["12.346 s", "0.0012346 s", "1234568 s", "0.0000 s"]
        );
    }

    #[test]
    fn no_result_is_no_empty_table() {
        assert_eq!(text(&[], PLAIN), "no results; `fullclock bench` makes some\n");
    }
}
