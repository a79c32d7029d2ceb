//! The settings of the machines that results are of: those that a vendor asks for first, and all of them to look up.

use crate::document::{Align, Block, Document, Table, Text};
use lab::record::Fingerprint;

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

/// A section about machines, each with a name; one alone needs none.
pub(crate) fn section(document: &mut Document, title: &str, machines: &[(&str, &Fingerprint)]) {
    let mut all: Vec<&str> =
        machines.iter().flat_map(|(_, it)| it.0.keys()).map(String::as_str).collect();
    all.sort_unstable();
    all.dedup();
    if all.is_empty() {
        return;
    }
    let first: Vec<&str> = FOR_A_TICKET.into_iter().filter(|it| all.contains(it)).collect();
    document.heading(title);
    if !first.is_empty() {
        document.push(Block::Table(table(machines, &first)));
    }
    let summary = match all.len() {
        1 => "The 1 setting recorded".to_owned(),
        n => format!("All {n} settings recorded"),
    };
    let body = vec![Block::Table(table(machines, &all))];
    document.push(Block::Details { summary, body });
}

fn table(machines: &[(&str, &Fingerprint)], settings: &[&str]) -> Table {
    let names = machines.iter().map(|(name, _)| (*name, Align::Left));
    let columns: Vec<(&str, Align)> = std::iter::once(("", Align::Left)).chain(names).collect();
    let row = |setting: &&str| -> Vec<Text> {
        let value = |(_, it): &(&str, &Fingerprint)| {
            it.0.get(*setting).map_or_else(|| Text::quiet("not recorded"), |it| it.clone().into())
        };
        std::iter::once(Text::from(*setting)).chain(machines.iter().map(value)).collect()
    };
    Table::new(&columns, settings.iter().map(row))
}
