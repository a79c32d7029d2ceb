//! What each thief took.

use crate::spin::{GapBooks, Taken, Thief};
use facts::trace::Cause;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Who had a CPU while its spinner did not.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Taker {
    /// Something of the host.
    Thief(Thief),
    /// A device's interrupt, by its number and the names of those who handle it (/proc/interrupts).
    Device(u32, String),
    /// This program, which empties the trace.
    Own,
}

/// What one taker had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Who.
    pub taker: Taker,
    /// How long, and how often.
    pub taken: Taken,
}

impl Taker {
    /// `thief` by what is known of this host: its threads that are this program's, and the names of its interrupts.
    pub(super) fn known(thief: Thief, own: &BTreeSet<u32>, names: &BTreeMap<u32, String>) -> Taker {
        match thief {
            Thief::Task(tid, _) if u32::try_from(tid).is_ok_and(|it| own.contains(&it)) => {
                Taker::Own
            }
            Thief::Kernel(Cause::Device(number)) => match names.get(&number) {
                Some(name) => Taker::Device(number, name.clone()),
                None => Taker::Thief(thief),
            },
            _ => Taker::Thief(thief),
        }
    }

    /// The kind of thief it is, in one word that stays the same whatever its name and number.
    pub fn kind(&self) -> &'static str {
        match self {
            Taker::Own => "own",
            Taker::Device(..) => "interrupt",
            Taker::Thief(Thief::Kernel(cause)) if cause.is_softirq() => "softirq",
            Taker::Thief(Thief::Kernel(_)) => "interrupt",
            Taker::Thief(Thief::Nmi) => "nmi",
            Taker::Thief(Thief::Task(..)) => "task",
            Taker::Thief(Thief::Nobody) => "nobody",
            Taker::Thief(Thief::Hypervisor) => "hypervisor",
            Taker::Thief(Thief::Firmware) => "firmware",
            Taker::Thief(Thief::Unexplained) => "unexplained",
        }
    }
}

/// The parts of one CPU's books, the largest first.
pub(super) fn parts(books: &GapBooks, known: impl Fn(Thief) -> Taker) -> Vec<Part> {
    let all: Vec<Part> =
        books.taken.iter().map(|(&thief, &taken)| Part { taker: known(thief), taken }).collect();
    merged(&all)
}

/// The same takers' parts added up, the largest first.
pub(super) fn merged<'a>(parts: impl IntoIterator<Item = &'a Part>) -> Vec<Part> {
    let mut sums: BTreeMap<&Taker, Taken> = BTreeMap::new();
    for part in parts {
        let sum = sums.entry(&part.taker).or_default();
        sum.ns = sum.ns.saturating_add(part.taken.ns);
        sum.count = sum.count.saturating_add(part.taken.count);
    }
    let mut merged: Vec<Part> =
        sums.into_iter().map(|(taker, taken)| Part { taker: taker.clone(), taken }).collect();
    merged.sort_by_key(|part| std::cmp::Reverse(part.taken.ns));
    merged
}

/// In a few words, as a line of a report names it.
impl fmt::Display for Taker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Taker::Thief(thief) => write!(f, "{thief}"),
            Taker::Device(number, name) => write!(f, "irq {number} {name}"),
            Taker::Own => f.write_str("fullclock itself"),
        }
    }
}
