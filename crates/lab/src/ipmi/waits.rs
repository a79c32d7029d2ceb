//! How long a controller lets its driver wait, out of what the driver's state machine returned to the thread that polls.
//!
//! Source: drivers/char/ipmi/ipmi_si_sm.h (`enum si_sm_result`). The machine of each kind of interface is one function, which is
//! called through a pointer and so cannot be built into its caller: it can be probed by its name. The thread sees a wait from
//! its first look, right after it or whoever asked has done something, to the look that finds it over; it is over at some time
//! since the look before. What others look at, whoever asks and the timer, is not seen.

use super::polling_loop::PollingLoop;
use crate::stats::{Sample, median};
use facts::trace::returned::Returned;

// What the machine returns: look again at once, after a while, after a tick; the answer is there; there is nothing to do.
const CALL_WITHOUT_DELAY: u64 = 0;
const CALL_WITH_DELAY: u64 = 1;
const CALL_WITH_TICK_DELAY: u64 = 2;
const TRANSACTION_COMPLETE: u64 = 3;
const IDLE: u64 = 4;

/// The function that is the state machine of a kind of interface, as sysfs names that; `None` of an unknown kind. BT has no
/// thread that polls.
pub(super) fn state_machine(kind: &str) -> Option<&'static str> {
    match kind {
        "kcs" => Some("kcs_event"),
        "smic" => Some("smic_event"),
        _ => None,
    }
}

/// One question, as the thread that polls saw it.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// When its answer was there, in ns of CLOCK_MONOTONIC_RAW.
    pub ended_ns: u64,
    /// How long each wait was, in microseconds; in the middle of what can be told.
    pub waits_us: Vec<f64>,
}

/// Everything that was seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Waits {
    /// Those that were over.
    pub questions: Vec<Question>,
    /// How long it was from one look that found the controller busy to the next look, in microseconds; of the first
    /// hundred thousand.
    pub pauses_us: Vec<f64>,
    /// How many looks found the controller busy.
    pub n_looks: u64,
    /// How many looks there were.
    pub n_all: u64,
    /// Returns that were not written down: what was seen has gaps where there are some.
    pub n_lost: u64,
}

/// A kernel that looks without a pause does so a million times a second: more pauses say nothing new of their middle.
const MOST_PAUSES: usize = 100_000;

impl Waits {
    /// Every wait, in microseconds.
    pub fn all_us(&self) -> impl Iterator<Item = f64> {
        self.questions.iter().flat_map(|it| it.waits_us.iter().copied())
    }

    /// The middle time from one look that found the controller busy to the next, in microseconds; `None` where there was none.
    pub fn pause_us(&self) -> Option<f64> {
        Sample::new(self.pauses_us.clone()).ok().map(|it| median(&it))
    }

    /// The loop of the kernel that looked so, given the time between its ticks; what a look takes is not in it. `None` where the
    /// thread never had to wait.
    pub fn polling_loop(&self, tick_us: f64, rounds_up: bool) -> Option<PollingLoop> {
        /// Shorter than any sleep (100 us is what a kernel that sleeps asks for), longer than a look takes.
        const SLEEPS_FROM_US: f64 = 50.0;
        let pause_us = self.pause_us()?;
        let pause_us = if pause_us < SLEEPS_FROM_US { 0.0 } else { pause_us };
        Some(PollingLoop { tick_us, pause_us, look_us: 0.0, rounds_up })
    }
}

/// The way through the returns, in their order.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) waits: Waits,
    waits_us: Vec<f64>,
    /// When the wait that goes on was first seen, and when last.
    waiting_ns: Option<(u64, u64)>,
    /// Of this question something was not seen.
    is_torn: bool,
}

impl Seen {
    pub(super) fn add(&mut self, returned: Returned) {
        match returned {
            Returned::Value { at_ns, value } => self.look(at_ns, value),
            Returned::Lost(count) => self.lose(count),
        }
    }

    fn look(&mut self, at_ns: u64, value: u64) {
        self.waits.n_all += 1;
        match value {
            CALL_WITH_DELAY | CALL_WITH_TICK_DELAY => {
                self.waits.n_looks += 1;
                let (first_ns, last_ns) = self.waiting_ns.unwrap_or((at_ns, at_ns));
                if self.waiting_ns.is_some() {
                    self.paused(last_ns, at_ns);
                }
                self.waiting_ns = Some((first_ns, at_ns));
            }
            CALL_WITHOUT_DELAY => self.ready(at_ns),
            TRANSACTION_COMPLETE => {
                self.ready(at_ns);
                let waits_us = std::mem::take(&mut self.waits_us);
                if !std::mem::take(&mut self.is_torn) {
                    self.waits.questions.push(Question { ended_ns: at_ns, waits_us });
                }
            }
            IDLE => self.waiting_ns = None,
            // Given up, or the controller wants to say something.
            _ => self.tear(),
        }
    }

    fn ready(&mut self, at_ns: u64) {
        if let Some((first_ns, last_ns)) = self.waiting_ns.take() {
            self.paused(last_ns, at_ns);
            let [least, most] = [last_ns, at_ns].map(|it| microseconds(first_ns, it));
            self.waits_us.push((least + most) / 2.0);
        }
    }

    fn paused(&mut self, from_ns: u64, to_ns: u64) {
        if self.waits.pauses_us.len() < MOST_PAUSES {
            self.waits.pauses_us.push(microseconds(from_ns, to_ns));
        }
    }

    fn lose(&mut self, count: u64) {
        self.waits.n_lost += count;
        self.tear();
    }

    fn tear(&mut self) {
        self.waits_us.clear();
        self.waiting_ns = None;
        self.is_torn = true;
    }
}

fn microseconds(from_ns: u64, to_ns: u64) -> f64 {
    to_ns.saturating_sub(from_ns) as f64 / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(returns: impl IntoIterator<Item = Returned>) -> Waits {
        let mut seen = Seen::default();
        returns.into_iter().for_each(|it| seen.add(it));
        seen.waits
    }

    /// Returns at these microseconds.
    fn seen(returns: &[(u64, u64)]) -> Waits {
        of(returns.iter().map(|(us, value)| Returned::Value { at_ns: us * 1000, value: *value }))
    }

    #[test]
    fn a_wait_ends_between_the_last_look_that_found_it_and_the_next() {
        // Two bytes are taken at once, one after 150 to 300 us, and the answer comes 0 to 200 us after the first look for it.
        let waits = seen(&[
            (10, 0),
            (11, 0),
            (12, 1),
            (162, 1),
            (312, 0),
            (313, 1),
            (513, 0),
            (514, 3),
            (515, 4),
        ]);
        assert_eq!(waits.questions, [Question { ended_ns: 514_000, waits_us: vec![225.0, 100.0] }]);
        assert_eq!((waits.n_looks, waits.pauses_us), (3, vec![150.0, 150.0, 200.0]));
    }

    #[test]
    fn a_question_of_which_returns_were_lost_is_none() {
        let value = |us: u64, value| Returned::Value { at_ns: us * 1000, value };
        let waits = of([
            value(1, 1),
            Returned::Lost(7),
            value(300, 0),
            value(301, 3),
            value(400, 1),
            value(500, 3),
        ]);
        assert_eq!((waits.questions.len(), waits.n_lost), (1, 7));
        assert_eq!(waits.questions[0].waits_us, [50.0]);
    }

    #[test]
    fn one_that_the_driver_gave_up_is_none_either() {
        const HOSED: u64 = 5;
        let waits = seen(&[(1, 1), (200, HOSED), (300, 0), (301, 3), (400, 3)]);
        assert_eq!(waits.questions, [Question { ended_ns: 400_000, waits_us: vec![] }]);
    }

    #[test]
    fn a_kernel_that_looks_all_the_time_is_told_from_one_that_sleeps() {
        let pause_us = |returns: &[(u64, u64)]| {
            let found = seen(returns).polling_loop(4000.0, true);
            found.map(|it| it.pause_us)
        };
        assert_eq!(pause_us(&[(1, 1), (2, 1), (3, 1), (4, 0), (5, 3)]), Some(0.0));
        assert_eq!(pause_us(&[(0, 1), (150, 1), (300, 3)]), Some(150.0));
        assert_eq!(pause_us(&[(1, 0), (2, 3)]), None);
    }

    #[test]
    fn of_bt_nobody_polls() {
        assert_eq!((state_machine("kcs"), state_machine("bt")), (Some("kcs_event"), None));
    }
}
