//! A recording in pieces of equal length: what each of them was spent on, and what a client said of it.
//!
//! A question such as "why was it slower from 19:29 on" is answered by a row for each ten seconds, not by one ledger of an hour.

mod client;
mod cutter;
mod server;
mod workers;

pub use client::ClientNumbers;
pub use cutter::Cutter;
pub use server::{ServerLooks, ServerSeen, WaitShare};
pub use workers::{Who, Worker, workers};

use crate::ledger::Ledger;
use facts::client::MarkText;
use facts::counters::Moment;
use facts::{Fact, Missing};

/// One piece of a recording.
#[derive(Debug)]
pub struct Span {
    /// When it began.
    pub from: Moment,
    /// When it ended.
    pub to: Moment,
    /// Where the time of its CPUs went.
    pub ledger: Ledger,
    /// Which users' tasks ran, the one that ran longest first.
    pub workers: Fact<Vec<Worker>>,
    /// The mean of the client's numbers over the piece.
    pub client: Fact<f64>,
    /// What the client marked in it.
    pub marks: Vec<MarkText>,
    /// What was seen of a database server in it.
    pub server: Fact<ServerSeen>,
    /// Where the server's main activity changed in it.
    pub phases: Vec<MarkText>,
}

impl Span {
    /// The time of its CPUs, in nanoseconds: what shares of it are shares of.
    pub fn capacity_ns(&self) -> f64 {
        (self.ledger.capacity_ns() as f64).max(1.0)
    }

    /// Its length by the clock of the recording, in nanoseconds.
    pub fn elapsed_ns(&self) -> u64 {
        self.to.raw_ns.saturating_sub(self.from.raw_ns)
    }

    /// What went to a loss, by its id, as a share of the time of all CPUs.
    pub fn share(&self, loss: &str) -> Fact<f64> {
        Ok(self.ledger.total(loss)? as f64 / self.capacity_ns())
    }

    /// What tasks of one kind ran, as a share of the time of all CPUs.
    pub fn ran(&self, is_wanted: impl Fn(&Worker) -> bool) -> Fact<f64> {
        let ns = self.sum(is_wanted, |it| it.run_ns)?;
        Ok(ns as f64 / self.capacity_ns())
    }

    /// How long tasks of one kind waited for a CPU, all together, in each second.
    pub fn waited(&self, is_wanted: impl Fn(&Worker) -> bool) -> Fact<f64> {
        let ns = self.sum(is_wanted, |it| it.wait_ns)?;
        Ok(ns as f64 / (self.elapsed_ns() as f64).max(1.0))
    }

    fn sum(&self, is_wanted: impl Fn(&Worker) -> bool, of: fn(&Worker) -> u64) -> Fact<u64> {
        let workers = self.workers.as_ref().map_err(Missing::clone)?;
        Ok(workers.iter().filter(|it| is_wanted(it)).map(of).fold(0, u64::saturating_add))
    }
}
