//! What few machines have, where no speed separates them.

use super::json::figure_name;
use super::{NAMED, Report, bounded, section, words};
use crate::bench::grouped;
use crate::document::{Block, Document, Text};
use fleet::{FEW, Kind, Minority, Unusual};

/// Machines that have what few of their peers have, each set of them with what its peers have in its place.
pub(super) fn minorities(document: &mut Document, report: &Report<'_>) {
    let (shown, n_more) = bounded(report, &report.answer.minorities);
    let mut blocks = Vec::new();
    for it in shown {
        minority(&mut blocks, report, it);
    }
    if blocks.is_empty() {
        return;
    }
    let share = words::percent(FEW);
    blocks.push(Block::Note(Text::from(format!(
        "These are differences and not causes: no machine is known to be slow. Listed is what at most {share} of the peers have (one \
         machine, where there are fewer than ten) while more than half have one other value."
    ))));
    section(document, report, &heading(report), (blocks, n_more));
}

/// Why differences are all that there is.
fn heading(report: &Report<'_>) -> String {
    let answer = report.answer;
    let figure = figure_name(answer.figure);
    if answer.tested > 0 {
        "None is slow: what differs".to_owned()
    } else if answer.silent.len() == report.machines.len() {
        format!("No {figure} to compare: what differs")
    } else {
        format!("Too few peers to compare a {figure}: what differs")
    }
}

fn minority(blocks: &mut Vec<Block>, report: &Report<'_>, it: &Minority) {
    let [n, of] = [it.machines.len(), it.of].map(|it| grouped(it as u64));
    let (names, peers) = (report.names(&it.machines), words::peers(report, &it.values));
    blocks.push(Block::labelled(format!("{n} of {of}"), format!("{names}; peers: {peers}")));
    let n_shown = if report.all { it.unusual.len() } else { NAMED.min(it.unusual.len()) };
    for unusual in it.unusual.iter().take(n_shown) {
        blocks.push(Block::labelled("", has(unusual)));
    }
    match it.unusual.len() - n_shown {
        0 => {}
        1 => blocks.push(Block::labelled("", "and 1 more difference")),
        n => {
            let n = grouped(n as u64);
            blocks.push(Block::labelled("", format!("and {n} more differences")));
        }
    }
    if let Some(it) = it.unusual.iter().find(|it| it.attribute.kind == Kind::Finding) {
        blocks.push(Block::labelled("", words::fix(&it.attribute.name)));
    }
}

/// `has governor = powersave; 198 of 200 have performance`.
fn has(it: &Unusual) -> String {
    let what = words::attribute(&it.attribute);
    let [n, known] = [it.n_usual, it.known].map(|it| grouped(it as u64));
    match (&it.usual, it.attribute.kind) {
        (Some(usual), _) => format!("has {what}; {n} of {known} have {}", super::short(usual)),
        (None, Kind::Finding) => format!("has {what}; {n} of {known} do not"),
        (None, _) => format!("has {what}; of {n} of {known} no value is known"),
    }
}
