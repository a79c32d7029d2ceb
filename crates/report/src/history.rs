//! Results of the past as text and as JSON.

mod json;

pub(super) use json::HistoryDocument;
pub use json::{entry as entry_json, json};

use super::bench::{self, Report, doubt_name, quantity};
use super::page::{BOLD, Page};
use crate::Style;
use lab::doubt::Doubt;
use lab::record::Record;
use lab::store::{ArmSummary, Entry, FigureSummary};
use std::path::PathBuf;

/// Columns of a number of trials.
const TRIALS: usize = 8;
/// Columns of a figure with its unit.
const FIGURE: usize = 12;

/// A line for each arm of each result, the results in the order given.
pub fn text(entries: &[Entry], style: Style) -> String {
    let mut page = Page::new(style);
    if entries.is_empty() {
        page.line("no results; `fullclock bench` makes some");
        return page.finish();
    }
    let widest = |of: fn(&Entry) -> usize| entries.iter().map(of).max().unwrap_or(0);
    let id = widest(|it| it.id.chars().count()).max("result".len()) + 2;
    let what = widest(widest_title).max("workload".len());
    let heading = format!(
        "{:id$}{:what$}{:>TRIALS$}{:>FIGURE$}  doubts",
        "result", "workload", "trials", "median"
    );
    page.line(&page.paint(BOLD, &heading));
    for entry in entries {
        let (mut name, mut doubts) = (entry.id.as_str(), doubts(entry));
        for arm in &entry.arms {
            let (title, trials) = (title(entry, arm), arm.trials);
            let median = arm.figure.as_ref().map_or("-".to_owned(), median);
            let columns = format!("{name:id$}{title:what$}{trials:>TRIALS$}{median:>FIGURE$}  ");
            page.labelled(id + what + TRIALS + FIGURE + 2, &columns, &doubts);
            // The other arms are below the first.
            name = "";
            doubts = String::new();
        }
    }
    page.finish()
}

/// One result as `fullclock bench` printed it, and every setting of the machine it was taken on.
pub fn entry_text(
    entry: &Entry,
    record: &Record,
    recordings: Vec<PathBuf>,
    style: Style,
) -> String {
    let mut page = Page::new(style);
    let heading = format!("{}, began {}", entry.id, entry.began);
    page.line(&page.paint(BOLD, &heading));
    page.line("");
    let report = Report { recordings, ..Report::of(record, Some(&entry.path)) };
    for line in bench::text(&report, style).lines() {
        page.line(line);
    }
    page.line("");
    page.line(&page.paint(BOLD, "The machine"));
    let settings = &record.machine.0;
    let widest = settings.keys().map(|it| it.chars().count()).max().unwrap_or(0);
    for (name, value) in settings {
        page.labelled(widest + 4, &format!("  {name}"), value);
    }
    page.finish()
}

/// The workload, and which arm it is where there are several.
fn title(entry: &Entry, arm: &ArmSummary) -> String {
    let ArmSummary { name, workload, .. } = arm;
    if entry.arms.len() > 1 { format!("{workload} ({name})") } else { workload.clone() }
}

fn widest_title(entry: &Entry) -> usize {
    entry.arms.iter().map(|it| title(entry, it).chars().count()).max().unwrap_or(0)
}

fn median(figure: &FigureSummary) -> String {
    let precision = figure.interval.map(|it| it.half_width() / figure.trimmed_mean.abs());
    quantity(figure.median, &figure.unit, precision)
}

/// The doubts by their names, how it ended first.
fn doubts(entry: &Entry) -> String {
    let is_end = |it: &Doubt| matches!(it, Doubt::CutShort | Doubt::Failures { .. });
    let raised = entry.doubts.iter().map(|it| &it.doubt);
    let (ends, others): (Vec<&Doubt>, Vec<&Doubt>) = raised.partition(|it| is_end(it));
    let is_cut = !entry.is_complete && ends.is_empty();
    let cut = is_cut.then_some(&Doubt::CutShort);
    let mut names: Vec<&str> = Vec::new();
    for name in cut.into_iter().chain(ends).chain(others).map(doubt_name) {
        // Each arm may raise the same.
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::bench::fixture::kept;
    use super::*;
    use lab::stats::Interval;

    const NARROW: Style = Style { color: false, width: 80 };

    fn arm(name: &str, median: f64) -> ArmSummary {
        let half = median * 0.002;
        let figure = FigureSummary {
            name: "elapsed".to_owned(),
            unit: "s".to_owned(),
            median,
            trimmed_mean: median,
            interval: Some(Interval { low: median - half, high: median + half }),
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

    #[test]
    fn each_arm_has_a_line_and_doubts_have_names() {
        let drifted = Doubt::Drifted { at: 9, share: 0.01 };
        let outliers = Doubt::Outliers { trials: 1, of: 20 };
        let many = vec![outliers.clone(), drifted.clone(), outliers, drifted, Doubt::CutShort];
        let none = ArmSummary { trials: 0, figure: None, ..arm("A", 1.0) };
        let entries = [
            entry("20261121T090000Z-cpu-loop", vec![arm("A", 0.0364)], Vec::new()),
            entry("20261120T154305Z-cpu-loop", vec![arm("A", 12.4), arm("B", 12.3105)], many),
            entry("db2", vec![none], vec![Doubt::Unpinned]),
        ];
        insta::assert_snapshot!(text(&entries, NARROW), @r"
        result                     workload      trials      median  doubts
        20261121T090000Z-cpu-loop  cpu-loop          20    36.40 ms
        20261120T154305Z-cpu-loop  cpu-loop (A)      20     12.40 s  cut short, outliers,
                                                                     drifted
                                   cpu-loop (B)      20     12.31 s
        db2                        cpu-loop           0           -  not pinned
        ");
    }

    #[test]
    fn one_result_is_shown_as_bench_printed_it_and_with_its_machine() {
        let mut record = kept();
        let setting = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let retpolines = "Mitigation: Retpolines; IBPB: conditional; IBRS_FW; STIBP: conditional; \
                          RSB filling";
        record.machine.0.extend([
            setting("scaling_governor", "performance on 0, powersave on 1"),
            setting("vulnerability: spectre_v2", retpolines),
        ]);
        let entry = entry("20261120T154305Z-cpu-loop", vec![arm("A", 12.4)], Vec::new());
        insta::assert_snapshot!(entry_text(&entry, &record, Vec::new(), NARROW), @r"
        20261120T154305Z-cpu-loop, began 2026-11-20T15:43:05Z

        cpu-loop, on CPU 2, 20 trials
          elapsed     12.401 s, 95 % interval 12.390 to 12.412 s (+-0.086 %), min
                      12.375, max 12.425 s
          clock       2.70000 GHz, 95 % interval 2.69994 to 2.70005 GHz (+-0.0021 %),
                      min 2.69986, max 2.70013 GHz
          cycles      33.482 G cycles, 95 % interval 33.454 to 33.510 G cycles
                      (+-0.083 %), min 33.411, max 33.548 G cycles, by the clock around
                      each trial
          lost around timer ticks 0.73 %
          kept in     /var/lib/fullclock/20261120T154305Z-cpu-loop.json

        The machine
          scaling_governor           performance on 0, powersave on 1
          vulnerability: spectre_v2  Mitigation: Retpolines; IBPB: conditional; IBRS_FW;
                                     STIBP: conditional; RSB filling
        ");
    }

    #[test]
    fn no_result_is_no_empty_table() {
        assert_eq!(text(&[], NARROW), "no results; `fullclock bench` makes some\n");
    }
}
