//! A recording of this machine that is made while something else is at work.
#![expect(clippy::disallowed_methods, reason = "samples are due at times")]

use super::View;
use super::pace::Pace;
use facts::counters::Counters;
use facts::tape::Sample;
use host::Live;
use host::counters::Sampler;
use host::tape::{RecordError, Writer};
use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// The usual interval of recordings; more often they would show themselves.
const INTERVAL: Duration = Duration::from_secs(1);

/// A thread that records until it is told to finish, or nobody has it any more.
pub(crate) struct Taping {
    wish_to_stop: Sender<()>,
    thread: JoinHandle<Result<(), RecordError>>,
}

impl Taping {
    /// Records on `tape` everything that samples have; no clock is probed, which would take time of a CPU that is at work.
    /// `told` hears the length of the tape whenever it has grown.
    ///
    /// Errors: there is no thread to be had.
    pub(crate) fn begin(
        tape: Writer,
        told: impl FnMut(u64) + Send + 'static,
    ) -> io::Result<Taping> {
        let (wish_to_stop, stop) = mpsc::channel();
        let thread = Builder::new().name("recording".to_owned());
        let thread = thread.spawn(move || record(tape, &stop, told))?;
        Ok(Taping { wish_to_stop, thread })
    }

    /// Takes a last sample, and waits until the disk has the tape.
    ///
    /// Errors: the first sample that is not on the tape, and why; the tape says so, too.
    pub(crate) fn finish(self) -> Result<(), RecordError> {
        drop(self.wish_to_stop);
        // Its panic is on standard error already.
        self.thread.join().unwrap_or(Ok(()))
    }
}

fn record(
    mut tape: Writer,
    stop: &Receiver<()>,
    mut told: impl FnMut(u64),
) -> Result<(), RecordError> {
    let live = Live::this_machine();
    let host = host::view(&live);
    let mut sampler = Sampler::open(live, &host, View::everything().wanted());
    let mut sample = Sample::from(Counters::unread());
    let (started, mut pace) = (Instant::now(), Pace::new(INTERVAL));
    let (mut appended, mut is_over) = (Ok(()), false);
    loop {
        let began = started.elapsed();
        sampler.sample(&mut sample.counters);
        // A disk that is full may have room for the next one.
        appended = appended.and(tape.append(&sample));
        told(tape.length());
        if is_over {
            return appended.and(tape.finish());
        }
        let now = started.elapsed();
        // One that came late says so by its own time.
        pace.sampled(now.saturating_sub(began), now);
        is_over = stop.recv_timeout(pace.left(now)) != Err(RecvTimeoutError::Timeout);
    }
}
