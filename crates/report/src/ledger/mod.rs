//! A ledger as text and as JSON.

mod bar;
pub mod json;
pub mod text;

use rules::ledger::{Ledger, Line};

/// The lines of one loss: itself, or its parts.
struct Group<'a> {
    /// What it is called.
    title: &'static str,
    /// Each part, the largest first; one line without a part where the loss is one thing.
    lines: Vec<&'a Line>,
}

impl Group<'_> {
    /// What is known of it, in nanoseconds of all CPUs.
    fn ns(&self) -> i64 {
        self.lines.iter().filter_map(|line| line.ns.as_ref().ok()).sum()
    }

    /// Whether nothing is known of it.
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

/// The time to account for, of all CPUs together, in nanoseconds.
fn capacity_ns(ledger: &Ledger) -> i64 {
    let n_cpus = i64::try_from(ledger.cpus.len()).unwrap_or(i64::MAX);
    i64::try_from(ledger.wall_ns).unwrap_or(i64::MAX).saturating_mul(n_cpus)
}
