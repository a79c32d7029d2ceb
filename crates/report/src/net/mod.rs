//! Ceilings of network links, curves by message size, and network tests, as documents and as JSON.

mod ceiling;
mod curve;
mod json;
mod page;
mod test;

pub use ceiling::ceilings;
pub use json::{ceilings as ceilings_json, curve as curve_json};
pub use page::{Origin, command_line, curve, is_report};
pub use test::{run, run_csv, run_json, run_text};

use crate::document::{Block, Text};
use crate::page::Page;
use facts::BytesPerSecond;
use facts::links::perftest::Curve;
use rules::ceiling::{Ceiling, Direction, Part};

/// A curve and the device it was measured over.
pub struct Measured<'a> {
    /// Its name in the output.
    pub name: &'a str,
    /// The curve.
    pub curve: &'a Curve,
    /// The device and its ceiling.
    pub over: Option<&'a (String, Ceiling)>,
}

impl Measured<'_> {
    fn direction(&self) -> Direction {
        if self.curve.is_bidirectional() { Direction::Both } else { Direction::One }
    }
}

/// Columns for a label.
const MARGIN: usize = 10;

/// The word for a part of a ceiling.
fn word(ceiling: &Ceiling, part: &Part) -> &'static str {
    if ceiling.wire.as_ref() == Ok(part) { "wire" } else { "slot" }
}

/// A rate of data in the unit of perftest, to which results are compared: `3212 MiB/s`, `112.8 MiB/s`.
fn rate(rate: BytesPerSecond) -> String {
    let mebibytes = rate.mebibytes();
    let places = match mebibytes {
        1000.0.. => 0,
        100.0.. => 1,
        1.0.. => 2,
        _ => 4,
    };
    format!("{mebibytes:.places$} MiB/s")
}

/// How much more `wide` carries than `narrow`, in percent.
fn more(wide: &Part, narrow: &Part, direction: Direction) -> f64 {
    100.0 * (wide.carries(direction).share_of(narrow.carries(direction)) - 1.0)
}

/// Labelled sentences in order, for documents and for text with perftest's columns.
#[derive(Default)]
struct Statements(Vec<(&'static str, String)>);

impl Statements {
    fn add(&mut self, label: &'static str, words: &str) {
        self.0.push((label, words.to_owned()));
    }

    /// Adds them to a page of text.
    fn put(&self, page: &mut Page) {
        for (label, words) in &self.0 {
            page.labelled(MARGIN, label, words);
        }
    }

    /// A labelled line each; sentences of one label follow it.
    fn blocks(&self) -> impl Iterator<Item = Block> + '_ {
        let mut before = "";
        self.0.iter().map(move |(label, words)| {
            let label = if *label == std::mem::replace(&mut before, *label) { "" } else { label };
            Block::labelled(label, Text::sentence(words))
        })
    }
}
