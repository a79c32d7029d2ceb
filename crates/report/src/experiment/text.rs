//! A study as text for a terminal.

use super::{Study, prose};
use crate::Style;
use crate::page::{BOLD, Page};
use lab::experiment::analysis::WorkloadAnalysis;

const LABEL: usize = 14;

/// The verdict first, then what to do, then each workload, then why to trust it less.
pub fn study(study: &Study<'_>, style: Style) -> String {
    let mut page = Page::new(style);
    page.painted_paragraph(BOLD, &prose::verdict(study));
    let advice = prose::advice(study);
    page.labelled(LABEL, "  why", &advice.reason);
    if let Some(command) = &advice.command {
        page.labelled(LABEL, "  to do it", command);
    }
    if let Some(best) = prose::pareto(study) {
        page.labelled(LABEL, "  unbeaten", &best);
    }
    for workload in &study.analysis.workloads {
        page.line("");
        of_workload(&mut page, study, workload);
    }
    page.line("");
    for line in prose::failures(study) {
        page.labelled(LABEL, "  failed", &line);
    }
    for line in prose::doubts(study.record) {
        page.labelled(LABEL, "  doubt", &line);
    }
    page.labelled(LABEL, "  study", &format!("{}, began {}", study.record.id, study.record.began));
    page.finish()
}

fn of_workload(page: &mut Page, study: &Study<'_>, workload: &WorkloadAnalysis) {
    let heading = page.paint(BOLD, &workload.workload);
    page.line(&format!("{heading}: {}", prose::figure(study, workload)));
    for effect in prose::effects(study, workload) {
        page.labelled(LABEL, "  effect", &effect.sentence);
        if let Some(beside) = &effect.beside {
            page.paragraph(LABEL, beside);
        }
    }
    for sentence in prose::interactions(study, workload) {
        page.labelled(LABEL, "  together", &sentence);
    }
    arms(page, study, workload);
    for gap in prose::gaps(study, workload) {
        page.labelled(LABEL, "  missing", &gap);
    }
}

/// Numbers in front, because levels may be long.
fn arms(page: &mut Page, study: &Study<'_>, workload: &WorkloadAnalysis) {
    let rows = prose::rows(study, workload);
    let has_watts = rows.iter().any(|it| !it.watts.is_empty());
    let line = |[median, change, clock, watts, trials]: [&str; 5]| {
        let watts = if has_watts { format!("{watts:>9}") } else { String::new() };
        format!("  {median:>12}{change:>11}{clock:>11}{watts}{trials:>8}  ")
    };
    let heading = line(["median", "change", "clock", "power", "trials"]);
    page.labelled(heading.len(), &heading, &study.factor_names());
    for row in &rows {
        // A change that may not be claimed is no change.
        let change = if row.is_claimed { &*row.change } else { "" };
        let (trials, failed) = row.trials.split_once(", ").unwrap_or((&row.trials, ""));
        let numbers = line([&row.median, change, &row.clock, &row.watts, trials]);
        let mut what = row.levels.join(", ");
        if !failed.is_empty() {
            what.extend([" (", failed, ")"]);
        }
        page.labelled(numbers.len(), &numbers, &what);
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    #[test]
    fn a_study_fits_a_terminal_of_80_columns() {
        let (record, analysis) = fixture::study();
        let text =
            study(&Study::of(&record, &analysis).unwrap(), Style { color: false, width: 80 });
        assert!(text.lines().all(|it| it.chars().count() <= 80), "{text}");
        insta::assert_snapshot!(text);
    }
}
