//! Writing a text into the table of an earlier one.
//!
//! A source that prints tables prints the same rows and columns for days: then only cells are written. When a
//! CPU went offline or a device came, the table is made again.

use super::Table;
use crate::{Fact, Missing};

/// The text that made no sense, and what should have been there.
pub(super) struct Unfit<'t> {
    pub(super) found: &'t [u8],
    pub(super) expected: &'static str,
}

/// Whether a text had the rows and columns of the table that it was written into.
#[derive(PartialEq)]
pub(super) enum Shape {
    Same,
    Other,
}

/// How one source is read.
pub(super) struct Source<'s> {
    /// Its path, for messages.
    pub(super) path: &'s str,
    /// What it printed.
    pub(super) text: &'s [u8],
    /// `CLOCK_MONOTONIC_RAW` in nanoseconds.
    pub(super) read_at: u64,
}

impl<'s> Source<'s> {
    /// Has `write` write the text into the table; where it has another shape, into the table that `make` makes
    /// of it. A text that makes no sense leaves a reason instead of a table.
    pub(super) fn refill(
        &self,
        into: &mut Fact<Table>,
        write: impl Fn(&'s [u8], &mut Table) -> Result<Shape, Unfit<'s>>,
        make: impl Fn(&'s [u8]) -> Result<Table, Unfit<'s>>,
    ) {
        let written = self.whole().and_then(|text| {
            if let Ok(table) = into {
                table.begin(self.read_at);
                if write(text, table)? == Shape::Same {
                    return Ok(());
                }
            }
            let mut table = make(text)?;
            table.begin(self.read_at);
            if write(text, &mut table)? == Shape::Other {
                let expected = "the same CPUs and columns in all of its lines";
                return Err(Unfit { found: text, expected });
            }
            *into = Ok(table);
            Ok(())
        });
        if let Err(Unfit { found, expected }) = written {
            *into = Err(malformed(self.path, found, expected));
        }
    }

    /// The text, which was cut where its last line does not end.
    fn whole(&self) -> Result<&'s [u8], Unfit<'s>> {
        if self.text.ends_with(b"\n") {
            return Ok(self.text);
        }
        let last = self.text.rsplit(|it| *it == b'\n').next().unwrap_or_default();
        Err(Unfit { found: last, expected: "lines, the last one whole" })
    }
}

/// A text that makes no sense, however long it is.
fn malformed(path: &str, found: &[u8], expected: &'static str) -> Missing {
    /// More than [`Missing::malformed`] shows.
    const LONGEST: usize = 400;
    let found = String::from_utf8_lossy(found.get(..LONGEST).unwrap_or(found));
    Missing::malformed(path, &found, expected)
}
