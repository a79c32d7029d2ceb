//! Ceilings of network links, curves by message size, and network tests, as text and as JSON.

mod ceiling;
mod curve;
mod json;
mod page;
mod test;

pub use ceiling::ceilings;
pub use curve::curve;
use json::Clocks;
pub(super) use json::{CeilingsDocument, CurveDocument};
pub use json::{ceilings as ceilings_json, curve as curve_json};
pub use page::{Origin, command_line, curve_page, is_report};
pub(super) use test::TestDocument;
pub use test::{run_csv, run_json, run_page, run_text};

use crate::page::Page;
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

/// How much more `wide` carries than `narrow`, in percent.
fn more(wide: &Part, narrow: &Part, direction: Direction) -> f64 {
    100.0 * (wide.carries(direction).share_of(narrow.carries(direction)) - 1.0)
}

/// Labelled sentences in order, shared by text and pages.
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

    /// Labels and sentences.
    fn rows(&self) -> impl Iterator<Item = (&'static str, Vec<String>)> + '_ {
        self.0.iter().map(|(label, words)| (*label, vec![words.clone()]))
    }
}
