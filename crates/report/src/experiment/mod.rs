//! What a study found: a document, JSON, and a table of its trials.
//!
//! All of them say the same sentences, which are made of the analysis in one place.

#[cfg(test)]
mod browser;
mod charts;
mod data;
mod document;
#[cfg(test)]
pub(crate) mod fixture;
mod json;
mod own;
mod planned;
mod prose;
mod study;
mod timeline;

pub use document::document;
pub(super) use json::{ExperimentDocument, ExperimentPlanDocument};
pub use json::{json, planned_json};
pub use planned::{Planned, planned};
pub use prose::i_know_of;
pub use study::Study;

use crate::document::Format;
use crate::json::Head;
use serde_json::Result;

/// Every file of a report, by its name.
pub fn files(head: &Head, study: &Study<'_>) -> Result<Vec<(&'static str, String)>> {
    let document = document(study);
    Ok(vec![
        ("report.html", document.render(Format::Html)),
        ("report.md", document.render(Format::Markdown)),
        ("report.json", json(head, study)?),
        ("trials.csv", data::trials(study)),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schemas::head;
    use lab::experiment::Shape;

    /// Too few blocks for a claim, effects without interactions, arms that are not all there.
    #[test]
    fn every_shape_of_a_study_has_every_file_and_no_number_that_is_none() {
        let (record, _) = fixture::study();
        for shape in [Shape::Full, Shape::OneAtATime, Shape::Fraction] {
            for n_blocks in [0, 1, 2, 9] {
                let mut design = record.experiment.as_ref().unwrap().design.clone();
                design.shape = shape;
                let record = fixture::record(&design, n_blocks);
                let analysis = fixture::analysis(&record);
                let files = files(&head(), &Study::of(&record, &analysis).unwrap()).unwrap();
                assert_eq!(files.len(), 4);
                for (name, text) in files {
                    for none in ["NaN", "inf ", "inf%", ">inf", "-0 %", "?="] {
                        let at =
                            text.find(none).map(|it| &text[it.saturating_sub(60)..it + none.len()]);
                        assert_eq!(at, None, "{shape:?} {n_blocks} {name}");
                    }
                }
            }
        }
    }
}
