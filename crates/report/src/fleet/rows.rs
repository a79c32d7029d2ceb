//! The lists of a fleet: machines that nothing shared explains, all slow ones with their findings, and groups.

use super::peers::{Findings, telling};
use super::{NAMED, Reader, Report, SHOWN, Skipped, bounded, section, short, words};
use crate::bench::grouped;
use crate::document::{Align, Block, Document, Table, Text};
use crate::wording::fixed;
use fleet::{Group, Kind, Slow, Subject};

/// Slow machines that no explanation holds, each with what its peers lack.
pub(super) fn alone(document: &mut Document, report: &Report<'_>) {
    let answer = report.answer;
    let alone: Vec<&Slow> = answer.slow.iter().filter(|it| it.explained_by.is_none()).collect();
    let (shown, n_more) = bounded(report, &alone);
    let mut blocks = Vec::new();
    for it in shown {
        of_one(&mut blocks, report, it.machine, loss(it));
    }
    section(document, report, "Slow by themselves", (blocks, n_more));
}

/// Machines far below the few peers that they have, each with what its peers lack.
pub(super) fn suspects(document: &mut Document, report: &Report<'_>) {
    let (shown, n_more) = bounded(report, &report.answer.suspects);
    let mut blocks = Vec::new();
    for it in shown {
        of_one(&mut blocks, report, it.machine, words::suspicion(report, it));
    }
    section(document, report, "Far below few peers", (blocks, n_more));
}

/// What is said of one machine, what it has that its peers lack, and what would fix that.
fn of_one(blocks: &mut Vec<Block>, report: &Report<'_>, machine: usize, loss: String) {
    let name = report.name(machine).unwrap_or_default();
    blocks.push(Block::labelled(short(name), loss));
    let telling = telling(report.answer, Subject::Machine(machine));
    for it in telling.iter().take(NAMED) {
        let what = words::attribute(&it.attribute);
        let [n, of] = [it.outside, it.of_outside].map(|it| grouped(it as u64));
        blocks.push(Block::labelled("", format!("has {what}, as {n} of {of} peers do")));
    }
    let finding = telling.iter().find(|it| it.attribute.kind == Kind::Finding);
    if let Some(it) = finding {
        blocks.push(Block::labelled("", words::fix(&it.attribute.name)));
    }
}

/// `runs at 50 % of its peers, 34 spreads below them`.
fn loss(it: &Slow) -> String {
    let (at, spreads) = (words::percent(1.0 - it.lost), fixed(it.spreads, 1));
    format!("runs at {at} of its peers, {spreads} standard deviations below them")
}

/// The slow machines, the worst first, each with its findings that few of its peers have.
pub(super) fn slow(document: &mut Document, report: &Report<'_>, findings: &Findings<'_>) {
    let answer = report.answer;
    if answer.slow.is_empty() {
        return;
    }
    let columns = [
        ("machine", Align::Left),
        ("runs at", Align::Right),
        ("peers", Align::Right),
        ("lost", Align::Right),
        ("why", Align::Right),
        ("findings that few peers have", Align::Left),
    ];
    let row = |it: &Slow| {
        let centre = answer.groups.get(it.group).map_or(0.0, |it| it.centre);
        let why = it.explained_by.map_or_else(|| "-".to_owned(), |at| format!("{}.", at + 1));
        let is_audited = report.machines.get(it.machine).is_some_and(|it| it.audit.is_made());
        let findings = findings.rare(it);
        let findings = findings.iter().map(|it| words::attribute(it)).collect::<Vec<_>>();
        let findings = match findings[..] {
            [] if is_audited => Text::quiet("-"),
            [] => Text::quiet("not audited"),
            _ => findings.join(", ").into(),
        };
        vec![
            short(report.name(it.machine).unwrap_or_default()).into_owned().into(),
            report.value(it.value).into(),
            report.value(centre).into(),
            words::percent(it.lost).into(),
            why.into(),
            findings,
        ]
    };
    let (shown, n_more) = bounded(report, &answer.slow);
    let table = Block::Table(Table::new(&columns, shown.iter().map(row)));
    section(document, report, "Slow machines", (vec![table], n_more));
}

/// Groups of which nothing can be said.
pub(super) fn too_few(document: &mut Document, report: &Report<'_>) {
    let small: Vec<String> = report
        .answer
        .groups
        .iter()
        .filter_map(|it| {
            let words = words::too_few(it.too_few?);
            Some(format!("{}: {words}", words::group(report, it)))
        })
        .collect();
    if small.is_empty() {
        return;
    }
    let (shown, n_more) = bounded(report, &small);
    let items = shown.iter().map(|it| Text::from(&**it)).collect();
    let list = vec![Block::List(items)];
    section(document, report, "Groups that are too small", (list, n_more));
}

/// What was named and holds no machine.
pub(super) fn skipped(document: &mut Document, report: &Report<'_>) {
    let (shown, n_more) = bounded(report, report.skipped);
    let item = |it: &Skipped<'_>| Text::from(format!("{}: {}", it.name, it.why));
    let blocks = match shown {
        [] => Vec::new(),
        shown => vec![Block::List(shown.iter().map(item).collect())],
    };
    section(document, report, "No machine was found in", (blocks, n_more));
}

/// What can be seen in each group: folded on a page, and in text only where everything is listed.
pub(super) fn groups(document: &mut Document, report: &Report<'_>) {
    let judged: Vec<&Group> =
        report.answer.groups.iter().filter(|it| it.too_few.is_none()).collect();
    let Some(weakest) = judged.iter().map(|it| it.detectable).reduce(f64::max) else { return };
    let columns = [
        ("peers", Align::Left),
        ("machines", Align::Right),
        ("typical", Align::Right),
        ("standard deviation", Align::Right),
        ("visible loss of one", Align::Right),
    ];
    let row = |it: &&Group| {
        vec![
            Text::from(words::group(report, it)),
            grouped(it.machines.len() as u64).into(),
            report.value(it.centre).into(),
            words::percent(it.spread).into(),
            words::percent(it.detectable).into(),
        ]
    };
    let table = Block::Table(Table::new(&columns, judged.iter().map(row)));
    let summary = "Groups of peers, and what can be seen in each";
    if report.all || judged.len() <= SHOWN / 2 {
        section(document, report, summary, (vec![table], 0));
    } else {
        document.push(Block::Details { summary: summary.to_owned(), body: vec![table] });
        let words = words::percent(weakest);
        let all = match report.reader {
            Reader::Command => ": `--all` lists them",
            Reader::Page => "",
        };
        document.note(Text::sentence(&format!(
            "A loss of {words} of one machine is seen in each of {} groups, less in most{all}.",
            judged.len()
        )));
    }
}
