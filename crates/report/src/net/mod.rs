//! Ceilings of network links, curves by message size, and network tests, as documents and as JSON.
//!
//! Rates are in MB/s and GB/s, and what a wire signals in Gb/s: thousands are decimal, as links are sold. perftest's own table alone has
//! MiB/sec, which its heading says.

mod by_size;
mod ceiling;
mod charts;
mod curve;
mod json;
mod origin;
mod test;

pub use ceiling::ceilings;
pub use curve::curve;
use json::Clocks;
pub(super) use json::{CeilingsDocument, CurveDocument};
pub use json::{ceilings as ceilings_json, curve as curve_json};
pub use origin::{Origin, command_line};
pub(super) use test::TestDocument;
pub use test::{run_csv, run_document, run_json};

use crate::document::{Document, Text};
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

/// The word for a part of a ceiling.
fn word(ceiling: &Ceiling, part: &Part) -> &'static str {
    if ceiling.wire.as_ref() == Ok(part) { "wire" } else { "slot" }
}

/// How much more `wide` carries than `narrow`, in percent.
fn more(wide: &Part, narrow: &Part, direction: Direction) -> f64 {
    100.0 * (wide.carries(direction).share_of(narrow.carries(direction)) - 1.0)
}

/// Labelled sentences in order.
#[derive(Default)]
struct Statements(Vec<(&'static str, String)>);

impl Statements {
    fn add(&mut self, label: &'static str, words: &str) {
        self.0.push((label, words.to_owned()));
    }

    /// Adds them to a document.
    fn put(&self, document: &mut Document) {
        for (label, words) in &self.0 {
            document.labelled(*label, Text::sentence(words));
        }
    }
}
