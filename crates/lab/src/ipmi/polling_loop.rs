//! What the kernel's driver makes of the waits for a controller, under a limit of its polling.
//!
//! A question to the controller goes over its interface byte by byte, and after each the driver waits until the controller has
//! taken it; the last wait is the longest, for the answer. Whoever looks and finds the controller ready goes on to the next wait
//! in the same look. Sources: drivers/char/ipmi/ipmi_si_intf.c (`ipmi_thread`, `ipmi_thread_busy_wait`, `smi_timeout`) and
//! ipmi_kcs_sm.c.
//!
//! - The thread looks again and again. Up to Linux 5.4 (340ff31ab00b, and the stable releases of October 2019) without a pause;
//!   since then it sleeps 100 to 200 us between two looks.
//! - Once it has done so for `kipmid_max_busy_us` without the question being over, however many waits that were, it sleeps for a
//!   jiffy; then its time begins anew.
//! - A timer looks, too: 10 ms after a question began, and from then on with every jiffy. Without a thread it is all there is.
//! - A sleep of n jiffies ends with the n-th tick. Since Linux 4.8 it ends with the one after that: the timer wheel rounds up so
//!   that no timer is early (kernel/time/timer.c, `calc_index`).
//!
//! Not known here: what else the CPUs do. The thread has nice 19, and where every CPU is busy its looks come late.

use serde::{Deserialize, Serialize};

/// How a kernel drives an interface that does not interrupt.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PollingLoop {
    /// The time between two ticks, in microseconds.
    pub tick_us: f64,
    /// How long the thread sleeps between two looks, in microseconds; 0 where it looks all the time.
    pub pause_us: f64,
    /// What a look takes of a CPU, in microseconds, where there is a pause between them.
    pub look_us: f64,
    /// Whether a sleep of a jiffy ends with the second tick, not with the first.
    pub rounds_up: bool,
}

/// How long the thread may go on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// There is no thread (`force_kipmid=0`).
    NoThread,
    /// As long as it takes (`kipmid_max_busy_us=0`).
    Unlimited,
    /// So many microseconds.
    Microseconds(f64),
}

/// What one question took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Taken {
    /// From its beginning to its end, in microseconds.
    pub elapsed_us: f64,
    /// What the thread took of a CPU, in microseconds.
    pub polled_us: f64,
}

/// SI_TIMEOUT_TIME_USEC: when the timer looks first.
const TIMER_US: f64 = 10_000.0;

impl PollingLoop {
    /// What each question takes, given its waits in microseconds. The next one begins `rest_us` after the one before it.
    pub fn follow(&self, questions: &[Vec<f64>], rest_us: f64, limit: Limit) -> Vec<Taken> {
        let mut began_us = 0.0;
        let follow = |waits: &Vec<f64>| {
            let taken = Looking::begin(self, limit, began_us).through(waits);
            began_us += taken.elapsed_us + rest_us;
            taken
        };
        questions.iter().map(follow).collect()
    }

    /// The end of a sleep of so many jiffies.
    fn after(&self, now_us: f64, jiffies: f64) -> f64 {
        let rounded = if self.rounds_up { 1.0 } else { 0.0 };
        ((now_us / self.tick_us).floor() + jiffies + rounded) * self.tick_us
    }
}

/// A question on its way.
struct Looking<'a> {
    of: &'a PollingLoop,
    limit: Limit,
    began_us: f64,
    now_us: f64,
    /// When the thread looks next; never without one.
    thread_us: f64,
    /// When the timer does.
    timer_us: f64,
    /// Until when the thread may go on; unset where its time has not begun.
    until_us: Option<f64>,
    polled_us: f64,
}

impl Looking<'_> {
    fn begin(of: &PollingLoop, limit: Limit, now_us: f64) -> Looking<'_> {
        let thread_us = if limit == Limit::NoThread { f64::INFINITY } else { now_us };
        let timer_us = of.after(now_us, (TIMER_US / of.tick_us).floor().max(1.0));
        Looking {
            of,
            limit,
            began_us: now_us,
            now_us,
            thread_us,
            timer_us,
            until_us: None,
            polled_us: 0.0,
        }
    }

    fn through(mut self, waits: &[f64]) -> Taken {
        for wait in waits {
            let ready_us = self.now_us + wait;
            while !self.looked(ready_us) {}
        }
        Taken { elapsed_us: self.now_us - self.began_us, polled_us: self.polled_us }
    }

    /// Whether the next look finds the controller ready that is so from `ready_us` on.
    fn looked(&mut self, ready_us: f64) -> bool {
        if self.timer_us < self.thread_us {
            self.now_us = self.timer_us;
            self.timer_us = self.of.after(self.now_us, 1.0);
            ready_us <= self.now_us
        } else if self.of.pause_us > 0.0 {
            self.looked_once(ready_us)
        } else {
            self.looked_all_the_time(ready_us)
        }
    }

    fn limit_us(&self) -> f64 {
        match self.limit {
            Limit::Microseconds(us) => us,
            Limit::Unlimited | Limit::NoThread => f64::INFINITY,
        }
    }

    fn looked_once(&mut self, ready_us: f64) -> bool {
        // Who has just gone on to another wait is in the same look.
        let is_another = self.thread_us > self.now_us || self.until_us.is_none();
        self.now_us = self.now_us.max(self.thread_us);
        if is_another {
            self.polled_us += self.of.look_us;
        }
        if is_another && ready_us <= self.now_us {
            return true;
        }
        match self.until_us {
            Some(until_us) if self.now_us > until_us => {
                self.until_us = None;
                self.thread_us = self.of.after(self.now_us, 1.0);
            }
            until_us => {
                self.until_us = until_us.or(Some(self.now_us + self.limit_us()));
                self.thread_us = self.now_us + self.of.pause_us;
            }
        }
        false
    }

    fn looked_all_the_time(&mut self, ready_us: f64) -> bool {
        let from_us = self.thread_us.max(self.now_us);
        let until_us = *self.until_us.get_or_insert(from_us + self.limit_us());
        let to_us = ready_us.min(until_us).max(from_us);
        self.polled_us += to_us - from_us;
        (self.now_us, self.thread_us) = (to_us, to_us);
        // The timer finds nothing that the thread does not.
        while self.timer_us < to_us {
            self.timer_us = self.of.after(self.timer_us, 1.0);
        }
        if ready_us <= to_us {
            return true;
        }
        self.until_us = None;
        self.thread_us = self.of.after(to_us, 1.0);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: PollingLoop =
        PollingLoop { tick_us: 1000.0, pause_us: 0.0, look_us: 0.0, rounds_up: false };
    /// Of Linux 6.1 with 250 ticks a second.
    const SLEEPING: PollingLoop =
        PollingLoop { tick_us: 4000.0, pause_us: 200.0, look_us: 10.0, rounds_up: true };

    /// How long the questions take together, and how much of it is polled.
    fn taken(of: PollingLoop, questions: &[&[f64]], limit: Limit) -> (f64, f64) {
        let questions: Vec<Vec<f64>> = questions.iter().map(|it| it.to_vec()).collect();
        let all = of.follow(&questions, 0.0, limit);
        let sum = |what: fn(&Taken) -> f64| all.iter().map(what).sum();
        (sum(|it| it.elapsed_us), sum(|it| it.polled_us))
    }

    fn us(limit: f64) -> Limit {
        Limit::Microseconds(limit)
    }

    #[test]
    fn a_question_within_the_limit_is_polled_and_a_longer_one_goes_on_with_a_tick() {
        assert_eq!(taken(OLD, &[&[300.0], &[200.0]], Limit::Unlimited), (500.0, 500.0));
        assert_eq!(taken(OLD, &[&[300.0]], us(400.0)), (300.0, 300.0));
        // Polled for 100 us, asleep from then to the tick.
        assert_eq!(taken(OLD, &[&[300.0]], us(100.0)), (1000.0, 100.0));
        // Ready 50 us after the tick, and polled once more until then.
        assert_eq!(taken(OLD, &[&[1050.0]], us(100.0)), (1050.0, 150.0));
        assert_eq!(taken(OLD, &[&[300.0], &[300.0]], us(100.0)), (2000.0, 200.0));
    }

    #[test]
    fn waits_of_one_question_share_its_limit_and_those_of_several_do_not() {
        // The third wait is over 20 us after the limit.
        assert_eq!(taken(OLD, &[&[40.0, 40.0, 40.0]], us(100.0)), (1000.0, 100.0));
        assert_eq!(taken(OLD, &[&[40.0], &[40.0], &[40.0]], us(100.0)), (120.0, 120.0));
    }

    #[test]
    fn without_a_thread_the_timer_looks_after_10_ms_and_then_with_every_tick() {
        assert_eq!(taken(OLD, &[&[10.0, 10.0, 10.0]], Limit::NoThread), (12_000.0, 0.0));
        assert_eq!(taken(OLD, &[&[12_500.0]], Limit::NoThread), (13_000.0, 0.0));
    }

    #[test]
    fn a_thread_that_sleeps_between_looks_takes_a_look_for_each_pause() {
        // Looks at 0, 200, 400.
        assert_eq!(taken(SLEEPING, &[&[300.0]], Limit::Unlimited), (400.0, 30.0));
        // The look that ends a wait begins the next one.
        assert_eq!(taken(SLEEPING, &[&[10.0, 10.0]], Limit::Unlimited), (400.0, 30.0));
    }

    #[test]
    fn its_limit_is_looked_at_after_a_look_and_then_it_sleeps_to_the_second_tick() {
        // The look at 200 is beyond the limit; the next one is with the second tick from then.
        assert_eq!(taken(SLEEPING, &[&[300.0]], us(100.0)), (8000.0, 30.0));
        // It finds the first wait over, and its limit, too.
        assert_eq!(taken(SLEEPING, &[&[150.0, 150.0]], us(100.0)), (8000.0, 30.0));
        assert_eq!(taken(SLEEPING, &[&[300.0]], us(300.0)), (400.0, 30.0));
    }

    #[test]
    fn a_question_that_is_over_at_once_takes_nothing() {
        assert_eq!(taken(OLD, &[&[], &[0.0]], us(10.0)), (0.0, 0.0));
        assert_eq!(taken(SLEEPING, &[&[]], us(10.0)), (0.0, 0.0));
    }
}
