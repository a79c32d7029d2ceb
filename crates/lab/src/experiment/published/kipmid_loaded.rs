//! Reading a BMC while every CPU is busy, under limits of how long the kernel's IPMI thread polls without a pause.
//!
//! The thread has nice 19 (`ipmi_thread`, drivers/char/ipmi/ipmi_si_intf.c): it polls when nobody else wants the CPU, and an
//! answer waits until it does. The table itself does not say that there was a load: its rows are relative to something that is
//! none of them.

use super::kipmid::limit_us;
use super::table::{Line, Table};
use serde::{Deserialize, Serialize};

/// The columns.
pub(super) const HEADING: &str = "setting,elapsed_s,elapsed_relative";

/// How far apart the times may be that rows are relative to.
const ROUNDING: f64 = 0.01;

/// The rows, and what they say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadedTable {
    /// In the order of the table.
    pub rows: Vec<LoadedRow>,
    /// What the times are relative to, in seconds; `None` where that is one of the rows, or differs between them.
    pub one_s: Option<f64>,
    /// The place of the row in which the thread did not run.
    pub without: Option<usize>,
    /// The two rows that contradict each other most.
    pub at_odds: Option<AtOdds>,
}

/// One setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadedRow {
    /// As the table names it.
    pub setting: String,
    /// How long reading took, in seconds.
    pub elapsed_s: f64,
    /// The same by that of something else.
    pub elapsed_relative: f64,
    /// How much less that is than without the thread, as a share; `None` where the table has no such row, and of that row.
    pub saved: Option<f64>,
}

/// A row that polls for longer than another one and took longer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AtOdds {
    /// The place of the one that polls for longer.
    pub longer_poll: usize,
    /// The place of the one that polls for less long.
    pub shorter_poll: usize,
    /// How much longer the first one took, as a share.
    pub slower: f64,
}

/// Of a table with this heading.
///
/// Errors: a line that cannot be read, with its number; the rows are about something else.
pub(super) fn of(table: &Table<'_>) -> Result<LoadedTable, String> {
    let mut rows: Vec<LoadedRow> = table.lines.iter().map(row).collect::<Result<_, _>>()?;
    if rows.iter().all(|it| it.setting == "default" || polls_for(it).is_none()) {
        return Err(format!(
            "a table of {HEADING} is one of kipmid, expected a row kipmid_max_busy=MICROSECONDS or force_kipmid=0"
        ));
    }
    let without = rows.iter().position(|it| polls_for(it) == Some(0.0));
    if let Some((at, elapsed_s)) = without.map(|at| (at, rows[at].elapsed_s)) {
        let others = rows.iter_mut().enumerate().filter(|it| it.0 != at);
        others.for_each(|(_, it)| it.saved = Some(1.0 - it.elapsed_s / elapsed_s));
    }
    Ok(LoadedTable { one_s: one_s(&rows), without, at_odds: at_odds(&rows), rows })
}

fn row(line: &Line<'_>) -> Result<LoadedRow, String> {
    Ok(LoadedRow {
        setting: line.setting()?,
        elapsed_s: line.positive((1, "elapsed_s"))?,
        elapsed_relative: line.positive((2, "elapsed_relative"))?,
        saved: None,
    })
}

/// For how many microseconds the thread polls without a pause: 0 where it does not run, for ever by default.
fn polls_for(row: &LoadedRow) -> Option<f64> {
    match &*row.setting {
        "force_kipmid=0" => Some(0.0),
        "default" => Some(f64::INFINITY),
        other => limit_us(other),
    }
}

fn one_s(rows: &[LoadedRow]) -> Option<f64> {
    let ones = rows.iter().map(|it| it.elapsed_s / it.elapsed_relative);
    let (low, high) =
        ones.clone().fold((f64::INFINITY, 0.0_f64), |(low, high), it| (low.min(it), high.max(it)));
    let is_row = rows.iter().any(|it| (it.elapsed_relative - 1.0).abs() <= ROUNDING);
    (!is_row && high <= low * (1.0 + ROUNDING)).then(|| ones.sum::<f64>() / rows.len() as f64)
}

fn at_odds(rows: &[LoadedRow]) -> Option<AtOdds> {
    let polls: Vec<(usize, f64)> =
        rows.iter().enumerate().filter_map(|(at, it)| Some((at, polls_for(it)?))).collect();
    let pair = |(longer_poll, us): (usize, f64), (shorter_poll, other): (usize, f64)| {
        let slower = rows[longer_poll].elapsed_s / rows[shorter_poll].elapsed_s - 1.0;
        (us > other && slower > 0.0).then_some(AtOdds { longer_poll, shorter_poll, slower })
    };
    let pairs = polls.iter().flat_map(|a| polls.iter().filter_map(move |b| pair(*a, *b)));
    pairs.max_by(|a, b| a.slower.total_cmp(&b.slower))
}

#[cfg(test)]
mod tests {
    use super::super::{Published, from_csv};
    use super::*;

    fn table(text: &str) -> LoadedTable {
        match from_csv(text).unwrap() {
            Published::KipmidLoaded(table) => table,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn under_load_polling_saves_a_quarter_at_most_of_the_published_times() {
        let found = table(include_str!("../../../fixtures/published-kipmid-loaded.csv"));
        let saved: Vec<Option<i32>> =
            found.rows.iter().map(|it| it.saved.map(|it| (it * 100.0).round() as i32)).collect();
        assert_eq!(saved, [Some(19), None, Some(26), Some(19), Some(15), Some(8)]);
        assert_eq!(found.one_s.map(f64::round), Some(22.0));
    }

    #[test]
    fn the_published_default_polls_for_longer_than_a_limit_and_took_longer() {
        let found = table(include_str!("../../../fixtures/published-kipmid-loaded.csv"));
        let at_odds = found.at_odds.unwrap();
        assert_eq!((at_odds.longer_poll, at_odds.shorter_poll), (0, 2));
        assert!((at_odds.slower - 0.087).abs() < 0.0005, "{at_odds:?}");
    }

    #[test]
    fn a_table_without_a_row_to_compare_with_says_less() {
        let found = table(&format!("{HEADING}\nkipmid_max_busy=100,50,2\nother,90,5\n"));
        assert_eq!((found.one_s, found.without, found.at_odds), (None, None, None));
        assert!(found.rows.iter().all(|it| it.saved.is_none()));
        let relative_to_a_row = table(&format!("{HEADING}\ndefault,5,1\nkipmid_max_busy=9,10,2\n"));
        assert_eq!(relative_to_a_row.one_s, None);
    }

    #[test]
    fn a_table_of_other_settings_is_refused() {
        let why = from_csv(&format!("{HEADING}\ndefault,5,1\ngovernor=powersave,10,2\n"));
        assert!(why.unwrap_err().contains("expected a row kipmid_max_busy="));
    }
}
