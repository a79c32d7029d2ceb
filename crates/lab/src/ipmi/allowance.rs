//! The time that a trial and each of its answers may take.

use super::ID;
use crate::failure::Failure;
use host::ipmi::{Failure as Why, Patience};
use rustix::time::{ClockId, clock_gettime};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The kernel takes an interface that does nothing for 5 s for broken, and tries again up to ten times
/// (drivers/char/ipmi/ipmi_kcs_sm.c). Half of that is longer than any controller thinks.
const MOST_PATIENCE: Duration = Duration::from_secs(30);

/// The time that a trial may take, and what ends it before.
#[derive(Clone, Copy)]
pub(super) struct Allowance<'a> {
    /// On CLOCK_MONOTONIC.
    began: Duration,
    timeout: Option<Duration>,
    stop: &'a AtomicBool,
}

impl<'a> Allowance<'a> {
    /// From this moment on.
    pub(super) fn begin(timeout: Option<Duration>, stop: &'a AtomicBool) -> Allowance<'a> {
        Allowance { began: now(), timeout, stop }
    }

    /// Asks, and says in the words of a workload why there is no answer.
    pub(super) fn told<T>(
        self,
        ask: impl FnOnce(Patience<'_>) -> Result<T, Why>,
    ) -> Result<T, Failure> {
        let left = self.left()?;
        ask(Patience::begin(left.min(MOST_PATIENCE), self.stop)).map_err(|why| match why {
            Why::Stopped => Failure::Stopped,
            // It was the trial that had no time left, and not the controller.
            Why::NoAnswer { .. } if left < MOST_PATIENCE => self.timed_out(),
            why => Failure::NoFigure(why.to_string()),
        })
    }

    fn left(&self) -> Result<Duration, Failure> {
        let Some(timeout) = self.timeout else { return Ok(MOST_PATIENCE) };
        timeout.checked_sub(now().saturating_sub(self.began)).ok_or_else(|| self.timed_out())
    }

    fn timed_out(&self) -> Failure {
        let limit = self.timeout.unwrap_or(MOST_PATIENCE);
        Failure::TimedOut { program: ID.to_owned(), limit }
    }
}

fn now() -> Duration {
    // It is never negative (clock_gettime(2)).
    Duration::try_from(clock_gettime(ClockId::Monotonic)).unwrap_or_default()
}
