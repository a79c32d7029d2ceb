//! A certificate: what one change did, before and after, as a document and as JSON.
//!
//! The verdict is that of `fullclock compare`. Whether the change caused the difference is a separate question: [`cautions`]
//! lists the reasons to doubt it.

mod cautions;
mod data;
mod document;
#[cfg(test)]
pub(crate) mod fixture;
mod json;
mod moments;
mod placed;
#[cfg(test)]
mod tests;

pub use data::{Data, sha256};
pub use document::{document, summary};
pub(super) use json::CertificateDocument;
pub use json::json;
pub use placed::Change;

use crate::bench::Manner;
use lab::compare::Side;
use lab::comparison::Comparison;
use lab::doubt::Raised;
use moments::Moment;

/// The contents of a certificate.
pub struct Certificate<'a> {
    /// Before and after.
    moments: [Moment<'a>; 2],
    comparison: &'a Comparison,
    /// The result files: one for both moments, or one for each.
    data: &'a [Data],
    /// The change, if one was named.
    change: Option<&'a Change>,
    /// The time of writing (RFC 3339).
    written: String,
    /// The name of the machine that it was written on, whose journal has the change; empty if unknown.
    host: String,
}

impl<'a> Certificate<'a> {
    /// Makes a certificate from two sides and their comparison. Error: the name of a side without a result.
    pub fn of(
        [before, after]: [Side<'a>; 2],
        comparison: &'a Comparison,
        data: &'a [Data],
        change: Option<&'a Change>,
        written: String,
        host: String,
    ) -> Result<Certificate<'a>, &'a str> {
        let moment = |side: Side<'a>| Moment::of(side).ok_or(side.name);
        let moments = [moment(before)?, moment(after)?];
        Ok(Certificate { moments, comparison, data, change, written, host })
    }

    /// Whether both moments are arms of one result.
    fn is_one_result(&self) -> bool {
        self.data.len() == 1
    }

    /// How the trials were taken.
    fn manner(&self) -> Manner {
        let [before, _] = &self.moments;
        let manner = Manner::of(before.side.record);
        if self.is_one_result() { manner } else { manner.apart() }
    }

    /// The verdict of `fullclock compare`, as a sentence.
    fn verdict(&self) -> String {
        crate::wording::capital(&crate::bench::verdict(self.comparison, self.manner()))
    }

    /// Why to trust it less.
    fn doubts(&self) -> Vec<String> {
        let doubts: Vec<&Raised> = self.comparison.doubts.iter().collect();
        crate::bench::doubt_lines(&doubts, self.manner())
    }
}
