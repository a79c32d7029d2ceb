//! A study as one page for a browser.

mod charts;
mod sections;
mod timeline_chart;

use super::{Study, prose};
use crate::html::markup::Markup;
use crate::html::{document, list};
use lab::experiment::analysis::WorkloadAnalysis;

pub(super) fn page(study: &Study<'_>) -> String {
    let body = [sections::header(study), main(study), sections::footer(study)];
    document(&prose::verdict(study), body)
}

fn main(study: &Study<'_>) -> Markup {
    let workloads = study.analysis.workloads.iter().map(|it| of_workload(study, it));
    let sections = workloads.chain([
        list("Trials that failed", &prose::failures(study)),
        list("Doubts", &prose::doubts(study.record)),
        sections::machine(study),
        sections::repeat(study),
    ]);
    Markup::element("main", &[], sections)
}

fn of_workload(study: &Study<'_>, workload: &WorkloadAnalysis) -> Markup {
    let content = [
        Markup::element("h2", &[], [Markup::text(&workload.workload)]),
        Markup::element(
            "p",
            &[("class", "quiet")],
            [Markup::text(&prose::figure(study, workload))],
        ),
        sections::findings(study, workload),
        charts::effects(study, workload),
        charts::trials(study, workload),
        charts::ledgers(study, workload),
        timeline_chart::chart(study, workload),
        sections::arms(study, workload),
    ];
    Markup::element("section", &[], content)
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    fn shown(record: &lab::record::Record) -> String {
        let analysis = fixture::analysis(record);
        page(&Study::of(record, &analysis).unwrap())
    }

    #[test]
    fn a_page_holds_everything_and_asks_for_nothing() {
        let (record, _) = fixture::study();
        let page = shown(&record);
        for part in [
            "<h1>governor=performance makes cpu-loop 56\u{a0}% faster",
            "fullclock apply governor=performance idle-state=C6:on",
            "Effects",
            "Every trial",
            "Where the time went",
            "From trial to trial",
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
        let page = shown(&record);
        assert!(!page.contains("<script"));
        assert!(page.contains("&lt;script&gt;alert(1)"));
    }

    #[test]
    fn every_trial_is_a_point() {
        let (record, _) = fixture::study();
        let good = record.trials.iter().filter(|it| it.failed.is_none()).count();
        assert_eq!(shown(&record).matches("<circle class=\"trial").count(), good);
    }

    #[test]
    fn five_thousand_trials_are_at_most_eight_megabytes() {
        let (record, _) = fixture::study();
        let design = &record.experiment.as_ref().unwrap().design;
        let record = fixture::record(design, 313);
        assert_eq!(record.trials.len(), 5008);
        assert!(shown(&record).len() <= 8 << 20);
    }
}
