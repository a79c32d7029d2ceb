//! A certificate as a document: the verdict and what speaks against it first, then the numbers, then what they can be checked by.

use super::cautions::cautions;
use super::data::{Hashed, check, check_lines};
use super::moments::{self, Moment, figures, ledgers};
use super::{Certificate, Change};
use crate::chart::losses::{self, Bar};
use crate::chart::parts::Quantity;
use crate::chart::trials::{self, ArmTrials};
use crate::diagnosis::recorded;
use crate::document::{Align, Block, Chart, Document, Table, Text};
use crate::machine;
use lab::record::Fingerprint;
use std::path::Path;

/// The whole certificate.
pub fn document(certificate: &Certificate<'_>) -> Document {
    let subject = match certificate.change {
        Some(change) => format!("of change {}", change.shown.recorded.id),
        None => format!("of {} and {}", certificate.comparison.a, certificate.comparison.b),
    };
    let mut document = Document::new(format!("fullclock certificate {subject}"));
    opening(&mut document, certificate);
    results(&mut document, certificate);
    if let Some(it) = certificate.change {
        change(&mut document, it);
    }
    differences(&mut document, certificate);
    ledger(&mut document, certificate);
    machines(&mut document, certificate);
    measured(&mut document, certificate);
    data(&mut document, certificate);
    document
}

/// The verdict with what speaks against it, for those who have the rest in `file`.
pub fn summary(certificate: &Certificate<'_>, file: &Path) -> Document {
    let mut summary = document(certificate).opening();
    summary.labelled("page", file.display().to_string());
    summary
}

fn opening(document: &mut Document, certificate: &Certificate<'_>) {
    document.paragraph(Text::strong(certificate.verdict()));
    let clock = crate::bench::clock_words(certificate.comparison);
    document.labelled("clock", clock);
    let mut listed = |label: &str, lines: Vec<String>| {
        lines.into_iter().for_each(|it| document.labelled(label, it));
    };
    listed("clock held", held(certificate));
    listed("doubt", certificate.doubts());
    listed("caution", cautions(certificate));
    if let Some(change) = certificate.change {
        document.labelled("change", Text::sentence(&change.about()));
    }
    let Certificate { written, host, .. } = certificate;
    let on = if host.is_empty() { String::new() } else { format!(" on {host}") };
    document.labelled("written", format!("{written}{on}"));
}

/// Who held the clock down when each result began, as the audits of that time say; once where both say the same.
fn held(certificate: &Certificate<'_>) -> Vec<String> {
    let of = |it: &Moment<'_>| -> Vec<String> {
        it.side.record.held.iter().flatten().map(recorded).collect()
    };
    let [before, after] = certificate.moments.each_ref().map(|it| (it.side.name, of(it)));
    if before.1 == after.1 {
        return before.1.into_iter().map(|it| it + ".").collect();
    }
    let named = |(name, lines): (&str, Vec<String>)| match lines.is_empty() {
        true => vec![format!("{name}: no party was seen to hold it down.")],
        false => lines.into_iter().map(|it| format!("{name}: {it}.")).collect(),
    };
    [before, after].into_iter().flat_map(named).collect()
}

/// A table of rows that begin with a name, with the names of both sides as headings.
fn table(certificate: &Certificate<'_>, rows: Vec<(String, Vec<String>)>) -> Block {
    let [a, b] = certificate.moments.each_ref().map(|it| it.side.name);
    headed(&["", a, b], rows)
}

fn headed(headings: &[&str], rows: Vec<(String, Vec<String>)>) -> Block {
    let columns: Vec<(&str, Align)> = headings.iter().map(|it| (*it, Align::Left)).collect();
    let row = |(name, values): (String, Vec<String>)| {
        std::iter::once(name).chain(values).map(Text::from).collect()
    };
    Block::Table(Table::new(&columns, rows.into_iter().map(row)))
}

fn results(document: &mut Document, certificate: &Certificate<'_>) {
    document.heading("Results");
    document.push(table(certificate, figures(&certificate.moments)));
    let arms = certificate.moments.each_ref().map(|it| ArmTrials {
        label: it.side.name.to_owned(),
        median: it.summary.figures.first().map(|it| it.median),
        failed: 0,
        points: &it.points,
    });
    let Some(main) = certificate.moments[0].summary.figures.first() else { return };
    let about = format!(
        "{} of each trial, {} is faster; the upright mark is the median.",
        main.name,
        main.better.name()
    );
    let measured = Quantity { name: &main.name, unit: &main.unit };
    document.extend(trials::chart(about, measured, &arms).map(Block::Chart));
}

fn change(document: &mut Document, change: &Change) {
    document.heading("The change");
    document.push(headed(&["setting", "where", "from", "to", "state"], change.rows()));
    if let Some(it) = change.lasts() {
        document.paragraph(Text::sentence(&it));
    }
}

/// In what the machines differ or, of one result, what was run.
fn differences(document: &mut Document, certificate: &Certificate<'_>) {
    let settings = &certificate.comparison.difference.settings;
    if !certificate.is_one_result() || !settings.is_empty() {
        differing_settings(document, certificate);
    }
    if !certificate.is_one_result() {
        return;
    }
    let is_different = |(name, values): &(String, Vec<String>)| {
        name != "trials" && values.first() != values.last()
    };
    let differing: Vec<_> = certificate.measured().into_iter().filter(is_different).collect();
    let said = if certificate.manner().is_race {
        "Nothing that the result records of the two nodes."
    } else {
        "Both ran the same workload on the same machine. The journal has the change that one of them ran with: \
         `--change` shows it here."
    };
    if !differing.is_empty() {
        document.heading("What differs");
        document.push(table(certificate, differing));
    } else if certificate.change.is_none() && settings.is_empty() {
        document.heading("What differs");
        document.paragraph(Text::sentence(said));
    }
}

fn differing_settings(document: &mut Document, certificate: &Certificate<'_>) {
    document.heading("Settings that differ");
    let settings = &certificate.comparison.difference.settings;
    if settings.is_empty() {
        document.paragraph("None of those that the results record.");
        return;
    }
    let value = |it: &Option<String>| it.clone().unwrap_or_else(|| "not recorded".to_owned());
    let rows = settings.iter().map(|it| (it.name.clone(), vec![value(&it.a), value(&it.b)]));
    document.push(table(certificate, rows.collect()));
}

fn ledger(document: &mut Document, certificate: &Certificate<'_>) {
    let lines = ledgers(&certificate.moments);
    if lines.is_empty() {
        return;
    }
    document.heading("Ledger");
    let bars = certificate
        .moments
        .each_ref()
        .map(|it| Bar { label: it.side.name.to_owned(), ledger: &it.ledger });
    if let Some(chart) = losses::chart("", "means over the trials", &bars) {
        // The table has them, and why some are unknown.
        document.push(Block::Chart(Chart { values: None, ..chart }));
    }
    document.extend(moments::window_note(&certificate.moments).map(|it| Block::Note(it.into())));
    document.push(table(certificate, lines));
}

fn machines(document: &mut Document, certificate: &Certificate<'_>) {
    let [a, b]: [(&str, &Fingerprint); 2] = certificate
        .moments
        .each_ref()
        .map(|it| (it.side.name, it.side.record.machine_of(it.side.arm)));
    if a.1 == b.1 {
        machine::section(document, "Machine", &[("", a.1)]);
    } else {
        machine::section(document, "Machines", &[a, b]);
    }
}

fn measured(document: &mut Document, certificate: &Certificate<'_>) {
    document.heading("How it was measured");
    document.push(table(certificate, certificate.measured()));
    document.paragraph(certificate.order());
    document.heading("How to repeat it");
    document.push(Block::Code(certificate.commands()));
}

fn hashes(certificate: &Certificate<'_>) -> Table {
    let columns = [("file", Align::Left), ("size", Align::Right), ("SHA-256", Align::Left)];
    let row = |it: Hashed| {
        vec![it.name.into(), format!("{} bytes", it.size).into(), Text::code(it.sha256)]
    };
    Table::new(&columns, certificate.hashes().into_iter().map(row))
}

fn data(document: &mut Document, certificate: &Certificate<'_>) {
    document.heading("Data");
    document.push(Block::Table(hashes(certificate)));
    document.paragraph("To check the results, in the folder that they are in:");
    document.push(Block::Code(check(certificate.data)));
    let Some(Change { lines, shown, .. }) = certificate.change else { return };
    document.paragraph("To see the hash of the journal's lines, on the machine that was changed:");
    document.push(Block::Code(check_lines(lines)));
    let id = &shown.recorded.id;
    let summary = match lines.n_lines {
        1 => format!("The line of change {id} in the journal"),
        n => format!("The {n} lines of change {id} in the journal"),
    };
    let body = vec![Block::Code(String::from_utf8_lossy(&lines.text).into_owned())];
    document.push(Block::Details { summary, body });
}
