//! A study as a document: the verdict and what to do, then each workload, then why to trust it less and how to repeat it.

use super::{Study, charts, prose, timeline};
use crate::document::{Align, Block, Document, Role, Table, Text};
use crate::machine;
use lab::experiment::analysis::{ArmAnalysis, Recommendation, WorkloadAnalysis};
use lab::experiment::plan_file;

/// The report of a study.
pub fn document(study: &Study<'_>) -> Document {
    let record = study.record;
    let mut document = Document::new(format!("fullclock experiment: {}", study.name()));
    document.paragraph(Text::strong(prose::verdict(study)));
    let advice = prose::advice(study);
    document.labelled("why", advice.reason);
    if let Some(command) = advice.command {
        document.labelled("apply", Text::code(command));
    }
    if let Some(best) = prose::pareto(study) {
        document.labelled("unbeaten", best);
    }
    let (n_trials, n_arms) = (record.trials.len(), record.arms.len());
    document.labelled("trials", format!("{n_trials} in {n_arms} combinations"));
    let began = format!("{}, began {}, fullclock {}", record.id, record.began, record.version);
    document.labelled("study", began);
    for workload in &study.analysis.workloads {
        of_workload(&mut document, study, workload);
    }
    let sentences = |it: Vec<String>| it.into_iter().map(Text::from).collect();
    document.list("Trials that failed", sentences(prose::failures(study)));
    document.list("Doubts", sentences(prose::doubts(record)));
    machine::section(&mut document, "Machine", &[("", &record.machine)]);
    document.heading("How to repeat it");
    document.push(Block::Code(prose::command_line(study)));
    let body = vec![Block::Code(plan_file::text(study.design()))];
    document.push(Block::Details { summary: "plan.toml".to_owned(), body });
    document
}

fn of_workload(document: &mut Document, study: &Study<'_>, workload: &WorkloadAnalysis) {
    document.heading(&*workload.workload);
    document.note(prose::figure(study, workload));
    let effects = prose::effects(study, workload).into_iter().map(|it| {
        let role = if it.is_claimed { Role::Plain } else { Role::Quiet };
        let sentence = Text::default().with(role, it.sentence);
        match it.beside {
            Some(beside) => sentence.with(Role::Quiet, format!(" ({beside})")),
            None => sentence,
        }
    });
    let together = prose::interactions(study, workload).into_iter().map(Text::from);
    document.push(Block::List(effects.chain(together).collect()));
    arms(document, study, workload);
    let charts = [
        charts::effects(study, workload),
        charts::trials(study, workload),
        charts::ledgers(study, workload),
        timeline::chart(study, workload),
    ];
    document.extend(charts.into_iter().flatten().map(Block::Chart));
}

/// The combinations of a workload, in the order of the record, and what no trial of them has.
fn arms(document: &mut Document, study: &Study<'_>, workload: &WorkloadAnalysis) {
    let rows = prose::rows(study, workload);
    let chosen = match &study.analysis.recommendation {
        Recommendation::Change { levels, .. } => study.arm_with(workload, levels),
        _ => None,
    };
    let remark = |(arm, row): (&ArmAnalysis, &prose::ArmRow)| match chosen {
        Some(chosen) if chosen.arm == arm.arm => "recommended",
        _ if row.is_unbeaten => "unbeaten",
        _ => "",
    };
    let remarks: Vec<&str> = workload.arms.iter().zip(&rows).map(remark).collect();
    let has_watts = rows.iter().any(|it| !it.watts.is_empty());
    let heading = study.labels();
    let columns = [
        (&*heading, Align::Left, true),
        ("median", Align::Right, true),
        ("change", Align::Right, true),
        ("interval", Align::Right, true),
        ("clock", Align::Right, true),
        ("power", Align::Right, has_watts),
        ("trials", Align::Right, true),
    ];
    let shown = columns.iter().filter(|it| it.2).map(|it| (it.0, it.1));
    let cells = rows.into_iter().zip(&remarks).map(|(row, remark)| {
        let all = cells(row, remark).into_iter().zip(&columns);
        all.filter(|(_, column)| column.2).map(|(cell, _)| cell).collect()
    });
    let table = Table::new(&shown.collect::<Vec<_>>(), cells);
    document.note(format!(
        "Changes are of {}, compared with the first combination; in parentheses: none shown. Intervals hold with 99 % for all \
         effects together, and so do those of all combinations.",
        workload.figure
    ));
    if remarks.contains(&"unbeaten") {
        document.note("Unbeaten: no other combination was shown to be faster.");
    }
    document.push(Block::Table(table));
    for gap in prose::gaps(study, workload) {
        document.note(gap);
    }
}

fn cells(row: prose::ArmRow, remark: &str) -> [Text; 7] {
    let name = match remark {
        "" => Text::from(row.label),
        remark => Text::strong(format!("{} ({remark})", row.label)),
    };
    let change = |words: String| match row.is_claimed || words.is_empty() {
        true => Text::from(words),
        false => Text::quiet(format!("({words})")),
    };
    [
        name,
        row.median.into(),
        change(row.change),
        change(row.interval),
        row.clock.into(),
        row.watts.into(),
        row.trials.into(),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;
    use crate::Style;
    use crate::document::Format;

    fn page(record: &lab::record::Record) -> String {
        let analysis = fixture::analysis(record);
        document(&Study::of(record, &analysis).unwrap()).render(Format::Html)
    }

    #[test]
    fn a_study_fits_a_terminal_of_80_columns() {
        let (record, analysis) = fixture::study();
        let style = Style { color: false, width: 80 };
        let study = Study::of(&record, &analysis).unwrap();
        let text = document(&study).render(Format::Text(style));
        assert!(text.lines().all(|it| it.chars().count() <= 80), "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn a_report_for_a_ticket_has_all_that_a_reader_asks_for() {
        let (record, analysis) = fixture::study();
        let study = Study::of(&record, &analysis).unwrap();
        insta::assert_snapshot!(document(&study).render(Format::Markdown));
    }

    #[test]
    fn a_page_holds_everything_and_asks_for_nothing() {
        let page = page(&fixture::study().0);
        for part in [
            "<h1>fullclock experiment: governor and C6</h1>",
            "<strong>governor=performance makes cpu-loop take 56\u{a0}% less time",
            "<code>fullclock apply governor=performance idle-state=C6:on</code>",
            "Effects",
            "Every trial",
            "elapsed (s)",
            "Where the time went",
            "From trial to trial",
            "clock, by the probe (GHz)",
            "Doubts",
            "Made Up 9000",
            "[factors]",
            "20261120T154305Z-governor-and-c6",
        ] {
            assert!(page.contains(part), "{part}");
        }
        // A fragment or an address would be something to fetch.
        for part in ["<script", "<link", "src=", "href=", "url(", "@import"] {
            assert!(!page.contains(part), "{part}");
        }
    }

    #[test]
    fn names_of_users_are_words_and_not_markup() {
        let (mut record, _) = fixture::study();
        const EVIL: &str = "</title></svg><script>alert(1)</script>\"'&";
        let design = &mut record.experiment.as_mut().unwrap().design;
        design.name = EVIL.to_owned();
        design.workloads[0] = EVIL.to_owned();
        design.factors[0].levels[0] = EVIL.to_owned();
        record.arms[0].name = EVIL.to_owned();
        record.trials[0].failed = Some(EVIL.to_owned());
        record.machine.0.insert(EVIL.to_owned(), EVIL.to_owned());
        let page = page(&record);
        assert!(!page.contains("<script"));
        assert!(page.contains("&lt;script&gt;alert(1)"));
    }

    #[test]
    fn every_trial_is_a_point() {
        let (record, _) = fixture::study();
        let good = record.trials.iter().filter(|it| it.failed.is_none()).count();
        assert_eq!(page(&record).matches("<title>trial ").count(), good);
    }

    #[test]
    fn five_thousand_trials_are_at_most_eight_megabytes() {
        let (record, _) = fixture::study();
        let design = &record.experiment.as_ref().unwrap().design;
        let record = fixture::record(design, 313);
        assert_eq!(record.trials.len(), 5008);
        assert!(page(&record).len() <= 8 << 20);
    }

    fn n_remarks(pareto: &[usize], remark: &str) -> usize {
        let (record, mut analysis) = fixture::study();
        analysis.workloads.truncate(1);
        if remark == "unbeaten" {
            analysis.recommendation = Recommendation::Unsettled { why: String::new() };
        }
        analysis.pareto = pareto.to_vec();
        let study = Study::of(&record, &analysis).unwrap();
        let text = document(&study).render(Format::Markdown);
        text.matches(&format!(" ({remark})** |")).count()
    }

    #[test]
    fn what_is_unbeaten_stands_out_at_any_load_and_not_where_all_is() {
        assert_eq!(n_remarks(&[4], "unbeaten"), 2);
        assert_eq!(n_remarks(&[0, 2, 4, 6], "unbeaten"), 0);
        assert_eq!(n_remarks(&[4], "recommended"), 1);
    }
}
