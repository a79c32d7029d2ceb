//! What round trips would take under another limit, out of the waits that were seen under none.

use super::Waits;
use super::polling_loop::{Limit, PollingLoop};
use std::time::Duration;

/// Round trips that were listened to while no limit was in force.
#[derive(Debug)]
pub struct Heard {
    /// What was heard.
    pub waits: Waits,
    /// How many device ids and records there were, each.
    pub n_pairs: u64,
    /// How long they took.
    pub elapsed: Duration,
    /// What the thread was accounted.
    pub polled: Duration,
    /// The time between two ticks of this kernel.
    pub tick: Duration,
    /// Whether its timers round up ([`PollingLoop::rounds_up`]).
    pub rounds_up: bool,
}

/// Predicts a sweep from what was heard.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    /// The kernel's loop, as it was heard.
    pub kernel: PollingLoop,
    questions: Vec<Vec<f64>>,
    n_pairs: f64,
    /// The time between two questions, which the program that asks takes.
    rest_us: f64,
}

/// What the driver would make of the waits that were seen, or why nobody can say.
pub type Model = Result<Forecast, String>;

/// One device id and one record under a limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Foretold {
    /// How long they take, in milliseconds.
    pub both_ms: f64,
    /// What the thread takes of a CPU for them.
    pub polled_ms: f64,
}

impl Forecast {
    /// Errors: why nothing can be foretold from what was heard.
    pub fn of(heard: Heard) -> Result<Forecast, String> {
        if heard.waits.n_lost > 0 {
            let lost = heard.waits.n_lost;
            return Err(format!("{lost} looks of kipmi0 were not written down, for want of room"));
        }
        if heard.waits.n_all == 0 {
            return Err("no look of kipmi0 was heard".to_owned());
        }
        let tick_us = heard.tick.as_secs_f64() * 1e6;
        let kernel = heard.waits.polling_loop(tick_us, heard.rounds_up);
        let kernel = kernel.ok_or("kipmi0 never had to wait: the controller was always ready")?;
        let questions = heard.waits.questions.into_iter().map(|it| it.waits_us).collect();
        let n_pairs = heard.n_pairs.max(1) as f64;
        let each_ms = |it: Duration| it.as_secs_f64() * 1e3 / n_pairs;
        let measured =
            Foretold { both_ms: each_ms(heard.elapsed), polled_ms: each_ms(heard.polled) };
        Ok(Forecast { kernel, questions, n_pairs, rest_us: 0.0 }.fitted(measured))
    }

    /// The same, so that without a limit it foretells what was measured: what the thread takes for each look, and what whoever
    /// asks takes between two questions, are found from that.
    #[must_use]
    pub fn fitted(mut self, measured: Foretold) -> Forecast {
        let all_us = |each_ms: f64| each_ms * 1e3 * self.n_pairs;
        let (elapsed_us, polled_us) = (all_us(measured.both_ms), all_us(measured.polled_ms));
        // Of looks that take a microsecond each, what they take is their number.
        let kernel = PollingLoop { look_us: 1.0, ..self.kernel };
        let alone = kernel.follow(&self.questions, 0.0, Limit::Unlimited);
        let n_looks: f64 = alone.iter().map(|it| it.polled_us).sum();
        let alone_us: f64 = alone.iter().map(|it| it.elapsed_us).sum();
        self.kernel.look_us = polled_us / n_looks.max(1.0);
        self.rest_us = (elapsed_us - alone_us).max(0.0) / self.questions.len().max(1) as f64;
        self
    }

    /// Under a limit in microseconds; 0 is none.
    pub fn under(&self, limit_us: u64) -> Foretold {
        let limit = match limit_us {
            0 => Limit::Unlimited,
            us => Limit::Microseconds(us as f64),
        };
        let taken = self.kernel.follow(&self.questions, self.rest_us, limit);
        let rest_us = self.rest_us * self.questions.len() as f64;
        let elapsed_us: f64 = taken.iter().map(|it| it.elapsed_us).sum();
        let polled_us: f64 = taken.iter().map(|it| it.polled_us).sum();
        let each_ms = |us: f64| us / 1e3 / self.n_pairs;
        Foretold { both_ms: each_ms(elapsed_us + rest_us), polled_ms: each_ms(polled_us) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Question;
    use super::*;

    /// Ten pairs of two questions with a wait of 1,000 us each, which looks every 200 us saw.
    fn heard() -> Heard {
        let question = Question { ended_ns: 0, waits_us: vec![1000.0] };
        let waits = Waits {
            questions: vec![question; 20],
            pauses_us: vec![200.0; 100],
            n_looks: 100,
            n_all: 140,
            n_lost: 0,
        };
        let (elapsed, polled) = (Duration::from_millis(30), Duration::from_micros(500));
        let tick = Duration::from_millis(4);
        Heard { waits, n_pairs: 10, elapsed, polled, tick, rounds_up: true }
    }

    #[test]
    fn without_a_limit_it_is_what_was_heard_and_under_one_answers_wait_for_ticks() {
        let forecast = Forecast::of(heard()).unwrap();
        let unlimited = forecast.under(0);
        assert!((unlimited.both_ms - 3.0).abs() < 1e-9, "{unlimited:?}");
        assert!((unlimited.polled_ms - 0.05).abs() < 1e-9, "{unlimited:?}");
        let limited = forecast.under(100);
        assert!(limited.both_ms > 2.0 * 4.0 && limited.both_ms < 2.0 * 9.0, "{limited:?}");
        assert!(limited.polled_ms < 0.7 * unlimited.polled_ms, "{limited:?} {unlimited:?}");
        assert_eq!(forecast.under(5000).both_ms, unlimited.both_ms);
    }

    #[test]
    fn it_can_be_fitted_to_what_was_measured_at_another_time() {
        let measured = Foretold { both_ms: 4.0, polled_ms: 0.1 };
        let fitted = Forecast::of(heard()).unwrap().fitted(measured);
        let Foretold { both_ms, polled_ms } = fitted.under(0);
        assert!((both_ms - 4.0).abs() < 1e-9 && (polled_ms - 0.1).abs() < 1e-9);
    }

    #[test]
    fn what_tells_nothing_says_why() {
        let lost = Heard { waits: Waits { n_lost: 3, ..heard().waits }, ..heard() };
        assert!(Forecast::of(lost).unwrap_err().contains("3 looks"));
        let silent = Heard { waits: Waits::default(), ..heard() };
        assert!(Forecast::of(silent).unwrap_err().contains("no look of kipmi0"));
        let waits = Waits { n_all: 5, ..Waits::default() };
        let ready = Heard { waits, ..heard() };
        assert!(Forecast::of(ready).unwrap_err().contains("always ready"));
    }
}
