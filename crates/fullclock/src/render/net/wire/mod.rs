//! A test of the wire: text with perftest's columns, CSV, and `schemas/net-test-1.json`.

mod guard;
mod json;
mod text;

pub(crate) use json::json as run_json;
pub(crate) use text::{csv as run_csv, text as run_text};

use facts::Bytes;
use lab::wire::protocol::{Clocks, Task};
use lab::wire::{Moved, Trips, Work};
use std::net::SocketAddr;

/// What was measured, size by size.
pub(crate) struct Run {
    /// Who was the other end.
    pub(crate) server: SocketAddr,
    pub(crate) task: Task,
    /// At least one.
    pub(crate) points: Vec<Point>,
    /// What the CPUs should run at, and what keeps them from it.
    pub(crate) clocks: Ends<Clocks>,
}

/// One message size.
pub(crate) struct Point {
    pub(crate) message: Bytes,
    pub(crate) figure: Figure,
    /// What each thread did.
    pub(crate) work: Ends<Vec<Work>>,
}

/// What was found.
pub(crate) enum Figure {
    Moved(Moved),
    Trips(Trips),
}

/// Something of each end.
pub(crate) struct Ends<T> {
    pub(crate) client: T,
    pub(crate) server: T,
}

impl<T> Ends<T> {
    /// Both, with their names.
    fn named(&self) -> [(&'static str, &T); 2] {
        [("client", &self.client), ("server", &self.server)]
    }
}

impl Figure {
    /// How many messages went one way.
    fn messages(&self, message: Bytes) -> u64 {
        match self {
            Figure::Moved(moved) => moved.bytes / message.0.max(1),
            Figure::Trips(trips) => trips.count,
        }
    }
}

/// How busy the busiest thread was, 1 being all of its time.
fn busiest(work: &[Work]) -> f64 {
    work.iter().map(Work::share).fold(0.0, f64::max)
}

/// The lowest clock that was measured, in hertz; `None` where none was.
fn slowest_hz(work: &[Work]) -> Option<f64> {
    work.iter().filter_map(|it| it.clock_hz.value().copied()).reduce(f64::min)
}

/// CPU time of all threads of an end for each message, in nanoseconds.
fn cpu_ns_each(point: &Point, work: &[Work]) -> f64 {
    let sum: u64 = work.iter().map(|it| it.cpu_ns).sum();
    sum as f64 / point.figure.messages(point.message).max(1) as f64
}

#[cfg(test)]
mod fixture;
