//! The tables that perftest prints, with any text around them.

use super::{
    Bandwidth, Conflict, Curve, CurveError, Figures, Latency, MessagesPerSecond, add, bytes,
    decimal, microseconds, rate,
};
use crate::parse::number;
use crate::{Bytes, Hertz};

/// The columns, by the beginning of their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Bytes,
    Iterations,
    Peak(u64),
    Average(u64),
    Rate,
    Min,
    Max,
    Typical,
    Mean,
    Deviation,
    Percentile99,
    Percentile999,
    Other,
}

/// The most conflicts of clocks that are kept; a machine of a thousand CPUs prints a line for each size and end.
const MOST_CONFLICTS: usize = 16;

const ROW: &str = "a number for each column of the table's heading";

/// perftest counts ticks, and measures their rate before it prints (src/get_clock.c: `Correlation coefficient r^2`).
/// Where it could not and continues (`-F`), times are infinite.
const UNTIMED: &str = "a time that passed: perftest could not measure its clock, as on a CPU that others disturb; test again";

pub(super) fn parse(text: &str) -> Result<Curve, CurveError> {
    let mut reading = Reading::default();
    for (number, line) in (1..).zip(text.lines()) {
        let wrong = |expected| CurveError::new(number, line, expected);
        reading.line(line.trim()).map_err(wrong)?;
    }
    let n_lines = text.lines().count().max(1);
    reading.finish().map_err(|expected| {
        CurveError::new(n_lines, text.lines().last().unwrap_or_default(), expected)
    })
}

/// What was parsed so far.
#[derive(Default)]
struct Reading {
    test: Option<String>,
    mtu: Option<Bytes>,
    columns: Vec<Column>,
    /// After a heading, and before the line that ends the table.
    is_inside: bool,
    bandwidths: Vec<Bandwidth>,
    latencies: Vec<Latency>,
    clocks: Vec<Conflict>,
}

impl Reading {
    fn line(&mut self, line: &str) -> Result<(), &'static str> {
        if line.starts_with("#bytes") {
            return self.heading(line);
        }
        if let Some(conflict) = conflict(line) {
            if self.clocks.len() < MOST_CONFLICTS && !self.clocks.contains(&conflict) {
                self.clocks.push(conflict);
            }
        } else if line.starts_with("-----") {
            self.is_inside &= self.bandwidths.is_empty() && self.latencies.is_empty();
        } else if self.is_inside && line.starts_with(|it: char| it.is_ascii_digit()) {
            self.row(line)?;
        } else {
            self.banner(line);
        }
        Ok(())
    }

    fn heading(&mut self, line: &str) -> Result<(), &'static str> {
        let columns = columns(line);
        let has = |wanted: fn(&Column) -> bool| columns.iter().any(wanted);
        let is_bandwidth = has(|it| matches!(it, Column::Average(_)));
        if !is_bandwidth && !has(|it| matches!(it, Column::Typical | Column::Mean)) {
            return Err("a heading with `BW average[MiB/sec]`, `t_typical[usec]` or `t_avg[usec]`");
        }
        if !self.columns.is_empty() && self.columns != columns {
            return Err("one table: one test at a time");
        }
        (self.columns, self.is_inside) = (columns, true);
        Ok(())
    }

    fn banner(&mut self, line: &str) {
        if line.ends_with(" Test") {
            self.test = Some(line.to_owned());
        }
        let mtu = line.strip_prefix("Mtu").and_then(|it| it.split_once(':'));
        let mtu = mtu.and_then(|(_, value)| value.trim().strip_suffix("[B]"));
        self.mtu = mtu.and_then(bytes).or(self.mtu);
    }

    fn row(&mut self, line: &str) -> Result<(), &'static str> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let row = Row { columns: &self.columns, words: &words };
        if words.len() < self.columns.iter().filter(|it| **it != Column::Other).count() {
            return Err(ROW);
        }
        let is_untimed = words.iter().any(|it| matches!(it.trim_start_matches('-'), "inf" | "nan"));
        let expected = if is_untimed { UNTIMED } else { ROW };
        if self.columns.iter().any(|it| matches!(it, Column::Average(_))) {
            add(&mut self.bandwidths, row.bandwidth().ok_or(expected)?, |it| it.message)
        } else {
            add(&mut self.latencies, row.latency().ok_or(expected)?, |it| it.message)
        }
    }

    fn finish(self) -> Result<Curve, &'static str> {
        let figures = match (self.bandwidths.is_empty(), self.latencies.is_empty()) {
            (false, _) => Figures::Bandwidth(self.bandwidths),
            (_, false) => Figures::Latency(self.latencies),
            _ if self.columns.is_empty() => {
                return Err(
                    "perftest's table, whose heading begins with `#bytes`, or CSV that begins with `bytes,`",
                );
            }
            _ => return Err("lines of figures below the heading"),
        };
        Ok(Curve { test: self.test, mtu: self.mtu, figures, clocks: self.clocks })
    }
}

/// One row of results.
struct Row<'a> {
    columns: &'a [Column],
    words: &'a [&'a str],
}

impl Row<'_> {
    fn word(&self, wanted: fn(&Column) -> bool) -> Option<&str> {
        let at = self.columns.iter().position(wanted)?;
        self.words.get(at).copied()
    }

    fn bandwidth(&self) -> Option<Bandwidth> {
        let unit = |wanted: fn(&Column) -> bool| {
            self.columns.iter().copied().find(wanted).and_then(|it| match it {
                Column::Peak(unit) | Column::Average(unit) => Some(unit),
                _ => None,
            })
        };
        let is_average: fn(&Column) -> bool = |it| matches!(it, Column::Average(_));
        let is_peak: fn(&Column) -> bool = |it| matches!(it, Column::Peak(_));
        let peak = match (self.word(is_peak), unit(is_peak)) {
            (Some(word), Some(unit)) => Some(rate(word, unit)?).filter(|it| it.0 > 0),
            _ => None,
        };
        Some(Bandwidth {
            message: bytes(self.word(|it| *it == Column::Bytes)?)?,
            iterations: self.word(|it| *it == Column::Iterations).and_then(|it| number(it).ok()),
            peak,
            average: rate(self.word(is_average)?, unit(is_average)?)?,
            rate: match self.word(|it| *it == Column::Rate) {
                Some(word) => Some(MessagesPerSecond(decimal(word, 1_000_000)?)),
                None => None,
            },
        })
    }

    fn latency(&self) -> Option<Latency> {
        let time = |wanted: fn(&Column) -> bool| match self.word(wanted) {
            Some(word) => microseconds(word).map(Some),
            None => Some(None),
        };
        let typical = time(|it| *it == Column::Typical)?;
        let mean = time(|it| *it == Column::Mean)?;
        Some(Latency {
            message: bytes(self.word(|it| *it == Column::Bytes)?)?,
            iterations: self.word(|it| *it == Column::Iterations).and_then(|it| number(it).ok()),
            min: time(|it| *it == Column::Min)?,
            max: time(|it| *it == Column::Max)?,
            typical: typical.or(mean)?,
            percentile_99: time(|it| *it == Column::Percentile99)?,
            percentile_999: time(|it| *it == Column::Percentile999)?,
            mean,
            deviation: time(|it| *it == Column::Deviation)?,
        })
    }
}

/// The columns of a heading, in order. Names contain blanks, so they are matched one by one.
fn columns(heading: &str) -> Vec<Column> {
    let named = [
        ("#bytes", Column::Bytes),
        ("#iterations", Column::Iterations),
        ("BW peak", Column::Peak(0)),
        ("BW average", Column::Average(0)),
        ("MsgRate", Column::Rate),
        ("t_min", Column::Min),
        ("t_max", Column::Max),
        ("t_typical", Column::Typical),
        ("t_avg", Column::Mean),
        ("t_stdev", Column::Deviation),
        ("99%", Column::Percentile99),
        ("99.9%", Column::Percentile999),
        ("tps average", Column::Other),
        ("CPU_Util", Column::Other),
    ];
    let found = |(name, column): (&str, Column)| {
        let at = heading.find(name)?;
        let unit = unit(heading.get(at + name.len()..)?);
        Some(match (column, unit) {
            (Column::Peak(_), Some(unit)) => (at, Column::Peak(unit)),
            (Column::Average(_), Some(unit)) => (at, Column::Average(unit)),
            (Column::Peak(_) | Column::Average(_), None) => (at, Column::Other),
            (column, _) => (at, column),
        })
    };
    let mut columns: Vec<(usize, Column)> = named.into_iter().filter_map(found).collect();
    columns.sort_by_key(|(at, _)| *at);
    columns.into_iter().map(|(_, column)| column).collect()
}

/// The unit in brackets, in bytes per second.
fn unit(behind: &str) -> Option<u64> {
    let (unit, _) = behind.strip_prefix('[')?.split_once(']')?;
    match unit {
        "MiB/sec" | "MB/sec" => Some(1 << 20),
        "Gb/sec" => Some(125_000_000),
        _ => None,
    }
}

fn conflict(line: &str) -> Option<Conflict> {
    let (_, values) = line.split_once("Conflicting CPU frequency values detected:")?;
    let (first, other) = values.split_once("!=")?;
    let clock = |text: &str| {
        let word = text.split_whitespace().next()?;
        decimal(word.trim_end_matches('.'), 1_000_000).map(Hertz)
    };
    Some(Conflict { first: clock(first)?, other: clock(other)? })
}
