//! Spin: who had the CPU in the gaps of a spinner's time line.
//!
//! Two ways, and every result says which it was. With a trace, gaps and events are joined by time: each piece of a gap
//! belongs to what ran then ([`join`]). Where tracing is not allowed, the gaps are split by what was counted over the
//! whole time ([`by_counts`]); that rests on the order of their lengths, and is an estimate.
//!
//! Either way the parts sum to the gaps, to the nanosecond, and what nothing explains has a line of its own.

mod counted;
mod counts;
mod joined;
#[cfg(test)]
mod properties;
mod walk;

pub use counted::{by_counts, call_cost, costs_by_counts};
pub use counts::{Counts, tick};
pub use joined::{Join, Untraced, costs, edge, join};

use facts::Missing;
use facts::probe::Gaps;
use facts::trace::{Cause, Comm, Event};
use std::collections::BTreeMap;
use std::fmt;

/// What took the CPU from the spinner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoiseSource {
    /// An interrupt or a softirq.
    Kernel(Cause),
    /// A non-maskable interrupt: a watchdog, a profiler.
    Nmi,
    /// Another task, by thread id and name; tid 0 where it is unknown.
    Task(i32, Comm),
    /// Nobody: the CPU was idle and the spinner kept from running, by a quota or a signal.
    Nobody,
    /// The hypervisor: the guest's kernel has nothing to show for the time.
    Hypervisor,
    /// Firmware in system management mode (SMM).
    Firmware,
    /// No event explains the gap.
    Unexplained,
}

/// How much a noise source took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// Nanoseconds.
    pub ns: u64,
    /// How often it began; for what is known by gaps only, how many gaps.
    pub count: u64,
}

/// How the gaps were explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// By the time of traced events.
    Trace,
    /// By counters over the same time.
    Counts,
}

/// Where the time of one CPU's gaps went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GapBooks {
    /// The CPU.
    pub cpu: u32,
    /// How this was found out.
    pub method: Method,
    /// What each noise source took; together, all the time of all gaps.
    pub taken: BTreeMap<NoiseSource, Taken>,
}

impl GapBooks {
    fn empty(cpu: u32, method: Method) -> GapBooks {
        GapBooks { cpu, method, taken: BTreeMap::new() }
    }

    /// What one noise source took; nothing, where it is not in the books.
    pub fn of(&self, source: NoiseSource) -> Taken {
        self.taken.get(&source).copied().unwrap_or_default()
    }

    /// All of it, in nanoseconds.
    pub fn total_ns(&self) -> u64 {
        self.taken.values().fold(0, |sum, taken| sum.saturating_add(taken.ns))
    }

    fn enter(&mut self, source: NoiseSource, ns: u64, count: u64) {
        if ns > 0 || count > 0 {
            let taken = self.taken.entry(source).or_default();
            taken.ns = taken.ns.saturating_add(ns);
            taken.count = taken.count.saturating_add(count);
        }
    }
}

/// In a few words, as a line of a report names it.
impl fmt::Display for NoiseSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoiseSource::Kernel(Cause::LocalTimer) => f.write_str("timer tick"),
            NoiseSource::Kernel(cause) => write!(f, "{cause}"),
            NoiseSource::Nmi => f.write_str("NMI"),
            NoiseSource::Task(0, _) => f.write_str("another task"),
            NoiseSource::Task(tid, comm) if comm.is_empty() => write!(f, "task {tid}"),
            NoiseSource::Task(tid, comm) => write!(f, "task {comm} ({tid})"),
            NoiseSource::Nobody => f.write_str("idle, the spinner was kept from running"),
            NoiseSource::Hypervisor => f.write_str("hypervisor"),
            NoiseSource::Firmware => f.write_str("system management mode"),
            NoiseSource::Unexplained => f.write_str("unexplained"),
        }
    }
}

/// Who had the CPU in the gaps of its spinner.
#[derive(Clone, Debug)]
pub struct Explained {
    /// Where the time of all gaps went.
    pub books: GapBooks,
    trace: Option<(Join, Untraced)>,
}

/// Explains the gaps of one CPU. `events` are those of any CPUs, or why there are none; `counts` is what was
/// counted on this one during that time.
pub fn explain(
    gaps: &Gaps,
    counts: &Counts,
    events: Result<&[Event], &Missing>,
    is_guest: bool,
) -> Explained {
    let Ok(events) = events else {
        return Explained { books: by_counts(gaps, counts), trace: None };
    };
    let joined = join(gaps, events);
    let untraced = Untraced::of(&joined, counts, is_guest);
    Explained { books: joined.books(untraced), trace: Some((joined, untraced)) }
}

impl Explained {
    /// Whose the time of the gap was that is at `index` among those that were kept, in nanoseconds, who had the most
    /// of it first; `None` where nothing was traced: counts explain gaps only as a whole.
    pub fn takers(&self, index: usize) -> Option<Vec<(NoiseSource, u64)>> {
        let (joined, untraced) = self.trace.as_ref()?;
        Some(joined.takers(index, *untraced))
    }
}
