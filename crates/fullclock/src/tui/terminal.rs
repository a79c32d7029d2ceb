//! The terminal, taken over and given back.
//!
//! Raw mode and the alternate screen outlive a program that ends without leaving them, and so would make the shell
//! unusable. They are left when [`Screen`] is dropped, and, by a hook that ratatui sets, when any thread panics.

use super::draw::draw;
use super::state::State;
use ratatui::buffer::Buffer;
use ratatui::{DefaultTerminal, Frame};
use report::harmless::without_unseen;
use std::io;

/// The terminal while a screen is drawn on it.
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

/// Takes out what the terminal obeys or nobody sees: names of tasks and interrupts are foreign.
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
