//! A result and a comparison of results, as documents.

use super::manner::Manner;
use super::peers::standing_text;
use super::{Report, arms, commits, comparison, doubts, ranking, server, server_log};
use crate::document::{Align, Block, Document, Table, Text};
use crate::race::marks;
use lab::compare::Side;
use lab::comparison::Comparison;
use lab::doubt::Raised;
use lab::known::Known;
use lab::record::{Arm, Record};
use lab::summary::{Summary, summary};

/// A result: what can be said, why, what was measured, and why to trust it less.
pub fn document(report: &Report<'_>) -> Document {
    let record = report.record;
    let manner = Manner::of(record);
    let mut document = Document::new(title(record));
    document.paragraph(whence(record));
    conclusion(&mut document, report, manner);
    measured(&mut document, report, manner);
    if let Some(changes) = marks(record) {
        document.heading("Changes during the race");
        document.push(Block::Table(changes));
    }
    doubts_of(&mut document, &record.doubts, manner);
    kept(&mut document, report);
    document
}

/// What was run.
fn title(record: &Record) -> String {
    let names = || record.arms.iter().map(|it| &*it.name).collect::<Vec<_>>();
    let workload = record.arms.first().map_or("nothing", |it| &*it.workload);
    if record.is_race() {
        return format!("fullclock race of {}", listed(&names()));
    }
    match &record.arms[..] {
        arms if record.experiment.is_some() => {
            format!("Trials of an experiment with {} combinations", arms.len())
        }
        [arm] => format!("fullclock bench of {}", arms::described(arm)),
        [a, b] if a.workload != b.workload => {
            format!(
                "fullclock bench of {} ({}) and {} ({})",
                a.workload, a.name, b.workload, b.name
            )
        }
        [a, b] => format!("fullclock bench of {workload}: {} and {}", a.name, b.name),
        arms => format!("fullclock bench of {workload}: {} variants", arms.len()),
    }
}

/// `a`, `a and b`, `a, b and c`; of many names their number.
fn listed(names: &[&str]) -> String {
    const MANY: usize = 5;
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        many if many.len() > MANY => format!("{} nodes", many.len()),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

/// The machine and the time.
fn whence(record: &Record) -> String {
    let machine = &record.machine;
    let kernel = machine.kernel().map(|it| format!("Linux {it}"));
    let began = format!("began {}", record.began);
    let parts = [machine.cpu_model().map(str::to_owned), kernel, Some(began)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// What can be said, and what explains it.
fn conclusion(document: &mut Document, report: &Report<'_>, manner: Manner) {
    if let Err(why) = &report.comparisons {
        document.paragraph(Text::strong(&**why));
    } else if let Some(it) = compared(report) {
        comparison::conclusion(document, it, manner);
        // A cause is one of a difference that is claimed, or of a race that changed.
        let is_described = it.difference.raced.as_ref().is_some_and(|it| it.verdict().is_none());
        let has_cause = it.difference.verdict.is_claimed() || is_described;
        if let Some(verdict) = report.commits.as_ref().filter(|_| has_cause) {
            document.labelled("cause", commits::verdict_text(verdict));
        }
        if it.difference.raced.is_none() {
            comparison::explanation(document, it);
        }
        if let [a, b] = &report.summaries[..]
            && let Some(text) = server::of_two(a, b)
        {
            document.labelled("server", text);
        }
    } else if !report.ranking.is_empty() {
        document.paragraph(Text::strong(ranking::verdict(
            &report.ranking,
            report.summaries.iter().find_map(|it| it.figures.first()),
        )));
    } else if let Some(it) = report.summaries.first() {
        document.paragraph(Text::strong(arms::result(it, manner)));
    }
    if let Some(standing) = &report.peers {
        document.labelled("peers", standing_text(standing));
    }
    if let Some(shortfall) = &report.shortfall {
        document.labelled("precision", shortfall.as_str());
    }
}

/// The comparison of two arms.
fn compared<'a>(report: &'a Report<'_>) -> Option<&'a Comparison> {
    report.comparisons.as_deref().ok()?.first()
}

/// The numbers, and what has to be known of the arms.
fn measured(document: &mut Document, report: &Report<'_>, manner: Manner) {
    let record = report.record;
    let of_each = || report.summaries.iter().map(|it| (&*it.arm, it)).collect::<Vec<_>>();
    if let Some(it) = compared(report) {
        document.heading("Measured");
        record.arms.iter().for_each(|it| document.labelled(&*it.name, arms::described(it)));
        set_up(document, &record.arms);
        let found = std::slice::from_ref(it);
        numbers(document, &of_each(), found, manner, record.pieces);
        if it.difference.raced.is_none() {
            document.push(Block::Table(comparison::differences(it)));
        }
        comparison::settings(document, it);
    } else if !report.ranking.is_empty() {
        document.heading("Measured");
        if record.is_race() {
            record.arms.iter().for_each(|it| document.labelled(&*it.name, arms::described(it)));
            set_up(document, &record.arms);
            numbers(document, &of_each(), &[], manner, record.pieces);
        }
        let table = ranking::table(&report.ranking, &report.summaries);
        document.push(Block::Table(table));
        document.note(ranking::medians(&report.summaries, manner));
    } else {
        for (at, (arm, summary)) in record.arms.iter().zip(&report.summaries).enumerate() {
            alone(document, arm, summary, manner);
            if let Some(log) = server_log::alone(record, at) {
                document.labelled("database log", log);
            }
        }
    }
}

fn numbers(
    document: &mut Document,
    arms: &[(&str, &Summary)],
    found: &[Comparison],
    manner: Manner,
    pieces: u32,
) {
    document.push(Block::Table(arms::side_by_side(arms, manner, pieces)));
    document.note(arms::about_medians(arms, found, manner));
}

/// Everything of an arm that is not compared.
fn alone(document: &mut Document, arm: &Arm, summary: &Summary, manner: Manner) {
    document.push(Block::Table(arms::results(summary)));
    document.note(arms::TYPICAL);
    if let Known::Missing { missing } = &summary.clock {
        document.labelled("clock", format!("unknown: {missing}"));
    }
    if let Some(text) = server::of_one(summary) {
        document.labelled("server", text);
    }
    if !summary.lost.is_empty() {
        document.labelled("lost to", arms::lost(summary, manner));
    }
    for (name, value) in &arm.about {
        document.labelled(&**name, value.as_str());
    }
}

/// What the arms say of themselves: once where all say the same, else in a table.
fn set_up(document: &mut Document, arms: &[Arm]) {
    let said = |arm: &Arm, name: &str| {
        let found = arm.about.iter().find(|it| it.0 == name);
        found.map_or_else(String::new, |it| it.1.clone())
    };
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in arms.iter().flat_map(|it| &it.about) {
        if !names.contains(&&**name) {
            names.push(name);
        }
    }
    let columns: Vec<(&str, Align)> = [("", Align::Left)]
        .into_iter()
        .chain(arms.iter().map(|it| (&*it.name, Align::Left)))
        .collect();
    let mut differing = Table::new(&columns, []);
    for name in names {
        let values: Vec<String> = arms.iter().map(|it| said(it, name)).collect();
        match values.split_first() {
            Some((first, others)) if others.iter().all(|it| it == first) => {
                document.labelled(name, first.as_str());
            }
            _ => {
                let cells = std::iter::once(name.to_owned()).chain(values);
                differing.push(cells.map(Text::from).collect());
            }
        }
    }
    if !differing.rows.is_empty() {
        document.push(Block::Table(differing));
    }
}

pub(super) fn doubts_of(document: &mut Document, raised: &[Raised], manner: Manner) {
    let lines = doubts::lines(&raised.iter().collect::<Vec<_>>(), manner);
    if !lines.is_empty() {
        document.heading("Doubts");
        document.push(Block::List(lines.into_iter().map(Text::from).collect()));
    }
}

/// Where the result and the recordings are.
fn kept(document: &mut Document, report: &Report<'_>) {
    if report.file.is_some() {
        document.heading("Files");
    }
    if let Some(file) = report.file {
        document.labelled("kept in", Text::code(file.display().to_string()));
    }
    for recording in &report.recordings {
        let command = format!("fullclock watch --replay {}", recording.display());
        document.labelled("recording", Text::code(command));
    }
}

/// A result as [`document()`] shows it, and every setting of the machine it was taken on.
pub(crate) fn with_machine(report: &Report<'_>) -> Document {
    let mut document = document(report);
    document.heading("The machine");
    let columns = [("setting", Align::Left), ("value", Align::Left)];
    let rows = report
        .record
        .machine
        .0
        .iter()
        .map(|(name, value)| [name, value].map(|it| Text::from(&**it)).into());
    document.push(Block::Table(Table::new(&columns, rows)));
    document
}

/// What `fullclock compare` says. The sides are arms of one result, or of the results named in `given`.
pub fn comparisons(found: &[Comparison], sides: &[Side<'_>], given: &[String]) -> Document {
    let manner = sides
        .first()
        .map_or_else(|| Manner::of(&Record::of(Vec::new())), |it| Manner::of(it.record));
    // Of several results, each has blocks of its own.
    let manner = if given.len() > 1 { manner.apart() } else { manner };
    let names: Vec<&str> = given.iter().map(String::as_str).collect();
    let mut document = Document::new(format!("fullclock compare of {}", listed(&names)));
    for it in found {
        comparison::conclusion(&mut document, it, manner);
    }
    if let [it] = found {
        comparison::explanation(&mut document, it);
    }
    document.heading("Measured");
    for (at, side) in sides.iter().enumerate() {
        // The title names the only result.
        let given = given.get(at).filter(|_| given.len() > 1);
        document.labelled(side.name, described(side, given));
    }
    let summaries: Vec<(&str, Summary)> =
        sides.iter().filter_map(|it| Some((it.name, summary(it.record, it.arm)?))).collect();
    let pieces = sides.first().map_or(1, |it| it.record.pieces);
    let summaries: Vec<(&str, &Summary)> = summaries.iter().map(|(name, it)| (*name, it)).collect();
    numbers(&mut document, &summaries, found, manner, pieces);
    for it in found {
        if found.len() > 1 {
            document.heading(format!("{} and {}", it.a, it.b));
            comparison::explanation(&mut document, it);
        }
        document.push(Block::Table(comparison::differences(it)));
        comparison::settings(&mut document, it);
        doubts_of(&mut document, &it.doubts, manner);
    }
    document
}

/// The result that a side is of, where there are several, what was run and when.
fn described(side: &Side<'_>, given: Option<&String>) -> String {
    let given = given.map_or_else(String::new, |it| format!("{it}: "));
    let arm = side.record.arms.get(side.arm).map_or_else(String::new, arms::described);
    format!("{given}{arm}, began {}", side.record.began)
}
