//! A result and its comparisons as text, how the machine stands to others with the same processor, and the list of workloads.

use super::comparison::comparison;
use super::doubts::doubts;
use super::quantity::{percents, quantity};
use super::{Report, arms, commits};
use crate::Style;
use crate::harmless::harmless;
use crate::page::{BOLD, Page};
use lab::compare::Side;
use lab::comparison::{Comparison, Ranked};
use lab::known::Known;
use lab::peers::Standing;
use lab::summary::summary;
use lab::workloads::WORKLOADS;

/// A result as text.
pub fn result(report: &Report<'_>, style: Style) -> String {
    let mut page = Page::new(style);
    let arms = || report.record.arms.iter().zip(&report.summaries);
    if report.ranking.is_empty() && report.comparisons.is_empty() {
        arms().for_each(|(arm, summary)| arms::whole(&mut page, arm, summary));
    } else if !report.comparisons.is_empty() {
        for (arm, summary) in arms() {
            named(&mut page, &arm.name, &arms::described(arm));
            page.paragraph(8, &arms::short(summary, report.record.pieces));
        }
        page.line("");
    }
    ranking(&mut page, report);
    let forbidding = report.comparisons.first().map_or(&[][..], |it| &it.verdict.forbidding);
    report.comparisons.iter().for_each(|it| comparison(&mut page, it));
    doubts(&mut page, &report.record.doubts, forbidding);
    if let Some(verdict) = &report.commits {
        page.labelled(14, "  why", &commits::verdict_text(verdict));
    }
    if let Some(standing) = &report.peers {
        page.labelled(14, "  peers", &standing_text(standing));
    }
    if let Some(shortfall) = &report.shortfall {
        page.labelled(14, "  until", shortfall);
    }
    if let Some(file) = report.file {
        page.labelled(14, "  kept in", &file.display().to_string());
    }
    for recording in &report.recordings {
        let shown = format!("fullclock watch --replay {}", recording.display());
        page.labelled(14, "  see also", &shown);
    }
    page.finish()
}

/// The output of `fullclock compare`. The sides are arms of one result, or of the results named in `given`.
pub fn comparisons(
    found: &[Comparison],
    sides: &[Side<'_>],
    given: &[String],
    style: Style,
) -> String {
    let mut page = Page::new(style);
    for (at, Side { name, record, arm }) in sides.iter().enumerate() {
        named(&mut page, name, given.get(at).or(given.first()).map_or("", String::as_str));
        let described = record.arms.get(*arm).map_or_else(String::new, arms::described);
        page.paragraph(8, &format!("{described}, began {}", record.began));
        if let Some(summary) = summary(record, *arm) {
            page.paragraph(8, &arms::short(&summary, record.pieces));
        }
    }
    page.line("");
    for (at, it) in found.iter().enumerate() {
        if at > 0 {
            page.line("");
        }
        comparison(&mut page, it);
        // The verdict also names forbidding doubts that are in neither record.
        doubts(&mut page, &it.doubts, &it.verdict.forbidding);
    }
    page.finish()
}

/// The name of an arm and its description on one line.
fn named(page: &mut Page, name: &str, what: &str) {
    let name = page.paint(BOLD, &format!("{name:<7}"));
    page.line(&format!("{name} {}", harmless(what)));
}

fn ranking(page: &mut Page, report: &Report<'_>) {
    let Some(first) = report.summaries.first().filter(|_| !report.ranking.is_empty()) else {
        return;
    };
    let figure = first.figures.first().map_or("", |it| &*it.name);
    let trials = || report.summaries.iter().map(|it| it.trials);
    let n_trials = match (trials().min().unwrap_or(0), trials().max().unwrap_or(0)) {
        (least, most) if least == most => most.to_string(),
        (least, most) => format!("{least} to {most}"),
    };
    page.line(&format!("{}: median {figure}, {n_trials} trials of each", first.workload));
    let unit =
        report.summaries.first().and_then(|it| it.figures.first()).map_or("", |it| &*it.unit);
    for Ranked { arm, median, against_others, corrected_p: _, is_claimed } in &report.ranking {
        let name = page.paint(BOLD, &format!("{arm:<10}"));
        let against = against_others.value().map_or_else(String::new, |it| {
            let way = if it.change < 0.0 { "faster" } else { "slower" };
            if *is_claimed {
                let ends = [it.interval.low.abs(), it.interval.high.abs()];
                let shares = [it.change.abs(), ends[0].min(ends[1]), ends[0].max(ends[1])];
                let [change, low, high] = percents(shares, it.interval.half_width());
                format!("{change} % {way} than the others ({low} to {high} %)")
            } else {
                "no difference from the others found".to_owned()
            }
        });
        page.line(&format!("{name}{:>10}   {against}", quantity(*median, unit, None)));
    }
}

/// Every workload with its title and the options it accepts.
pub fn list(style: Style) -> String {
    const COLUMN: usize = 16;
    let mut page = Page::new(style);
    for workload in WORKLOADS {
        let id = page.paint(BOLD, &format!("{:COLUMN$}", workload.id));
        let takes: Vec<&str> = workload.takes.iter().map(|it| it.option()).collect();
        page.line(&format!("{id}{}", workload.title));
        page.labelled(COLUMN, "", &format!("takes {}", takes.join(", ")));
    }
    page.line("");
    page.paragraph(
        0,
        "`fullclock explain WORKLOAD` says what it does, what moves its figures and what it cannot know.",
    );
    page.finish()
}

pub(super) fn standing_text(found: &Known<Standing>) -> String {
    let it = match found {
        Known::Value(it) => it,
        Known::Missing { missing } => return format!("unknown: {missing}"),
    };
    let Standing { speed, model, n_peers, median } = it;
    let whom = match n_peers {
        1 => "of its one peer".to_owned(),
        n => format!("of the median of its {n} peers"),
    };
    let percent = it.share() * 100.0;
    let duty = it.duty_in_eighths().map_or_else(String::new, |eighths| {
        let duty = f64::from(eighths) * 12.5;
        format!("; a clock modulated to a duty cycle of {duty} % would be that slow")
    });
    format!(
        "{speed:.0} M/s is {percent:.1} % {whom} with the same processor ({model}), {median:.0} M/s{duty}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stands(speed: f64, n_peers: usize, median: f64) -> Known<Standing> {
        let model = "Intel(R) Xeon(R) CPU E5-2690 0 @ 2.90GHz".to_owned();
        Known::Value(Standing { speed, model, n_peers, median })
    }

    #[test]
    fn the_published_pair_is_as_slow_as_a_duty_cycle_of_a_quarter() {
        let found = stands(673.0, 1, 2713.0);
        assert_eq!(
            standing_text(&found),
            "673 M/s is 24.8 % of its one peer with the same processor (Intel(R) Xeon(R) CPU E5-2690 0 @ 2.90GHz), \
             2713 M/s; a clock modulated to a duty cycle of 25 % would be that slow"
        );
    }

    #[test]
    fn a_healthy_machine_is_like_the_middle_of_its_peers() {
        let found = stands(707.0, 3, 700.0);
        let text = standing_text(&found);
        assert!(text.starts_with("707 M/s is 101.0 % of the median of its 3 peers"), "{text}");
        assert!(text.ends_with(", 700 M/s"), "{text}");
    }

    #[test]
    fn who_has_no_peers_is_told_why() {
        let none = Known::Missing { missing: "none of 4 peers has this processor, C".to_owned() };
        assert_eq!(standing_text(&none), "unknown: none of 4 peers has this processor, C");
    }
}
