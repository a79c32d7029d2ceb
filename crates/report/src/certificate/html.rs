//! A certificate as one file for a browser.

use super::cautions::cautions;
use super::data::{check, check_lines};
use super::moments::{figures, ledgers};
use super::{Certificate, Change};
use crate::html::chart::{self, ArmTrials};
use crate::html::losses::{self, Bar};
use crate::html::markup::Markup;
use crate::html::{GENERATOR, document, is_marked};
use crate::html::{code, folded, list, paragraph, quiet, section, table};
use lab::record::Fingerprint;

/// What the first line of every certificate begins with.
const MARK: &str = "fullclock certificate: ";

/// What a vendor asks for first.
const FOR_A_TICKET: [&str; 8] = [
    "machine vendor",
    "machine product",
    "firmware vendor",
    "firmware version",
    "firmware date",
    "cpu model",
    "cpu microcode",
    "kernel release",
];

/// The certificate as an HTML page.
pub fn page(certificate: &Certificate<'_>) -> String {
    document(&certificate.verdict(), [header(certificate), main(certificate), footer(certificate)])
}

/// Whether the beginning of a file is that of a certificate.
pub fn is_certificate(beginning: &str) -> bool {
    is_marked(beginning, MARK)
}

fn header(certificate: &Certificate<'_>) -> Markup {
    let subject = match certificate.change {
        Some(change) => format!("{MARK}change {}", change.shown.recorded.id),
        None => format!("{MARK}{} and {}", certificate.comparison.a, certificate.comparison.b),
    };
    let cautions = cautions(certificate);
    let content = [
        quiet(&subject),
        Markup::element("h1", &[], [Markup::text(&certificate.verdict())]),
        paragraph(&certificate.clock()),
        Markup::all(cautions.iter().map(|it| paragraph(it))),
        quiet(&format!("Written {}", certificate.written)),
    ];
    Markup::element("header", &[], content)
}

fn main(certificate: &Certificate<'_>) -> Markup {
    let [forbidding, doubts] = certificate.doubts();
    let content = [
        numbers(certificate),
        list("Doubts that forbid a claim", &forbidding),
        list(if forbidding.is_empty() { "Doubts" } else { "Other doubts" }, &doubts),
        certificate.change.map_or_else(Markup::default, change),
        differences(certificate),
        ledger(certificate),
        machines(certificate),
        measured(certificate),
        data(certificate),
    ];
    Markup::element("main", &[], content)
}

fn names<'a>(certificate: &Certificate<'a>, first: &'a str) -> [&'a str; 3] {
    let [before, after] = certificate.moments.each_ref().map(|it| it.side.name);
    [first, before, after]
}

fn rows(rows: &[(String, Vec<String>)]) -> impl Iterator<Item = (&str, Vec<String>)> {
    rows.iter().map(|(name, values)| (name.as_str(), values.clone()))
}

fn numbers(certificate: &Certificate<'_>) -> Markup {
    let figures = figures(&certificate.moments);
    let points = certificate.moments.each_ref().map(|it| ArmTrials {
        label: it.side.name.to_owned(),
        median: it.summary.figures.first().map(|it| it.median),
        failed: 0,
        points: &it.points,
    });
    let main = certificate.moments[0].summary.figures.first();
    let unit = main.map_or("", |it| it.unit.as_str());
    let better = main.map_or("lower", |it| it.better.name());
    let about = format!(
        "{} of each trial, {better} is faster; the upright mark is the median.",
        certificate.comparison.figure
    );
    let table = table("", &names(certificate, ""), rows(&figures));
    section("Before and after", [table, chart::trials(&about, unit, &points)])
}

fn change(change: &Change) -> Markup {
    let written = change.rows();
    let head = ["setting", "where", "from", "to", "how it stands"];
    let content = [
        paragraph(&change.about()),
        table("", &head, rows(&written)),
        change.lasts().map_or_else(Markup::default, |it| paragraph(&it)),
    ];
    section("The change", content)
}

/// In what the machines differ or, of one machine, what was run.
fn differences(certificate: &Certificate<'_>) -> Markup {
    if certificate.is_one_result() {
        let runs = certificate.measured().into_iter().find(|(name, _)| name == "workload");
        let is_same = runs.as_ref().is_some_and(|(_, it)| it.first() == it.last());
        return match (certificate.change, is_same) {
            (Some(_), _) => Markup::default(),
            (None, true) => section(
                "What differs",
                [paragraph(
                    "Both ran the same workload on the same machine; which change one of them ran with stands in the \
                     journal: `--change` shows it here.",
                )],
            ),
            (None, false) => {
                let head = names(certificate, "");
                section("What differs", [table("machine", &head, rows(runs.as_slice()))])
            }
        };
    }
    let settings = &certificate.comparison.verdict.settings;
    let title = if certificate.change.is_some() {
        "Settings that differ between the two moments"
    } else {
        "What differs"
    };
    if settings.is_empty() {
        let nothing = "Of all that a result tells of its machine, nothing differs between the two.";
        return section(title, [paragraph(nothing)]);
    }
    let value = |it: &Option<String>| it.clone().unwrap_or_else(|| "not recorded".to_owned());
    let rows = settings.iter().map(|it| (it.name.as_str(), vec![value(&it.a), value(&it.b)]));
    section(title, [table("machine", &names(certificate, "setting"), rows)])
}

fn ledger(certificate: &Certificate<'_>) -> Markup {
    let lines = ledgers(&certificate.moments);
    if lines.is_empty() {
        return Markup::default();
    }
    let bars = certificate
        .moments
        .each_ref()
        .map(|it| Bar { label: it.side.name.to_owned(), ledger: &it.ledger });
    let table = table("", &names(certificate, ""), rows(&lines));
    section("Ledger", [losses::chart("means over the trials", &bars), table])
}

fn machines(certificate: &Certificate<'_>) -> Markup {
    let machines: Vec<&Fingerprint> =
        certificate.moments.iter().map(|it| &it.side.record.machine).collect();
    let machines = if certificate.is_one_result() { &machines[..1] } else { &machines[..] };
    let values = |name: &str| -> Vec<String> {
        let value = |it: &&Fingerprint| it.0.get(name).cloned();
        machines.iter().map(|it| value(it).unwrap_or_else(|| "not recorded".to_owned())).collect()
    };
    let all = names(certificate, "");
    let head = if machines.len() > 1 { &all[..] } else { &[] };
    let mut every: Vec<&String> = machines.iter().flat_map(|it| it.0.keys()).collect();
    every.sort_unstable();
    every.dedup();
    let first = FOR_A_TICKET.iter().map(|it| (*it, values(it)));
    let whole = every.iter().map(|it| (it.as_str(), values(it)));
    let summary = format!("{} settings of the machine", every.len());
    let content =
        [table("machine", head, first), folded(&summary, [table("machine", head, whole)])];
    section(if machines.len() > 1 { "Machine, before and after" } else { "Machine" }, content)
}

fn measured(certificate: &Certificate<'_>) -> Markup {
    let measured = certificate.measured();
    let content = [
        table("", &names(certificate, ""), rows(&measured)),
        paragraph(&certificate.order()),
        Markup::element("h3", &[], [Markup::text("How to repeat it")]),
        code(&certificate.commands()),
    ];
    section("How it was measured", content)
}

fn data(certificate: &Certificate<'_>) -> Markup {
    let hashes = certificate.hashes();
    let mut content = vec![
        table("", &["file", "size", "SHA-256"], rows(&hashes)),
        paragraph("To check the results, in the folder that they are in:"),
        code(&check(certificate.data)),
    ];
    if let Some(Change { lines, shown, .. }) = certificate.change {
        let id = &shown.recorded.id;
        let summary = format!("The {} lines of change {id} in the journal", lines.n_lines);
        content.extend([
            paragraph("To see the hash of the journal's lines, on the machine that was changed:"),
            code(&check_lines(lines)),
            folded(&summary, [code(&String::from_utf8_lossy(&lines.text))]),
        ]);
    }
    section("Data", content)
}

fn footer(certificate: &Certificate<'_>) -> Markup {
    let words = format!("{GENERATOR}, {}", certificate.written);
    Markup::element("footer", &[], [quiet(&words)])
}
