//! The text sections of the page and the table of arms.

use crate::experiment::{Study, prose};
use crate::html::markup::Markup;
use crate::html::{code, folded, paragraph, quiet, section, table};
use lab::experiment::analysis::{Recommendation, WorkloadAnalysis};
use lab::experiment::plan_file;

/// The verdict and the recommended command.
pub(super) fn header(study: &Study<'_>) -> Markup {
    let advice = prose::advice(study);
    let eyebrow = format!("fullclock experiment: {}", study.name());
    let size = format!(
        "{} trials of {} arms, began {}",
        study.record.trials.len(),
        study.record.arms.len(),
        study.record.began
    );
    let content = [
        quiet(&eyebrow),
        Markup::element("h1", &[], [Markup::text(&prose::verdict(study))]),
        paragraph(&advice.reason),
        advice.command.map_or_else(Markup::default, |it| code(&it)),
        prose::pareto(study).map_or_else(Markup::default, |it| paragraph(&it)),
        quiet(&size),
    ];
    Markup::element("header", &[], content)
}

/// The effects and interactions of a workload, in sentences.
pub(super) fn findings(study: &Study<'_>, workload: &WorkloadAnalysis) -> Markup {
    let mut items: Vec<Markup> = Vec::new();
    for effect in prose::effects(study, workload) {
        let beside = effect.beside.map_or_else(Markup::default, |it| {
            Markup::element("span", &[("class", "quiet beside")], [Markup::text(&it)])
        });
        let class = if effect.is_claimed { "" } else { "pale" };
        items.push(Markup::element(
            "li",
            &[("class", class)],
            [Markup::text(&effect.sentence), beside],
        ));
    }
    let together = prose::interactions(study, workload);
    items.extend(together.iter().map(|it| Markup::element("li", &[], [Markup::text(it)])));
    Markup::element("ul", &[("class", "findings")], items)
}

/// The settings of the machine.
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
    section("How to repeat it", [code(&prose::command_line(study)), details])
}

/// The study and the versions that ran it and wrote the page.
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

const NUMBERS: [&str; 6] = ["median", "change", "95 % interval", "clock", "power", "trials"];

/// The arms of a workload, in the order of the record.
pub(super) fn arms(study: &Study<'_>, workload: &WorkloadAnalysis) -> Markup {
    let rows = prose::rows(study, workload);
    let has_watts = rows.iter().any(|it| !it.watts.is_empty());
    let is_shown = |name: &&str| has_watts || *name != "power";
    let names = study.factors().map(|(_, it)| heading("", &it.name));
    let numbers = NUMBERS.iter().filter(|it| is_shown(it)).map(|it| heading("number", it));
    let head = Markup::element("tr", &[], names.chain(numbers));
    let chosen = match &study.analysis.recommendation {
        Recommendation::Change { levels, .. } => study.arm_with(workload, levels),
        _ => None,
    };
    let body = workload.arms.iter().zip(&rows).map(|(arm, row)| {
        let is_chosen = chosen.is_some_and(|it| it.arm == arm.arm);
        let class = match (is_chosen, row.is_unbeaten) {
            (true, _) => "chosen",
            (false, true) => "unbeaten",
            (false, false) => "",
        };
        line(row, class, has_watts)
    });
    let table = Markup::element(
        "table",
        &[],
        [Markup::element("thead", &[], [head]), Markup::element("tbody", &[], body)],
    );
    Markup::all([
        Markup::element("h3", &[], [Markup::text("Arms")]),
        Markup::element("p", &[("class", "quiet")], [Markup::text(&note(chosen.is_some(), &rows))]),
        Markup::all(
            prose::gaps(study, workload)
                .iter()
                .map(|it| Markup::element("p", &[("class", "quiet")], [Markup::text(it)])),
        ),
        // `tabindex` makes it scrollable by keyboard.
        Markup::element("div", &[("class", "scroll"), ("tabindex", "0")], [table]),
    ])
}

fn note(has_chosen: bool, rows: &[prose::ArmRow<'_>]) -> String {
    let chosen = if has_chosen { " The marked row is the recommended one." } else { "" };
    let is_some = rows.iter().any(|it| it.is_unbeaten);
    let unbeaten =
        if is_some { " In bold: no other combination beats it beyond doubt." } else { "" };
    format!("Changes are of time, against the first row; grey: not significant.{chosen}{unbeaten}")
}

fn heading(class: &str, words: &str) -> Markup {
    Markup::element("th", &[("scope", "col"), ("class", class)], [Markup::text(words)])
}

fn line(row: &prose::ArmRow<'_>, class: &str, has_watts: bool) -> Markup {
    let cell = |class: &str, words: &str| {
        Markup::element("td", &[("class", class)], [Markup::text(words)])
    };
    let change = if row.is_claimed { "number" } else { "number pale" };
    let mut cells: Vec<Markup> = row.levels.iter().map(|it| cell("", it)).collect();
    cells.extend([
        cell("number", &row.median),
        cell(change, &row.change),
        cell(change, &row.interval),
        cell("number", &row.clock),
    ]);
    if has_watts {
        cells.push(cell("number", &row.watts));
    }
    cells.push(cell("number", &row.trials));
    Markup::element("tr", &[("class", class)], cells)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::fixture;

    fn n_bold(pareto: &[usize]) -> usize {
        let (record, mut analysis) = fixture::study();
        analysis.recommendation = Recommendation::Unsettled { why: String::new() };
        analysis.pareto = pareto.to_vec();
        let study = Study::of(&record, &analysis).unwrap();
        arms(&study, &analysis.workloads[0]).into_string().matches("\"unbeaten\"").count()
    }

    #[test]
    fn what_is_unbeaten_stands_out_at_any_load_and_not_where_all_is() {
        assert_eq!(n_bold(&[4]), 2);
        assert_eq!(n_bold(&[0, 2, 4, 6]), 0);
    }
}
