//! The ledgers of both ends of a test, side by side.

use super::charts;
use crate::document::{Align, Block, Document, Table, Text};
use crate::net::Statements;
use facts::CpuSet;
use lab::known::Known;
use lab::net::{Ends, Entry, Ledger, Run};
use rules::loss::{Kind, Loss};
use rules::losses::LOSSES;

/// Losses below half a percent at both ends are hidden: ticks alone cost that much on some machines.
const LEAST: f64 = 0.005;

/// A chart and a table of losses and the unexplained remainder; empty if neither end has a ledger.
pub(super) fn put(document: &mut Document, run: &Run) {
    let ledgers = of_both(run);
    let known = known(&ledgers);
    if !known.is_empty() {
        document.extend(charts::losses(&known).map(Block::Chart));
        document.push(Block::Table(table(&ledgers)));
    }
}

/// Every line of the ledgers, to look up.
pub(super) fn in_full(run: &Run) -> impl Iterator<Item = Block> {
    known(&of_both(run)).into_iter().map(|(end, ledger)| {
        let notes = ledger.notes.iter().map(|it| Block::Note(Text::sentence(it)));
        let body = std::iter::once(Block::Table(every(ledger))).chain(notes).collect();
        Block::Details { summary: format!("Every line of the {end}'s ledger"), body }
    })
}

/// The ledgers that were kept, each with its end.
fn known<'a>(ledgers: &Ends<&'a Known<Ledger>>) -> Vec<(&'static str, &'a Ledger)> {
    let ends = ledgers.named().into_iter();
    ends.filter_map(|(end, it)| Some((end, it.value()?))).collect()
}

/// The causes that an audit found, and unknown values with their reasons.
pub(super) fn add_to(statements: &mut Statements, run: &Run) {
    let ledgers = of_both(run);
    for (words, ends) in by_end(&ledgers, causes) {
        statements.add("cause", &format!("{ends}: {words}"));
    }
    for (words, ends) in by_end(&ledgers, unknown) {
        statements.add("unknown", &format!("{ends}: {words}"));
    }
}

/// The ledgers of both ends.
pub(super) fn of_both(run: &Run) -> Ends<&Known<Ledger>> {
    let Ends { client, server } = &run.judged;
    Ends { client: &client.ledger, server: &server.ledger }
}

/// The sum of all parts of a loss; `None` if all are unknown.
fn share(ledger: &Ledger, loss: &str) -> Option<f64> {
    let mut known = ledger.lines.iter().filter(|it| it.loss == loss).peekable();
    known.peek()?;
    let known: Vec<f64> = known.filter_map(|it| it.share.value().copied()).collect();
    (!known.is_empty()).then(|| known.iter().sum())
}

/// The losses that get a row.
fn rows<'a>(ledgers: &Ends<&'a Known<Ledger>>) -> impl Iterator<Item = &'static Loss> + use<'a> {
    let known = known(ledgers);
    let most = move |loss: &Loss| {
        known.iter().filter_map(|(_, it)| share(it, loss.id)).map(f64::abs).fold(0.0, f64::max)
    };
    LOSSES.iter().copied().filter(move |it| it.kind != Kind::Lost || most(it) >= LEAST)
}

fn table(ledgers: &Ends<&Known<Ledger>>) -> Table {
    let columns = [
        ("time went to", Align::Left),
        ("client", Align::Right),
        ("server", Align::Right),
        ("most of it", Align::Left),
    ];
    let row = |name: &str, of: &dyn Fn(&Ledger) -> String, most: String| -> Vec<Text> {
        let cell = |(_, it): (&str, &&Known<Ledger>)| it.value().map_or("-".to_owned(), of);
        let [client, server] = ledgers.named().map(cell);
        [name.to_owned(), client, server, most].map(Text::from).into()
    };
    let percent = |it: Option<f64>| it.map_or("-".to_owned(), |it| format!("{:.1} %", 100.0 * it));
    let losses = rows(ledgers).map(|loss| {
        let most = largest_parts(ledgers, loss.id);
        row(loss.title, &|it| percent(share(it, loss.id)), most)
    });
    let mut table = Table::new(&columns, losses);
    table.push(row("unexplained", &|it| percent(Some(it.unexplained)), String::new()));
    table.push(row("of CPUs", &|it| cpus(&it.cpus), String::new()));
    let seconds = |it: &Ledger| format!("{:.2} s", it.wall_ns as f64 / 1e9);
    table.push(row("in", &seconds, String::new()));
    table
}

fn every(ledger: &Ledger) -> Table {
    let columns = [
        ("", Align::Left),
        ("share", Align::Right),
        ("uncertainty", Align::Right),
        ("found by", Align::Left),
    ];
    let row = |it: &Entry| -> Vec<Text> {
        let title = title(it);
        let part = if it.part.is_empty() { String::new() } else { format!(": {}", it.part) };
        let [share, uncertainty, method] = match &it.share {
            Known::Value(share) => [
                format!("{:.3} %", 100.0 * share),
                format!("+-{:.3} %", 100.0 * it.uncertainty),
                it.method.clone(),
            ],
            Known::Missing { missing } => ["unknown".to_owned(), String::new(), missing.clone()],
        };
        vec![format!("{title}{part}").into(), share.into(), uncertainty.into(), method.into()]
    };
    Table::new(&columns, ledger.lines.iter().map(row))
}

/// A list of CPUs, or their number if the list is too long for a column.
fn cpus(list: &str) -> String {
    const LONGEST: usize = 14;
    if list.len() <= LONGEST {
        return list.to_owned();
    }
    let count = CpuSet::parse_list(list).map_or(0, |it| it.len());
    format!("{count} of them")
}

/// The largest part of a loss at each end, if it has parts.
fn largest_parts(ledgers: &Ends<&Known<Ledger>>, loss: &str) -> String {
    let largest = |(_, it): (&str, &&Known<Ledger>)| -> Option<String> {
        let lines = it.value()?.lines.iter().filter(|it| it.loss == loss && !it.part.is_empty());
        let known = lines.filter_map(|it| Some((&it.part, *it.share.value()?)));
        let (part, _) = known.filter(|it| it.1 >= LEAST).max_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(part.clone())
    };
    let mut parts: Vec<String> = ledgers.named().into_iter().filter_map(largest).collect();
    parts.dedup();
    parts.join(", ")
}

/// Sentences about each end; those that hold for both are listed once, for `both ends`.
fn by_end(
    ledgers: &Ends<&Known<Ledger>>,
    of: impl Fn(&Known<Ledger>) -> Vec<String>,
) -> Vec<(String, &'static str)> {
    let (client, server) = (of(ledgers.client), of(ledgers.server));
    let end = |it: &String| if server.contains(it) { "both ends" } else { "client" };
    let mut listed: Vec<(String, &str)> = client.iter().map(|it| (it.clone(), end(it))).collect();
    let of_server = server.iter().filter(|it| !client.contains(it));
    listed.extend(of_server.map(|it| (it.clone(), "server")));
    listed
}

fn causes(ledger: &Known<Ledger>) -> Vec<String> {
    let Some(ledger) = ledger.value() else { return Vec::new() };
    let mut listed = Vec::new();
    for line in &ledger.lines {
        for cause in &line.causes {
            let fix = cause.fix.as_ref().map_or(String::new(), |it| format!("; `{it}` fixes it"));
            let words = format!("{} <- {}{fix}", title(line), cause.check);
            if !listed.contains(&words) {
                listed.push(words);
            }
        }
    }
    listed
}

fn unknown(ledger: &Known<Ledger>) -> Vec<String> {
    let lines = match ledger {
        Known::Missing { missing } => return vec![format!("where the time went: {missing}")],
        Known::Value(ledger) => &ledger.lines,
    };
    // Several lines often lack the same value.
    let mut by_reason: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in lines {
        let Some(why) = line.share.reason() else { continue };
        match by_reason.iter_mut().find(|it| it.0 == why) {
            Some((_, titles)) => titles.push(title(line)),
            None => by_reason.push((why, vec![title(line)])),
        }
    }
    by_reason.iter().map(|(why, titles)| format!("{}: {why}", titles.join(", "))).collect()
}

fn title(entry: &Entry) -> &str {
    rules::losses::find(&entry.loss).map_or(&*entry.loss, |it| it.title)
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;
    use crate::document::every_form::text;

    fn shown(run: &Run) -> String {
        let mut document = Document::new("Ledgers");
        put(&mut document, run);
        let mut statements = Statements::default();
        add_to(&mut statements, run);
        statements.put(&mut document);
        text(&document, 100)
    }

    #[test]
    fn both_ends_stand_side_by_side_with_what_is_responsible() {
        insta::assert_snapshot!(shown(&fixture::bandwidth()));
    }

    #[test]
    fn an_end_whose_ledger_was_not_made_says_why() {
        let mut run = fixture::bandwidth();
        run.judged.server.ledger = Known::Missing { missing: "the server is lost".to_owned() };
        let text = shown(&run);
        assert!(text.contains("server: where the time went: the server is lost"), "{text}");
        run.judged.client.ledger = run.judged.server.ledger.clone();
        let text = shown(&run);
        assert_eq!(text, "Ledgers\nunknown   both ends: where the time went: the server is lost\n");
    }
}
