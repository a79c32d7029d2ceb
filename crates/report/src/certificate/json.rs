//! A certificate as JSON: `schemas/certificate-1.json`.

use super::cautions::cautions;
use super::moments::Moment;
use super::placed::Placed;
use super::{Certificate, Change, sha256};
use crate::change::{state_word, write_json};
use crate::json::{SCHEMA_VERSION, pretty};
use serde_json::{Result, Value, json};
use std::path::Path;

/// Everything that the page at `file` says, but for the trials, which are in the results.
pub fn certificate(certificate: &Certificate<'_>, file: &Path) -> Result<String> {
    let [before, after] = certificate.moments.each_ref().map(moment);
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
        "change": certificate.change.map(change),
        "data": data.collect::<Vec<_>>(),
    }))
}

fn moment(moment: &Moment<'_>) -> Value {
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

fn change(change: &Change) -> Value {
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
