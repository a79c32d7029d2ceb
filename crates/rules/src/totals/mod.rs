//! Counts that only grow, for monitoring systems: whatever the time between two of their visits, the difference is right.
//!
//! They begin with what the kernel has counted since boot ([`Totals::since_boot`]), where it has, and go on with what each interval
//! adds ([`Totals::add`]): a CPU that goes offline takes nothing away. An interval of which something is missing adds nothing to
//! that.

mod counters;
mod ledger;
mod pool;
mod recent;
#[cfg(test)]
mod tests;

pub use counters::COUNTERS;
pub use ledger::{LedgerTotals, PARTED};
pub use pool::pool;
pub use recent::Recent;

use crate::interval::Interval;
use crate::metric::{Series, Values};
use crate::watch::Reading;
use facts::counters::{Counters, Family};
use facts::{Fact, Hertz, HostView};
use std::collections::BTreeMap;

/// What is counted over an interval, part by part.
pub type Measure = fn(&Interval) -> Fact<Vec<Series>>;

/// One thing that is counted of a host.
pub struct Counter {
    /// What it is called, without the prefix of the program and without `_total`; ends in its unit, if it has one.
    pub name: &'static str,
    /// One sentence, without a full stop.
    pub help: &'static str,
    /// Its unit; empty where things are counted.
    pub unit: &'static str,
    /// What its parts are called; `None` where it is one thing.
    pub label: Option<&'static str>,
    /// The families it is made of.
    pub families: &'static [Family],
    /// What it is of the counts of several CPUs.
    pub of_cpus: OfCpus,
    /// What an interval adds to it, in its unit.
    pub measure: Measure,
    /// The same from boot to the end of the interval; `None` where the kernel does not keep it.
    pub since_boot: Option<Measure>,
}

/// What a counter is of the counts of several CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfCpus {
    /// All of them together.
    Sum,
    /// That of the CPU that had most since the counter began: where one event counts on every CPU. An event between two CPUs' samples is
    /// in one interval of one and in the next of the other, so that the most of each interval would count it twice.
    Most,
}

/// A part of a counter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Total {
    /// Of the whole host, as [`OfCpus`] says.
    pub sum: f64,
    /// By the CPU that counts; empty of a sum unless requested.
    pub cpus: BTreeMap<u32, f64>,
}

impl Total {
    fn add(&mut self, cpu: u32, amount: f64, of_cpus: OfCpus, by_cpu: bool) {
        let own = (by_cpu || of_cpus == OfCpus::Most).then(|| {
            let own = self.cpus.entry(cpu).or_default();
            *own += amount;
            *own
        });
        match of_cpus {
            OfCpus::Sum => self.sum += amount,
            OfCpus::Most => self.sum = self.sum.max(own.unwrap_or(0.0)),
        }
    }
}

/// What was counted of one host.
#[derive(Clone, Debug)]
pub struct Totals {
    /// One for each of [`COUNTERS`], by part; none where nothing is known of it.
    counters: Vec<BTreeMap<String, Total>>,
    /// Where the time of the CPUs went.
    pub ledger: LedgerTotals,
    /// What was seen lately.
    pub recent: Recent,
    /// Whether CPUs are told apart.
    by_cpu: bool,
}

/// More parts of a counter are counted together as [`OTHERS`]: a host that names its threads anew each day would make new series
/// each day.
const MOST_PARTS: usize = 48;

/// The part of what has no part of its own.
pub const OTHERS: &str = "other";

impl Totals {
    /// What the kernel of `host` has counted until `counters` were read; `by_cpu` keeps CPUs apart, too.
    pub fn since_boot(host: &HostView, counters: &Counters, by_cpu: bool) -> Totals {
        let boot = counters.at_boot();
        let interval = Interval { host, before: &boot, after: counters };
        let mut totals = Totals {
            counters: vec![BTreeMap::new(); COUNTERS.len()],
            ledger: LedgerTotals::default(),
            recent: Recent::default(),
            by_cpu,
        };
        totals.enter(|it| it.since_boot.map(|measure| measure(&interval)));
        totals
    }

    /// Adds an interval, and what was read of it; clocks are compared with the `nominal` one.
    pub fn add(&mut self, interval: &Interval, reading: &Reading, nominal: Option<Hertz>) {
        self.enter(|it| Some((it.measure)(interval)));
        if let Ok(shares) = &reading.shares {
            self.ledger.add(shares);
        }
        self.recent.add(reading, nominal);
    }

    /// The parts of each counter of which something is known, in the order of [`COUNTERS`].
    pub fn counters(&self) -> impl Iterator<Item = (&'static Counter, &BTreeMap<String, Total>)> {
        COUNTERS.iter().zip(&self.counters).filter(|(_, parts)| !parts.is_empty())
    }

    fn enter(&mut self, measure: impl Fn(&Counter) -> Option<Fact<Vec<Series>>>) {
        for (counter, parts) in COUNTERS.iter().zip(&mut self.counters) {
            let Some(Ok(series)) = measure(counter) else { continue };
            for Series { part, values } in series {
                let name = part_of(parts, part);
                match values {
                    Values::Host(Err(_)) => {}
                    Values::Host(Ok(amount)) => parts.entry(name).or_default().sum += amount,
                    Values::Cpus(rows) | Values::Cores(rows) | Values::Packages(rows) => {
                        for (cpu, amount) in rows.known() {
                            let total = parts.entry(name.clone()).or_default();
                            total.add(cpu, *amount, counter.of_cpus, self.by_cpu);
                        }
                    }
                }
            }
        }
    }
}

/// What a part is counted as.
fn part_of<T>(parts: &BTreeMap<String, T>, part: String) -> String {
    let is_kept = parts.contains_key(&part) || parts.len() < MOST_PARTS;
    if is_kept { part } else { OTHERS.to_owned() }
}
