//! A certificate: what one change did, before and after, as a page for a browser, as text and as JSON.
//!
//! The verdict is that of `fullclock compare`, word for word. Whether the change made the difference is another question:
//! [`cautions`] says what speaks against it.

mod cautions;
mod data;
#[cfg(test)]
pub(crate) mod fixture;
mod html;
mod json;
mod moments;
mod placed;
mod repeat;
#[cfg(test)]
mod tests;
mod text;

pub use data::{Data, sha256};
pub use html::{is_certificate, page};
pub use json::certificate as json;
pub use placed::Change;
pub use text::certificate as text;

use lab::compare::Side;
use lab::comparison::Comparison;
use moments::Moment;

/// What a certificate is made of.
pub struct Certificate<'a> {
    /// Before and after.
    moments: [Moment<'a>; 2],
    comparison: &'a Comparison,
    /// The files of the results: one of both moments, or one of each.
    data: &'a [Data],
    /// The change, where it was named.
    change: Option<&'a Change>,
    /// When it is written, as RFC 3339 writes it.
    written: String,
}

impl<'a> Certificate<'a> {
    /// Of two sides and what can be said of them. Error: the name of a side that has no figure.
    pub fn of(
        [before, after]: [Side<'a>; 2],
        comparison: &'a Comparison,
        data: &'a [Data],
        change: Option<&'a Change>,
        written: String,
    ) -> Result<Certificate<'a>, &'a str> {
        let moment = |side: Side<'a>| Moment::of(side).ok_or(side.name);
        let moments = [moment(before)?, moment(after)?];
        Ok(Certificate { moments, comparison, data, change, written })
    }

    /// Whether both moments are arms of one result.
    fn is_one_result(&self) -> bool {
        self.data.len() == 1
    }

    /// The verdict of `fullclock compare`, as a sentence.
    fn verdict(&self) -> String {
        let words = crate::bench::verdict(self.comparison);
        let mut letters = words.chars();
        letters.next().map_or_else(String::new, |it| it.to_uppercase().chain(letters).collect())
    }

    /// How the clocks differ and how much of the difference that explains.
    fn clock(&self) -> String {
        format!("The clock: {}.", crate::bench::clock_words(self.comparison))
    }

    /// Those that forbid a claim, and the others.
    fn doubts(&self) -> [Vec<String>; 2] {
        let forbidding = &self.comparison.verdict.forbidding;
        let others = self.comparison.doubts.iter().filter(|it| !forbidding.contains(it));
        let lines = crate::bench::doubt_lines;
        [lines(&forbidding.iter().collect::<Vec<_>>()), lines(&others.collect::<Vec<_>>())]
    }
}
