//! A recording of this machine that is made while something else is at work.

use super::schedule::Sampling;
use facts::HostView;
use facts::counters::Counters;
use facts::tape::Sample;
use host::Live;
use host::tape::{RecordError, Writer};
use rules::watch::View;
use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// The usual interval of recordings; more often they would show themselves.
const INTERVAL: Duration = Duration::from_secs(1);

/// A thread that records until it is told to finish, or nobody has it any more.
pub struct Taping {
    wish_to_stop: Sender<()>,
    thread: JoinHandle<Result<(), RecordError>>,
}

impl Taping {
    /// Records this machine, which is `host`, on `tape`: everything that samples have. No clock is probed, which would take
    /// time of a CPU that is at work. `told` hears the length of the tape whenever it has grown.
    ///
    /// Errors: there is no thread to be had.
    pub fn begin(
        tape: Writer,
        host: &HostView,
        told: impl FnMut(u64) + Send + 'static,
    ) -> io::Result<Taping> {
        let (wish_to_stop, stop) = mpsc::channel();
        let live = Live::this_machine();
        let sampling =
            Sampling::of(live, host, &View::everything(std::process::id()), INTERVAL, Some(tape));
        let thread = Builder::new().name("recording".to_owned());
        let thread = thread.spawn(move || record(sampling, &stop, told))?;
        Ok(Taping { wish_to_stop, thread })
    }

    /// Takes a last sample, and waits until the disk has the tape.
    ///
    /// Errors: the first sample that is not on the tape, and why; the tape says so, too.
    pub fn finish(self) -> Result<(), RecordError> {
        drop(self.wish_to_stop);
        // Its panic is on standard error already.
        self.thread.join().unwrap_or(Ok(()))
    }
}

fn record(
    mut sampling: Sampling,
    stop: &Receiver<()>,
    mut told: impl FnMut(u64),
) -> Result<(), RecordError> {
    let mut sample = Sample::from(Counters::unread());
    let (mut appended, mut is_over) = (Ok(()), false);
    loop {
        sampling.counters(&mut sample.counters);
        // A disk that is full may have room for the next one.
        appended = appended.and(sampling.keep(&sample));
        told(sampling.recorded());
        if is_over {
            return appended.and(sampling.finish());
        }
        // One that came late says so by its own time.
        sampling.done();
        is_over = stop.recv_timeout(sampling.left()) != Err(RecvTimeoutError::Timeout);
    }
}
