//! What a domain has used since it was first read.

use super::super::epoch::Epoch;

/// The sum of a domain's rises, in steps of its counters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Total {
    steps: u64,
    epoch: Epoch,
}

impl Total {
    pub(super) fn zero() -> Total {
        Total { steps: 0, epoch: Epoch::first() }
    }

    /// Adds a rise; `None` begins again, so that nothing seems to have been used across that moment.
    pub(super) fn add(&mut self, rise: Option<u64>) {
        match rise {
            Some(rise) => self.steps = self.steps.saturating_add(rise),
            None => *self = Total { steps: 0, epoch: self.epoch.next() },
        }
    }

    /// As samples have it, with so many steps in microjoules as `microjoules` says.
    pub(super) fn count(&self, microjoules: impl Fn(u64) -> u64) -> u64 {
        self.epoch.count(microjoules(self.steps))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_total_that_begins_again_is_below_what_it_was() {
        let mut total = Total::zero();
        total.add(Some(700));
        let before = total.count(|steps| steps);
        total.add(Some(300));
        assert_eq!(total.count(|steps| steps) - before, 300);
        total.add(None);
        total.add(Some(5000));
        assert!(total.count(|steps| steps) < before);
    }
}
