//! What a key means.

use super::message::{Message, Page};
use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

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
