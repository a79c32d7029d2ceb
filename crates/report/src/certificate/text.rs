//! What a certificate says, in a few lines, and where it is.

use super::Certificate;
use super::cautions::cautions;
use crate::Style;
use crate::page::{BOLD, Page};
use std::path::Path;

/// Columns of a label.
const LABEL: usize = 14;

/// The verdict first, the file last.
pub fn certificate(certificate: &Certificate<'_>, file: &Path, style: Style) -> String {
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
