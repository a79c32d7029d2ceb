//! The results of a bandwidth or latency test by message size: the tables of perftest (`ib_read_bw -a`,
//! `ib_write_lat -a`), and CSV with named columns.
//!
//! Source: linux-rdma/perftest, src/perftest_parameters.h (RESULT_FMT and others) and src/perftest_resources.c
//! (print_report_bw: `report_fmt == MBS ? 0x100000 : 125000000`): "MB/sec" of old versions and "MiB/sec" of later
//! ones are both 2^20 bytes, "Gb/sec" is 10^9 bits. A saved table may include the prompt, the banner and warnings.
//! What the banner does not say of a test is not known.

mod csv;
mod heading;
mod table;

use crate::{Bytes, BytesPerSecond, Hertz};
use std::time::Duration;

/// The results of one test.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The title of perftest's banner: `RDMA_Read BW Test`.
    pub test: Option<String>,
    /// `Mtu` of the banner.
    pub mtu: Option<Bytes>,
    /// The results, each message size once, ascending.
    pub figures: Figures,
    /// Clocks that perftest found to differ.
    pub clocks: Vec<Conflict>,
}

/// The results by kind of test.
#[derive(Clone, Debug, PartialEq)]
pub enum Figures {
    /// Bandwidths, one for each message size.
    Bandwidth(Vec<Bandwidth>),
    /// Latency of one message.
    Latency(Vec<Latency>),
}

/// The bandwidth of one message size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bandwidth {
    /// The message size, in bytes.
    pub message: Bytes,
    /// The number of messages.
    pub iterations: Option<u64>,
    /// The peak of any part of the run; perftest prints 0 where it did not measure it.
    pub peak: Option<BytesPerSecond>,
    /// The average over the run; very old versions print 0 where clocks differ.
    pub average: BytesPerSecond,
    /// Messages per second.
    pub rate: Option<MessagesPerSecond>,
}

/// A rate of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MessagesPerSecond(pub u64);

/// The latency of one message size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latency {
    /// The message size, in bytes.
    pub message: Bytes,
    /// The number of messages.
    pub iterations: Option<u64>,
    /// The shortest time, where the table has it.
    pub min: Option<Duration>,
    /// The longest time, where the table has it.
    pub max: Option<Duration>,
    /// The median, or the mean where it is missing.
    pub typical: Duration,
    /// The 99th percentile.
    pub percentile_99: Option<Duration>,
    /// The 99.9th percentile.
    pub percentile_999: Option<Duration>,
    /// The mean of all times, where the table has it.
    pub mean: Option<Duration>,
    /// The standard deviation of the times, where the table has it.
    pub deviation: Option<Duration>,
}

/// `Conflicting CPU frequency values detected: 1600.000000 != 2534.000000`: the clock of the first CPU in
/// /proc/cpuinfo, and of one that differs by more than 2 % (src/get_clock.c).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The clock of the first CPU.
    pub first: Hertz,
    /// The clock of the other CPU.
    pub other: Hertz,
}

/// Why a text cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} holds {found:?}, expected {expected}")]
pub struct CurveError {
    /// The line, counted from 1.
    pub line: usize,
    /// The text of the line, cut.
    pub found: String,
    /// What was expected.
    pub expected: &'static str,
}

/// `ib_read_bw -a` has 23 sizes; a text with more than this is something else.
const MOST_SIZES: usize = 4096;
/// A table with the banner and warnings for each size has about ten KiB.
pub const LARGEST_TEXT: usize = 1 << 20;

impl Curve {
    /// Parses perftest's output, or CSV whose first line begins with `bytes,`.
    pub fn parse(text: &str) -> Result<Curve, CurveError> {
        if text.len() > LARGEST_TEXT {
            return Err(CurveError::new(1, text, "a table of at most 1 MiB"));
        }
        let first = text.lines().find(|it| !it.trim().is_empty() && !it.starts_with('#'));
        let is_csv = first.is_some_and(|it| it.trim_start().starts_with("bytes,"));
        if is_csv { csv::parse(text) } else { table::parse(text) }
    }

    /// Whether data went both ways at once: the results are then the sum of both directions.
    pub fn is_bidirectional(&self) -> bool {
        self.test.as_deref().is_some_and(|it| it.contains("Bidirectional"))
    }
}

impl Bandwidth {
    /// Messages per second: as printed, or computed from size and average.
    pub fn messages(&self) -> MessagesPerSecond {
        self.rate.unwrap_or(MessagesPerSecond(self.average.0 / self.message.0.max(1)))
    }
}

impl CurveError {
    fn new(line: usize, found: &str, expected: &'static str) -> CurveError {
        const READABLE: usize = 80;
        let first = found.lines().next().unwrap_or_default();
        CurveError { line, found: first.trim().chars().take(READABLE).collect(), expected }
    }
}

/// Why a line cannot be parsed, before its number is known.
struct Refused {
    /// The part of the line that is wrong; the whole of it where no part is.
    part: Option<String>,
    expected: &'static str,
}

impl Refused {
    fn of(part: &str, expected: &'static str) -> Refused {
        Refused { part: Some(part.to_owned()), expected }
    }

    fn at(self, number: usize, line: &str) -> CurveError {
        CurveError::new(number, self.part.as_deref().unwrap_or(line), self.expected)
    }
}

impl From<&'static str> for Refused {
    fn from(expected: &'static str) -> Refused {
        Refused { part: None, expected }
    }
}

/// perftest divides its count of messages by a time in ticks of the CPU (src/perftest_parameters.c, print_report_bw). Where it
/// prints less than nothing, one of them went wrong (linux-rdma/perftest, issue 82: after days of `-D`).
const NEGATIVE: &str = "numbers of at least 0: perftest prints a negative one where its count of messages overflowed or its clock went \
                        backwards; test again, for a shorter time";

fn is_negative(cell: &str) -> bool {
    let digits = cell.strip_prefix('-');
    digits.is_some_and(|it| it.starts_with(|digit: char| digit.is_ascii_digit()))
}

/// Adds a point with a larger message than the last one. A table that both ends printed on one terminal has each line
/// twice: the second one is dropped.
fn add<T: Copy + PartialEq>(
    points: &mut Vec<T>,
    point: T,
    message: fn(&T) -> Bytes,
) -> Result<(), &'static str> {
    let is_larger = points.last().is_none_or(|last| message(last) < message(&point));
    if is_larger && points.len() < MOST_SIZES {
        points.push(point);
        return Ok(());
    }
    let same = points.binary_search_by_key(&message(&point), message).ok();
    match same.map(|at| points[at]) {
        Some(known) if known == point => Ok(()),
        Some(_) => Err("each message size once: one test at a time"),
        None if is_larger => Err("at most 4096 message sizes"),
        None => Err("a larger message than in the line before: one test at a time"),
    }
}

/// `text` times `scale`, rounded; `None` where it is not a number with a point and without sign or exponent, or has
/// too many digits.
pub(super) fn decimal(text: &str, scale: u64) -> Option<u64> {
    const MOST_DIGITS: usize = 12;
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_number =
        |digits: &str| digits.len() <= MOST_DIGITS && digits.bytes().all(|it| it.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(fraction) {
        return None;
    }
    let digits: u128 = format!("{whole}{fraction}").parse().ok()?;
    let unit = 10u128.pow(u32::try_from(fraction.len()).ok()?);
    u64::try_from((digits * u128::from(scale) + unit / 2) / unit).ok()
}

/// A message size: a whole number of bytes.
pub(super) fn bytes(text: &str) -> Option<Bytes> {
    decimal(text, 1).filter(|it| *it > 0 && !text.contains('.')).map(Bytes)
}

/// A rate in a unit of `unit` bytes per second.
pub(super) fn rate(text: &str, unit: u64) -> Option<BytesPerSecond> {
    decimal(text, unit).map(BytesPerSecond)
}

/// A time in microseconds.
pub(super) fn microseconds(text: &str) -> Option<Duration> {
    decimal(text, 1000).map(Duration::from_nanos)
}

#[cfg(test)]
mod tests;
