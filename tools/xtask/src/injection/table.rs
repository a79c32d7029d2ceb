//! The table of results, as Markdown.

use std::fmt::Write as _;

use super::thefts::Theft;
use super::verdict::Verdict;

/// Where and when the ledger was tried.
#[derive(Debug)]
pub(super) struct Occasion {
    /// As `date` prints it.
    pub(super) date: String,
    /// As `uname -r` prints it.
    pub(super) kernel: String,
    /// As /proc/cpuinfo names it.
    pub(super) cpu_model: String,
    /// The CPU that was stolen from.
    pub(super) cpu: u32,
    /// Rounds of each theft.
    pub(super) n_rounds: usize,
    /// Tasks that ran or wanted to run in the minute before, as /proc/loadavg counts them.
    pub(super) load: String,
    /// Length of each ledger.
    pub(super) seconds: u32,
}

/// The whole page. A theft that could not be tried says why.
pub(super) fn page(occasion: &Occasion, results: &[(&Theft, Result<Verdict, String>)]) -> String {
    let mut page = head(occasion);
    for (theft, result) in results {
        let (name, books) = (theft.name(), theft.books.name());
        let line = match result {
            Ok(verdict) => row(theft, verdict),
            Err(reason) => format!("| | | | | | | not tried: {} |", one_line(reason)),
        };
        // Writing to a String never fails.
        writeln!(page, "| {name} | {books} {line}").unwrap_or_default();
    }
    page
}

fn head(occasion: &Occasion) -> String {
    let Occasion { date, kernel, cpu_model, cpu, n_rounds, load, seconds } = occasion;
    format!(
        "# What the ledger finds of a known theft\n\n\
         Written as a whole by `cargo xtask injection`: {date}, Linux {kernel}, {cpu_model}, CPU {cpu}; \
         medians of {n_rounds} ledgers of {seconds} s with the theft and of as many without it, in turn. Load average \
         before: {load}; the figures mean something on an otherwise idle machine only.\n\n\
         All figures are percent of the CPU's capacity. *Injected* is what the thief took by its own clock or counter, \
         *found* by how much the ledger's lines for it rose (of a task: its useful work and its part of the slow clock), \
         *largest side effect* the line that moved most \
         without a reason to. Bars: an error and a side effect of 1 point each, and an unexplained rest of 0.5 \
         (observe) or 0.2 (spin).\n\n\
         | theft | books | lines | injected | found | error | largest side effect | unexplained | verdict |\n\
         |---|---|---|---:|---:|---:|---|---:|---|\n"
    )
}

fn row(theft: &Theft, verdict: &Verdict) -> String {
    let misses = verdict.misses(theft.books.bars());
    let outcome = if misses.is_empty() {
        "pass".to_owned()
    } else {
        format!("**miss**: {}", misses.join(", "))
    };
    let (side, by) = &verdict.side_effect;
    format!(
        "| {} | {:.2} | {:.2} | {:+.2} | {side} {by:+.2} | {:.2} | {outcome} |",
        theft.to.join(" + "),
        verdict.injected,
        verdict.found,
        verdict.error(),
        verdict.unexplained,
    )
}

/// A reason that fits a cell of a table.
fn one_line(reason: &str) -> String {
    reason.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "/")
}

#[cfg(test)]
mod tests {
    use super::super::thefts::THEFTS;
    use super::*;

    #[test]
    fn every_theft_has_a_row_of_as_many_cells_as_the_head() {
        let occasion = Occasion {
            date: "2026-11-20".to_owned(),
            kernel: "6.18".to_owned(),
            cpu_model: "Xeon".to_owned(),
            cpu: 1,
            n_rounds: 3,
            load: "0.05".to_owned(),
            seconds: 5,
        };
        let verdict = Verdict {
            injected: 10.0,
            found: 10.5,
            side_effect: ("ticks".to_owned(), -0.25),
            unexplained: 0.7,
        };
        let results =
            [(&THEFTS[0], Ok(verdict)), (&THEFTS[1], Err("no\nledger | here".to_owned()))];
        let page = page(&occasion, &results);
        let rows: Vec<&str> = page.lines().filter(|line| line.starts_with('|')).collect();
        assert_eq!(rows.len(), 4);
        let n_cells = rows[0].matches('|').count();
        assert!(rows.iter().all(|row| row.matches('|').count() == n_cells), "{page}");
        assert!(
            rows[2].ends_with(
                "| 10.00 | 10.50 | +0.50 | ticks -0.25 | 0.70 | **miss**: unexplained |"
            )
        );
        assert!(rows[3].contains("not tried: no ledger / here"));
    }
}
