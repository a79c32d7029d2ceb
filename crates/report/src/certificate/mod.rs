//! A certificate: what one change did, before and after, as a document and as JSON (`schemas/certificate-1.json`).
//!
//! The verdict is that of `fullclock compare`. Whether the change caused the difference is a separate question: [`cautions`]
//! lists the reasons to doubt it.

mod cautions;
mod data;
mod document;
#[cfg(test)]
pub(crate) mod fixture;
mod moments;
mod placed;
#[cfg(test)]
mod tests;

pub use data::{Data, sha256};
pub use document::{document, is_certificate, summary};
pub use placed::Change;

use crate::bench::Manner;
use crate::change::{state_word, write_json};
use crate::json::{SCHEMA_VERSION, pretty};
use cautions::cautions;
use lab::compare::Side;
use lab::comparison::Comparison;
use lab::doubt::Raised;
use moments::Moment;
use placed::Placed;
use serde_json::{Value, json};
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
        let words = crate::bench::verdict(self.comparison, self.manner());
        let mut letters = words.chars();
        letters.next().map_or_else(String::new, |it| it.to_uppercase().chain(letters).collect())
    }

    /// Doubts that forbid a claim, and the others.
    fn doubts(&self) -> [Vec<String>; 2] {
        let forbidding = &self.comparison.verdict.forbidding;
        let others = self.comparison.doubts.iter().filter(|it| !forbidding.contains(it));
        let lines = |doubts: Vec<&Raised>| crate::bench::doubt_lines(&doubts, self.manner());
        [lines(forbidding.iter().collect()), lines(others.collect())]
    }
}

/// The contents of the page at `file` as JSON, without the trials: the result files have those.
pub fn json(certificate: &Certificate<'_>, file: &Path) -> serde_json::Result<String> {
    let [before, after] = certificate.moments.each_ref().map(moment_json);
    let data = certificate.data.iter();
    let data = data.map(|it| json!({ "file": it.name, "size": it.size, "sha256": it.sha256 }));
    pretty(&json!({
        "schema_version": SCHEMA_VERSION,
        "fullclock": env!("CARGO_PKG_VERSION"),
        "written": certificate.written,
        "file": file.display().to_string(),
        "verdict": certificate.verdict(),
        "cautions": cautions(certificate),
        "comparison": certificate.comparison,
        "before": before,
        "after": after,
        "change": certificate.change.map(change_json),
        "data": data.collect::<Vec<_>>(),
    }))
}

fn moment_json(moment: &Moment<'_>) -> Value {
    let line = |(loss, part, share): &(String, String, f64)| json!({ "loss": loss, "part": part, "share": share });
    json!({
        "result": moment.side.record.id,
        "arm": moment.side.name,
        "began": moment.side.record.began,
        "fullclock": moment.side.record.version,
        "summary": moment.summary,
        "ledger": moment.ledger.iter().map(line).collect::<Vec<_>>(),
        "machine": moment.side.record.machine,
    })
}

fn change_json(change: &Change) -> Value {
    let written = |it: &Placed<'_>| {
        let mut value = write_json(it.write);
        value["setting"] = it.setting.into();
        value["value"] = it.value.into();
        value["standing"] = it.standing.as_str().into();
        value
    };
    let recorded = &change.shown.recorded;
    json!({
        "id": recorded.id,
        "began_s": recorded.when.as_secs_f64(),
        "command": recorded.command,
        "state": state_word(&recorded.state),
        "is_of_this_boot": change.shown.is_of_this_boot,
        "lasts": change.lasts(),
        "writes": change.placed().iter().map(written).collect::<Vec<_>>(),
        "journal": {
            "file": change.lines.path.display().to_string(),
            "lines": change.lines.n_lines,
            "of_first": change.lines.n_before,
            "size": change.lines.text.len(),
            "sha256": sha256(&change.lines.text),
        },
    })
}
