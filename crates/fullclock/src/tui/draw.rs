//! The whole screen: what is drawn where, and the terminal that it is drawn on.

use super::layout::{Lines, Needs, divide};
use super::message::{Feed, Page};
use super::state::State;
use super::table::Table;
use super::text::cut;
use super::theme::{ASIDE, Theme};
use super::view::View;
use super::{around, bar, detail, findings, pages, stack};
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Line;
use ratatui::{DefaultTerminal, Frame};
use report::harmless::without_unseen;
use rules::watch::{Reading, reason};
use std::io;

/// Below this a table is no use.
const SMALLEST: (u16, u16) = (30, 6);

/// Draws what `state` says.
pub(crate) fn draw(state: &State, frame: &mut Frame) {
    let area = frame.area();
    let buffer = frame.buffer_mut();
    if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
        let text = format!(
            "{}x{} is too small, {}x{} would do; q quits",
            area.width, area.height, SMALLEST.0, SMALLEST.1
        );
        return paragraph(&text, area, buffer);
    }
    let keys = around::keys(state, area.width.into());
    let n_keys = u16::try_from(keys.len()).unwrap_or(1);
    let parts = [Constraint::Length(1), Constraint::Fill(1), Constraint::Length(n_keys)];
    let [title, body, keys_area] = Layout::vertical(parts).areas(area);
    draw_lines(&[around::title(state, title.width.into())], title, buffer);
    draw_lines(&keys, keys_area, buffer);
    match (&state.reading, state.page) {
        (None, Page::Table) => paragraph(&waiting(state), body, buffer),
        (Some(reading), Page::Table) => draw_table(state, reading, body, buffer),
        _ => draw_page(state, body, buffer),
    }
}

/// The lines of the page that is open, from where it is scrolled to.
fn draw_page(state: &State, area: Rect, buffer: &mut Buffer) {
    let lines = pages::lines(state.page, &state.subject(), usize::from(area.width));
    let shown: Vec<Line> =
        lines.iter().skip(state.scrolled).map(|it| Line::raw(it.as_str())).collect();
    draw_lines(&shown, area, buffer);
}

fn draw_table(state: &State, reading: &Reading, body: Rect, buffer: &mut Buffer) {
    let theme = state.theme;
    let view = View::of(state, reading);
    let table = Table::of(&view);
    let status = around::status(state, reading, body.width.into());
    let found = state.findings.as_deref();
    let lines_of_findings = |columns: u16| {
        let lines = findings::lines(found, (columns, usize::MAX), theme);
        u16::try_from(lines.len()).unwrap_or(u16::MAX)
    };
    let lines = Lines::of(state.size.0, state.size.1);
    let legend = match &reading.shares {
        Ok(shares) => bar::legend(shares, body.width.into(), lines.legend.into(), theme),
        Err(_) => Vec::new(),
    };
    let needs = Needs {
        legend: u16::try_from(legend.len()).unwrap_or(1).max(1),
        status: u16::try_from(status.len()).unwrap_or(1),
        table: table.size(body.width),
        findings: &lines_of_findings,
    };
    let areas = divide(body, lines, needs);
    draw_lines(&status, areas.status, buffer);
    draw_ledger(reading, (areas.bar, areas.legend), theme, buffer);
    draw_lines(&legend, areas.legend, buffer);
    table.draw(areas.table, buffer);
    detail::draw(&view, areas.detail, buffer);
    if areas.findings.height > 0 {
        let size = (areas.findings.width, areas.findings.height.into());
        draw_lines(&findings::lines(found, size, theme), areas.findings, buffer);
    }
    if areas.stack.height > 0 {
        stack::draw(state, areas.stack, buffer);
    }
    for y in areas.border.top()..areas.border.bottom() {
        buffer.set_stringn(areas.border.x + 1, y, theme.border(), 1, ASIDE);
    }
}

/// The ledger of the interval as a bar; or why there is none, where bar and legend would be.
fn draw_ledger(reading: &Reading, (bar, legend): (Rect, Rect), theme: Theme, buffer: &mut Buffer) {
    match &reading.shares {
        Ok(shares) => bar::draw(shares, bar, theme, buffer),
        Err(_) if bar.is_empty() => {}
        Err(missing) => {
            paragraph(&format!("no ledger: {}", reason(missing)), bar.union(legend), buffer);
        }
    }
}

fn waiting(state: &State) -> String {
    match &state.feed {
        Feed::Live { interval, .. } => {
            format!("the first interval of {interval} is not over yet ...")
        }
        Feed::Replay { ended: true, .. } => "the recording has less than two samples".to_owned(),
        Feed::Replay { .. } => "reading the recording ...".to_owned(),
    }
}

fn draw_lines(lines: &[Line<'_>], area: Rect, buffer: &mut Buffer) {
    for (line, y) in lines.iter().zip(area.y..area.bottom()) {
        buffer.set_line(area.x, y, line, area.width);
    }
}

fn paragraph(text: &str, area: Rect, buffer: &mut Buffer) {
    let wrapped = textwrap::wrap(text, usize::from(area.width).max(1));
    for (words, y) in wrapped.iter().zip(area.y..area.bottom()) {
        let words = cut(words, area.width.into());
        buffer.set_line(area.x, y, &Line::raw(words), area.width);
    }
}

/// The terminal while a screen is drawn on it.
///
/// Raw mode and the alternate screen outlive a program that ends without leaving them, and the shell would be unusable. They are
/// left when this is dropped and, by a hook that ratatui sets, when a thread panics.
pub(crate) struct Screen(DefaultTerminal);

impl Screen {
    /// Takes the terminal over.
    ///
    /// Fails where standard output is none, and leaves it as it was.
    pub(crate) fn open() -> io::Result<Screen> {
        // Where it fails half-way, the other half is to be undone.
        ratatui::try_init().map(Screen).inspect_err(|_| ratatui::restore())
    }

    /// Draws a state; only what differs from the screen is sent.
    pub(crate) fn draw(&mut self, state: &State) -> io::Result<()> {
        let draw = |frame: &mut Frame<'_>| {
            draw(state, frame);
            hide_unseen(frame.buffer_mut());
        };
        self.0.draw(draw).map(drop)
    }
}

/// Removes control and invisible characters: names of tasks and interrupts are foreign.
fn hide_unseen(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        if let Some(seen) = without_unseen(cell.symbol()) {
            cell.set_symbol(&seen);
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // Nothing more can be done for a terminal that is gone.
        self.0.show_cursor().ok();
        ratatui::restore();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::layout::Rect;

    #[test]
    fn no_cell_holds_what_the_terminal_would_obey() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 4, 1));
        for (cell, symbol) in
            buffer.content.iter_mut().zip(["a\u{202e}", "\u{1b}", "\u{2066}", "ä"])
        {
            cell.set_symbol(symbol);
        }
        hide_unseen(&mut buffer);
        let symbols: String = buffer.content.iter().map(ratatui::buffer::Cell::symbol).collect();
        assert_eq!(symbols, "a\u{fffd}\u{fffd}ä");
    }
}
