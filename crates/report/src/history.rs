//! Results of the past, as a document, as CSV and as JSON.

mod json;

pub(super) use json::HistoryDocument;
pub use json::{entry as entry_json, json};

use super::bench::{self, Report, doubt_name, quantity};
use crate::document::{Align, Block, Document, Table, Text};
use crate::harmless::{csv_cell, csv_line};
use lab::doubt::Doubt;
use lab::record::{Arm, Record};
use lab::store::{ArmSummary, Entry, FigureSummary};
use std::path::PathBuf;

/// A result and, where a command was measured, what each of its arms ran.
pub struct Listed<'a> {
    /// What the history has of it.
    pub entry: &'a Entry,
    /// Its arms as its file has them; none where they need not be read.
    pub arms: Vec<Arm>,
}

/// A row for each arm of each result, the results in the order given.
pub fn document(results: &[Listed<'_>]) -> Document {
    let mut document = Document::new("fullclock history");
    document.paragraph(match results.len() {
        0 => Text::sentence("No results. `fullclock bench` makes some."),
        1 => Text::from("1 result"),
        n => Text::from(format!("{n} results, the latest first")),
    });
    if results.is_empty() {
        return document;
    }
    let columns = [
        ("result", Align::Left),
        ("workload", Align::Left),
        ("trials", Align::Right),
        ("typical", Align::Right),
        ("remarks", Align::Left),
    ];
    document.push(Block::Table(Table::new(&columns, results.iter().flat_map(rows))));
    document.note(Text::sentence("`fullclock history show RESULT` says more of one of them."));
    document
}

/// A row for a result of one arm; of several arms, a row for the result and one for each of them.
fn rows(result: &Listed<'_>) -> Vec<Vec<Text>> {
    let entry = result.entry;
    let doubts = doubts(entry).join(", ");
    let doubts = if doubts.is_empty() { doubts } else { format!("doubts: {doubts}") };
    if let [arm] = &entry.arms[..] {
        let remarks: Vec<String> = [shortened(command(result, 0)), doubts]
            .into_iter()
            .filter(|it| !it.is_empty())
            .collect();
        return vec![row(entry.id.clone(), arm, remarks.join("; "))];
    }
    let workload = entry.arms.first().map_or("", |it| &*it.workload);
    let is_same = entry.arms.iter().all(|it| it.workload == workload);
    let workload = if is_same { workload } else { "several" };
    let head = [&*entry.id, workload, "", "", &*doubts].map(Text::from).into();
    let arms = entry.arms.iter().enumerate();
    let of_arms =
        arms.map(|(at, arm)| row(format!("  {}", arm.name), arm, shortened(command(result, at))));
    std::iter::once(head).chain(of_arms).collect()
}

fn row(name: String, arm: &ArmSummary, remarks: String) -> Vec<Text> {
    let typical = arm
        .figure
        .as_ref()
        .map_or("-".to_owned(), |it| quantity(it.typical, &it.unit, it.precision()));
    [name, arm.workload.clone(), arm.trials.to_string(), typical, remarks].map(Text::from).into()
}

/// A command in a list; `history show` has all of it.
fn shortened(command: String) -> String {
    const LONGEST: usize = 120;
    match command.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", command.get(..end).unwrap_or_default()),
        None => command,
    }
}

/// What an arm ran, where that is a command.
fn command(result: &Listed<'_>, at: usize) -> String {
    let command = result.arms.get(at).map(|it| &it.settings.command[..]).unwrap_or_default();
    command.iter().map(|it| bench::quoted(it)).collect::<Vec<_>>().join(" ")
}

/// One result as `fullclock bench` printed it, and every setting of the machine it was taken on.
pub fn entry_document(entry: &Entry, record: &Record, recordings: Vec<PathBuf>) -> Document {
    let report = Report { recordings, ..Report::of(record, Some(&entry.path)) };
    bench::with_machine(&report)
}

/// A line for each arm of each result (RFC 4180 with Unix line ends). Unknown values are empty.
pub fn csv(results: &[Listed<'_>]) -> String {
    let mut text = "result,began,variant,workload,command,trials,measured,unit,typical,low,high,median,is_complete,doubts,file\n"
        .to_owned();
    for result in results {
        let entry = result.entry;
        for (at, arm) in entry.arms.iter().enumerate() {
            let figure = arm.figure.as_ref();
            let number = |of: fn(&FigureSummary) -> Option<f64>| csv_cell(figure.and_then(of));
            text += &csv_line(&[
                entry.id.clone(),
                entry.began.clone(),
                arm.name.clone(),
                arm.workload.clone(),
                command(result, at),
                arm.trials.to_string(),
                figure.map(|it| it.name.clone()).unwrap_or_default(),
                figure.map(|it| it.unit.clone()).unwrap_or_default(),
                number(|it| Some(it.typical)),
                number(|it| Some(it.interval?.low)),
                number(|it| Some(it.interval?.high)),
                number(|it| Some(it.median)),
                entry.is_complete.to_string(),
                doubts(entry).join("; "),
                entry.path.display().to_string(),
            ]);
        }
    }
    text
}

/// The doubts by their names, how it ended first.
pub fn doubts(entry: &Entry) -> Vec<&'static str> {
    let is_end = |it: &Doubt| matches!(it, Doubt::CutShort | Doubt::Failures { .. });
    let raised = entry.doubts.iter().map(|it| &it.doubt);
    let (ends, others): (Vec<&Doubt>, Vec<&Doubt>) = raised.partition(|it| is_end(it));
    let is_cut = !entry.is_complete && ends.is_empty();
    let cut = is_cut.then_some(&Doubt::CutShort);
    let mut names: Vec<&'static str> = Vec::new();
    for name in cut.into_iter().chain(ends).chain(others).map(doubt_name) {
        // Each arm may raise the same.
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::super::bench::fixture::kept;
    use super::*;
    use crate::Style;
    use crate::document::Format;
    use lab::stats::Interval;

    const NARROW: Format = Format::Text(Style { color: false, width: 80 });

    fn arm(name: &str, median: f64) -> ArmSummary {
        let half = median * 0.002;
        let figure = FigureSummary {
            name: "elapsed".to_owned(),
            unit: "s".to_owned(),
            typical: median,
            interval: Some(Interval { low: median - half, high: median + half }),
            confidence: 0.99,
            median,
        };
        let workload = "cpu-loop".to_owned();
        ArmSummary { name: name.to_owned(), workload, trials: 20, figure: Some(figure) }
    }

    fn entry(id: &str, arms: Vec<ArmSummary>, doubts: Vec<Doubt>) -> Entry {
        Entry {
            id: id.to_owned(),
            began: "2026-11-20T15:43:05Z".to_owned(),
            arms,
            cpu_model: None,
            kernel: None,
            is_complete: !doubts.contains(&Doubt::CutShort),
            doubts: doubts.into_iter().map(Doubt::into).collect(),
            path: PathBuf::from(format!("/var/lib/fullclock/{id}.json")),
        }
    }

    fn entries() -> [Entry; 4] {
        let drifted = Doubt::Drifted { at: 9, share: 0.01 };
        let throttled = Doubt::Throttled { trials: 1 };
        let many = vec![throttled.clone(), drifted.clone(), throttled, drifted, Doubt::CutShort];
        let none = ArmSummary { trials: 0, figure: None, ..arm("A", 1.0) };
        let of_command =
            |it: &str, median| ArmSummary { workload: "command".to_owned(), ..arm(it, median) };
        let commands = vec![of_command("A", 0.0521), of_command("B", 0.0107)];
        [
            entry("20261121T090000Z-cpu-loop", vec![arm("A", 0.0364)], Vec::new()),
            entry("20261120T160000Z-command", commands, vec![Doubt::Unpinned]),
            entry("20261120T154305Z-cpu-loop", vec![arm("A", 12.4), arm("B", 12.3105)], many),
            entry("db2", vec![none], vec![Doubt::Unpinned]),
        ]
    }

    /// With the commands of the second.
    fn listed(entries: &[Entry]) -> Vec<Listed<'_>> {
        let command = |name: &str, words: &[&str]| {
            let mut arm = Arm::of(name, "command");
            arm.settings.command = words.iter().map(|it| (*it).to_owned()).collect();
            arm
        };
        let commands =
            || vec![command("A", &["./query-v1"]), command("B", &["./query-v2", "--at", "a b"])];
        let arms = |at| if at == 1 { commands() } else { Vec::new() };
        entries.iter().enumerate().map(|(at, entry)| Listed { entry, arms: arms(at) }).collect()
    }

    #[test]
    fn each_arm_has_a_row_and_doubts_have_names() {
        let entries = entries();
        insta::assert_snapshot!(document(&listed(&entries)).render(NARROW));
        for width in [60, 110] {
            let text =
                document(&listed(&entries)).render(Format::Text(Style { color: false, width }));
            assert!(text.lines().all(|it| it.chars().count() <= width), "{text}");
        }
    }

    #[test]
    fn a_list_is_a_table_in_markdown_and_a_page() {
        let entries = entries();
        insta::assert_snapshot!(document(&listed(&entries)).render(Format::Markdown));
        let page = document(&listed(&entries)).render(Format::Html);
        assert!(page.contains("<td>./query-v2 --at 'a b'</td>"), "{page}");
    }

    #[test]
    fn a_list_is_rows_in_csv() {
        let entries = entries();
        insta::assert_snapshot!(csv(&listed(&entries)));
    }

    #[test]
    fn one_result_is_shown_as_bench_printed_it_and_with_its_machine() {
        let mut record = kept();
        let setting = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let retpolines = "Mitigation: Retpolines; IBPB: conditional; IBRS_FW; STIBP: conditional; \
                          RSB filling";
        record.machine.0.extend([
            setting("cpu model", "Intel(R) Xeon(R) CPU E5-2690 0 @ 2.90GHz"),
            setting("kernel release", "6.18.5"),
            setting("scaling_governor", "performance on 0, powersave on 1"),
            setting("vulnerability: spectre_v2", retpolines),
        ]);
        let entry = entry("20261120T154305Z-cpu-loop", vec![arm("A", 12.4)], Vec::new());
        insta::assert_snapshot!(entry_document(&entry, &record, Vec::new()).render(NARROW));
    }

    #[test]
    fn no_result_is_no_empty_table() {
        let text = document(&[]).render(NARROW);
        assert_eq!(text, "fullclock history\nNo results. `fullclock bench` makes some.\n");
    }
}
