//! The table: a heading for each column, and the rows around the cursor.

use super::layout::{cut, left, right, width};
use super::state::State;
use super::theme::{ASIDE, HEADING, SELECTED};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use rules::watch::{Cell, Reading, Row, Shown, number};

/// A part's name may be long; it gets this much of a heading.
const WIDEST: usize = 16;
/// `100.00` and a mark fit.
const NARROWEST: usize = 7;

/// Draws a rule that says what the table shows, the headings and as many rows as fit.
pub(super) fn draw(state: &State, reading: &Reading, area: Rect, frame: &mut Frame) {
    let columns = state.columns(reading);
    let rows = state.rows(reading, &columns);
    let n_lines = usize::from(area.height).saturating_sub(2);
    let row_at = state.row_at(&rows);
    let first = first_row(row_at, rows.len(), n_lines);
    let shown_rows = rows.get(first..rows.len().min(first + n_lines)).unwrap_or_default();

    let label = 2 + shown_rows.iter().map(|it| it.label().len()).max().unwrap_or(0).max(4);
    let cursor = state.column_at(&columns);
    let room = usize::from(area.width).saturating_sub(label);
    let visible = visible_columns(&columns, cursor, room);
    let table = Table { state, reading, columns: &columns, visible, cursor, label };

    let mut lines = vec![table.rule(area, (first, shown_rows.len(), rows.len())), table.headings()];
    let line = |(at, row): (usize, &Row)| table.line(*row, first + at == row_at);
    lines.extend(shown_rows.iter().enumerate().map(line));
    for (line, y) in lines.iter().zip(area.y..area.bottom()) {
        frame.buffer_mut().set_line(area.x, y, line, area.width);
    }
}

/// The rows on screen keep the cursor in their middle, but for the ends of the table.
fn first_row(cursor: usize, n_rows: usize, n_lines: usize) -> usize {
    cursor.saturating_sub(n_lines / 2).min(n_rows.saturating_sub(n_lines))
}

/// The columns that fit with the cursor's among them: from the first one as long as that is possible.
fn visible_columns(columns: &[Shown], cursor: usize, room: usize) -> std::ops::Range<usize> {
    let taken = |from: usize, to: usize| -> usize {
        columns.get(from..to).unwrap_or_default().iter().map(column_width).sum()
    };
    let mut first = 0;
    while first < cursor && taken(first, cursor + 1) > room {
        first += 1;
    }
    let mut end = first;
    while end < columns.len() && taken(first, end + 1) <= room {
        end += 1;
    }
    first..end
}

/// With the mark of the order and the space before it.
fn column_width(column: &Shown) -> usize {
    2 + width(&column.heading()).clamp(NARROWEST, WIDEST)
}

struct Table<'a> {
    state: &'a State,
    reading: &'a Reading,
    columns: &'a [Shown<'a>],
    visible: std::ops::Range<usize>,
    cursor: usize,
    label: usize,
}

impl Table<'_> {
    /// What the rows are, and how much of the table is on screen.
    fn rule(&self, area: Rect, (first, n_shown, n_rows): (usize, usize, usize)) -> Line<'static> {
        let State { level, filter, order, theme, .. } = self.state;
        let mut words = vec![level.name().to_owned()];
        words.extend(
            order.as_ref().map(|it| {
                format!("by {} {}", it.column.0, if it.descending { "down" } else { "up" })
            }),
        );
        words.extend(filter.describe());
        let range = |what: &str, from: usize, to: usize, of: usize| {
            (to - from < of).then(|| format!("{what} {}-{to} of {of}", from + 1))
        };
        let std::ops::Range { start, end } = self.visible;
        words.extend(range("rows", first, first + n_shown, n_rows));
        words.extend(range("columns", start, end, self.columns.len()));
        let rule = theme.rule();
        let text = format!("{rule}{rule} {} ", words.join(&format!(" {rule}{rule} ")));
        let fill = usize::from(area.width).saturating_sub(width(&text));
        Line::styled(format!("{text}{}", rule.repeat(fill)), ASIDE)
    }

    fn headings(&self) -> Line<'static> {
        let theme = self.state.theme;
        let mut spans = vec![Span::raw(" ".repeat(self.label))];
        for (at, column) in self.visible_columns() {
            let order = self.state.order.as_ref();
            let by_this =
                order.filter(|it| (it.column.0, &it.column.1) == (column.metric.id, &column.part));
            let mark = match by_this {
                None => " ",
                Some(order) => theme.direction(order.descending),
            };
            let room = column_width(column) - 2;
            let heading = format!("{}{mark}", right(&column.heading(), room));
            let style = if at == self.cursor { SELECTED } else { HEADING };
            spans.push(Span::raw(" "));
            spans.push(Span::styled(heading, style));
        }
        Line::from(spans)
    }

    fn line(&self, row: Row, is_cursor: bool) -> Line<'static> {
        let mark = if is_cursor { '>' } else { ' ' };
        let label = left(&format!("{mark}{}", cut(&row.label(), self.label - 2)), self.label);
        let style = if is_cursor { SELECTED } else { HEADING };
        let mut spans = vec![Span::styled(label, style)];
        for (at, column) in self.visible_columns() {
            let room = column_width(column) - 2;
            let (text, mark) = match column.cell(row, &self.state.machine, self.reading) {
                Cell::Known { value, without } => {
                    (number(column.metric.unit, value), if without.is_some() { '*' } else { ' ' })
                }
                Cell::Missing(_) => ("-".to_owned(), ' '),
                Cell::Blank => (String::new(), ' '),
            };
            let text = format!(" {}{mark}", right(&text, room));
            let is_here = is_cursor && at == self.cursor;
            spans.push(if is_here { Span::styled(text, SELECTED) } else { Span::raw(text) });
        }
        Line::from(spans)
    }

    fn visible_columns(&self) -> impl Iterator<Item = (usize, &Shown<'_>)> {
        self.columns.iter().enumerate().skip(self.visible.start).take(self.visible.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cursor_is_on_screen_wherever_it_is() {
        for cursor in 0..100 {
            let first = first_row(cursor, 100, 13);
            assert!((first..first + 13).contains(&cursor) && first + 13 <= 100);
        }
        assert_eq!(first_row(1, 2, 13), 0);
    }
}
