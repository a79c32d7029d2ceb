//! A ledger as a document, as JSON and as CSV.

pub mod csv;
pub mod document;
pub mod json;

use rules::ledger::{Ledger, Line};

/// The lines of one loss: itself, or its parts.
struct Group<'a> {
    /// The title of the loss.
    title: &'static str,
    /// Its parts, the largest first; a single line without a part if the loss has none.
    lines: Vec<&'a Line>,
}

impl Group<'_> {
    /// The known part of it, in nanoseconds of all CPUs.
    fn ns(&self) -> i64 {
        self.lines.iter().filter_map(|line| line.ns.as_ref().ok()).sum()
    }

    /// Whether all of it is unknown.
    fn is_unknown(&self) -> bool {
        self.lines.iter().all(|line| line.ns.is_err())
    }
}

/// The lines by loss, in display order.
fn groups(ledger: &Ledger) -> Vec<Group<'_>> {
    let mut groups: Vec<Group> = Vec::new();
    for line in &ledger.lines {
        match groups.last_mut() {
            Some(group) if group.title == line.loss.title => group.lines.push(line),
            _ => groups.push(Group { title: line.loss.title, lines: vec![line] }),
        }
    }
    for group in &mut groups {
        group.lines.sort_by_key(|line| std::cmp::Reverse(line.ns.clone().unwrap_or(i64::MIN)));
    }
    groups
}
