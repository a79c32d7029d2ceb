//! Reading a BMC through the kernel's IPMI thread, under limits of how long that polls without a pause.
//!
//! Two things are traded: how long reading takes, and how busy the CPU is meanwhile. `ps` counts whoever runs when a tick comes;
//! a thread that polls for less than a tick and sleeps until the next one is never seen (Documentation/driver-api/ipmi.rst,
//! `kipmid_max_busy_us`; Tsafrir, Etsion and Feitelson, "Secretly Monopolizing the CPU Without Superuser Privileges", USENIX
//! Security 2007, on sampling by ticks).

use super::out_of_order::{OutOfOrder, out_of_order};
use super::polling_loop::{ModelledLoop, modelled};
use super::table::{Line, Table};
use crate::experiment::knee::knee;
use serde::{Deserialize, Serialize};

/// The columns.
pub(super) const HEADING: &str =
    "setting,elapsed_s,elapsed_relative,kipmid_cpu_percent_ps,cpu_busy_cycles_percent";

/// The rows, and what they say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KipmidTable {
    /// In the order of the table.
    pub rows: Vec<KipmidRow>,
    /// The place of the row where the trade turns: a longer limit takes much more CPU for little time, a shorter one much more
    /// time for little CPU. `None` where fewer than three rows are on the front.
    pub knee: Option<usize>,
    /// The same without the rows that are too far out of order to build on.
    pub knee_without_outliers: Option<usize>,
    /// Limits under which the CPU was not as busy as those beside them let expect.
    pub out_of_order: Vec<OutOfOrder>,
    /// Places of the rows of which `ps` says 0 although the CPU was busy; the busiest first.
    pub blind: Vec<usize>,
    /// The longest limit that `ps` did not see, and the shortest that it did, in microseconds: a tick lies between them.
    pub blind_up_to: Option<(f64, f64)>,
    /// What a model of the kernel's loop makes of the same limits; `None` where too few rows have one.
    pub polling_loop: Option<ModelledLoop>,
}

/// One setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KipmidRow {
    /// As the table names it.
    pub setting: String,
    /// `kipmid_max_busy_us`, where that is what was set.
    pub max_busy_us: Option<f64>,
    /// How long reading took, in seconds.
    pub elapsed_s: f64,
    /// The same by that of the defaults.
    pub elapsed_relative: f64,
    /// What `ps` says the thread took, in percent of a CPU.
    pub ps_percent: f64,
    /// How busy the CPU was, by its cycles, in percent.
    pub busy_percent: f64,
}

/// Of a table with this heading.
///
/// Errors: a line that cannot be read, with its number.
pub(super) fn of(table: &Table<'_>) -> Result<KipmidTable, String> {
    let rows: Vec<KipmidRow> = table.lines.iter().map(row).collect::<Result<_, _>>()?;
    let out_of_order = out_of_order(&rows);
    let all: Vec<usize> = (0..rows.len()).collect();
    let is_outlier = |it: &usize| out_of_order.iter().any(|of| of.is_outlier && of.row == *it);
    let others: Vec<usize> = all.iter().copied().filter(|it| !is_outlier(it)).collect();
    let trade = |at: &usize| (rows[*at].elapsed_s, rows[*at].busy_percent);
    let knee_of =
        |places: &[usize]| knee(&places.iter().map(trade).collect::<Vec<_>>()).map(|it| places[it]);
    let blind = blind(&rows);
    Ok(KipmidTable {
        knee: knee_of(&all),
        knee_without_outliers: knee_of(&others),
        blind_up_to: blind_up_to(&rows, &blind),
        polling_loop: modelled(&rows),
        out_of_order,
        blind,
        rows,
    })
}

fn row(line: &Line<'_>) -> Result<KipmidRow, String> {
    let setting = line.setting()?;
    Ok(KipmidRow {
        max_busy_us: limit_us(&setting),
        setting,
        elapsed_s: line.positive((1, "elapsed_s"))?,
        elapsed_relative: line.positive((2, "elapsed_relative"))?,
        ps_percent: line.not_negative((3, "kipmid_cpu_percent_ps"))?,
        busy_percent: line.positive((4, "cpu_busy_cycles_percent"))?,
    })
}

/// The limit that a setting is, in microseconds.
pub(super) fn limit_us(setting: &str) -> Option<f64> {
    let (name, limit) = setting.split_once('=')?;
    let limit = limit.parse().ok().filter(|it: &f64| it.is_finite());
    limit.filter(|_| name.starts_with("kipmid_max_busy"))
}

/// Rows of which `ps` says 0. What else runs makes the CPU busy, too: the least busy row shows how much at most.
fn blind(rows: &[KipmidRow]) -> Vec<usize> {
    let least = rows.iter().map(|it| it.busy_percent).fold(f64::INFINITY, f64::min);
    let is_blind = |it: &KipmidRow| it.ps_percent == 0.0 && it.busy_percent > least;
    let mut found: Vec<usize> = (0..rows.len()).filter(|it| is_blind(&rows[*it])).collect();
    found.sort_by(|a, b| rows[*b].busy_percent.total_cmp(&rows[*a].busy_percent));
    found
}

fn blind_up_to(rows: &[KipmidRow], blind: &[usize]) -> Option<(f64, f64)> {
    let longest = blind.iter().filter_map(|it| rows[*it].max_busy_us).reduce(f64::max)?;
    let seen = rows.iter().filter(|it| it.ps_percent > 0.0).filter_map(|it| it.max_busy_us);
    let shortest = seen.reduce(f64::min)?;
    (longest < shortest).then_some((longest, shortest))
}

#[cfg(test)]
mod tests {
    use super::super::{Published, from_csv};
    use super::*;

    fn published() -> KipmidTable {
        match from_csv(include_str!("../../../fixtures/published-kipmid.csv")).unwrap() {
            Published::Kipmid(table) => table,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_published_knee_rests_on_a_row_that_is_out_of_order_and_is_elsewhere_without_it() {
        let found = published();
        let setting = |it: Option<usize>| found.rows[it.unwrap()].setting.clone();
        assert_eq!(setting(found.knee), "kipmid_max_busy=1000");
        assert_eq!(setting(found.knee_without_outliers), "kipmid_max_busy=100");
    }

    #[test]
    fn of_the_published_limits_1000_is_an_outlier_and_100_is_only_a_little_out_of_order() {
        let found = published();
        let told: Vec<(&str, bool, [f64; 2])> = found
            .out_of_order
            .iter()
            .map(|it| {
                (
                    &*found.rows[it.row].setting,
                    it.is_outlier,
                    [it.at_least, it.at_most].map(Option::unwrap),
                )
            })
            .collect();
        assert_eq!(
            told,
            [
                ("kipmid_max_busy=1000", true, [69.44, 94.04]),
                ("kipmid_max_busy=100", false, [22.91, 46.72])
            ]
        );
    }

    #[test]
    fn ps_saw_none_of_the_69_percent_that_a_limit_below_a_tick_took() {
        let found = published();
        let busiest = &found.rows[found.blind[0]];
        assert_eq!((busiest.ps_percent, busiest.busy_percent), (0.0, 69.44));
        assert_eq!(found.blind_up_to, Some((500.0, 1000.0)));
        assert_eq!(found.blind.len(), 6);
    }
}
