//! Every metric, loss and finding for Prometheus.
//!
//! Names and units are stable, units are base units: shares are ratios, clocks hertz, times seconds.

use super::Served;
use super::accept::{Offer, preferred};
use super::answer::Refusal;
use super::audits::{Audited, Taken};
use super::work::apart;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use facts::{Obstacle, PerCpu};
use report::openmetrics::Exposition;
use rules::finding::Severity;
use rules::metric::{Metric, Unit, Values};
use rules::metrics::METRICS;
use rules::watch::{Column, Reading, find_metric};
use std::collections::BTreeMap;
use std::sync::Arc;

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The formats of figures; the first is for requests that prefer neither.
const FORMATS: [Offer; 2] = [
    Offer { media_type: "text/plain", version: Some("0.0.4") },
    Offer { media_type: "application/openmetrics-text", version: Some("1.0.0") },
];

/// `/metrics`.
pub(super) async fn show(
    State(served): State<Arc<Served>>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let Some(chosen) = preferred(&headers, &FORMATS) else {
        let why = "there are text/plain;version=0.0.4 and application/openmetrics-text;version=1.0.0, and Accept excludes both";
        return Err(Refusal::of(StatusCode::NOT_ACCEPTABLE, why));
    };
    let is_open = chosen == 1;
    let text = apart(move || {
        let (audited, reading) = (served.audits.latest(), served.now.latest());
        Ok(page(&served.machine.labels(), reading.as_deref(), audited.as_deref(), is_open))
    });
    let kind = if is_open { OPEN_METRICS } else { TEXT };
    Ok(([(CONTENT_TYPE, kind)], text.await?).into_response())
}

/// All families. Before the first interval is over there are none of metrics and of the ledger, and none of findings while the
/// first audit is made.
fn page(
    machine: &[(&str, &str)],
    reading: Option<&Reading>,
    audited: Option<&Audited>,
    is_open: bool,
) -> String {
    let mut page = Exposition::begin(is_open);
    page.family("fullclock_build_info", "The program and the machine that it runs on", "");
    page.sample("fullclock_build_info", machine, 1.0);
    if let Some(reading) = reading {
        metrics(&mut page, reading);
        ledger(&mut page, reading);
    }
    if let Some(audited) = audited {
        findings(&mut page, audited);
    }
    page.finish()
}

/// What a metric is called here, the unit that this ends in, and what its values have to be multiplied by.
fn named(metric: &Metric) -> (String, &'static str, f64) {
    let (unit, factor) = match metric.unit {
        Unit::Percent => ("ratio", 0.01),
        Unit::Megahertz => ("hertz", 1e6),
        Unit::PerSecond => ("per_second", 1.0),
        Unit::Watts => ("watts", 1.0),
        Unit::Celsius => ("celsius", 1.0),
        Unit::MillisecondsPerSecond => ("ratio", 1e-3),
    };
    let id = metric.id.replace('-', "_");
    let stem = id.strip_suffix("_mhz").or(id.strip_suffix("watts")).unwrap_or(&id);
    let stem = if stem.is_empty() { String::new() } else { format!("{stem}_") };
    (format!("fullclock_{stem}{unit}"), unit, factor)
}

fn metrics(page: &mut Exposition, reading: &Reading) {
    for metric in METRICS.iter().copied().chain(find_metric("clock-probe")) {
        let columns: Vec<&Column> =
            reading.columns.iter().filter(|it| it.metric.id == metric.id).collect();
        let (name, unit, factor) = named(metric);
        page.family(&name, metric.title, unit);
        for column in columns {
            let Ok(series) = &column.series else { continue };
            let part = [("part", &*series.part)];
            let part = if series.part.is_empty() { &part[..0] } else { &part[..] };
            match &series.values {
                Values::Host(Ok(value)) => page.sample(&name, part, value * factor),
                Values::Host(Err(_)) => {}
                Values::Cpus(values) => each(page, (&name, "cpu"), part, values, factor),
                Values::Cores(values) => each(page, (&name, "core_of_cpu"), part, values, factor),
                Values::Packages(values) => {
                    each(page, (&name, "package_of_cpu"), part, values, factor);
                }
            }
        }
    }
}

/// A sample for each CPU, core or package whose value is known; the last two are called by the CPU that was asked.
fn each(
    page: &mut Exposition,
    (name, label): (&str, &str),
    part: &[(&str, &str)],
    values: &PerCpu<f64>,
    factor: f64,
) {
    for (cpu, value) in values.known() {
        let cpu = cpu.to_string();
        let labels: Vec<(&str, &str)> = [(label, &*cpu)].iter().chain(part).copied().collect();
        page.sample(name, &labels, value * factor);
    }
}

fn ledger(page: &mut Exposition, reading: &Reading) {
    const NAME: &str = "fullclock_ledger_ratio";
    let Ok(shares) = &reading.shares else { return };
    let help = "Where the time of all CPUs went in the last interval, as a share of it; the shares sum to 1";
    page.family(NAME, help, "ratio");
    for line in &shares.lines {
        let Ok(ns) = &line.ns else { continue };
        let labels = [("loss", line.loss), ("part", &*line.part)];
        page.sample(NAME, &labels, shares.percent(*ns) / 100.0);
    }
    let unexplained = shares.percent(shares.unexplained_ns) / 100.0;
    page.sample(NAME, &[("loss", "unexplained"), ("part", "")], unexplained);
}

fn findings(page: &mut Exposition, audited: &Audited) {
    const NAME: &str = "fullclock_findings";
    let help = "Findings of an audit that is at most a minute old, by the check that finds them";
    counted(page, NAME, help, &audited.findings);
    let help = "Findings of the same audit that the configuration suppresses";
    counted(page, "fullclock_suppressed_findings", help, &audited.suppressed);
    unknown(page, audited);
    diagnosis(page, audited);
}

/// What each cause takes, of those of one check and party the most: a share of each CPU concerned is no share of the machine.
fn diagnosis(page: &mut Exposition, audited: &Audited) {
    const NAME: &str = "fullclock_diagnosis_lost_ratio";
    let help = "What a cause that is in force takes of the clock or time of each CPU concerned, at most; by the check that finds it and whose it is";
    page.family(NAME, help, "ratio");
    let mut most: BTreeMap<[&str; 3], f64> = BTreeMap::new();
    for Taken { check, lost, party, share } in &audited.chains {
        let known = most.entry([check, lost, party]).or_default();
        *known = known.max(*share);
    }
    for ([check, lost, party], share) in most {
        page.sample(NAME, &[("check", check), ("lost", lost), ("party", party)], share);
    }
}

fn counted(page: &mut Exposition, name: &str, help: &str, findings: &[(&str, Severity)]) {
    page.family(name, help, "");
    let mut counts: BTreeMap<(&str, &str), u32> = BTreeMap::new();
    for (check, severity) in findings {
        *counts.entry((check, severity.name())).or_default() += 1;
    }
    for ((check, severity), count) in counts {
        page.sample(name, &[("check", check), ("severity", severity)], count.into());
    }
}

/// A sample for each obstacle, 0 included: an alert on one that is gone ends at once.
fn unknown(page: &mut Exposition, audited: &Audited) {
    const NAME: &str = "fullclock_unknown_checks";
    let help = "Checks that could not be made: for lack of a privilege or of a kernel module, because the fact belongs to \
                the machine under this guest, or for another reason";
    page.family(NAME, help, "");
    for obstacle in Obstacle::ALL {
        let n_checks = audited.unknown.iter().filter(|it| **it == obstacle).count();
        page.sample(NAME, &[("obstacle", obstacle.name())], n_checks as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rules::watch::fake;

    fn audited() -> Audited {
        let unknown = vec![Obstacle::Privilege, Obstacle::Guest, Obstacle::Guest];
        Audited::of(vec![("governor", Severity::High), ("governor", Severity::High)], unknown)
    }

    fn page_of(reading: Option<&Reading>, is_open: bool) -> String {
        page(&[("version", "0.1.0"), ("kernel", "a\"b\\c\nd")], reading, Some(&audited()), is_open)
    }

    #[test]
    fn what_the_site_suppresses_is_a_family_of_its_own() {
        let text = page_of(None, true);
        let suppressed = "fullclock_suppressed_findings{check=\"turbo-off\",severity=\"medium\"} 1";
        assert!(text.contains(suppressed), "{text}");
        assert!(!text.contains("fullclock_findings{check=\"turbo-off\""), "{text}");
    }

    #[test]
    fn of_causes_of_one_check_and_party_the_most_counts() {
        let text = page_of(None, false);
        let shares: Vec<&str> =
            text.lines().filter(|it| it.starts_with("fullclock_diagnosis_lost_ratio")).collect();
        let share = r#"{check="clock-modulation",lost="clock",party="firmware"} 0.75"#;
        assert_eq!(shares, [format!("fullclock_diagnosis_lost_ratio{share}")]);
    }

    #[test]
    fn every_family_is_told_once_with_its_help_and_every_series_once() {
        let text = page_of(Some(&fake::reading(2, 1)), true);
        let mut series: Vec<&str> = text
            .lines()
            .filter(|it| !it.starts_with('#'))
            .map(|it| it.rsplit_once(' ').unwrap().0)
            .collect();
        let n_series = series.len();
        series.sort_unstable();
        series.dedup();
        assert_eq!(series.len(), n_series, "{text}");
        let mut families: Vec<&str> =
            text.lines().filter_map(|it| it.strip_prefix("# TYPE ")).collect();
        let n_families = families.len();
        families.sort_unstable();
        families.dedup();
        assert_eq!((families.len(), n_families), (METRICS.len() + 7, METRICS.len() + 7), "{text}");
        assert!(text.ends_with("# EOF\n") && !page_of(None, false).contains("# EOF"));
    }

    #[test]
    fn names_are_base_units_and_tell_which() {
        let names: Vec<String> = METRICS.iter().map(|it| named(it).0).collect();
        for (id, name) in [
            ("busy", "fullclock_busy_ratio"),
            ("busy-mhz", "fullclock_busy_hertz"),
            ("ticks", "fullclock_ticks_per_second"),
            ("watts", "fullclock_watts"),
            ("temperature", "fullclock_temperature_celsius"),
        ] {
            let at = METRICS.iter().position(|it| it.id == id).unwrap();
            assert_eq!(names[at], name);
        }
    }

    #[test]
    fn what_a_label_may_not_hold_is_escaped_and_findings_are_counted() {
        let text = page_of(None, false);
        assert!(
            text.contains(r#"fullclock_build_info{version="0.1.0",kernel="a\"b\\c\nd"} 1"#),
            "{text}"
        );
        assert!(
            text.contains(r#"fullclock_findings{check="governor",severity="high"} 2"#),
            "{text}"
        );
    }

    #[test]
    fn checks_that_a_guest_cannot_make_are_counted_apart_from_those_that_need_a_privilege() {
        let text = page_of(None, false);
        let counts: Vec<&str> =
            text.lines().filter(|it| it.starts_with("fullclock_unknown_checks")).collect();
        assert_eq!(
            counts,
            [
                "fullclock_unknown_checks{obstacle=\"privilege\"} 1",
                "fullclock_unknown_checks{obstacle=\"module\"} 0",
                "fullclock_unknown_checks{obstacle=\"guest\"} 2",
                "fullclock_unknown_checks{obstacle=\"other\"} 0",
            ]
        );
    }

    #[test]
    fn dashboard_and_alerts_name_families_that_there_are() {
        let text = page_of(Some(&fake::reading(2, 1)), false);
        let families: Vec<&str> =
            text.lines().filter_map(|it| it.strip_prefix("# TYPE ")?.split(' ').next()).collect();
        for file in [
            include_str!("../../../contrib/grafana/fullclock.json"),
            include_str!("../../../contrib/prometheus/alerts.yml"),
            include_str!("../../../contrib/prometheus/alerts_test.yml"),
        ] {
            let is_name = |it: char| it.is_ascii_alphanumeric() || it == '_';
            let named = file.split(|it| !is_name(it)).filter(|it| it.starts_with("fullclock_"));
            let strange: Vec<&str> = named.filter(|it| !families.contains(it)).collect();
            assert_eq!(strange, <[&str; 0]>::default());
            let losses = file.split("loss=\\\"").chain(file.split("loss=\"")).skip(1);
            for loss in
                losses.filter_map(|it| it.split(['"', '\\']).next()).filter(|it| !it.contains(' '))
            {
                assert!(rules::losses::LOSSES.iter().any(|it| it.id == loss), "{loss}");
            }
        }
    }
}
