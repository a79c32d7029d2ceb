//! A network test as a document, as CSV and as JSON.

mod charts;
mod document;
mod guard;
mod json;
mod ledger;
mod placement;
mod text;

pub use document::document as run_document;
pub(crate) use json::TestDocument;
pub use json::json as run_json;
pub use text::csv as run_csv;

use super::Measured;
use facts::links::perftest::Curve;
use lab::net::{Point, Run, Work};

/// A test as a curve over the client's device.
fn with_ceiling<'a>(run: &'a Run, curve: &'a Curve) -> Measured<'a> {
    Measured { name: "this test", curve, over: run.over.as_ref() }
}

/// CPU time of all threads of an end per message, in microseconds. `None` for a program that polls: its CPU time includes
/// waiting, start and end.
fn cpu_us_each(run: &Run, point: &Point, work: &[Work]) -> Option<f64> {
    let sum: u64 = work.iter().map(|it| it.cpu_ns).sum();
    let each = sum as f64 / 1e3 / point.figure.messages(point.message).max(1) as f64;
    (!run.polls()).then_some(each)
}

#[cfg(test)]
mod fixture;
