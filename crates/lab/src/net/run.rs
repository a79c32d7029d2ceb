//! A network test: what was measured for each message size, and what became of the CPUs of both ends.

use super::figures::{Latencies, Throughput, Work};
use super::protocol::{Judgement, Task, Test, Transport};
use facts::Bytes;
use facts::links::perftest::{Conflict, Curve, Figures, Latency};
use rules::ceiling::Ceiling;
use std::net::SocketAddr;
use std::time::Duration;

/// What was measured, size by size.
#[derive(Debug)]
pub struct Run {
    /// Who was the other end.
    pub server: SocketAddr,
    /// What was measured, and how.
    pub task: Task,
    /// The results, one for each message size; at least one.
    pub points: Vec<Point>,
    /// The clocks that perftest found to differ.
    pub conflicts: Vec<Conflict>,
    /// The client's device, and what it can carry.
    pub over: Option<(String, Ceiling)>,
    /// What became of the CPUs.
    pub judged: Ends<Judgement>,
}

/// The result of one message size.
#[derive(Debug)]
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
#[derive(Debug)]
pub enum Figure {
    /// Of a bandwidth test.
    Throughput(Throughput),
    /// Of a latency test.
    Latencies(Latencies),
}

/// Something of each end.
#[derive(Debug)]
pub struct Ends<T> {
    /// Of the end that asks.
    pub client: T,
    /// Of the end that answers.
    pub server: T,
}

impl<T> Ends<T> {
    /// Both, with their names.
    pub fn named(&self) -> [(&'static str, &T); 2] {
        [("client", &self.client), ("server", &self.server)]
    }
}

impl Figure {
    /// How many messages went one way.
    pub fn messages(&self, message: Bytes) -> u64 {
        match self {
            Figure::Throughput(moved) => moved.bytes / message.0.max(1),
            Figure::Latencies(latencies) => latencies.count,
        }
    }
}

impl Run {
    /// What perftest would call it.
    pub fn title(&self) -> &'static str {
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
    pub fn polls(&self) -> bool {
        self.task.transport == Transport::Rdma
    }

    /// As `fullclock net curve` would read it.
    pub fn curve(&self) -> Curve {
        let moved = |it: &Point| match &it.figure {
            Figure::Throughput(moved) => Some(moved.bandwidth(it.message)),
            Figure::Latencies(_) => None,
        };
        let latencies = |it: &Point| match &it.figure {
            Figure::Latencies(latencies) => Some(latency(it.message, latencies)),
            Figure::Throughput(_) => None,
        };
        let figures = match self.task.test {
            Test::Latency => Figures::Latency(self.points.iter().filter_map(latencies).collect()),
            _ => Figures::Bandwidth(self.points.iter().filter_map(moved).collect()),
        };
        let (test, clocks) = (Some(self.title().to_owned()), self.conflicts.clone());
        Curve { test, mtu: None, figures, clocks }
    }
}

fn latency(message: Bytes, latencies: &Latencies) -> Latency {
    let Latencies { count, min_ns, max_ns, median_ns, p99_ns, p999_ns, mean_ns, deviation_ns } =
        *latencies;
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
pub fn busiest(work: &[Work]) -> f64 {
    work.iter().map(Work::share).fold(0.0, f64::max)
}

/// The lowest clock that was measured, in hertz; `None` where none was.
pub fn slowest_hz(work: &[Work]) -> Option<f64> {
    work.iter().filter_map(|it| it.clock_hz.value().copied()).reduce(f64::min)
}
