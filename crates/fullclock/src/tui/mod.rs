//! The screen of `fullclock watch`: a state, messages that change it, and a drawing of it.
//!
//! [`State`] knows no clock, no file and no terminal: what it shows follows from the messages alone, so tests draw
//! it as text. [`Screen`] holds the terminal, and gives it back however the program ends.

mod around;
mod axis;
mod bar;
mod detail;
mod draw;
mod findings;
mod heading;
mod history;
mod layout;
mod message;
mod order;
mod pages;
mod slices;
mod stack;
mod state;
mod table;
mod text;
mod theme;
mod view;

#[cfg(test)]
mod tests;

pub(crate) use draw::Screen;
pub(crate) use findings::Findings;
pub(crate) use message::{Effect, Feed, Message, message};
pub(crate) use state::State;
pub(crate) use theme::{Colors, Theme};
