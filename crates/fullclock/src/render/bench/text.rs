//! A result and its comparisons as text.

use super::comparison::{comparison, doubts};
use super::quantity::{percent, quantity};
use super::{Report, arms, peers};
use crate::output::Style;
use crate::render::page::{BOLD, Page};
use lab::comparison::{Comparison, Ranked};

/// One result.
pub(crate) fn result(report: &Report<'_>, style: Style) -> String {
    let mut page = Page::new(style);
    let arms = || report.record.arms.iter().zip(&report.summaries);
    if report.ranking.is_empty() && report.comparisons.is_empty() {
        arms().for_each(|(arm, summary)| arms::whole(&mut page, arm, summary));
    } else if !report.comparisons.is_empty() {
        for (arm, summary) in arms() {
            let name = page.paint(BOLD, &format!("{:<7}", arm.name));
            page.line(&format!("{name} {}", arms::described(arm)));
            page.labelled(8, "", &arms::short(summary));
        }
        page.line("");
    }
    ranking(&mut page, report);
    let forbidding = report.comparisons.first().map_or(&[][..], |it| &it.verdict.forbidding);
    report.comparisons.iter().for_each(|it| comparison(&mut page, it));
    doubts(&mut page, &report.record.doubts, forbidding);
    if let Some(standing) = &report.peers {
        page.labelled(14, "  peers", &peers::words(standing));
    }
    if let Some(shortfall) = &report.shortfall {
        page.labelled(14, "  until", shortfall);
    }
    if let Some(file) = report.file {
        page.labelled(14, "  kept in", &file.display().to_string());
    }
    page.finish()
}

/// What `fullclock compare` says.
pub(crate) fn comparisons(found: &[Comparison], style: Style) -> String {
    let mut page = Page::new(style);
    for (at, it) in found.iter().enumerate() {
        if at > 0 {
            page.line("");
        }
        comparison(&mut page, it);
        // Which doubts forbid a claim is in its sentence, also those that no record holds.
        doubts(&mut page, &it.doubts, &it.verdict.forbidding);
    }
    page.finish()
}

fn ranking(page: &mut Page, report: &Report<'_>) {
    if report.ranking.is_empty() {
        return;
    }
    let unit =
        report.summaries.first().and_then(|it| it.figures.first()).map_or("", |it| &*it.unit);
    for Ranked { arm, median, against_others, corrected_p: _, is_claimed } in &report.ranking {
        let name = page.paint(BOLD, &format!("{arm:<10}"));
        let against = against_others.value().map_or_else(String::new, |it| {
            let way = if it.change < 0.0 { "faster" } else { "slower" };
            if *is_claimed {
                let (change, low, high) = (it.change.abs(), it.interval.low, it.interval.high);
                let ends = [low.abs(), high.abs()];
                let (low, high) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
                format!(
                    "{} % {way} than the others ({} to {} %)",
                    percent(change),
                    percent(low),
                    percent(high)
                )
            } else {
                "not told apart from the others".to_owned()
            }
        });
        page.line(&format!("{name}{:>10}   {against}", quantity(*median, unit, None)));
    }
}
