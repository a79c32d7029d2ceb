//! The bars of a waterfall: each begins where the one above it ended.

/// A bar of `width` columns for the part of the whole from `start` to `end`, 0 to 1.
///
/// What is there at all shows: a sliver has a thin mark of its own, so that an empty bar means nothing.
pub(super) fn bar(start: f64, end: f64, width: usize) -> String {
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
