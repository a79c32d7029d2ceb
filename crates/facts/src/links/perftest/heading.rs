//! The heading of perftest's tables: which columns there are, by their names, and in which order.
//!
//! Source: linux-rdma/perftest, src/perftest_parameters.h (RESULT_FMT and its variants), and the printf of versions before
//! 2.0. A column that no version prints has figures that mean something else, so it is refused by its name.

use super::Refused;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Bytes,
    Iterations,
    ServiceLevel,
    Peak,
    Average,
    Rate,
    Min,
    Max,
    Typical,
    Mean,
    Deviation,
    Percentile99,
    Percentile999,
    /// One whose figures nothing here uses.
    Unused,
}

/// The columns of a heading, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Heading {
    columns: Vec<Column>,
    /// Bytes per second of one unit of bandwidth.
    unit: u64,
}

/// What stands in brackets behind a name, and what one of it is where that differs: bytes per second.
type Units = &'static [(&'static str, u64)];

const NONE: Units = &[];
const RATES: Units = &[("MiB/sec", 1 << 20), ("MB/sec", 1 << 20), ("Gb/sec", 125_000_000)];
const MESSAGES: Units = &[("Mpps", 1)];
const TIMES: Units = &[("usec", 1)];
/// RESULT_EXT_CPU_UTIL goes through printf, which makes one of the two.
const SHARES: Units = &[("%", 1), ("%%", 1)];

/// The names, without the `#` that some have: a `#` is lost where a table goes through other programs.
const NAMES: &[(&str, Units, Column)] = &[
    ("bytes", NONE, Column::Bytes),
    ("iterations", NONE, Column::Iterations),
    ("sl", NONE, Column::ServiceLevel),
    ("BW peak", RATES, Column::Peak),
    ("BW average", RATES, Column::Average),
    ("BW min", RATES, Column::Unused),
    ("BW Port1", RATES, Column::Unused),
    ("BW Port2", RATES, Column::Unused),
    ("MsgRate", MESSAGES, Column::Rate),
    ("MsgRate Port1", MESSAGES, Column::Unused),
    ("MsgRate Port2", MESSAGES, Column::Unused),
    ("t_min", TIMES, Column::Min),
    ("t_max", TIMES, Column::Max),
    ("t_typical", TIMES, Column::Typical),
    ("t_avg", TIMES, Column::Mean),
    ("t_stdev", TIMES, Column::Deviation),
    ("99% percentile", TIMES, Column::Percentile99),
    ("99.9% percentile", TIMES, Column::Percentile999),
    ("tps average", NONE, Column::Unused),
    ("CPU_Util", SHARES, Column::Unused),
];

const UNKNOWN: &str = "a column that perftest prints: #bytes, #sl, #iterations, BW peak, BW average, BW min or MsgRate with MB/sec, MiB/sec, \
                       Gb/sec or Mpps; t_min, t_max, t_typical, t_avg, t_stdev and percentiles with usec; tps average, CPU_Util[%]";

impl Heading {
    /// Whether `line`, without blanks around it, is the heading of a table.
    pub(super) fn begins(line: &str) -> bool {
        let after = unmarked(line).strip_prefix("bytes");
        let is_name = after.is_some_and(|it| it.is_empty() || it.starts_with(char::is_whitespace));
        is_name && (line.starts_with('#') || line.contains('['))
    }

    /// Takes a heading to pieces.
    pub(super) fn parse(line: &str) -> Result<Heading, Refused> {
        let mut heading = Heading::default();
        let mut rest = line.trim();
        while !rest.is_empty() {
            let (column, unit, after) = next(rest)?;
            if column != Column::Unused && heading.columns.contains(&column) {
                return Err(Refused::of(name(rest), "each column once: one table"));
            }
            if matches!(column, Column::Peak | Column::Average) {
                if heading.unit > 0 && heading.unit != unit {
                    return Err("the same unit for peak and average".into());
                }
                heading.unit = unit;
            }
            heading.columns.push(column);
            rest = after.trim_start();
        }
        let has = |wanted| heading.columns.contains(&wanted);
        if !has(Column::Average) && !has(Column::Typical) && !has(Column::Mean) {
            return Err(
                "a heading with `BW average[MiB/sec]`, `t_typical[usec]` or `t_avg[usec]`".into()
            );
        }
        Ok(heading)
    }

    /// How many columns there are.
    pub(super) fn len(&self) -> usize {
        self.columns.len()
    }

    /// Where a column is.
    pub(super) fn position(&self, wanted: Column) -> Option<usize> {
        self.columns.iter().position(|it| *it == wanted)
    }

    /// Bytes per second of one unit of bandwidth.
    pub(super) fn unit(&self) -> u64 {
        self.unit
    }
}

/// The first column of `rest`, its unit, and what comes after it.
fn next(rest: &str) -> Result<(Column, u64, &str), Refused> {
    let unknown = || Refused::of(name(rest), UNKNOWN);
    let found = NAMES.iter().find_map(|(name, units, column)| {
        let after = unmarked(rest).strip_prefix(name)?;
        let (unit, after) = split_unit(after)?;
        let is_without = unit.is_none() && units.is_empty();
        let known = units.iter().find(|(word, _)| Some(*word) == unit);
        let factor = if is_without { 1 } else { known?.1 };
        Some((*column, factor, after))
    });
    found.ok_or_else(unknown)
}

/// The unit in brackets behind a name, if there is one, and what follows; `None` where the name goes on.
fn split_unit(after: &str) -> Option<(Option<&str>, &str)> {
    if let Some(bracket) = after.strip_prefix('[') {
        let (unit, after) = bracket.split_once(']')?;
        return Some((Some(unit), after));
    }
    let ends = after.is_empty() || after.starts_with(char::is_whitespace);
    ends.then_some((None, after))
}

/// The name at the beginning of `rest`, as it is printed: up to its unit, or to more than one blank.
fn name(rest: &str) -> &str {
    let unit = rest.find(']').map(|it| it + 1);
    let gap = rest.find("  ").into_iter().chain(rest.find('\t')).min();
    let end = unit.into_iter().chain(gap).min().unwrap_or(rest.len());
    rest.get(..end).unwrap_or(rest)
}

fn unmarked(name: &str) -> &str {
    name.strip_prefix('#').unwrap_or(name)
}
