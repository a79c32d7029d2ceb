//! Where the time of all CPUs went since somebody began to watch, by line of the ledger.
//!
//! Ledgers of intervals are added up. Where lines of one overlap, what is left unexplained is negative; a counter cannot go back, so
//! that is counted apart: capacity = all lines + unexplained - overlap, to the nanosecond.

use super::part_of;
use crate::watch::{Share, Shares};
use std::collections::BTreeMap;

/// The lines whose parts are counted, too: they name what holds the clock down, and are few. Parts of others are names of programs,
/// threads and control groups.
pub const PARTED: &[&str] = &["stopped-clock", "slow-clock"];

/// The ledgers of all intervals together, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LedgerTotals {
    /// The time of all CPUs.
    pub capacity_ns: u64,
    /// By the id of the line, in display order; a line that was never known is not here.
    pub lines: Vec<(&'static str, u64)>,
    /// What no line accounts for.
    pub unexplained_ns: u64,
    /// What lines account for twice.
    pub overlap_ns: u64,
    /// The parts of [`PARTED`], by line and part.
    pub parts: BTreeMap<&'static str, BTreeMap<String, u64>>,
    /// How many intervals there were.
    pub intervals: u64,
}

impl LedgerTotals {
    /// Adds the ledger of an interval.
    pub fn add(&mut self, shares: &Shares) {
        self.intervals += 1;
        self.capacity_ns += shares.capacity_ns.unsigned_abs();
        for share in &shares.lines {
            let Ok(ns) = share.ns else { continue };
            let grown = self.grown(ns);
            match self.lines.iter_mut().find(|it| it.0 == share.loss) {
                Some((_, total)) => *total += grown,
                None => self.lines.push((share.loss, grown)),
            }
            self.add_part(share, grown);
        }
        let unexplained = self.grown(shares.unexplained_ns);
        self.unexplained_ns += unexplained;
    }

    /// What a line grows by; less than nothing is an overlap.
    fn grown(&mut self, ns: i64) -> u64 {
        match u64::try_from(ns) {
            Ok(ns) => ns,
            Err(_) => {
                self.overlap_ns += ns.unsigned_abs();
                0
            }
        }
    }

    fn add_part(&mut self, share: &Share, ns: u64) {
        if share.part.is_empty() || ns == 0 || !PARTED.contains(&share.loss) {
            return;
        }
        let parts = self.parts.entry(share.loss).or_default();
        let part = part_of(parts, share.part.clone());
        *parts.entry(part).or_default() += ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::fake;

    fn sum(totals: &LedgerTotals) -> u64 {
        totals.lines.iter().map(|it| it.1).sum::<u64>() + totals.unexplained_ns - totals.overlap_ns
    }

    #[test]
    fn lines_and_rest_are_the_capacity_and_none_goes_back() {
        let mut totals = LedgerTotals::default();
        totals.add(&fake::shares());
        assert_eq!((totals.capacity_ns, sum(&totals)), (1000, 1000));
        let mut overlapping = fake::shares();
        overlapping.lines.iter_mut().filter(|it| it.loss == "useful").for_each(|it| {
            it.ns = Ok(430);
        });
        overlapping.unexplained_ns = -4;
        let before = totals.clone();
        totals.add(&overlapping);
        assert_eq!((totals.capacity_ns, sum(&totals)), (2000, 2000));
        assert_eq!((totals.overlap_ns, totals.unexplained_ns), (4, before.unexplained_ns));
        for ((line, now), (_, was)) in totals.lines.iter().zip(&before.lines) {
            assert!(now >= was, "{line}");
        }
    }

    #[test]
    fn a_line_that_is_unknown_has_no_counter_and_its_parts_are_those_of_the_clock_only() {
        let mut totals = LedgerTotals::default();
        let mut shares = fake::shares();
        let slow = shares.lines.iter_mut().find(|it| it.loss == "slow-clock").unwrap();
        slow.part = "heat".to_owned();
        totals.add(&shares);
        totals.add(&shares);
        assert!(totals.lines.iter().all(|it| it.0 != "stopped-clock"));
        let heat = BTreeMap::from([("heat".to_owned(), 450)]);
        assert_eq!(totals.parts, BTreeMap::from([("slow-clock", heat)]));
        assert!(totals.lines.contains(&("kernel-threads", 66)));
    }

    #[test]
    fn causes_that_nobody_foresaw_stay_few() {
        let mut totals = LedgerTotals::default();
        for number in 0..200 {
            let mut shares = fake::shares();
            let slow = shares.lines.iter_mut().find(|it| it.loss == "slow-clock").unwrap();
            slow.part = format!("cause {number}");
            totals.add(&shares);
        }
        let parts = &totals.parts["slow-clock"];
        assert!(parts.len() <= super::super::MOST_PARTS + 1, "{}", parts.len());
        assert_eq!(parts.values().sum::<u64>(), 200 * 225);
    }
}
