//! A ledger as text and as JSON.

pub mod json;
pub mod text;

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

/// The time to account for, of all CPUs together, in nanoseconds.
fn capacity_ns(ledger: &Ledger) -> i64 {
    let n_cpus = i64::try_from(ledger.cpus.len()).unwrap_or(i64::MAX);
    i64::try_from(ledger.wall_ns).unwrap_or(i64::MAX).saturating_mul(n_cpus)
}

/// A bar of a waterfall, where each bar begins at the end of the one above: `start` to `end` of the whole (0 to 1) in `width`
/// columns.
///
/// A value too small for a column gets a thin mark, so that only zero has an empty bar.
fn bar(start: f64, end: f64, width: usize) -> String {
    let (start, end) = (start.clamp(0.0, 1.0), end.clamp(0.0, 1.0));
    let column = |at: f64| ((at * width as f64).round() as usize).min(width);
    let (first, last) = (column(start), column(end));
    if first < last {
        return format!("{}{}", " ".repeat(first), "█".repeat(last - first));
    }
    let sliver = if end > start { "▏" } else { "" };
    format!("{}{sliver}", " ".repeat(first.min(width.saturating_sub(1))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_begins_where_the_one_above_ended() {
        assert_eq!(bar(0.0, 0.5, 8), "████");
        assert_eq!(bar(0.5, 0.75, 8), "    ██");
    }

    #[test]
    fn a_sliver_shows_and_nothing_does_not() {
        assert_eq!(bar(0.5, 0.5001, 8), "    ▏");
        assert_eq!(bar(1.0 - 1e-9, 1.0, 8), "       ▏");
        assert_eq!(bar(0.25, 0.25, 8), "  ");
    }

    #[test]
    fn an_overdraft_stays_within_the_page() {
        assert_eq!(bar(0.9, 1.4, 10), "         █");
        assert_eq!(bar(f64::NAN, 0.1, 10), "█");
    }
}
