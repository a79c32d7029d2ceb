//! What a stream carries: data in one direction, or ping-pong.
//!
//! ```text
//!   sender                    receiver
//!                      <-     READY: a thread waits for data
//!   START              ->     its arrival begins the receiver's time
//!   messages           ->
//!   END                ->
//! ```
//!
//! In one direction no message holds the byte END: it ends the flow wherever reads cut it, and nothing has to be counted or
//! framed.

use super::channel::{Channel, now};
use super::figures::Received;
use super::protocol::{Amount, Part};
use super::{Broken, MOST_ITERATIONS};
use crate::threads::{Timed, timed};
use rustix::fs::MemfdFlags;
use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

const READY: u8 = 1;
const START: u8 = 2;
const END: u8 = 0xff;

/// How much is read at once, in bytes: a message from 256 KiB to 1 MiB as a whole, which takes less time than in parts; of smaller
/// ones as many as fit into the cache that a core has for itself.
fn read_at_once(part: &Part) -> usize {
    part.bytes.clamp(256 << 10, 1 << 20) as usize
}

/// A message that cannot be compressed and does not hold the byte END.
pub(super) fn message(bytes: u64) -> Vec<u8> {
    // The same in every run.
    let mut random = fastrand::Rng::with_seed(1);
    (0..bytes).map(|_| random.u8(..END)).collect()
}

/// A message that is sent again and again.
enum Message {
    /// A write(2) copies it.
    Copied(Vec<u8>),
    /// A file in memory, which sendfile(2) does not copy, and its length.
    Shared(OwnedFd, u64),
}

impl Message {
    fn of(part: &Part) -> Result<Message, Broken> {
        let bytes = message(part.bytes);
        if !part.zero_copy {
            return Ok(Message::Copied(bytes));
        }
        let file = rustix::fs::memfd_create("fullclock message", MemfdFlags::CLOEXEC);
        let mut file = File::from(file.map_err(std::io::Error::from)?);
        file.write_all(&bytes)?;
        Ok(Message::Shared(file.into(), part.bytes))
    }

    fn send(&self, channel: &Channel<'_>) -> Result<(), Broken> {
        match self {
            Message::Copied(bytes) => channel.write(bytes),
            Message::Shared(file, bytes) => channel.send_file(file, *bytes),
        }
    }
}

/// Sends messages until the amount is reached.
pub(super) fn send(channel: &Channel<'_>, part: &Part) -> Result<Timed<()>, Broken> {
    let message = Message::of(part)?;
    channel.expect(READY)?;
    channel.write(&[START])?;
    let pour = || -> Result<(), Broken> {
        let began = now();
        // The time is read every 16 messages, or every 64 KiB.
        let every = (65536 / part.bytes.max(1)).clamp(1, 16);
        let mut n_sent = 0u64;
        while is_wanted(part.amount, n_sent) {
            if n_sent.is_multiple_of(every) {
                let time = now();
                channel.look_at(time)?;
                if matches!(part.amount, Amount::Time(ns) if time - began >= Duration::from_nanos(ns))
                {
                    break;
                }
            }
            message.send(channel)?;
            n_sent += 1;
        }
        channel.write(&[END])
    };
    whole(timed(pour))
}

fn is_wanted(amount: Amount, n_sent: u64) -> bool {
    match amount {
        Amount::Iterations(n) => n_sent < n,
        Amount::Time(_) => true,
    }
}

/// Receives until END.
pub(super) fn receive(channel: &Channel<'_>, part: &Part) -> Result<Timed<Received>, Broken> {
    let window = match part.amount {
        Amount::Time(ns) => Some(Duration::from_nanos(ns)),
        Amount::Iterations(_) => None,
    };
    let mut buffer = vec![0; read_at_once(part)];
    channel.write(&[READY])?;
    channel.expect(START)?;
    let drain = || -> Result<Received, Broken> {
        let mut received = Received::begin(now());
        loop {
            let n_read = channel.read(&mut buffer)?;
            let time = now();
            let is_over = buffer.get(n_read - 1) == Some(&END);
            received.add(n_read as u64 - u64::from(is_over), time, window);
            if is_over {
                return Ok(received);
            }
            channel.look_at(time)?;
        }
    };
    whole(timed(drain))
}

pub(super) fn whole<T>(timed: Timed<Result<T, Broken>>) -> Result<Timed<T>, Broken> {
    let Timed { answer, elapsed_ns, cpu_ns } = timed;
    answer.map(|answer| Timed { answer, elapsed_ns, cpu_ns })
}

/// Half of each round trip, in nanoseconds, in the order in which they came.
///
/// The last byte of the last message is END, which tells the side that answers.
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
    /// The time is read that seldom, because reading it is part of a round trip.
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
    fn no_message_has_the_end_in_it() {
        let message = message(1 << 20);
        assert_eq!(message.len(), 1 << 20);
        assert!(!message.contains(&END) && message.contains(&0) && message.contains(&(END - 1)));
    }

    #[test]
    fn what_comes_after_the_window_does_not_count_and_does_not_lengthen_it() {
        let began = now();
        let ms = Duration::from_millis;
        let mut received = Received::begin(began);
        for (bytes, at) in [(10, 50), (20, 99), (30, 100), (40, 250), (1000, 301), (1, 400)] {
            received.add(bytes, began + ms(at), Some(ms(300)));
        }
        assert_eq!((received.bytes, received.ended - began), (100, ms(300)));
        assert_eq!(received.parts, [30, 30, 40]);
        let mut counted = Received::begin(began);
        counted.add(7, began + ms(301), None);
        assert_eq!((counted.bytes, counted.ended - began), (7, ms(301)));
    }

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
