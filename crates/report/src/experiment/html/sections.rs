//! The parts of the page that are words.

use crate::experiment::{Study, words};
use crate::html::markup::Markup;
use crate::html::prose::{code, folded, paragraph, quiet, section, table};
use lab::experiment::analysis::WorkloadAnalysis;
use lab::experiment::plan_file;

/// The verdict and what to do.
pub(super) fn header(study: &Study<'_>) -> Markup {
    let advice = words::advice(study);
    let eyebrow = format!("fullclock experiment: {}", study.name());
    let size = format!(
        "{} trials of {} arms, began {}",
        study.record.trials.len(),
        study.record.arms.len(),
        study.record.began
    );
    let content = [
        quiet(&eyebrow),
        Markup::element("h1", &[], [Markup::text(&words::verdict(study))]),
        paragraph(&advice.reason),
        advice.command.map_or_else(Markup::default, |it| code(&it)),
        words::pareto(study).map_or_else(Markup::default, |it| paragraph(&it)),
        quiet(&size),
    ];
    Markup::element("header", &[], content)
}

/// What was found of a workload, in sentences.
pub(super) fn findings(study: &Study<'_>, workload: &WorkloadAnalysis) -> Markup {
    let mut items: Vec<Markup> = Vec::new();
    for told in words::effects(study, workload) {
        let beside = told.beside.map_or_else(Markup::default, |it| {
            Markup::element("span", &[("class", "quiet beside")], [Markup::text(&it)])
        });
        let class = if told.is_claimed { "" } else { "pale" };
        items.push(Markup::element(
            "li",
            &[("class", class)],
            [Markup::text(&told.sentence), beside],
        ));
    }
    let together = words::interactions(study, workload);
    items.extend(together.iter().map(|it| Markup::element("li", &[], [Markup::text(it)])));
    Markup::element("ul", &[("class", "findings")], items)
}

/// What decides how fast the machine is.
pub(super) fn machine(study: &Study<'_>) -> Markup {
    let settings = &study.record.machine.0;
    if settings.is_empty() {
        return Markup::default();
    }
    let rows = settings.iter().map(|(name, value)| (&**name, vec![value.clone()]));
    let summary = format!("{} settings of the machine", settings.len());
    section("Machine", [folded(&summary, [table("machine", &[], rows)])])
}

/// The plan and the command line.
pub(super) fn repeat(study: &Study<'_>) -> Markup {
    let details = folded("plan.toml", [code(&plan_file::text(study.design()))]);
    section("How to repeat it", [code(&words::command_line(study)), details])
}

/// Who wrote it and of what.
pub(super) fn footer(study: &Study<'_>) -> Markup {
    let record = study.record;
    let words = format!(
        "{}, run by fullclock {}, written by fullclock {}",
        record.id,
        record.version,
        env!("CARGO_PKG_VERSION")
    );
    Markup::element("footer", &[], [quiet(&words)])
}
