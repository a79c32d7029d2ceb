//! The screen of `fullclock watch`: a state, messages that change it, and a drawing of it.
//!
//! [`State`] knows no clock, no file and no terminal: what it shows follows from the messages alone, so tests draw
//! it as text. [`terminal`] holds the terminal, and gives it back however the program ends.

mod bar;
mod detail;
mod draw;
mod history;
mod keys;
mod layout;
mod message;
mod order;
mod pages;
mod spark;
mod state;
mod table;
mod terminal;
mod theme;
mod width;

#[cfg(test)]
mod tests;

pub(crate) use keys::message;
pub(crate) use message::{Effect, Feed, Message};
pub(crate) use state::State;
pub(crate) use terminal::Screen;
pub(crate) use theme::Theme;
