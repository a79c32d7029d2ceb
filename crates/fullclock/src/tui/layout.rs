//! How the lines of a screen are shared out, and what that leaves to the table and to pages.

/// How many lines each part around the table gets.
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
            16..=31 => Lines { status: 1, bar: 1, legend, detail: 3 },
            _ => Lines { status: 1, bar: 1, legend: 2, detail: 6 },
        }
    }
}

/// The line of the title, and that of the keys.
const AROUND: u16 = 2;

/// The table's rule and its headings.
const HEADINGS: u16 = 2;

/// How many rows of the table fit on a screen of this size.
pub(super) fn table_lines((columns, height): (u16, u16)) -> usize {
    let Lines { status, bar, legend, detail } = Lines::of(columns, height);
    usize::from(height.saturating_sub(AROUND + HEADINGS + status + bar + legend + detail))
}

/// How many lines of a page fit on a screen of this size.
pub(super) fn page_lines((_, height): (u16, u16)) -> usize {
    usize::from(height.saturating_sub(AROUND))
}
