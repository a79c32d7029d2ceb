//! The page of machines that are written down.

use super::*;
use facts::Obstacle;
use facts::baseline::{Part, PartRatio};
use facts::counters::Counters;
use rules::finding::{Confidence, Severity};
use rules::interval::Interval;
use rules::watch::fake;

/// A machine of 2 CPUs after a second.
fn page_of(is_open: bool, by_cpu: bool) -> String {
    let host = ::host::view(&::host::Captured::excerpt("").unwrap());
    let counters = Counters::unread();
    let mut totals = Totals::since_boot(&host, &counters, by_cpu);
    let interval = Interval { host: &host, before: &counters, after: &counters };
    totals.add(&interval, &fake::reading(2, 3), Some(facts::Hertz(2_500_000_000)));
    let finding = ("slow-governor", Severity::High, Confidence::High);
    let taken =
        |share| Taken { check: "clock-modulation", lost: "clock", party: "firmware", share };
    let findings = Findings {
        found: vec![finding, finding],
        suppressed: vec![("turbo-off", Severity::Medium)],
        unknown: vec![Obstacle::Privilege, Obstacle::Guest, Obstacle::Guest],
        chains: vec![taken(0.75), taken(0.5)],
    };
    let labels = [("cpu_model", "a\"b\\c\nd".to_owned()), ("board", String::new())];
    page(
        &Told {
            version: "0.1.0",
            host: &labels,
            began: Some(1_795_177_600.5),
            online: &(0..2).collect(),
            totals: Some(&totals),
            speed: Some(0.25),
            baseline: Some(&standing()),
            findings: Some(&findings),
            by_cpu,
        },
        is_open,
    )
}

fn standing() -> Standing {
    let ratio = |(part, ratio)| PartRatio { part, ratio };
    Standing {
        version: facts::baseline::VERSION,
        boot: "b-1".to_owned(),
        at: "2026-05-14T08:00:00.000Z".to_owned(),
        n_boots: 15,
        ratios: [(Part::SingleCore, 0.81), (Part::Memory, 1.0)].map(ratio).to_vec(),
        slower: Vec::new(),
    }
}

#[test]
fn a_page_says_what_the_machine_is_where_its_time_went_and_what_was_found() {
    let text = page_of(false, false);
    for series in [
        r#"fullclock_build_info{version="0.1.0"} 1"#,
        r#"fullclock_host_info{cpu_model="a\"b\\c\nd"} 1"#,
        "fullclock_start_time_seconds 1795177600.5",
        "fullclock_online_cpus 2",
        "fullclock_speed_ratio 0.25",
        r#"fullclock_baseline_speed_ratio{part="single-core"} 0.81"#,
        r#"fullclock_baseline_speed_ratio{part="memory"} 1"#,
        "fullclock_nominal_hertz 2500000000",
        r#"fullclock_clock_ratio{quantile="0"} 1.452"#,
        r#"fullclock_clock_ratio{quantile="1"} 1.4668"#,
        r#"fullclock_ledger_cpu_seconds_total{line="idle"} 0.000000312"#,
        r#"fullclock_ledger_cpu_seconds_total{line="kernel-threads"} 0.000000033"#,
        r#"fullclock_ledger_cpu_seconds_total{line="unexplained"} 0.000000003"#,
        r#"fullclock_ledger_cpu_seconds_total{line="overlap"} 0"#,
        r#"fullclock_ledger_cpu_seconds_total{line="capacity"} 0.000001"#,
        r#"fullclock_finding{id="slow-governor",severity="high",confidence="high"} 1"#,
        r#"fullclock_suppressed_findings{check="turbo-off",severity="medium"} 1"#,
        r#"fullclock_unknown_checks{obstacle="module"} 0"#,
        r#"fullclock_unknown_checks{obstacle="guest"} 2"#,
        r#"fullclock_diagnosis_lost_ratio{check="clock-modulation",lost="clock",party="firmware"} 0.75"#,
    ] {
        assert_eq!(text.lines().filter(|it| *it == series).count(), 1, "{series}: {text}");
    }
    // A line that is unknown has no series.
    assert!(!text.contains("line=\"stopped-clock\""), "{text}");
}

#[test]
fn in_both_formats_every_family_is_told_once_and_every_series_once() {
    let series = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|it| !it.starts_with('#'));
        lines.map(|it| it.rsplit_once(' ').unwrap().0.to_owned()).collect()
    };
    let (open, older) = (page_of(true, true), page_of(false, true));
    assert_eq!(series(&open), series(&older));
    let mut unique = series(&open);
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), series(&open).len(), "{open}");
    for text in [&open, &older] {
        let mut families: Vec<&str> =
            text.lines().filter_map(|it| it.strip_prefix("# TYPE ")).collect();
        let told = families.len();
        families.sort_unstable();
        families.dedup();
        assert_eq!(families.len(), told, "{text}");
        assert_eq!(text.matches("# HELP ").count(), told, "{text}");
    }
    assert!(open.ends_with("# EOF\n") && !older.contains("# EOF"));
}

#[test]
fn cpus_have_series_of_their_own_only_where_that_is_requested() {
    assert!(!page_of(false, false).contains("cpu=\""));
    assert!(page_of(false, true).contains("fullclock_cpu_clock_ratio{cpu=\"1\"}"));
}

#[test]
fn what_is_known_of_nothing_has_no_series() {
    let told = Told {
        version: "0.1.0",
        host: &[],
        began: None,
        online: &(0..2).collect(),
        totals: None,
        speed: None,
        baseline: None,
        findings: None,
        by_cpu: false,
    };
    let text = page(&told, false);
    let series: Vec<&str> = text.lines().filter(|it| !it.starts_with('#')).collect();
    let expected = [
        "fullclock_build_info{version=\"0.1.0\"} 1",
        "fullclock_host_info 1",
        "fullclock_online_cpus 2",
    ];
    assert_eq!(series, expected);
}

/// The families of a machine that has everything.
fn families() -> Vec<String> {
    let told = [page_of(false, false), page_of(false, true)].concat();
    let shown = told.lines().filter_map(|it| it.strip_prefix("# TYPE ")?.split(' ').next());
    let counters = rules::totals::COUNTERS.iter().map(|it| format!("fullclock_{}_total", it.name));
    let causes = ["fullclock_ledger_cause_cpu_seconds_total".to_owned()];
    let online = ["fullclock_temperature_celsius".to_owned()];
    shown.map(str::to_owned).chain(counters).chain(causes).chain(online).collect()
}

/// The names of ours in a text.
fn named(text: &str) -> impl Iterator<Item = &str> {
    let is_name = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == ':';
    let names = text.split(move |it| !is_name(it)).filter(|it| it.starts_with("fullclock_"));
    // Not the parts of names of recording rules, nor a prefix of several families.
    names.filter(|it| !it.ends_with('_') && !it.contains(':'))
}

#[test]
fn the_guide_lists_every_family_and_no_other() {
    let guide = include_str!("../../../../docs/guide/monitoring.md");
    let (_, guide) = guide.split_once("## Prometheus").unwrap();
    let rows: Vec<&str> =
        guide.lines().filter_map(|it| it.strip_prefix("| `")?.split('`').next()).collect();
    for family in families().iter().filter(|it| !it.starts_with("fullclock_cpu_")) {
        assert!(rows.contains(&&**family), "{family}");
    }
    for row in rows {
        assert!(families().iter().any(|it| it == row), "{row}");
    }
}

#[test]
fn rules_alerts_and_boards_name_families_and_lines_that_there_are() {
    for file in [
        include_str!("../../../../contrib/mixin/rendered/rules.yml"),
        include_str!("../../../../contrib/mixin/rendered/alerts.yml"),
        include_str!("../../../../contrib/mixin/rendered/fullclock.json"),
        include_str!("../../../../contrib/mixin/rendered/fullclock-fleet.json"),
        include_str!("../../../../contrib/mixin/rules_test.yml"),
    ] {
        let families = families();
        let strange: Vec<&str> =
            named(file).filter(|it| !families.iter().any(|known| known == it)).collect();
        assert_eq!(strange, <[&str; 0]>::default());
        let lines = file.split("line=\\\"").chain(file.split("line=\"")).skip(1);
        let lines = lines.filter_map(|it| it.split(['"', '\\']).next());
        for line in lines.filter(|it| !it.is_empty() && !it.contains(['\n', '{', ' '])) {
            let is_ours = matches!(line, "capacity" | "unexplained" | "overlap");
            assert!(is_ours || rules::losses::find(line).is_some(), "{line}");
        }
    }
}
