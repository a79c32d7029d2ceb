//! What a bandwidth or latency test measured, by message size: perftest's tables (`ib_read_bw -a`, `ib_write_lat -a`),
//! and CSV with named columns.
//!
//! Source: linux-rdma/perftest, src/perftest_parameters.h (RESULT_FMT and others) and src/perftest_resources.c
//! (print_report_bw: `report_fmt == MBS ? 0x100000 : 125000000`): "MB/sec" of old versions and "MiB/sec" of later ones
//! are both 2^20 bytes, "Gb/sec" is 10^9 bits. Whoever saved a table may have saved the prompt, the banner and warnings
//! with it. It cannot know what a test did that its banner does not tell.

mod csv;
mod decimal;
mod table;

use crate::{Bytes, BytesPerSecond, Hertz};
use std::time::Duration;

/// What one test measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The title of perftest's banner: `RDMA_Read BW Test`.
    pub test: Option<String>,
    /// `Mtu` of the banner.
    pub mtu: Option<Bytes>,
    /// Each message size once, ascending.
    pub figures: Figures,
    /// Clocks that perftest found to differ.
    pub clocks: Vec<Conflict>,
}

/// By what was measured.
#[derive(Clone, Debug, PartialEq)]
pub enum Figures {
    /// How much moved.
    Bandwidth(Vec<Bandwidth>),
    /// How long one message took.
    Latency(Vec<Latency>),
}

/// The bandwidth of one message size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bandwidth {
    /// The size.
    pub message: Bytes,
    /// How many messages.
    pub iterations: Option<u64>,
    /// The best of any part of the run; 0 is what perftest prints where it did not look.
    pub peak: Option<BytesPerSecond>,
    /// Over the whole run; 0 is what very old versions print where clocks differ.
    pub average: BytesPerSecond,
    /// Messages in a second.
    pub rate: Option<MessagesPerSecond>,
}

/// A rate of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MessagesPerSecond(pub u64);

/// The latency of one message size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latency {
    /// The size.
    pub message: Bytes,
    /// How many messages.
    pub iterations: Option<u64>,
    /// The shortest.
    pub min: Option<Duration>,
    /// The longest.
    pub max: Option<Duration>,
    /// The median, or the mean where there is none.
    pub typical: Duration,
    /// 99 of 100 took no longer.
    pub percentile_99: Option<Duration>,
    /// 999 of 1000.
    pub percentile_999: Option<Duration>,
    /// Their mean.
    pub mean: Option<Duration>,
    /// How far they lie from it: the standard deviation.
    pub deviation: Option<Duration>,
}

/// `Conflicting CPU frequency values detected: 1600.000000 != 2534.000000`: the clock of the first CPU in
/// /proc/cpuinfo, and of one that differs by more than 2 % (src/get_clock.c).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The first CPU's.
    pub first: Hertz,
    /// The other's.
    pub other: Hertz,
}

/// Why a text is no curve.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} holds {found:?}, expected {expected}")]
pub struct CurveError {
    /// Counted from 1.
    pub line: usize,
    /// The line, cut.
    pub found: String,
    /// What would have been right.
    pub expected: &'static str,
}

/// `ib_read_bw -a` has 23 sizes; a text of more was given by mistake.
const MOST_SIZES: usize = 4096;
/// Such a table, with banner and warnings of every size, has some ten KiB.
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

    /// Whether data went both ways at once: what is measured then is both directions together.
    pub fn is_bidirectional(&self) -> bool {
        self.test.as_deref().is_some_and(|it| it.contains("Bidirectional"))
    }
}

impl Bandwidth {
    /// Messages in a second: as printed, or by size and average.
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

/// Adds a point of a larger message than the last one has. A table that was printed by both ends on one terminal has
/// every line twice: the second is left out.
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

#[cfg(test)]
mod tests;
