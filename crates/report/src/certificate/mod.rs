//! A certificate: what one change did, before and after, as HTML, text and JSON.
//!
//! The verdict is that of `fullclock compare`. Whether the change caused the difference is a separate question: [`cautions`]
//! lists the reasons to doubt it.

mod cautions;
mod data;
#[cfg(test)]
pub(crate) mod fixture;
mod html;
mod json;
mod moments;
mod placed;
#[cfg(test)]
mod tests;

pub use data::{Data, sha256};
pub use html::{is_certificate, page};
pub(super) use json::CertificateDocument;
pub use json::json;
pub use placed::Change;

use crate::Style;
use crate::page::{BOLD, Page};
use cautions::cautions;
use lab::compare::Side;
use lab::comparison::Comparison;
use moments::Moment;
use std::path::Path;

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
}

impl<'a> Certificate<'a> {
    /// Makes a certificate from two sides and their comparison. Error: the name of a side without a result.
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

    /// Doubts that forbid a claim, and the others.
    fn doubts(&self) -> [Vec<String>; 2] {
        let forbidding = &self.comparison.verdict.forbidding;
        let others = self.comparison.doubts.iter().filter(|it| !forbidding.contains(it));
        let lines = crate::bench::doubt_lines;
        [lines(&forbidding.iter().collect::<Vec<_>>()), lines(&others.collect::<Vec<_>>())]
    }
}

/// Columns for a label.
const LABEL: usize = 14;

/// A certificate as text, with the path of its page.
pub fn text(certificate: &Certificate<'_>, file: &Path, style: Style) -> String {
    let mut page = Page::new(style);
    page.painted_paragraph(BOLD, &certificate.verdict());
    page.labelled(LABEL, "  clock", &crate::bench::clock_words(certificate.comparison));
    let [forbidding, doubts] = certificate.doubts();
    let mut listed = |label: &str, lines: &[String]| {
        lines.iter().for_each(|it| page.labelled(LABEL, label, it));
    };
    listed("  forbids", &forbidding);
    listed("  doubt", &doubts);
    listed("  mind", &cautions(certificate));
    if let Some(change) = certificate.change {
        listed("  change", &[change.about()]);
    }
    listed("  page", &[file.display().to_string()]);
    page.finish()
}
