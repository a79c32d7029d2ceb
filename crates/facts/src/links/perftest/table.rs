//! The tables that perftest prints, with any text around them.

use super::heading::{Column, Heading};
use super::{
    Bandwidth, Conflict, Curve, CurveError, Figures, Latency, MessagesPerSecond, NEGATIVE, Refused,
    add, bytes, decimal, is_negative, microseconds, rate,
};
use crate::{Bytes, Hertz};

/// The most conflicts of clocks that are kept; a machine of a thousand CPUs prints a line for each size and end.
const MOST_CONFLICTS: usize = 16;

const ROW: &str = "a number for each column of the table's heading";

const COMMAS: &str =
    "the same decimal sign in all lines, with 2 or 6 digits behind a comma as perftest prints them";

const LEVELS: &str =
    "one service level (#sl): perftest tests one at a time, so another one is another test";

/// perftest counts ticks, and measures their rate before it prints (src/get_clock.c: `Correlation coefficient r^2`).
/// Where it could not and continues (`-F`), times are infinite.
const UNTIMED: &str = "a time that passed: perftest could not measure its clock, as on a CPU that others disturb; test again";

pub(super) fn parse(text: &str) -> Result<Curve, CurveError> {
    let mut reading = Reading::default();
    for (number, line) in (1..).zip(text.lines()) {
        reading.line(line.trim()).map_err(|it| it.at(number, line))?;
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
    heading: Option<Heading>,
    /// Whether figures are written with a comma.
    has_commas: Option<bool>,
    service_level: Option<u64>,
    /// After a heading, and before the line that ends the table.
    is_inside: bool,
    bandwidths: Vec<Bandwidth>,
    latencies: Vec<Latency>,
    clocks: Vec<Conflict>,
}

impl Reading {
    fn line(&mut self, line: &str) -> Result<(), Refused> {
        if Heading::begins(line) {
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

    fn heading(&mut self, line: &str) -> Result<(), Refused> {
        let heading = Heading::parse(line)?;
        if self.heading.as_ref().is_some_and(|it| *it != heading) {
            return Err("one table: one test at a time".into());
        }
        (self.heading, self.is_inside) = (Some(heading), true);
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

    fn row(&mut self, line: &str) -> Result<(), Refused> {
        let Some(heading) = &self.heading else { return Ok(()) };
        let cells: Vec<&str> = line.split_whitespace().collect();
        if cells.iter().any(|it| matches!(it.trim_start_matches('-'), "inf" | "nan")) {
            return Err(UNTIMED.into());
        }
        if cells.iter().any(|it| is_negative(it)) {
            return Err(NEGATIVE.into());
        }
        if cells.len() != heading.len() {
            return Err(ROW.into());
        }
        let has = |sign| cells.iter().any(|it| it.contains(sign));
        let has_commas = has(',');
        let is_clear = !has_commas || (!has('.') && cells.iter().all(|it| is_decimal_comma(it)));
        if !is_clear || self.has_commas.is_some_and(|it| it != has_commas) {
            return Err(COMMAS.into());
        }
        let cells = cells.iter().map(|it| it.replace(',', ".")).collect();
        let row = Row { heading, cells };
        let level = row.whole(Column::ServiceLevel).ok_or(ROW)?;
        if self.service_level.is_some() && level != self.service_level {
            return Err(LEVELS.into());
        }
        if heading.position(Column::Average).is_some() {
            add(&mut self.bandwidths, row.bandwidth().ok_or(ROW)?, |it| it.message)?;
        } else {
            add(&mut self.latencies, row.latency().ok_or(ROW)?, |it| it.message)?;
        }
        (self.has_commas, self.service_level) = (Some(has_commas), level);
        Ok(())
    }

    fn finish(self) -> Result<Curve, &'static str> {
        let figures = match (self.bandwidths.is_empty(), self.latencies.is_empty()) {
            (false, _) => Figures::Bandwidth(self.bandwidths),
            (_, false) => Figures::Latency(self.latencies),
            _ if self.heading.is_none() => {
                return Err(
                    "perftest's table, whose heading begins with `#bytes`, or CSV that begins with `bytes,`",
                );
            }
            _ => return Err("lines of figures below the heading"),
        };
        Ok(Curve { test: self.test, mtu: self.mtu, figures, clocks: self.clocks })
    }
}

/// One row of results, a cell for each column.
struct Row<'a> {
    heading: &'a Heading,
    cells: Vec<String>,
}

impl Row<'_> {
    fn cell(&self, column: Column) -> Option<&str> {
        self.cells.get(self.heading.position(column)?).map(String::as_str)
    }

    /// What a cell says; `Some(None)` without that column, `None` where the cell is nothing of the kind.
    fn optional<T>(&self, column: Column, parse: fn(&str) -> Option<T>) -> Option<Option<T>> {
        self.cell(column).map_or(Some(None), |it| parse(it).map(Some))
    }

    fn whole(&self, column: Column) -> Option<Option<u64>> {
        self.optional(column, |it| decimal(it, 1).filter(|_| !it.contains('.')))
    }

    fn bandwidth(&self) -> Option<Bandwidth> {
        let unit = self.heading.unit();
        let peak = self.cell(Column::Peak).map_or(Some(None), |it| rate(it, unit).map(Some))?;
        Some(Bandwidth {
            message: bytes(self.cell(Column::Bytes)?)?,
            iterations: self.whole(Column::Iterations)?,
            peak: peak.filter(|it| it.0 > 0),
            average: rate(self.cell(Column::Average)?, unit)?,
            rate: self
                .optional(Column::Rate, |it| decimal(it, 1_000_000).map(MessagesPerSecond))?,
        })
    }

    fn latency(&self) -> Option<Latency> {
        let time = |column| self.optional(column, microseconds);
        let (typical, mean) = (time(Column::Typical)?, time(Column::Mean)?);
        Some(Latency {
            message: bytes(self.cell(Column::Bytes)?)?,
            iterations: self.whole(Column::Iterations)?,
            min: time(Column::Min)?,
            max: time(Column::Max)?,
            typical: typical.or(mean)?,
            percentile_99: time(Column::Percentile99)?,
            percentile_999: time(Column::Percentile999)?,
            mean,
            deviation: time(Column::Deviation)?,
        })
    }
}

/// `89,55` and `0,170803`, or no comma. What has three digits behind it may be thousands (REPORT_FMT and its variants print
/// two or six).
fn is_decimal_comma(cell: &str) -> bool {
    cell.split_once(',').is_none_or(|(_, digits)| matches!(digits.len(), 2 | 6))
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
