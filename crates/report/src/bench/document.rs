//! A result, and a comparison of results, as documents.

use super::comparison::{clock, verdict};
use super::{Report, arms, commits, doubts};
use crate::document::{Block, Document, Text};
use lab::compare::Side;
use lab::comparison::Comparison;
use lab::doubt::Raised;

/// A result: what can be said, why, what was measured, and why to trust it less.
pub fn document(report: &Report<'_>) -> Document {
    let record = report.record;
    let mut document = Document::new(record.id.clone());
    let forbidding = report.comparisons.first().map_or(&[][..], |it| &it.verdict.forbidding);
    if let Some(it) = report.comparisons.first() {
        conclusion(&mut document, it);
    } else if let [only] = &report.summaries[..] {
        document.paragraph(Text::strong(arms::short(only, record.pieces)));
    }
    if let Some(cause) = &report.commits {
        document.labelled("why", commits::verdict_text(cause));
    }
    document.heading("Measured");
    for (arm, summary) in record.arms.iter().zip(&report.summaries) {
        document.labelled(&*arm.name, arms::described(arm));
        document.labelled("", arms::short(summary, record.pieces));
    }
    doubts_of(&mut document, &record.doubts, forbidding);
    document
}

/// What `fullclock compare` says. The sides are arms of one result, or of the results named in `given`.
pub fn compared(found: &[Comparison], sides: &[Side<'_>], given: &[String]) -> Document {
    let mut document = Document::new("fullclock compare");
    found.iter().for_each(|it| conclusion(&mut document, it));
    document.heading("Measured");
    for (at, side) in sides.iter().enumerate() {
        let given = given.get(at).or(given.first()).map_or("", String::as_str);
        let arm = side.record.arms.get(side.arm).map_or_else(String::new, arms::described);
        document.labelled(side.name, format!("{given}: {arm}, began {}", side.record.began));
    }
    for it in found {
        doubts_of(&mut document, &it.doubts, &it.verdict.forbidding);
    }
    document
}

fn conclusion(document: &mut Document, it: &Comparison) {
    document.paragraph(Text::strong(verdict(it)));
    let forbidding: Vec<&Raised> = it.verdict.forbidding.iter().collect();
    for line in doubts::lines(&forbidding) {
        document.labelled("because", line);
    }
    document.labelled("clock", clock(it));
}

fn doubts_of(document: &mut Document, raised: &[Raised], forbidding: &[Raised]) {
    let others: Vec<&Raised> = raised.iter().filter(|it| !forbidding.contains(it)).collect();
    let lines = doubts::lines(&others);
    if !lines.is_empty() {
        document.heading("Doubts");
        document.push(Block::List(lines.into_iter().map(Text::from).collect()));
    }
}
