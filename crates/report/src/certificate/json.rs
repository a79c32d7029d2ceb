//! What a certificate says: `schemas/certificate-3.json`.

use super::cautions::cautions;
use super::placed::Placed;
use super::{Certificate, Change, Moment, sha256};
use crate::bench::ComparisonView;
use crate::change::{Recorded, Write};
use crate::diagnosis::recorded;
use crate::json::{Head, Opening, Time, pretty};
use lab::held::Held;
use lab::record::Fingerprint;
use lab::summary::Summary;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Result;
use std::borrow::Cow;
use std::path::Path;

/// What the page says, without the trials: the result files have those.
#[derive(Serialize, JsonSchema)]
pub(crate) struct CertificateDocument<'a> {
    #[serde(flatten)]
    opening: Opening<'a, 3>,
    /// When the page was written.
    written: Time<'a>,
    /// The page.
    file: String,
    /// What may be said, in one sentence.
    verdict: String,
    /// Reasons to doubt that the change made the difference.
    cautions: Vec<String>,
    comparison: ComparisonView<'a>,
    before: OneMoment<'a>,
    after: OneMoment<'a>,
    /// The change from the journal; null where none was named.
    change: Option<Changed<'a>>,
    /// The files of the results.
    #[schemars(length(min = 1, max = 2))]
    data: Vec<File<'a>>,
}

/// One side of the comparison.
#[derive(Serialize, JsonSchema)]
struct OneMoment<'a> {
    /// The id of the result.
    result: &'a str,
    /// What it is called in the comparison.
    arm: &'a str,
    /// When its trials began.
    began: Time<'a>,
    /// The version of the program that ran them.
    fullclock: &'a str,
    summary: &'a Summary,
    /// Means over the trials.
    ledger: Vec<Line<'a>>,
    /// Settings by name.
    machine: &'a Fingerprint,
    /// Who held the clock down when the result began, as an audit of that moment says; null in results of older versions.
    held: Option<Vec<HeldDown<'a>>>,
}

/// A chain of the diagnosis.
#[derive(Serialize, JsonSchema)]
struct HeldDown<'a> {
    /// In words.
    sentence: String,
    #[serde(flatten)]
    held: &'a Held,
}

/// A line of the ledger.
#[derive(Serialize, JsonSchema)]
struct Line<'a> {
    /// The id of the line.
    loss: &'a str,
    /// Which part of it; empty where it is one thing.
    part: &'a str,
    /// Of the CPUs' time.
    share: f64,
}

/// A change.
#[derive(Serialize, JsonSchema)]
struct Changed<'a> {
    #[serde(flatten)]
    recorded: Recorded<'a>,
    /// What the next boot will do; null of a change that is reverted.
    lasts: Option<String>,
    writes: Vec<Written<'a>>,
    journal: Lines,
}

/// A write of a change.
#[derive(Serialize, JsonSchema)]
struct Written<'a> {
    setting: &'a str,
    /// What was requested of the setting.
    value: &'a str,
    #[serde(flatten)]
    write: Write<'a>,
    /// What became of it, in words.
    standing: String,
}

/// The lines of a change in the journal.
#[derive(Serialize, JsonSchema)]
struct Lines {
    file: String,
    /// How many they are.
    lines: usize,
    /// How many lines the journal had: later ones are not looked at.
    of_first: usize,
    /// In bytes.
    size: usize,
    /// In lower-case hexadecimal digits.
    #[schemars(regex(pattern = "^[0-9a-f]{64}$"))]
    sha256: String,
}

/// A file.
#[derive(Serialize, JsonSchema)]
struct File<'a> {
    file: &'a str,
    /// In bytes.
    size: usize,
    /// In lower-case hexadecimal digits.
    #[schemars(regex(pattern = "^[0-9a-f]{64}$"))]
    sha256: &'a str,
}

/// The contents of the page at `file` as JSON.
pub fn json(head: &Head, certificate: &Certificate<'_>, file: &Path) -> Result<String> {
    let [before, after] = certificate.moments.each_ref().map(moment);
    let data = certificate.data.iter();
    let data = data.map(|it| File { file: &it.name, size: it.size, sha256: &it.sha256 });
    pretty(&CertificateDocument {
        opening: head.opening(),
        written: Time(Cow::Borrowed(&certificate.written)),
        file: file.display().to_string(),
        verdict: certificate.verdict(),
        cautions: cautions(certificate),
        comparison: ComparisonView::of(certificate.comparison),
        before,
        after,
        change: certificate.change.map(changed),
        data: data.collect(),
    })
}

fn moment<'a>(moment: &'a Moment<'_>) -> OneMoment<'a> {
    let line = |(loss, part, share): &'a (String, String, f64)| Line { loss, part, share: *share };
    let record = moment.side.record;
    OneMoment {
        result: &record.id,
        arm: moment.side.name,
        began: Time(Cow::Borrowed(&record.began)),
        fullclock: &record.version,
        summary: &moment.summary,
        ledger: moment.ledger.iter().map(line).collect(),
        machine: record.machine_of(moment.side.arm),
        held: record.held.as_ref().map(|it| it.iter().map(held_down).collect()),
    }
}

fn held_down(held: &Held) -> HeldDown<'_> {
    HeldDown { sentence: recorded(held) + ".", held }
}

fn changed(change: &Change) -> Changed<'_> {
    Changed {
        recorded: Recorded::of(&change.shown),
        lasts: change.lasts(),
        writes: change.placed().into_iter().map(written).collect(),
        journal: Lines {
            file: change.lines.path.display().to_string(),
            lines: change.lines.n_lines,
            of_first: change.lines.n_before,
            size: change.lines.text.len(),
            sha256: sha256(&change.lines.text),
        },
    }
}

fn written(it: Placed<'_>) -> Written<'_> {
    Written {
        setting: it.setting,
        value: it.value,
        write: Write::of(it.write),
        standing: it.standing,
    }
}
