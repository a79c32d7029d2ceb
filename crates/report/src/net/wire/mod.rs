//! A test of the wire: text with perftest's columns, CSV, and `schemas/net-test-1.json`.

mod bars;
mod guard;
mod json;
mod ledger;
mod page;
mod placement;
mod text;

pub use json::json as run_json;
pub use page::page as run_page;
pub use text::{csv as run_csv, text as run_text};

use super::Measured;
use facts::Bytes;
use facts::links::perftest::{Conflict, Curve, Figures, Latency};
use lab::wire::protocol::{Judgement, Task, Test, Transport};
use lab::wire::{Moved, Trips, Work};
use rules::ceiling::Ceiling;
use std::net::SocketAddr;
use std::time::Duration;

/// What was measured, size by size.
pub struct Run {
    /// Who was the other end.
    pub server: SocketAddr,
    /// What was measured, and how.
    pub task: Task,
    /// At least one.
    pub points: Vec<Point>,
    /// The clocks that perftest found to differ.
    pub conflicts: Vec<Conflict>,
    /// The client's device, and what it can carry.
    pub over: Option<(String, Ceiling)>,
    /// What became of the CPUs.
    pub judged: Ends<Judgement>,
}

/// One message size.
pub struct Point {
    /// The size of a message.
    pub message: Bytes,
    /// The result.
    pub figure: Figure,
    /// Whether who sent did so without copying.
    pub zero_copy: bool,
    /// What each thread did.
    pub work: Ends<Vec<Work>>,
}

/// The result of one message size.
pub enum Figure {
    /// Of a bandwidth test.
    Moved(Moved),
    /// Of a latency test.
    Trips(Trips),
}

/// Something of each end.
pub struct Ends<T> {
    /// Of the end that asks.
    pub client: T,
    /// Of the end that answers.
    pub server: T,
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

impl Run {
    /// What perftest would call it.
    fn title(&self) -> &'static str {
        match (self.task.transport, self.task.test) {
            (Transport::Tcp, Test::WriteBw | Test::SendBw) => "TCP_Write BW Test",
            (Transport::Tcp, Test::ReadBw) => "TCP_Read BW Test",
            (Transport::Tcp, Test::Latency) => "TCP_Ping-Pong Latency Test",
            (Transport::Rdma, Test::WriteBw) => "RDMA_Write BW Test",
            (Transport::Rdma, Test::ReadBw) => "RDMA_Read BW Test",
            (Transport::Rdma, Test::SendBw) => "Send BW Test",
            (Transport::Rdma, Test::Latency) => "Send Latency Test",
        }
    }

    /// Whether a program waits by asking again and again, so that it is busy whatever it waits for.
    fn polls(&self) -> bool {
        self.task.transport == Transport::Rdma
    }

    /// As `fullclock net curve` would read it.
    fn curve(&self) -> Curve {
        let moved = |it: &Point| match &it.figure {
            Figure::Moved(moved) => Some(moved.bandwidth(it.message)),
            Figure::Trips(_) => None,
        };
        let trips = |it: &Point| match &it.figure {
            Figure::Trips(trips) => Some(latency(it.message, trips)),
            Figure::Moved(_) => None,
        };
        let figures = match self.task.test {
            Test::Latency => Figures::Latency(self.points.iter().filter_map(trips).collect()),
            _ => Figures::Bandwidth(self.points.iter().filter_map(moved).collect()),
        };
        let (test, clocks) = (Some(self.title().to_owned()), self.conflicts.clone());
        Curve { test, mtu: None, figures, clocks }
    }

    fn measured<'a>(&'a self, curve: &'a Curve) -> Measured<'a> {
        Measured { name: "this test", curve, over: self.over.as_ref() }
    }
}

fn latency(message: Bytes, trips: &Trips) -> Latency {
    let Trips { count, min_ns, max_ns, median_ns, p99_ns, p999_ns, mean_ns, deviation_ns } = *trips;
    let time = Duration::from_nanos;
    Latency {
        message,
        iterations: Some(count),
        min: Some(time(min_ns)),
        max: Some(time(max_ns)),
        typical: time(median_ns),
        percentile_99: Some(time(p99_ns)),
        percentile_999: Some(time(p999_ns)),
        mean: Some(time(mean_ns as u64)),
        deviation: Some(time(deviation_ns as u64)),
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

/// CPU time of all threads of an end for each message, in microseconds. Of a program that polls, and has its start and end in
/// its time, that says nothing.
fn cpu_us_each(run: &Run, point: &Point, work: &[Work]) -> Option<f64> {
    let sum: u64 = work.iter().map(|it| it.cpu_ns).sum();
    let each = sum as f64 / 1e3 / point.figure.messages(point.message).max(1) as f64;
    (!run.polls()).then_some(each)
}

#[cfg(test)]
mod fixture;
