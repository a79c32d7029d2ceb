//! When samples are due: at even distances, however long each takes.
//!
//! All times are counted from the first sample.

use std::time::Duration;

/// The rhythm of samples.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    interval: Duration,
    due: Duration,
}

impl Pace {
    /// A sample each `interval`.
    pub(super) fn new(interval: Duration) -> Pace {
        Pace { interval, due: interval }
    }

    /// The time until the next sample is due.
    pub(super) fn left(&self, now: Duration) -> Duration {
        self.due.saturating_sub(now)
    }

    /// Says that a sample was done, and how long it took. What has to be told where the next one was due already:
    /// then samples come as fast as they can be taken, and not as often as was asked for.
    pub(super) fn sampled(&mut self, took: Duration, now: Duration) -> Option<String> {
        let interval = self.interval;
        self.due = self.due.saturating_add(interval);
        if self.due > now {
            return None;
        }
        let late = now.saturating_sub(self.due);
        self.due = now.saturating_add(interval);
        if took >= interval {
            return Some(format!(
                "sampling took {took:.1?}, longer than the interval of {interval:?}"
            ));
        }
        (late >= interval).then(|| {
            format!("a sample came {late:.1?} late: something kept fullclock from running")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn samples_stay_in_step_with_the_first() {
        let mut pace = Pace::new(SECOND);
        assert_eq!(pace.sampled(SECOND / 10, SECOND * 11 / 10), None);
        assert_eq!(pace.left(SECOND * 11 / 10), SECOND * 9 / 10);
    }

    #[test]
    fn a_sample_that_takes_longer_than_the_interval_is_told() {
        let mut pace = Pace::new(SECOND);
        let told = pace.sampled(SECOND * 3 / 2, SECOND * 5 / 2);
        assert_eq!(told.as_deref(), Some("sampling took 1.5s, longer than the interval of 1s"));
        assert_eq!(pace.left(SECOND * 5 / 2), SECOND);
    }

    #[test]
    fn a_sample_that_comes_late_is_told() {
        let mut pace = Pace::new(SECOND);
        let told = pace.sampled(SECOND / 100, SECOND * 4).unwrap();
        assert!(told.starts_with("a sample came 2.0s late"), "{told}");
    }
}
