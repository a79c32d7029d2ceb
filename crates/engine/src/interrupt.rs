//! Ctrl-C: the wish to stop early and still see what there is.
//!
//! The first SIGINT or SIGTERM is remembered and ends a wait; a second one ends the program, for whoever has
//! waited long enough.

use anyhow::{Context, Result, anyhow};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

/// How often it is looked whether the user wants to stop what cannot be interrupted.
const BEAT: Duration = Duration::from_millis(20);

/// What `work` returns, which runs on a thread of its own; `None` as soon as `stop` is set. It goes on by itself then, and ends with its own
/// deadline or with the program: an exchange over a network waits in the kernel, for names, connections and answers. Without a `stop` this
/// thread does the work.
pub fn unless_stopped<T: Send + 'static>(
    stop: Option<&AtomicBool>,
    work: impl FnOnce() -> T + Clone + Send + 'static,
) -> Option<T> {
    let Some(stop) = stop else { return Some(work()) };
    let (sender, receiver) = mpsc::channel();
    let own = work.clone();
    // Once `stop` is set, no receiver is left.
    let threaded = move || {
        sender.send(own()).ok();
    };
    if std::thread::Builder::new().name("exchange".to_owned()).spawn(threaded).is_err() {
        // A machine without room for a thread is asked all the same, and waited for.
        return Some(work());
    }
    loop {
        match receiver.recv_timeout(BEAT) {
            Ok(done) => return Some(done),
            Err(RecvTimeoutError::Timeout) if !stop.load(Ordering::Relaxed) => {}
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return None,
        }
    }
}

/// Listens for the user's wish to stop.
pub struct Interrupt {
    signals: Receiver<()>,
    /// A wish stays one, whoever was waiting when it came.
    is_wanted: Cell<bool>,
    /// The same wish, for whoever cannot wait here.
    flag: Arc<AtomicBool>,
}

impl Interrupt {
    /// Starts to listen. One of these in a program is enough.
    pub fn listen() -> Result<Interrupt> {
        let mut signals =
            Signals::new([SIGINT, SIGTERM, SIGHUP]).context("cannot listen for signals")?;
        let (sender, receiver) = mpsc::channel();
        let flag = Arc::new(AtomicBool::new(false));
        let raised = Arc::clone(&flag);
        let listen = move || {
            for (n, signal) in signals.forever().enumerate() {
                raised.store(true, Ordering::Relaxed);
                if n > 0 || sender.send(()).is_err() {
                    // It ends the program; where it cannot, there is nothing left to try.
                    emulate_default_handler(signal).ok();
                }
            }
        };
        std::thread::Builder::new()
            .name("signals".to_owned())
            .spawn(listen)
            .map_err(|error| anyhow!(host::process::thread_refusal(&error)))?;
        Ok(Interrupt { signals: receiver, is_wanted: Cell::new(false), flag })
    }

    /// One that no signal sets off: for work of which a program does several at the same time, and may end any.
    pub fn by_hand() -> (Interrupt, Stop) {
        let (sender, receiver) = mpsc::channel();
        let flag = Arc::new(AtomicBool::new(false));
        let stop = Stop { sender, flag: Arc::clone(&flag) };
        (Interrupt { signals: receiver, is_wanted: Cell::new(false), flag }, stop)
    }

    /// Set once the user wants to stop.
    pub fn flag(&self) -> &AtomicBool {
        &self.flag
    }

    /// Waits that long, or until the user wants to stop; whether that is so. Once it is, it only waits.
    pub fn wait(&self, time: Duration) -> bool {
        match self.signals.recv_timeout(time) {
            Ok(()) => self.is_wanted.set(true),
            Err(RecvTimeoutError::Timeout) => {}
            // Nobody listens any more, which no signal brings about; the wait is as long as it was meant to be.
            Err(RecvTimeoutError::Disconnected) => {
                std::thread::sleep(time);
            }
        }
        self.is_wanted.get()
    }
}

/// Sets off the [`Interrupt`] that it was made with.
pub struct Stop {
    sender: Sender<()>,
    flag: Arc<AtomicBool>,
}

impl Stop {
    /// Ends what waits, and what looks at the flag.
    pub fn stop(&self) {
        self.flag.store(true, Ordering::Relaxed);
        // Where nothing waits any more, there is nothing to end.
        self.sender.send(()).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_ends_when_it_is_stopped_by_hand_and_stays_ended() {
        let (interrupt, stop) = Interrupt::by_hand();
        assert!(!interrupt.wait(Duration::from_millis(1)));
        std::thread::scope(|scope| {
            scope.spawn(|| stop.stop());
            assert!(interrupt.wait(Duration::from_secs(60)));
        });
        assert!(interrupt.wait(Duration::ZERO) && interrupt.flag().load(Ordering::Relaxed));
        drop(stop);
        assert!(interrupt.wait(Duration::ZERO));
    }

    #[test]
    fn what_waits_in_the_kernel_is_left_as_soon_as_the_user_wants_to_stop() {
        let stop = Arc::new(AtomicBool::new(false));
        assert_eq!(unless_stopped(Some(&stop), || 7), Some(7));
        let (never, waits) = mpsc::channel::<()>();
        let waits = Arc::new(std::sync::Mutex::new(waits));
        let raised = Arc::clone(&stop);
        let left = unless_stopped(Some(&stop), move || {
            raised.store(true, Ordering::Relaxed);
            waits.lock().unwrap().recv().ok()
        });
        assert_eq!(left, None);
        drop(never);
    }
}
