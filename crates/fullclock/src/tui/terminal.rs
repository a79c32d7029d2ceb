//! The terminal, taken over and given back.
//!
//! Raw mode and the alternate screen outlive a program that ends without leaving them, and so would make the shell
//! unusable. They are left when [`Screen`] is dropped, and, by a hook that ratatui sets, when any thread panics.

use super::draw::draw;
use super::state::State;
use ratatui::DefaultTerminal;
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
        self.0.draw(|frame| draw(state, frame)).map(drop)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // Nothing more can be done for a terminal that is gone.
        self.0.show_cursor().ok();
        ratatui::restore();
    }
}
