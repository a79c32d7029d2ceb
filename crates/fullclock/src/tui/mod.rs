//! The screen of `fullclock watch`: a state, messages that change it, and a drawing of it.
//!
//! [`State`] knows no clock, no file and no terminal: what it shows follows from the messages alone, so tests draw
//! it as text. [`Screen`] holds the terminal, and gives it back however the program ends.

mod bar;
mod detail;
mod draw;
mod history;
mod layout;
mod message;
mod order;
mod pages;
mod state;
mod table;
mod theme;

#[cfg(test)]
mod tests;

pub(crate) use draw::Screen;
pub(crate) use message::{Effect, Feed, Message, message};
pub(crate) use state::State;
pub(crate) use theme::Theme;
