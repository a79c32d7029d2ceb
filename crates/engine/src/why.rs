//! Two recordings of a client's runs, compared second by second.

use crate::Tell;
use crate::ledger::{Course, Period, spans};
use anyhow::{Result, bail};
use lab::why::{Incomparable, Recording, Second, Why, why};
use std::path::Path;
use std::time::Duration;

/// What was found, and what has to be said of the recordings.
pub struct Compared {
    /// Why B differs from A.
    pub why: Why,
    /// What has to be said of either.
    pub notes: Vec<String>,
}

/// The length of a piece: verdicts rest on the pieces of a run.
const PIECE: Duration = Duration::from_secs(1);

/// Compares two recordings.
///
/// Errors: one cannot be read, or holds no numbers of a client; they are of different clients.
pub fn compared(a: &Path, b: &Path, tell: &mut Tell<'_>) -> Result<Compared> {
    let mut notes = Vec::new();
    let mut read = |file: &Path, which: &str| -> Result<Recording> {
        let course = spans(file, None, Period::new(None, None), PIECE, tell)?;
        notes.extend(course.notes.iter().map(|it| format!("{which}: {it}")));
        Ok(recording(&course))
    };
    let (a, b) = (read(a, "A")?, read(b, "B")?);
    match why(&a, &b) {
        Ok(why) => Ok(Compared { why, notes }),
        Err(error @ Incomparable::NoNumbers { .. }) => bail!(
            "{error}: record it by fullclock watch --record FILE --client pgbench -- pgbench -P 1 ..., or with another client or --metric"
        ),
        Err(error) => Err(error.into()),
    }
}

fn recording(course: &Course) -> Recording {
    Recording {
        seconds: course.spans.iter().map(Second::of).collect(),
        metric: course.metric.clone(),
        every_s: course.every_ns as f64 / 1e9,
        has_command: course.has_command,
    }
}
