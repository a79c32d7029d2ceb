//! The ledger as one bar: a letter for each line, as often as it has hundredths of the time, and a legend.

use super::layout::width;
use super::theme::Theme;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use rules::loss::Kind;
use rules::watch::Shares;

/// One colour of the bar.
struct Segment {
    letter: char,
    id: &'static str,
    /// None for what no line accounts for.
    kind: Option<Kind>,
    /// None where nobody knows.
    percent: Option<f64>,
    /// Whether some part of it is not known.
    partial: bool,
}

/// The bar, exactly `columns` wide.
pub(super) fn bar(shares: &Shares, columns: usize, theme: Theme) -> Line<'static> {
    let segments = segments(shares);
    let sizes = sizes(&segments, columns);
    let spans = segments.iter().zip(sizes).map(|(segment, size)| {
        Span::styled(segment.letter.to_string().repeat(size), style(segment, theme))
    });
    Line::from_iter(spans)
}

/// What the letters mean and how much each has, on at most `lines` lines.
///
/// Unknown lines are named too; lines that took nothing are left out.
pub(super) fn legend(
    shares: &Shares,
    columns: usize,
    lines: usize,
    theme: Theme,
) -> Vec<Line<'static>> {
    let mut segments = segments(shares);
    // The unexplained share checks all the others, so it always has room. Unknown lines may have none.
    segments.rotate_right(1);
    segments.sort_by_key(|it| it.percent.is_none());
    let entries: Vec<(String, Style)> = segments
        .iter()
        .filter(|it| it.kind.is_none() || it.percent.is_none_or(|percent| percent.abs() >= 0.05))
        .map(|it| (entry(it), style(it, theme)))
        .collect();
    wrapped(entries, columns, lines)
}

fn entry(segment: &Segment) -> String {
    let Segment { letter, id, percent, .. } = segment;
    let mark = if segment.partial { "*" } else { "" };
    match percent {
        None => format!("{letter} {id} -"),
        Some(percent) if segment.kind.is_none() && *percent < -0.05 => {
            format!("{letter} overlap {:.1}", -percent)
        }
        Some(percent) => {
            // What rounds to zero has no sign.
            let percent = if percent.abs() < 0.05 { 0.0 } else { *percent };
            format!("{letter} {id} {percent:.1}{mark}")
        }
    }
}

/// Entries side by side; the last line says how many had no room.
fn wrapped(entries: Vec<(String, Style)>, columns: usize, lines: usize) -> Vec<Line<'static>> {
    const GAP: usize = 2;
    const MORE: usize = "+99 (b)".len() + GAP;
    let n_entries = entries.len();
    let mut wrapped = vec![Line::default()];
    let mut used = 0;
    for (at, (entry, style)) in entries.into_iter().enumerate() {
        let needed = width(&entry) + GAP;
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
        push(&mut wrapped, Span::styled(entry, style));
        push(&mut wrapped, Span::raw("  "));
    }
    wrapped
}

fn push(lines: &mut [Line<'static>], span: Span<'static>) {
    if let Some(line) = lines.last_mut() {
        line.push_span(span);
    }
}

fn style(segment: &Segment, theme: Theme) -> Style {
    segment.kind.map_or(theme.unexplained(), |it| theme.share(it))
}

/// One segment for each line of the ledger, its parts together; what is not explained comes last.
fn segments(shares: &Shares) -> Vec<Segment> {
    let mut segments: Vec<Segment> = Vec::new();
    for line in &shares.lines {
        let percent = line.ns.as_ref().ok().map(|ns| shares.percent(*ns));
        match segments.iter_mut().find(|it| it.id == line.loss) {
            Some(segment) => {
                segment.partial |= segment.percent.is_none() != percent.is_none();
                segment.percent = match (segment.percent, percent) {
                    (Some(a), Some(b)) => Some(a + b),
                    (a, b) => a.or(b),
                };
            }
            None => {
                let letter = letter(line.loss, &segments);
                let kind = Some(line.kind);
                segments.push(Segment { letter, id: line.loss, kind, percent, partial: false });
            }
        }
    }
    let percent = Some(shares.percent(shares.unexplained_ns));
    let id = "unexplained";
    segments.push(Segment { letter: '?', id, kind: None, percent, partial: false });
    segments
}

/// A letter that no line before has: the first of a word of its id, small or large, or else any of it.
fn letter(id: &str, taken: &[Segment]) -> char {
    let is_free =
        |it: &char| it.is_ascii_alphabetic() && taken.iter().all(|other| other.letter != *it);
    let first = id.chars().next().into_iter().flat_map(|it| [it, it.to_ascii_uppercase()]);
    let of_words = id.split('-').skip(1).filter_map(|word| word.chars().next());
    first.chain(of_words).chain(id.chars()).chain('A'..='Z').find(is_free).unwrap_or('#')
}

/// How many of `columns` each segment gets: as its share says, rounded so that the sum is exact.
fn sizes(segments: &[Segment], columns: usize) -> Vec<usize> {
    let positive = |it: &Segment| it.percent.unwrap_or(0.0).max(0.0);
    let total: f64 = segments.iter().map(positive).sum();
    let mut end_before = 0;
    let mut sum = 0.0;
    let size = |segment| {
        sum += positive(segment);
        let end = if total > 0.0 { (sum / total * columns as f64).round() as usize } else { 0 };
        let size = end - end_before;
        end_before = end;
        size
    };
    segments.iter().map(size).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rules::watch::fake;

    const THEME: Theme = Theme { color: false, unicode: true };

    fn text(lines: &[Line]) -> Vec<String> {
        lines.iter().map(|it| it.to_string().trim_end().to_owned()).collect()
    }

    #[test]
    fn the_bar_is_full_whatever_the_shares() {
        for columns in [1, 7, 40, 80, 131] {
            assert_eq!(width(&bar(&fake::shares(), columns, THEME).to_string()), columns);
        }
    }

    #[test]
    fn every_line_has_a_letter_of_its_own() {
        let letters: Vec<char> = segments(&fake::shares()).iter().map(|it| it.letter).collect();
        let unique: std::collections::BTreeSet<char> = letters.iter().copied().collect();
        assert_eq!(unique.len(), letters.len(), "{letters:?}");
    }

    #[test]
    fn what_is_not_explained_is_never_left_out() {
        for (columns, lines) in [(20, 1), (40, 1), (80, 2)] {
            let legend = text(&legend(&fake::shares(), columns, lines, THEME));
            assert!(legend[0].starts_with("? unexplained 0.3"), "{legend:?}");
            assert!(legend.len() <= lines, "{legend:?}");
        }
    }

    #[test]
    fn lines_that_overlap_are_said_to() {
        let shares = Shares { unexplained_ns: -15, ..fake::shares() };
        assert!(text(&legend(&shares, 80, 2, THEME))[0].starts_with("? overlap 1.5"));
        assert_eq!(width(&bar(&shares, 80, THEME).to_string()), 80);
    }
}
