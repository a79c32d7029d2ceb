//! Where the time of all CPUs went, in shares of it: the ledger of one interval, small enough for a bar.

use super::KnownClocks;
use crate::interval::Interval;
use crate::ledger::{Evidence, Line, close};
use crate::loss::{Kind, Method};
use facts::probe::ClockReading;
use facts::{CpuSet, Fact, Missing, PerCpu};

/// The ledger of one interval. Its lines and what they do not explain sum to the capacity.
#[derive(Clone, Debug, PartialEq)]
pub struct Shares {
    /// The time of all CPUs, in nanoseconds; more than 0.
    pub capacity_ns: i64,
    /// The lines, in display order.
    pub lines: Vec<Share>,
    /// What no line accounts for, in nanoseconds; negative where lines overlap.
    pub unexplained_ns: i64,
    /// What has to be said with it.
    pub notes: Vec<String>,
}

/// A line of the ledger as a share of the time.
#[derive(Clone, Debug, PartialEq)]
pub struct Share {
    /// The id of the loss.
    pub loss: &'static str,
    /// The same in a few words.
    pub title: &'static str,
    /// Which part of it; empty where it is one thing.
    pub part: String,
    /// What it means for the capacity.
    pub kind: Kind,
    /// Nanoseconds of all CPUs, or why nobody knows.
    pub ns: Fact<i64>,
    /// How far off that may be either way, in nanoseconds.
    pub uncertainty_ns: u64,
    /// How it was obtained.
    pub method: Method,
    /// Where it comes from; empty where nothing was entered.
    pub source: String,
}

impl Shares {
    /// The ledger of an interval, of counters and of what the clock probe saw in it and before: nothing is traced.
    pub fn of(
        interval: &Interval,
        cpus: &CpuSet,
        (clocks, known): (&PerCpu<ClockReading>, &KnownClocks),
        observer: u32,
    ) -> Fact<Shares> {
        let ledger = close(&Evidence {
            cpus: cpus.clone(),
            clocks: known.and(clocks),
            highest_before: known.highest(),
            observer,
            ..Evidence::of(*interval)
        });
        let capacity_ns = ledger.capacity_ns();
        if capacity_ns <= 0 {
            interval.elapsed_ns()?;
            return Err(Missing::absent("a CPU that was online at both ends"));
        }
        Ok(Shares {
            capacity_ns,
            lines: ledger.lines.into_iter().map(share).collect(),
            unexplained_ns: ledger.unexplained_ns,
            notes: ledger.notes,
        })
    }

    /// Some of the time in percent of it.
    pub fn percent(&self, ns: i64) -> f64 {
        100.0 * ns as f64 / self.capacity_ns.max(1) as f64
    }
}

fn share(line: Line) -> Share {
    Share {
        loss: line.loss.id,
        title: line.loss.title,
        part: line.part,
        kind: line.loss.kind,
        ns: line.ns,
        uncertainty_ns: line.uncertainty_ns,
        method: line.method,
        source: line.source,
    }
}
