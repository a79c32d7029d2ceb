//! Ping-pong: a message there, one of the same size back, and only then the next.
//!
//! The last byte of the last message is END, so that whoever answers knows.

use super::channel::{Channel, now};
use super::flow::{END, READY, message, whole};
use super::protocol::{Amount, Part};
use super::{Broken, MOST_ITERATIONS};
use crate::threads::{Timed, timed};
use std::time::{Duration, Instant};

/// Half of each round trip, in nanoseconds, in the order in which they came.
pub(super) fn ask(channel: &Channel<'_>, part: &Part) -> Result<Timed<Vec<u64>>, Broken> {
    let mut message = message(part.bytes);
    let mut back = vec![0; message.len()];
    channel.expect(READY)?;
    let play = || -> Result<Vec<u64>, Broken> {
        let mut halves = Vec::new();
        let first = now();
        loop {
            let began = now();
            channel.look_at(began)?;
            let is_last = is_last(part.amount, halves.len() as u64 + 1, first, began);
            if let Some(last) = message.last_mut().filter(|_| is_last) {
                *last = END;
            }
            channel.write(&message)?;
            channel.read_exact(&mut back)?;
            let half = (now() - began).as_nanos() / 2;
            halves.push(u64::try_from(half).unwrap_or(u64::MAX));
            if is_last {
                return if back == message { Ok(halves) } else { Err(Broken::Strange) };
            }
        }
    };
    whole(timed(play))
}

/// Whether the trip of that number, which begins `at`, is the last one.
fn is_last(amount: Amount, number: u64, first: Instant, at: Instant) -> bool {
    number >= MOST_ITERATIONS
        || match amount {
            Amount::Iterations(n) => number >= n,
            Amount::Time(ns) => at - first >= Duration::from_nanos(ns),
        }
}

/// Sends back what comes.
pub(super) fn answer(channel: &Channel<'_>, part: &Part) -> Result<Timed<()>, Broken> {
    /// The time is looked at that seldom, because it would be part of every trip.
    const EVERY: u64 = 256;
    let mut message = vec![0; usize::try_from(part.bytes).unwrap_or_default()];
    channel.write(&[READY])?;
    let play = || -> Result<(), Broken> {
        for number in 1u64.. {
            if number.is_multiple_of(EVERY) {
                channel.look_at(now())?;
            }
            channel.read_exact(&mut message)?;
            channel.write(&message)?;
            if message.last() == Some(&END) {
                break;
            }
        }
        Ok(())
    };
    whole(timed(play))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trips_end_by_number_by_time_and_before_they_cannot_be_remembered() {
        let first = now();
        let second = Duration::from_secs(1);
        assert!(!is_last(Amount::Iterations(2), 1, first, first));
        assert!(is_last(Amount::Iterations(2), 2, first, first));
        assert!(!is_last(Amount::Time(1_000_000_000), 9, first, first + second / 2));
        assert!(is_last(Amount::Time(1_000_000_000), 9, first, first + second));
        assert!(is_last(Amount::Time(u64::MAX), MOST_ITERATIONS, first, first));
    }
}
