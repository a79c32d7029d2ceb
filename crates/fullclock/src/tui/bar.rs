//! The ledger of an interval as one bar, and what its colours mean.

use super::slices::{Slice, mixes, slices};
use super::text::width;
use super::theme::{ASIDE, BLOCKS_RIGHT, HEADING, LARGE, Theme};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use rules::loss::Kind;
use rules::watch::Shares;

/// Fills `area` with the bar.
pub(super) fn draw(shares: &Shares, area: Rect, theme: Theme, buffer: &mut Buffer) {
    let slices = slices(shares);
    let sizes = slices.iter().map(|it| it.percent.unwrap_or(0.0));
    for (mix, x) in mixes(sizes, area.width.into()).into_iter().zip(area.x..) {
        let (glyph, style) = mix.cell(&slices, BLOCKS_RIGHT, theme);
        for y in area.y..area.bottom() {
            if let Some(cell) = buffer.cell_mut((x, y)) {
                cell.set_char(glyph).set_style(style);
            }
        }
    }
}

/// What the colours mean and how much each has, on at most `lines` lines: what is not explained, useful and idle time, then
/// losses, the largest first, then which lines are unknown. Lines that took nothing are left out.
pub(super) fn legend(
    shares: &Shares,
    columns: usize,
    lines: usize,
    theme: Theme,
) -> Vec<Line<'static>> {
    let (mut known, unknown): (Vec<Slice>, Vec<Slice>) =
        slices(shares).into_iter().partition(|it| it.percent.is_some());
    let percent = |it: &Slice| it.percent.unwrap_or(0.0);
    known.retain(|it| it.kind.is_none() || percent(it).abs() >= 0.05);
    // The unexplained share checks all the others, so it always has room.
    known.sort_by(|a, b| {
        let rank = |it: &Slice| match it.kind {
            None => 0,
            Some(Kind::Useful | Kind::Idle) => 1,
            Some(Kind::Lost) => 2,
        };
        rank(a).cmp(&rank(b)).then(percent(b).total_cmp(&percent(a)))
    });
    let mut entries: Vec<Line> = known.iter().map(|it| entry(it, percent(it), theme)).collect();
    entries.extend(unknown_entry(&unknown, columns));
    wrapped(entries, columns, lines)
}

/// The sign that a slice has in the bar, its name and its share.
fn entry(slice: &Slice, percent: f64, theme: Theme) -> Line<'static> {
    let id = slice.id;
    let mark = if slice.partial { "*" } else { "" };
    let is_large = slice.kind == Some(Kind::Lost) && percent >= LARGE;
    let style = if is_large { slice.style(theme).patch(HEADING) } else { Style::new() };
    let words = if slice.kind.is_none() && percent < -0.05 {
        format!("overlap {:.1} %", -percent)
    } else {
        // What rounds to zero has no sign.
        let percent = if percent.abs() < 0.05 { 0.0 } else { percent };
        format!("{id} {percent:.1} %{mark}")
    };
    let sign = Span::styled(slice.glyph(theme).to_string(), slice.style(theme));
    Line::from(vec![sign, Span::raw(" "), Span::styled(words, style)])
}

/// The names of unknown lines; their number where the names would take more than half a line.
fn unknown_entry(unknown: &[Slice], columns: usize) -> Option<Line<'static>> {
    let ids: Vec<&str> = unknown.iter().map(|it| it.id).collect();
    let names = format!("unknown: {}", ids.join(", "));
    let words =
        if width(&names) * 2 > columns { format!("{} unknown (b)", ids.len()) } else { names };
    (!ids.is_empty()).then(|| Line::styled(words, ASIDE))
}

/// Entries side by side; the last line says how many had no room.
fn wrapped(entries: Vec<Line<'static>>, columns: usize, lines: usize) -> Vec<Line<'static>> {
    const GAP: usize = 2;
    const MORE: usize = "+99 (b)".len() + GAP;
    let n_entries = entries.len();
    let mut wrapped = vec![Line::default()];
    let mut used = 0;
    for (at, entry) in entries.into_iter().enumerate() {
        let needed = entry.width() + GAP;
        let is_last_line = wrapped.len() == lines;
        let reserved = if is_last_line && at > 0 && at + 1 < n_entries { MORE } else { 0 };
        if used + needed - GAP + reserved > columns && used > 0 {
            if is_last_line {
                push(&mut wrapped, Span::raw(format!("+{} (b)", n_entries - at)));
                break;
            }
            wrapped.push(Line::default());
            used = 0;
        }
        used += needed;
        for span in entry.spans {
            push(&mut wrapped, span.patch_style(entry.style));
        }
        push(&mut wrapped, Span::raw("  "));
    }
    wrapped
}

fn push(lines: &mut [Line<'static>], span: Span<'static>) {
    if let Some(line) = lines.last_mut() {
        line.push_span(span);
    }
}

#[cfg(test)]
mod tests {
    use super::super::theme::Colors;
    use super::*;
    use rules::watch::fake;

    const BLOCKS: Theme = Theme { colors: Colors::Xterm, unicode: true };
    const LETTERS: Theme = Theme { colors: Colors::None, unicode: true };

    fn drawn(shares: &Shares, columns: u16, theme: Theme) -> String {
        let area = Rect::new(0, 0, columns, 1);
        let mut buffer = Buffer::empty(area);
        draw(shares, area, theme, &mut buffer);
        buffer.content.iter().map(ratatui::buffer::Cell::symbol).collect()
    }

    fn text(lines: &[Line]) -> Vec<String> {
        lines.iter().map(|it| it.to_string().trim_end().to_owned()).collect()
    }

    #[test]
    fn the_bar_is_of_blocks_where_there_is_colour_and_of_letters_elsewhere() {
        assert_eq!(drawn(&fake::shares(), 20, BLOCKS), "████████▌████▊░░░░░░");
        assert_eq!(drawn(&fake::shares(), 20, LETTERS), "uuuuuuuuullllkiiiiii");
    }

    #[test]
    fn the_bar_is_full_whatever_the_shares() {
        let overlapping = Shares { unexplained_ns: -15, ..fake::shares() };
        for columns in [1, 7, 40, 80, 131] {
            for shares in [&fake::shares(), &overlapping] {
                assert!(!drawn(shares, columns, BLOCKS).contains(' '), "{columns}");
            }
        }
    }

    #[test]
    fn what_is_not_explained_is_never_left_out() {
        for (columns, lines) in [(20, 1), (40, 1), (80, 2)] {
            let legend = text(&legend(&fake::shares(), columns, lines, LETTERS));
            assert!(legend[0].starts_with("? unexplained 0.3 %"), "{legend:?}");
            assert!(legend.len() <= lines, "{legend:?}");
        }
    }

    #[test]
    fn lines_that_overlap_are_said_to() {
        let shares = Shares { unexplained_ns: -15, ..fake::shares() };
        assert!(text(&legend(&shares, 80, 2, LETTERS))[0].starts_with("? overlap 1.5 %"));
    }

    #[test]
    fn only_what_is_large_and_lost_is_red_and_nothing_that_is_unknown() {
        let legend = legend(&fake::shares(), 200, 1, BLOCKS);
        let is_red =
            |it: &&Span| it.style.fg.is_some() && it.style.add_modifier == HEADING.add_modifier;
        let red: Vec<&str> = legend[0].iter().filter(is_red).map(|it| &*it.content).collect();
        assert_eq!(red, ["slow-clock 22.5 %"]);
        let unknown = legend[0].iter().find(|it| it.content.contains("unknown")).unwrap();
        assert_eq!(unknown.style.fg, None);
    }
}
