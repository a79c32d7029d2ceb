//! The table: headings, and the rows around the cursor.

use super::heading::Heading;
use super::order::Order;
use super::state::State;
use super::text::{cut, left, right, rule};
use super::theme::{ASIDE, HEADING, SELECTED};
use super::view::View;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use rules::watch::{Cell, Row, Shown, number};
use std::ops::Range;

/// A view as a table, with what does not depend on the room for it.
pub(super) struct Table<'a> {
    view: &'a View<'a>,
    headings: Vec<Heading>,
    /// Columns of the rows' names.
    label: usize,
    /// The clock of the TSC, which other clocks are held against.
    tsc_mhz: Option<f64>,
}

impl<'a> Table<'a> {
    pub(super) fn of(view: &'a View<'a>) -> Table<'a> {
        let label = 2 + view.rows.iter().map(|it| it.label().len()).max().unwrap_or(0).max(4);
        let headings = view.columns.iter().map(Heading::of).collect();
        Table { view, headings, label, tsc_mhz: view.reading.tsc_mhz() }
    }

    /// The columns that all of it would take, and the lines of what fits in `room` columns.
    pub(super) fn size(&self, room: u16) -> (u16, u16) {
        let columns = self.label + self.headings.iter().map(Heading::columns).sum::<usize>();
        let lines = 1 + self.heading_lines(&self.visible_in(room)) + self.view.rows.len();
        (u16::try_from(columns).unwrap_or(u16::MAX), u16::try_from(lines).unwrap_or(u16::MAX))
    }

    /// Draws a rule that says what the table shows, the headings and as many rows as fit.
    pub(super) fn draw(&self, area: Rect, buffer: &mut Buffer) {
        let View { rows, row_at, .. } = self.view;
        let visible = self.visible_in(area.width);
        // Where not all of it fits, rows are worth more than whole headings.
        let is_whole = area.height >= self.size(area.width).1;
        let most = if is_whole { usize::MAX } else { usize::from(area.height / 6).max(1) };
        let heading_lines = self.heading_lines(&visible).min(most);
        let n_lines = usize::from(area.height).saturating_sub(1 + heading_lines);
        let first = first_row(*row_at, rows.len(), n_lines);
        let shown = rows.get(first..rows.len().min(first + n_lines)).unwrap_or_default();

        let mut lines = vec![self.rule(area, &visible, (first, shown.len(), rows.len()))];
        lines.extend(self.headings(&visible, heading_lines));
        let line = |(at, row): (usize, &Row)| self.line(&visible, *row, first + at == *row_at);
        lines.extend(shown.iter().enumerate().map(line));
        for (line, y) in lines.iter().zip(area.y..area.bottom()) {
            buffer.set_line(area.x, y, line, area.width);
        }
    }

    /// The columns on screen, by place.
    fn visible_in(&self, room: u16) -> Range<usize> {
        let room = usize::from(room).saturating_sub(self.label);
        visible_columns(&self.headings, self.view.column_at, room)
    }

    /// The lines that the headings of these columns take.
    fn heading_lines(&self, visible: &Range<usize>) -> usize {
        let headings = self.headings.get(visible.clone()).unwrap_or_default();
        headings.iter().map(Heading::lines).max().unwrap_or(1)
    }

    /// What the rows are, and how much of the table is on screen.
    fn rule(
        &self,
        area: Rect,
        visible: &Range<usize>,
        (first, n_shown, n_rows): (usize, usize, usize),
    ) -> Line<'static> {
        let State { level, filter, order, theme, .. } = self.view.state;
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
        words.extend(range("rows", first, first + n_shown, n_rows));
        words.extend(range("columns", visible.start, visible.end, self.headings.len()));
        Line::styled(rule(&words, area.width, *theme), ASIDE)
    }

    /// The headings in so many lines.
    fn headings(&self, visible: &Range<usize>, n_lines: usize) -> Vec<Line<'static>> {
        let View { state, column_at, .. } = self.view;
        let mut lines = vec![Line::raw(" ".repeat(self.label)); n_lines];
        for (at, column, heading) in self.visible(visible) {
            let is_it =
                |it: &&Order| (it.column.0, &it.column.1) == (column.metric.id, &column.part);
            let order = state.order.as_ref().filter(is_it);
            let style = if at == *column_at { SELECTED } else { HEADING };
            // The sign of the order stands in the last line.
            let sign = order.map_or(" ", |it| state.theme.direction(it.descending));
            let signs = std::iter::once(sign).chain(std::iter::repeat(" "));
            let texts = heading.within(n_lines).into_iter().zip(signs);
            for (line, (text, sign)) in lines.iter_mut().rev().zip(texts) {
                line.push_span(Span::raw(" "));
                line.push_span(Span::styled(
                    format!("{}{sign}", right(&text, heading.width())),
                    style,
                ));
            }
        }
        lines
    }

    fn line(&self, visible: &Range<usize>, row: Row, is_cursor: bool) -> Line<'static> {
        let View { state, reading, column_at, .. } = self.view;
        let mark = if is_cursor { '>' } else { ' ' };
        let label = left(&format!("{mark}{}", cut(&row.label(), self.label - 2)), self.label);
        let style = if is_cursor { SELECTED } else { HEADING };
        let mut spans = vec![Span::styled(label, style)];
        for (at, column, heading) in self.visible(visible) {
            let cell = column.cell(row, &state.machine, reading);
            let style = self.style(column, &cell);
            let (text, mark) = match cell {
                Cell::Known { value, without } => {
                    (number(column.metric.unit, value), if without.is_some() { '*' } else { ' ' })
                }
                Cell::Missing(_) => ("-".to_owned(), ' '),
                Cell::Blank => (String::new(), ' '),
            };
            let text = format!("{}{mark}", right(&text, heading.width()));
            let is_here = is_cursor && at == *column_at;
            spans.push(Span::raw(" "));
            spans.push(Span::styled(text, if is_here { SELECTED } else { style }));
        }
        Line::from(spans)
    }

    /// Values that stand out are coloured.
    fn style(&self, column: &Shown, cell: &Cell) -> Style {
        let level = cell.value().map(|it| column.metric.limits.emphasis(it, self.tsc_mhz));
        level.map_or(Style::new(), |it| self.view.state.theme.emphasis(it))
    }

    fn visible(
        &self,
        visible: &Range<usize>,
    ) -> impl Iterator<Item = (usize, &Shown<'_>, &Heading)> {
        let columns = self.view.columns.iter().zip(&self.headings).enumerate();
        let columns = columns.skip(visible.start).take(visible.len());
        columns.map(|(at, (column, heading))| (at, column, heading))
    }
}

/// The rows on screen keep the cursor in their middle, but for the ends of the table.
fn first_row(cursor: usize, n_rows: usize, n_lines: usize) -> usize {
    cursor.saturating_sub(n_lines / 2).min(n_rows.saturating_sub(n_lines))
}

/// The columns that fit with the cursor's among them: from the first one as long as that is possible.
fn visible_columns(headings: &[Heading], cursor: usize, room: usize) -> Range<usize> {
    let taken = |from: usize, to: usize| -> usize {
        headings.get(from..to).unwrap_or_default().iter().map(Heading::columns).sum()
    };
    let mut first = 0;
    while first < cursor && taken(first, cursor + 1) > room {
        first += 1;
    }
    let mut end = first;
    while end < headings.len() && taken(first, end + 1) <= room {
        end += 1;
    }
    first..end
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
