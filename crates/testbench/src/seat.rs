//! How many machines run at the same time.

use std::num::NonZero;
use std::sync::{Condvar, LazyLock, Mutex, PoisonError};
use std::thread;

/// Leave for one machine to run, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Seat(());

/// As many as the host has CPUs: more machines would slow each other down, and time passes in them all the same.
static FREE: LazyLock<Mutex<usize>> =
    LazyLock::new(|| Mutex::new(thread::available_parallelism().map_or(1, NonZero::get)));

static GIVEN_BACK: Condvar = Condvar::new();

impl Seat {
    /// Waits until one is free.
    pub(crate) fn take() -> Seat {
        let free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
        let mut free =
            GIVEN_BACK.wait_while(free, |free| *free == 0).unwrap_or_else(PoisonError::into_inner);
        *free -= 1;
        Seat(())
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        *FREE.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        GIVEN_BACK.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_as_cpus_and_each_is_given_back() {
        let n_seats = *FREE.lock().unwrap();
        let seats: Vec<Seat> = (0..n_seats).map(|_| Seat::take()).collect();
        assert_eq!(*FREE.lock().unwrap(), 0);
        let waits = thread::spawn(Seat::take);
        drop(seats);
        drop(waits.join().unwrap());
        assert_eq!(*FREE.lock().unwrap(), n_seats);
    }
}
