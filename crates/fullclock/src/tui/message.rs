//! What the screen is told, and what it asks for.

use super::findings::Findings;
use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use rules::watch::{Probing, Reading};
use std::sync::Arc;

/// Where readings come from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Feed {
    /// This machine.
    Live {
        /// How often, as the user wrote it: `1s`.
        interval: String,
        /// Which CPUs have their clock probed.
        probing: Probing,
    },
    /// A recording.
    Replay {
        /// Whether it stands still.
        paused: bool,
        /// How many times faster than it was recorded.
        speed: f64,
        /// Whether its end is reached.
        ended: bool,
    },
}

/// What the screen is told.
#[derive(Clone)]
pub(crate) enum Message {
    /// Another interval has passed.
    Reading(Arc<Reading>),
    /// The machine was audited.
    Audited(Arc<Findings>),
    /// The source of readings has changed its ways.
    Feed(Feed),
    /// Something that has to be said.
    Notice(String),
    /// The terminal has this many columns and lines.
    Resize(u16, u16),
    /// A page is wanted, or the table again.
    Open(Page),
    /// The cursor goes by rows.
    Down(isize),
    /// The cursor goes by screens.
    PageDown(isize),
    /// The cursor goes to the first row or the last.
    End(bool),
    /// The cursor goes by columns.
    Right(isize),
    /// The next way to sort by the column under the cursor.
    Sort,
    /// Rows of packages, cores or CPUs.
    Level,
    /// The parts of a metric side by side, or one sum.
    Expand,
    /// The screen stands still, or goes on.
    Freeze,
    /// A filter is to be typed.
    Filter,
    /// A letter of it.
    Typed(char),
    /// The last letter is taken back.
    Erase,
    /// It is complete.
    Enter,
    /// It is given up; a page is closed.
    Escape,
    /// Which CPUs are probed.
    Probe,
    /// The next reading of a recording.
    Step,
    /// A recording runs faster, or slower.
    Faster(bool),
    /// A recording begins again.
    Restart,
    Quit,
}

/// A page that can be open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Page {
    Table,
    /// Every line of the ledger with its source.
    Ledger,
    /// What is unknown here, and why.
    Missing,
    /// What an audit found.
    Findings,
    /// What the column under the cursor is.
    Metric,
    Help,
}

/// What the outside has to do about a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Effect {
    None,
    Quit,
    /// To probe other CPUs.
    Probe(Probing),
    /// To pause a recording or go on with it.
    Pause,
    /// To give one reading of a recording.
    Step,
    /// To run a recording at this speed.
    Speed(f64),
    /// To begin a recording again.
    Restart,
}

impl Message {
    /// Whether the user did it.
    pub(super) fn is_of_a_key(&self) -> bool {
        let is_of_the_outside = matches!(
            self,
            Message::Reading(_)
                | Message::Audited(_)
                | Message::Feed(_)
                | Message::Notice(_)
                | Message::Resize(..)
        );
        !is_of_the_outside
    }
}

/// The message of an event of the terminal; `typing` says that letters belong to a filter.
pub(crate) fn message(event: &Event, typing: bool) -> Option<Message> {
    match event {
        Event::Resize(columns, lines) => Some(Message::Resize(*columns, *lines)),
        Event::Key(key) if key.kind == KeyEventKind::Release => None,
        Event::Key(key) if key.modifiers.contains(KeyModifiers::CONTROL) => of_control(key),
        Event::Key(key) if typing => of_typing(key.code),
        Event::Key(key) => of_key(key.code),
        _ => None,
    }
}

fn of_control(key: &KeyEvent) -> Option<Message> {
    match key.code {
        KeyCode::Char('c') => Some(Message::Quit),
        KeyCode::Char('f') => Some(Message::PageDown(1)),
        KeyCode::Char('b') => Some(Message::PageDown(-1)),
        _ => None,
    }
}

fn of_typing(code: KeyCode) -> Option<Message> {
    match code {
        KeyCode::Char(letter) => Some(Message::Typed(letter)),
        KeyCode::Backspace => Some(Message::Erase),
        KeyCode::Enter => Some(Message::Enter),
        KeyCode::Esc => Some(Message::Escape),
        _ => None,
    }
}

fn of_key(code: KeyCode) -> Option<Message> {
    Some(match code {
        KeyCode::Char('q') => Message::Quit,
        KeyCode::Char('?') | KeyCode::F(1) => Message::Open(Page::Help),
        KeyCode::Char('m') => Message::Open(Page::Missing),
        KeyCode::Char('b') => Message::Open(Page::Ledger),
        KeyCode::Char('f') => Message::Open(Page::Findings),
        KeyCode::Char('i') => Message::Open(Page::Metric),
        KeyCode::Up | KeyCode::Char('k') => Message::Down(-1),
        KeyCode::Down | KeyCode::Char('j') => Message::Down(1),
        KeyCode::Left | KeyCode::BackTab | KeyCode::Char('h') => Message::Right(-1),
        KeyCode::Right | KeyCode::Tab | KeyCode::Char('l') => Message::Right(1),
        KeyCode::PageUp => Message::PageDown(-1),
        KeyCode::PageDown => Message::PageDown(1),
        KeyCode::Home | KeyCode::Char('g') => Message::End(false),
        KeyCode::End | KeyCode::Char('G') => Message::End(true),
        KeyCode::Char('s') => Message::Sort,
        KeyCode::Char('v') => Message::Level,
        KeyCode::Char('e') => Message::Expand,
        KeyCode::Enter => Message::Enter,
        KeyCode::Esc => Message::Escape,
        KeyCode::Char(' ') => Message::Freeze,
        KeyCode::Char('/') => Message::Filter,
        KeyCode::Char('p') => Message::Probe,
        KeyCode::Char('.') => Message::Step,
        KeyCode::Char('+' | '=') => Message::Faster(true),
        KeyCode::Char('-') => Message::Faster(false),
        KeyCode::Char('r') => Message::Restart,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pressed(code: KeyCode, modifiers: KeyModifiers, typing: bool) -> Option<Message> {
        message(&Event::Key(KeyEvent::new(code, modifiers)), typing)
    }

    #[test]
    fn letters_are_commands_unless_a_filter_is_typed() {
        let q = |typing| pressed(KeyCode::Char('q'), KeyModifiers::NONE, typing);
        assert!(matches!(q(false), Some(Message::Quit)));
        assert!(matches!(q(true), Some(Message::Typed('q'))));
    }

    #[test]
    fn ctrl_c_leaves_whatever_is_typed() {
        let pressed = pressed(KeyCode::Char('c'), KeyModifiers::CONTROL, true);
        assert!(matches!(pressed, Some(Message::Quit)));
    }
}
