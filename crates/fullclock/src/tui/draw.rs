//! The whole screen: which part of it gets which lines, and the terminal that it is drawn on.

use super::layout::{Lines, cut, left, table_lines, width};
use super::message::{Feed, Page};
use super::state::State;
use super::theme::{ASIDE, HEADING};
use super::{bar, detail, pages, table};
use facts::utc::clock_time;
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Line;
use ratatui::{DefaultTerminal, Frame};
use report::harmless::without_unseen;
use rules::watch::{Probing, Reading, reason};
use std::io;

/// Below this a table is no use.
const SMALLEST: (u16, u16) = (30, 6);

/// More lines than this say no more.
const HIGHEST_CHART: usize = 8;

/// Draws what `state` says.
pub(crate) fn draw(state: &State, frame: &mut Frame) {
    let area = frame.area();
    if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
        let text = format!(
            "{}x{} is too small, {}x{} would do; q quits",
            area.width, area.height, SMALLEST.0, SMALLEST.1
        );
        return paragraph(&text, area, frame);
    }
    let [title, body, keys] =
        Layout::vertical([Constraint::Length(1), Constraint::Fill(1), Constraint::Length(1)])
            .areas(area);
    line(&title_of(state, title.width.into()), title, frame);
    line(&keys_of(state, keys.width.into()), keys, frame);
    match (&state.reading, state.page) {
        (_, Page::Help | Page::Ledger | Page::Missing) => draw_page(state, body, frame),
        (None, Page::Table) => paragraph(&waiting(state), body, frame),
        (Some(reading), Page::Table) => draw_table(state, reading, body, frame),
    }
}

/// The lines of the page that is open, from where it is scrolled to.
fn draw_page(state: &State, area: Rect, frame: &mut Frame) {
    let lines = pages::lines(state.page, state.reading.as_deref(), usize::from(area.width));
    let shown = lines.iter().skip(state.scrolled);
    for (text, y) in shown.zip(area.y..area.bottom()) {
        line(&Line::raw(text.as_str()), Rect { y, height: 1, ..area }, frame);
    }
}

fn draw_table(state: &State, reading: &Reading, area: Rect, frame: &mut Frame) {
    let lines = Lines::of(state.size.0, state.size.1);
    // What the rows leave free is the chart's.
    let n_rows = state.rows(reading, &state.columns(reading)).len();
    let free = table_lines(state.size).saturating_sub(n_rows).min(HIGHEST_CHART);
    let detail =
        if lines.detail == 0 { 0 } else { lines.detail + u16::try_from(free).unwrap_or(0) };
    let parts = [
        Constraint::Length(lines.status),
        Constraint::Length(lines.bar),
        Constraint::Length(lines.legend),
        Constraint::Fill(1),
        Constraint::Length(detail),
    ];
    let [status, bar_area, legend, table_area, detail_area] = Layout::vertical(parts).areas(area);
    line(&status_of(state, reading), status, frame);
    let columns = usize::from(area.width);
    match &reading.shares {
        Ok(shares) => {
            line(&bar::bar(shares, columns, state.theme), bar_area, frame);
            let entries = bar::legend(shares, columns, lines.legend.into(), state.theme);
            for (entry, y) in entries.into_iter().zip(legend.y..legend.bottom()) {
                line(&entry, Rect { y, height: 1, ..legend }, frame);
            }
        }
        Err(missing) => {
            let text = cut(&format!("no ledger: {}", reason(missing)), columns);
            line(&Line::raw(text), bar_area, frame);
        }
    }
    table::draw(state, reading, table_area, frame);
    detail::draw(state, reading, detail_area, frame);
}

/// The program, the machine and the time at both ends of a line.
fn title_of(state: &State, columns: usize) -> Line<'static> {
    let how = match &state.feed {
        Feed::Live { interval, .. } => format!("every {interval}"),
        Feed::Replay { ended: true, .. } => "END, r begins again".to_owned(),
        Feed::Replay { paused: true, .. } => "PAUSED".to_owned(),
        Feed::Replay { speed, .. } => format!("{speed}x"),
    };
    let n_cpus = state.reading.as_ref().map_or(String::new(), |it| match it.cpus.len() {
        1 => ", 1 CPU".to_owned(),
        n => format!(", {n} CPUs"),
    });
    let frozen = state.behind.as_ref().map_or(String::new(), |it| match it.n {
        0 => "FROZEN ".to_owned(),
        n => format!("FROZEN, {n} behind "),
    });
    let time = state
        .reading
        .as_ref()
        .map_or(String::new(), |it| format!("{} UTC", clock_time(it.at.real_ns)));
    let right = format!("{frozen}{time}");
    let room = columns.saturating_sub(width(&right) + 1);
    let words = format!("fullclock watch  {}{n_cpus}, {how}", state.machine.name);
    Line::styled(format!("{} {right}", left(&words, room)), HEADING)
}

/// What has to be said of the reading, or else what measuring it took.
fn status_of(state: &State, reading: &Reading) -> Line<'static> {
    let columns = usize::from(state.size.0);
    if !reading.notes.is_empty() {
        return Line::styled(
            cut(&format!("! {}", reading.notes.join("; ")), columns),
            state.theme.alarm(),
        );
    }
    let mut words = Vec::new();
    words.extend(reading.took.map(|it| format!("sampling took {:.1} ms", it.as_secs_f64() * 1e3)));
    if let Feed::Live { probing, .. } = &state.feed {
        words.extend(
            match probing {
                Probing::Needless => None,
                Probing::Off => Some("clock not probed (p)"),
                Probing::Busy => Some("clock of busy CPUs probed (p)"),
                Probing::All => Some("clock of ALL CPUs probed (p)"),
            }
            .map(str::to_owned),
        );
    }
    let n_missing = reading.columns.iter().filter(|it| it.missing().is_some()).count();
    words.extend((n_missing > 0).then(|| format!("{n_missing} columns unknown (m)")));
    Line::styled(cut(&words.join(", "), columns), ASIDE)
}

/// What is being typed, what has to be said, or else the keys.
fn keys_of(state: &State, columns: usize) -> Line<'static> {
    if let Some(typed) = &state.typed {
        let text = format!(
            "show only: {typed}_   CPUs like 0-7,16 or part of a column's name; Enter, Esc"
        );
        return Line::styled(cut(&text, columns), HEADING);
    }
    if let Some(notice) = &state.notice {
        return Line::styled(cut(&format!("! {notice}"), columns), state.theme.alarm());
    }
    let keys = match (state.page, &state.feed) {
        (Page::Table, Feed::Live { .. }) => {
            "q quit  ? help  arrows  s sort  v rows  e parts  / filter  space freeze  b books"
        }
        (Page::Table, Feed::Replay { .. }) => {
            "q quit  ? help  space pause  . step  + - speed  r restart  s sort  / filter"
        }
        (Page::Help | Page::Ledger | Page::Missing, _) => "Esc back  q quit  arrows scroll",
    };
    Line::styled(cut(keys, columns), ASIDE)
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

fn line(line: &Line<'_>, area: Rect, frame: &mut Frame) {
    if area.height > 0 {
        frame.buffer_mut().set_line(area.x, area.y, line, area.width);
    }
}

fn paragraph(text: &str, area: Rect, frame: &mut Frame) {
    let wrapped = textwrap::wrap(text, usize::from(area.width).max(1));
    for (words, y) in wrapped.iter().zip(area.y..area.bottom()) {
        line(&Line::raw(words.as_ref()), Rect { y, height: 1, ..area }, frame);
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
