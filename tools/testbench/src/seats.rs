//! How many machines run at the same time.

use std::num::NonZero;
use std::sync::{Condvar, LazyLock, Mutex, PoisonError};
use std::thread;

/// Leave for a machine to run: that many of the seats, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Seats(usize);

/// As many as the host has CPUs: more machines would slow each other down, and time passes in them all the same.
static ALL: LazyLock<usize> =
    LazyLock::new(|| thread::available_parallelism().map_or(1, NonZero::get));

static FREE: LazyLock<Mutex<usize>> = LazyLock::new(|| Mutex::new(*ALL));

static GIVEN_BACK: Condvar = Condvar::new();

impl Seats {
    /// Waits until one is free, or all are, for a machine that is to run alone.
    pub(crate) fn take(alone: bool) -> Seats {
        let n_seats = if alone { *ALL } else { 1 };
        let free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
        let free = GIVEN_BACK.wait_while(free, |free| *free < n_seats);
        *free.unwrap_or_else(PoisonError::into_inner) -= n_seats;
        Seats(n_seats)
    }
}

impl Drop for Seats {
    fn drop(&mut self) {
        *FREE.lock().unwrap_or_else(PoisonError::into_inner) += self.0;
        GIVEN_BACK.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn n_free() -> usize {
        *FREE.lock().unwrap()
    }

    #[test]
    fn one_that_runs_alone_waits_for_all_others_and_each_gives_back_what_it_had() {
        let seats: Vec<Seats> = (0..*ALL).map(|_| Seats::take(false)).collect();
        assert_eq!(n_free(), 0);
        let waits = thread::spawn(|| Seats::take(true));
        drop(seats);
        let alone = waits.join().unwrap();
        assert_eq!(n_free(), 0);
        drop(alone);
        assert_eq!(n_free(), *ALL);
    }
}
