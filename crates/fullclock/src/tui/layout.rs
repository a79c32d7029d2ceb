//! How a screen is divided.

use ratatui::layout::{Constraint, Layout, Rect};

/// How many lines the parts around the table get: status and detail at least, the legend at most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Lines {
    pub(super) status: u16,
    pub(super) bar: u16,
    pub(super) legend: u16,
    pub(super) detail: u16,
}

impl Lines {
    /// Those of a screen of this size.
    pub(super) fn of(columns: u16, height: u16) -> Lines {
        let legend = if columns < 120 { 2 } else { 1 };
        match height {
            0..=11 => Lines { status: 0, bar: 0, legend: 0, detail: 0 },
            12..=15 => Lines { status: 0, bar: 1, legend: 1, detail: 2 },
            16..=21 => Lines { status: 1, bar: 1, legend, detail: 4 },
            22..=39 => Lines { status: 1, bar: 1, legend, detail: 5 },
            40..=47 => Lines { status: 1, bar: 1, legend: 2, detail: 8 },
            _ => Lines { status: 1, bar: 2, legend: 2, detail: 9 },
        }
    }
}

/// The line of the title, and that of the keys.
const AROUND: u16 = 2;

/// The table's rule and its headings.
const HEADINGS: u16 = 2;

/// How many rows of the table fit at least on a screen of this size, where they are many.
pub(super) fn table_lines((columns, height): (u16, u16)) -> usize {
    let Lines { status, bar, legend, detail } = Lines::of(columns, height);
    usize::from(height.saturating_sub(AROUND + HEADINGS + status + bar + legend + detail))
}

/// How many lines of a page fit on a screen of this size.
pub(super) fn page_lines((_, height): (u16, u16)) -> usize {
    usize::from(height.saturating_sub(AROUND))
}

/// What parts of the screen would take.
#[derive(Clone, Copy)]
pub(super) struct Needs<'a> {
    /// The lines of what has to be said of the reading.
    pub(super) status: u16,
    /// The lines of the legend.
    pub(super) legend: u16,
    /// Columns and lines of the table.
    pub(super) table: (u16, u16),
    /// Lines of the findings, in so many columns.
    pub(super) findings: &'a dyn Fn(u16) -> u16,
}

/// Where everything is drawn; what there is no room for is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Areas {
    pub(super) status: Rect,
    pub(super) bar: Rect,
    pub(super) legend: Rect,
    pub(super) table: Rect,
    /// The cell under the cursor.
    pub(super) detail: Rect,
    pub(super) findings: Rect,
    /// The ledgers of the last intervals.
    pub(super) stack: Rect,
    /// Between neighbours, where there are any.
    pub(super) border: Rect,
}

/// Findings in fewer columns are no use beside something else.
const NARROWEST_SIDE: u16 = 56;
const WIDEST_SIDE: u16 = 90;
/// A screen of this width has two things side by side below the table.
const WIDE: u16 = 140;
/// Between neighbours: a line with a space on each side.
const BORDER: u16 = 3;
/// The rule above findings, and one of them or the verdict.
const LEAST_FINDINGS: u16 = 2;
/// The lines of a stack that say more than the bar above.
const LEAST_STACK: u16 = 6;

/// Divides what is between title and keys. Findings and the stack have only what the table leaves.
pub(super) fn divide(body: Rect, lines: Lines, needs: Needs<'_>) -> Areas {
    let status = if lines.status == 0 { 0 } else { needs.status.max(lines.status) };
    let parts = [status, lines.bar, lines.legend.min(needs.legend)].map(Constraint::Length);
    let [status, bar, legend, rest] =
        Layout::vertical(parts.into_iter().chain([Constraint::Fill(1)])).areas(body);
    let areas = Areas { status, bar, legend, ..Areas::default() };
    let (table_columns, table_lines) = needs.table;
    let beside = rest.width.saturating_sub(table_columns + BORDER).min(WIDEST_SIDE);
    if beside >= NARROWEST_SIDE && lines.detail > 0 {
        let (left, border, side) = halves(rest, beside);
        let (table, detail) = table_first(left, table_lines, lines.detail);
        let (findings, stack) = findings_first(side, (needs.findings)(side.width));
        return Areas { table, detail, findings, stack, border, ..areas };
    }
    let (table, below) = table_first(rest, table_lines, lines.detail);
    if below.width >= WIDE && below.height >= LEAST_STACK {
        let (detail, border, side) = halves(below, below.width / 2 - BORDER / 2);
        let (findings, stack) = findings_first(side, (needs.findings)(side.width));
        return Areas { table, detail, findings, stack, border, ..areas };
    }
    // One below the other: the least of the detail first, then findings, then a stack, and the detail grows with the rest.
    let spare = below.height.saturating_sub(lines.detail);
    let findings =
        if spare < LEAST_FINDINGS { 0 } else { (needs.findings)(below.width).min(spare) };
    let stack = (spare - findings) / 2;
    let stack = if stack < LEAST_STACK { 0 } else { stack };
    let parts = [Constraint::Length(findings), Constraint::Fill(1), Constraint::Length(stack)];
    let [findings, detail, stack] = Layout::vertical(parts).areas(below);
    Areas { table, detail, findings, stack, ..areas }
}

/// The table with as many lines as it takes, and what is left of `area`, which is no less than `least` lines.
fn table_first(area: Rect, lines: u16, least: u16) -> (Rect, Rect) {
    let lines = lines.min(area.height.saturating_sub(least));
    // Without a detail everything is the table's.
    let lines = if least == 0 { area.height } else { lines };
    let [table, below] =
        Layout::vertical([Constraint::Length(lines), Constraint::Fill(1)]).areas(area);
    (table, below)
}

/// Findings with as many lines as they take, and the stack with the rest, if that is enough for one.
fn findings_first(area: Rect, findings: u16) -> (Rect, Rect) {
    let findings = findings.min(area.height);
    let enough = area.height - findings >= LEAST_STACK;
    let lines = if enough { findings } else { area.height };
    let [findings, stack] =
        Layout::vertical([Constraint::Length(lines), Constraint::Fill(1)]).areas(area);
    (findings, stack)
}

fn halves(area: Rect, right: u16) -> (Rect, Rect, Rect) {
    let parts = [Constraint::Fill(1), Constraint::Length(BORDER), Constraint::Length(right)];
    let [left, border, right] = Layout::horizontal(parts).areas(area);
    (left, border, right)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn divided(size: (u16, u16), table: (u16, u16), findings: u16) -> Areas {
        let body = Rect::new(0, 1, size.0, size.1.saturating_sub(AROUND));
        let needs = Needs { status: 1, legend: 2, table, findings: &|_| findings };
        divide(body, Lines::of(size.0, size.1), needs)
    }

    fn all(areas: &Areas) -> [Rect; 8] {
        let Areas { status, bar, legend, table, detail, findings, stack, border } = *areas;
        [status, bar, legend, table, detail, findings, stack, border]
    }

    #[test]
    fn no_two_parts_share_a_cell_and_none_leaves_the_screen() {
        for size in [(30, 6), (40, 13), (80, 24), (100, 50), (132, 43), (140, 30), (200, 50)] {
            for table in [(60, 4), (130, 8), (180, 5), (90, 500)] {
                for findings in [2, 9, 60] {
                    let areas = divided(size, table, findings);
                    let body = Rect::new(0, 1, size.0, size.1 - AROUND);
                    for (at, one) in all(&areas).iter().enumerate() {
                        let is_inside = one.is_empty() || one.intersection(body) == *one;
                        assert!(is_inside, "{size:?} {areas:?}");
                        let others = all(&areas).into_iter().skip(at + 1);
                        assert!(
                            others.into_iter().all(|it| it.intersection(*one).is_empty()),
                            "{size:?} {areas:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn findings_are_next_to_the_table_where_it_leaves_room() {
        let areas = divided((200, 50), (90, 5), 8);
        assert_eq!((areas.findings.y, areas.findings.height), (areas.table.y, 8));
        assert_eq!((areas.findings.width, areas.stack.width), (90, 90));
    }

    #[test]
    fn a_wide_table_has_findings_below_it_and_the_detail_beside_them() {
        let areas = divided((200, 50), (190, 5), 8);
        assert_eq!((areas.table.width, areas.table.height), (200, 5));
        assert_eq!(areas.findings.y, areas.detail.y);
        assert!(areas.detail.height > 20 && areas.findings.x > areas.detail.right());
    }

    #[test]
    fn on_a_small_screen_findings_have_what_a_short_table_leaves() {
        let areas = divided((80, 24), (78, 6), 3);
        assert_eq!((areas.table.height, areas.findings.height, areas.detail.height), (6, 3, 9));
        let areas = divided((80, 24), (78, 500), 3);
        assert_eq!((areas.findings.height, areas.detail.height), (0, 5));
    }
}
