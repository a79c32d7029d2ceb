//! What `fullclock ledger --json` says, as shares.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;

const USEFUL: &str = "useful";

/// Where a user task's time goes: to useful work at the clock that the CPU ran at, and to what the clock lacked.
pub(super) const BUSY: &[&str] = &[USEFUL, "slow-clock", "stopped-clock"];

/// Shares of the capacity in percent, by line.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Books {
    /// By loss; parts of one loss are added up. A line that is unknown is not there.
    pub(super) lines: BTreeMap<String, f64>,
    /// The parts of losses, as `loss/part`; and as `task/NAME` what the chosen tasks of a name ran: their useful work
    /// and their part of what the clock lacked.
    pub(super) parts: BTreeMap<String, f64>,
    /// What no line accounts for.
    pub(super) unexplained: f64,
}

/// The fields of `schemas/ledger-2.json` that are looked at.
#[derive(Deserialize)]
struct Report {
    schema_version: u32,
    lines: Vec<Line>,
    unexplained: Unexplained,
}

#[derive(Deserialize)]
struct Line {
    loss: String,
    part: String,
    share: Option<f64>,
}

#[derive(Deserialize)]
struct Unexplained {
    share: f64,
}

impl Books {
    /// Reads one report.
    ///
    /// Errors: it is no report, or its lines do not sum to the capacity.
    pub(super) fn parse(json: &str) -> Result<Books> {
        let report: Report = serde_json::from_str(json).context("not a ledger")?;
        ensure!(report.schema_version == 2, "a ledger of version {}", report.schema_version);
        let (mut lines, mut parts) = (BTreeMap::new(), BTreeMap::new());
        for line in report.lines {
            let Some(share) = line.share else { continue };
            *parts.entry(format!("{}/{}", line.loss, line.part)).or_insert(0.0) += share * 100.0;
            *lines.entry(line.loss).or_insert(0.0) += share * 100.0;
        }
        let unexplained = report.unexplained.share * 100.0;
        let sum = lines.values().sum::<f64>() + unexplained;
        ensure!((sum - 100.0).abs() < 1e-3, "lines sum to {sum} %, not to 100 %");
        let mut books = Books { lines, parts, unexplained };
        books.add_tasks();
        Ok(books)
    }

    fn add_tasks(&mut self) {
        let useful = self.share_of(&[USEFUL]);
        let stretch = if useful > 0.0 { self.share_of(BUSY) / useful } else { 1.0 };
        let of_task = |(part, share): (&String, &f64)| {
            Some((format!("task{}", part.strip_prefix(USEFUL)?), share * stretch))
        };
        let tasks: Vec<(String, f64)> = self.parts.iter().filter_map(of_task).collect();
        self.parts.extend(tasks);
    }

    /// The share of some lines or parts together; those that are not there take nothing.
    pub(super) fn share_of(&self, lines: &[&str]) -> f64 {
        lines
            .iter()
            .filter_map(|line| self.lines.get(*line).or_else(|| self.parts.get(*line)))
            .sum()
    }

    /// The middle of several ledgers, line by line. A line that is missing from one took nothing there.
    pub(super) fn median(of: &[Books]) -> Books {
        Books {
            lines: middle(of, |books| &books.lines),
            parts: middle(of, |books| &books.parts),
            unexplained: median(of.iter().map(|books| books.unexplained).collect()),
        }
    }
}

fn middle(of: &[Books], shares: fn(&Books) -> &BTreeMap<String, f64>) -> BTreeMap<String, f64> {
    let names: BTreeSet<&String> = of.iter().flat_map(|books| shares(books).keys()).collect();
    let share = |books, name| shares(books).get(name).copied().unwrap_or(0.0);
    let middle = |name| median(of.iter().map(|books| share(books, name)).collect());
    names.into_iter().map(|name| (name.clone(), middle(name))).collect()
}

/// The middle value, or 0 of none.
pub(super) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = r#"{ "schema_version": 2, "lines": [
        { "loss": "idle", "part": "", "share": 0.5 },
        { "loss": "useful", "part": "thief", "share": 0.1 },
        { "loss": "slow-clock", "part": "", "share": 0.1 },
        { "loss": "kernel-threads", "part": "kipmi0", "share": 0.15 },
        { "loss": "kernel-threads", "part": "ksoftirqd", "share": 0.05 },
        { "loss": "steal", "part": "", "share": null }
      ], "unexplained": { "time_s": 1e-7, "share": 0.1 } }"#;

    #[test]
    fn parts_of_a_loss_are_added_up_and_unknown_lines_are_not_there() {
        let books = Books::parse(REPORT).unwrap();
        assert!((books.lines["kernel-threads"] - 20.0).abs() < 1e-9);
        assert!(!books.lines.contains_key("steal"));
        assert!((books.unexplained - 10.0).abs() < 1e-9);
    }

    #[test]
    fn a_task_ran_for_its_useful_work_and_its_part_of_the_slow_clock() {
        let books = Books::parse(REPORT).unwrap();
        assert!((books.share_of(&["task/thief"]) - 20.0).abs() < 1e-9);
        assert!(books.share_of(&["task/nobody"]).abs() < 1e-9);
    }

    #[test]
    fn books_that_do_not_close_are_refused() {
        let error = Books::parse(&REPORT.replace("0.5", "0.6")).unwrap_err().to_string();
        assert!(error.contains("lines sum to"), "{error}");
        assert!(Books::parse(&REPORT.replace(": 2,", ": 1,")).is_err());
        assert!(Books::parse("{}").is_err());
    }

    #[test]
    fn one_disturbed_round_does_not_move_the_middle() {
        let books = |idle: f64| Books {
            lines: BTreeMap::from([("idle".to_owned(), idle)]),
            parts: BTreeMap::new(),
            unexplained: 100.0 - idle,
        };
        let middle = Books::median(&[books(90.0), books(10.0), books(92.0)]);
        assert!((middle.share_of(&["idle"]) - 90.0).abs() < 1e-9);
        assert!((middle.unexplained - 10.0).abs() < 1e-9);
    }
}
