//! Looks at a database server once a second, on a thread of its own: what it answers waits here for the next sample, and a server
//! that is slow or gone delays none.

use crate::clock::raw_ns;
use facts::client::MOST_MARKS;
use facts::database::{Look, MOST_LOOKS, ServerSample};
use host::process::thread_refusal;
use lab::database::Monitor;
use lab::failure::Failure;
use rules::phases::Phases;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// The time between two looks.
const PAUSE: Duration = Duration::from_secs(1);

/// The time until the second attempt to reach a server that is down; it doubles with each further one.
const FIRST_RETRY: Duration = Duration::from_secs(5);

/// The longest time between two attempts: each one that is refused is a line in the log of the server.
const LAST_RETRY: Duration = Duration::from_secs(300);

/// What to look at.
#[derive(Clone, Debug)]
pub struct ServerWanted {
    /// The server, as its clients take it; with a password only here, never in a sample.
    pub dsn: String,
    /// Whether to keep the beginnings of statements.
    pub with_statements: bool,
}

/// A thread that looks at a server until it is dropped.
pub struct ServerView {
    kept: Arc<Mutex<Kept>>,
    is_over: Arc<AtomicBool>,
    /// Wakes the thread when this is closed.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// What no sample has yet.
#[derive(Default)]
struct Kept {
    sample: ServerSample,
    notes: Vec<String>,
    /// How many looks there was no room for.
    n_left_out: u64,
}

impl ServerView {
    /// Begins to look.
    ///
    /// Errors: the DSN cannot be read, the client is not installed, there is no thread to be had. A server that does not answer is
    /// none: it is tried again, and a note says so.
    pub fn begin(wanted: &ServerWanted) -> Result<ServerView, Failure> {
        let monitor = Monitor::of(&wanted.dsn)?;
        let (stop, stopped) = mpsc::channel();
        let (kept, is_over) = (Arc::<Mutex<Kept>>::default(), Arc::new(AtomicBool::new(false)));
        let watch = Watch {
            monitor,
            with_statements: wanted.with_statements,
            kept: kept.clone(),
            is_over: is_over.clone(),
            is_hidden: false,
        };
        let thread = Builder::new().name("database".to_owned()).spawn(move || watch.run(&stopped));
        let thread = thread.map_err(|it| Failure::Unready(thread_refusal(&it)))?;
        Ok(ServerView { kept, is_over, stop: Some(stop), thread: Some(thread) })
    }

    /// Takes what was seen and was not taken before, with notes about it. Never waits for the server.
    pub fn take(&self) -> (ServerSample, Vec<String>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let Kept { sample, mut notes, n_left_out } = std::mem::take(&mut *kept);
        if n_left_out > 0 {
            let looks = match n_left_out {
                1 => "1 look at the database server is".to_owned(),
                n => format!("{n} looks at the database server are"),
            };
            notes.push(format!("{looks} left out: an interval has room for {MOST_LOOKS}"));
        }
        (sample, notes)
    }
}

impl Drop for ServerView {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // Its panic is on standard error already.
            thread.join().ok();
        }
    }
}

/// The work of the thread.
struct Watch {
    monitor: Monitor,
    with_statements: bool,
    kept: Arc<Mutex<Kept>>,
    is_over: Arc<AtomicBool>,
    /// Whether a note says that the server hides sessions.
    is_hidden: bool,
}

impl Watch {
    fn run(mut self, stop: &Receiver<()>) {
        let mut phases = Phases::default();
        let mut was_told: Option<String> = None;
        let mut retry = FIRST_RETRY;
        loop {
            let pause = match self.look(&mut phases) {
                Ok(()) => {
                    if was_told.take().is_some() {
                        self.note("the database server can be read again".to_owned());
                    }
                    retry = FIRST_RETRY;
                    PAUSE
                }
                Err(Failure::Stopped) => return,
                Err(failure) => {
                    let text = format!("the database server cannot be read: {failure}");
                    // The same reason at each attempt is one note.
                    if was_told.as_ref() != Some(&text) {
                        self.note(text.clone());
                        was_told = Some(text);
                    }
                    let pause = retry;
                    retry = (2 * retry).min(LAST_RETRY);
                    pause
                }
            };
            if stop.recv_timeout(pause) != Err(RecvTimeoutError::Timeout) {
                return;
            }
        }
    }

    fn look(&mut self, phases: &mut Phases) -> Result<(), Failure> {
        let rows = self.monitor.look(&self.is_over)?;
        let mut look = Look::parse(&rows, raw_ns(), self.with_statements);
        look.log = self.monitor.without_own(look.log);
        if look.is_hidden() && !self.is_hidden {
            self.is_hidden = true;
            self.note(
                "the database server hides what other users' sessions do: GRANT pg_monitor (PostgreSQL) or PROCESS \
                 (MariaDB) to the user of --dsn"
                    .to_owned(),
            );
        }
        let marks = phases.push(&look);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let Kept { sample, n_left_out, .. } = &mut *kept;
        let room = MOST_MARKS.saturating_sub(sample.phases.len());
        sample.phases.extend(marks.into_iter().take(room));
        if sample.looks.len() < MOST_LOOKS {
            sample.looks.push(look);
        } else {
            *n_left_out += 1;
        }
        Ok(())
    }

    fn note(&self, text: String) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.notes.len() < MOST_MARKS {
            kept.notes.push(text);
        }
    }
}
