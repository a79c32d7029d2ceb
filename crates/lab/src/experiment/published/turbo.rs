//! A CPU test of one thread under settings of turbo, governor and idle states.
//!
//! Time by clock is the number of cycles: where that is constant, the clock explains the whole difference. Cores that are
//! limited to C1 are never so idle that the busy one may have their share of power and current: it then has the clock that
//! all cores busy have (Intel SDM volume 3B, "Intel Dynamic Acceleration Technology/Intel Turbo Boost Technology").

use super::table::{Line, Table};
use crate::compare::{CONSTANT, ClockShare};
use serde::{Deserialize, Serialize};

/// The columns.
pub(super) const HEADING: &str =
    "setting,elapsed_s,busy_percent,busy_ghz,tsc_ghz,deepest_idle_state";

/// The rows, and what they say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TurboTable {
    /// The fastest first; of equals in the order of the table.
    pub rows: Vec<TurboRow>,
    /// The lowest and the highest number of cycles that a row with a clock took: seconds by gigahertz, in thousand millions.
    pub cycles: Option<(f64, f64)>,
    /// Whether the clock explains the difference: cycles are constant within [`CONSTANT`] either way, and clocks are not.
    pub clock_explains: bool,
    /// What limiting idle states to C1 does.
    pub limited_to_c1: Option<Limited>,
    /// Whether a setting has more than one run. Where none has, no difference has an interval.
    pub has_repeats: bool,
}

/// One setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TurboRow {
    /// As the table names it.
    pub setting: String,
    /// How long the test took, in seconds.
    pub elapsed_s: f64,
    /// How busy the core was, in percent.
    pub busy_percent: Option<f64>,
    /// The clock of the busy core while it was busy, in gigahertz.
    pub busy_ghz: Option<f64>,
    /// The clock of the counter of time, in gigahertz.
    pub tsc_ghz: Option<f64>,
    /// The deepest state that an idle core reached.
    pub deepest_idle_state: Option<String>,
    /// How much longer it took than the fastest, as a share.
    pub slower: f64,
    /// How much of that the clock explains, against the fastest row that has a clock.
    pub clock: Option<ClockShare>,
}

/// A setting that keeps idle cores in C1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limited {
    /// Which, as the table names it.
    pub setting: String,
    /// The fastest setting that lets cores go deeper, and whose clock is known.
    pub against: String,
    /// How much longer it takes than that one, as a share.
    pub slower: f64,
    /// How much longer it takes than the defaults, where the table has them.
    pub slower_than_defaults: Option<f64>,
    /// The clock of the busy core, and that where cores may go deeper, in gigahertz: what is lost is turbo headroom.
    pub ghz: (f64, f64),
}

/// Of a table with this heading.
///
/// Errors: a line that cannot be read, with its number.
pub(super) fn of(table: &Table<'_>) -> Result<TurboTable, String> {
    let mut rows: Vec<TurboRow> = table.lines.iter().map(row).collect::<Result<_, _>>()?;
    rows.sort_by(|a, b| a.elapsed_s.total_cmp(&b.elapsed_s));
    let fastest = rows.first().map_or(1.0, |it| it.elapsed_s);
    let reference = rows.iter().find_map(|it| Some((it.elapsed_s, it.busy_ghz?)));
    for row in &mut rows {
        row.slower = row.elapsed_s / fastest - 1.0;
        row.clock = reference.zip(row.busy_ghz).map(|((seconds, ghz), own)| {
            let (figure, clock) = ((row.elapsed_s / seconds).ln(), (ghz / own).ln());
            ClockShare::between(figure, figure - clock, clock)
        });
    }
    let cycles = range(rows.iter().filter_map(|it| Some(it.elapsed_s * it.busy_ghz?)));
    let clocks = range(rows.iter().filter_map(|it| it.busy_ghz));
    let is_constant = |it: (f64, f64)| (it.1 / it.0).sqrt() - 1.0 <= CONSTANT;
    let mut names: Vec<&str> = rows.iter().map(|it| &*it.setting).collect();
    names.sort_unstable();
    Ok(TurboTable {
        cycles,
        clock_explains: cycles.is_some_and(is_constant)
            && clocks.is_some_and(|it| !is_constant(it)),
        limited_to_c1: limited(&rows),
        has_repeats: names.windows(2).any(|it| it[0] == it[1]),
        rows,
    })
}

fn row(line: &Line<'_>) -> Result<TurboRow, String> {
    Ok(TurboRow {
        setting: line.setting()?,
        elapsed_s: line.positive((1, "elapsed_s"))?,
        busy_percent: line.optional((2, "busy_percent"))?,
        busy_ghz: line.optional((3, "busy_ghz"))?,
        tsc_ghz: line.optional((4, "tsc_ghz"))?,
        deepest_idle_state: line.text(5),
        slower: 0.0,
        clock: None,
    })
}

fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |range, it| {
        Some(range.map_or((it, it), |(low, high): (f64, f64)| (low.min(it), high.max(it))))
    })
}

/// Of rows, the fastest first.
fn limited(rows: &[TurboRow]) -> Option<Limited> {
    let is_deepest =
        |it: &TurboRow, is: fn(&str) -> bool| it.deepest_idle_state.as_deref().is_some_and(is);
    let limited =
        rows.iter().find(|it| is_deepest(it, |it| it == "C1") && it.busy_ghz.is_some())?;
    let is_deeper =
        |it: &&TurboRow| is_deepest(it, |it| !matches!(it, "C0" | "C1" | "C1E" | "POLL"));
    let deeper = rows.iter().filter(is_deeper).find(|it| it.busy_ghz.is_some())?;
    let defaults = rows.iter().find(|it| it.setting.starts_with("default"));
    Some(Limited {
        setting: limited.setting.clone(),
        against: deeper.setting.clone(),
        slower: limited.elapsed_s / deeper.elapsed_s - 1.0,
        slower_than_defaults: defaults.map(|it| limited.elapsed_s / it.elapsed_s - 1.0),
        ghz: (limited.busy_ghz?, deeper.busy_ghz?),
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Published, from_csv};
    use super::*;

    fn table(text: &str) -> TurboTable {
        match from_csv(text).unwrap() {
            Published::Turbo(table) => table,
            other => panic!("{other:?}"),
        }
    }

    fn published() -> TurboTable {
        table(include_str!("../../../fixtures/published-turbo.csv"))
    }

    #[test]
    fn the_clock_explains_the_published_difference() {
        let found = published();
        let (low, high) = found.cycles.unwrap();
        assert!(found.clock_explains);
        assert_eq!((format!("{low:.2}"), format!("{high:.2}")), ("27.50".into(), "28.20".into()));
        let powersave = found.rows.iter().find(|it| it.setting == "governor powersave").unwrap();
        assert!((powersave.slower - 1.9486).abs() < 1e-4, "{powersave:?}");
        let part = *powersave.clock.as_ref().unwrap().part.value().unwrap();
        assert!((part - 0.977).abs() < 0.001, "{part}");
    }

    #[test]
    fn limiting_idle_states_to_c1_costs_13_percent_of_the_published_test() {
        let found = published().limited_to_c1.unwrap();
        assert_eq!(
            (&*found.setting, &*found.against),
            ("intel_idle.max_cstate=1", "intel_idle.max_cstate=3")
        );
        assert!((found.slower - 0.1292).abs() < 1e-4, "{found:?}");
        assert!((found.slower_than_defaults.unwrap() - 0.1236).abs() < 1e-4, "{found:?}");
        assert_eq!(found.ghz, (3.09, 3.45));
    }

    #[test]
    fn settings_are_in_the_order_of_their_times_and_one_run_each_is_told() {
        let found = published();
        let seconds: Vec<f64> = found.rows.iter().map(|it| it.elapsed_s).collect();
        assert_eq!(seconds, [7.97, 7.98, 8.01, 9.0, 9.0, 10.45, 23.5]);
        assert!(!found.has_repeats);
        let twice = table(&format!("{HEADING}\na,1,,,,\na,2,,,,\n"));
        assert!(twice.has_repeats && twice.cycles.is_none() && twice.limited_to_c1.is_none());
    }

    #[test]
    fn a_clock_explains_nothing_where_it_does_not_move_or_the_cycles_do() {
        let rows = |it: &str| table(&format!("{HEADING}\n{it}\n")).clock_explains;
        assert!(rows("a,1,,3,,\nb,1.5,,2,,"));
        assert!(!rows("a,1,,3,,\nb,1.01,,3,,"));
        assert!(!rows("a,1,,3,,\nb,3,,2,,"));
    }
}
