//! The agent of a node: it works on a race that is run elsewhere, one at a time.

mod races;

use crate::interrupt::Interrupt;
use crate::peer::Listener;
use anyhow::{Context, Result, anyhow};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use host::probe::anchor;
use lab::lines::send;
use lab::race::protocol::{News, Order, PROTOCOL};
use lab::trial::Trial;
use races::{Races, Run, State, Tape};
use std::io::{self, BufRead, BufReader, ErrorKind, Write, stdin, stdout};
use std::net::SocketAddr;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::Duration;

/// The name of the file of an agent's token.
pub const TOKEN: &str = "agent.token";

/// How long a race goes on without a message from its client, which asks for the time every other second.
const PATIENCE: Duration = Duration::from_secs(300);

/// The same for an agent that was started for one race and whose input stays open.
const PATIENCE_OF_ONE: Duration = Duration::from_secs(20);

/// How often the end of the session is checked.
const GLANCE: Duration = Duration::from_millis(100);

/// An agent that listens.
pub struct Agent {
    /// The address and port that it listens on.
    pub at: SocketAddr,
    races: Arc<Races>,
}

impl Agent {
    /// Listens at an address, for races that know the token.
    pub fn start(at: SocketAddr, token: String) -> Result<Agent> {
        let races = Arc::new(Races::with(PATIENCE));
        let own = races.clone();
        let at = listener(Some(token))
            .listen(at, move |_, connection| Ok(serve(connection.from, connection.to, &own)?))?;
        Ok(Agent { at, races })
    }

    /// Ends its race, if there is one, and waits until nothing is left of it.
    pub fn end(&self) {
        self.races.end();
    }
}

/// Serves the process that started this one, until it closes our input or the user wants to stop.
pub fn serve_stdio(interrupt: &Interrupt) -> Result<()> {
    // No other process can go on with its race.
    let races = Arc::new(Races::with(PATIENCE_OF_ONE));
    let own = races.clone();
    let work = move || -> io::Result<()> {
        let (mut from, mut to) = (BufReader::new(stdin()), stdout());
        match listener(None).admit(&mut from, &mut to)? {
            Some(_) => serve(from, to, &own),
            None => Ok(()),
        }
    };
    let session = Builder::new().name("session".to_owned()).spawn(work)?;
    while !session.is_finished() && !interrupt.wait(GLANCE) {}
    races.end();
    if !session.is_finished() {
        // Its thread waits for orders and ends with this process.
        return Ok(());
    }
    let served = session.join().map_err(|_| anyhow!("the session panicked"))?;
    match served {
        // The other side has exited.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        served => served.context("the connection to the race was lost"),
    }
}

fn listener(token: Option<String>) -> Listener {
    Listener {
        protocol: PROTOCOL,
        token,
        name: "agent",
        client: "the race",
        beginning: "a race begins with hello",
        has_streams: false,
        strangers: None,
    }
}

/// How much of a recording is sent in one line.
const PIECE: u64 = 256 << 10;

/// Serves an admitted race until its connection ends: receives orders and sends news.
fn serve(mut from: impl BufRead, mut to: impl Write + Send, races: &Races) -> io::Result<()> {
    send(&mut to, &PROTOCOL.welcome())?;
    let to = Mutex::new(to);
    let say = |news: &News| send(&mut *to.lock().unwrap_or_else(PoisonError::into_inner), news);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // News are sent by a thread of their own. Where the other side is gone, orders end, too.
        let listen = |taken: Result<Arc<Run>, String>, mut heard: Heard| match taken {
            Ok(run) => {
                let (own, is_over) = (run.clone(), &is_over);
                scope.spawn(move || heard.forward(&own, is_over, say).ok());
                Ok(Some(run))
            }
            Err(why) => say(&News::Refused { why }).map(|()| None),
        };
        let obey = |from: &mut _| -> io::Result<()> {
            let mut current: Option<Arc<Run>> = None;
            while let Some(order) = PROTOCOL.receive(from)? {
                if let Some(run) = &current {
                    run.asked();
                }
                match (order, &current) {
                    (Order::Time, _) => say(&News::Time { ns: anchor().raw_ns })?,
                    (Order::Prepare(task), None) => {
                        current = listen(races.begin(*task), Heard::default())?;
                    }
                    (Order::Resume { race, after, recorded }, None) => {
                        let unknown = || format!("the agent knows no race {race}");
                        let heard = Heard { is_ready: false, after, recorded };
                        current = listen(races.find(&race).ok_or_else(unknown), heard)?;
                    }
                    (Order::Begin { at_ns }, Some(it)) => it.begin(at_ns),
                    (Order::Kept { up_to }, Some(it)) => it.forget(up_to),
                    (Order::End, Some(it)) => it.end(),
                    // It has not begun.
                    (Order::Kept { .. } | Order::End, None) => {}
                    (Order::Prepare(_) | Order::Resume { .. }, _) | (Order::Begin { .. }, None) => {
                        let why = "this is not the order of the protocol of a race".to_owned();
                        say(&News::Refused { why })?;
                    }
                }
            }
            Ok(())
        };
        let obeyed = obey(&mut from);
        is_over.store(true, Ordering::Relaxed);
        obeyed
    })
}

/// What the other side has received of a race.
#[derive(Default)]
struct Heard {
    is_ready: bool,
    /// The number of the last interval.
    after: u32,
    /// How many bytes of the recording.
    recorded: u64,
}

/// What it has not received.
enum Coming {
    News(News),
    /// So much of a recording.
    Tape(Tape),
}

impl Heard {
    /// Sends what it has not received, until the race or the connection is over.
    fn forward(
        &mut self,
        run: &Run,
        is_over: &AtomicBool,
        say: impl Fn(&News) -> io::Result<()>,
    ) -> io::Result<()> {
        while !is_over.load(Ordering::Relaxed) {
            let mut state = run.state();
            let mut coming = self.coming(&state);
            if coming.is_empty() {
                state = run.wait(state);
                coming = self.coming(&state);
            }
            drop(state);
            for it in coming {
                match it {
                    Coming::Tape(tape) => {
                        if let Some(why) = self.tape(&tape, &say)? {
                            run.end();
                            return say(&News::Failed { why });
                        }
                    }
                    Coming::News(news) => {
                        say(&news)?;
                        match news {
                            News::Ready(_) => self.is_ready = true,
                            News::Interval(trial) => self.after = trial.number,
                            News::Ended | News::Failed { .. } => return Ok(()),
                            _ => {}
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// In the order in which it is sent.
    fn coming(&self, state: &State) -> Vec<Coming> {
        let ready = state.ready.clone().filter(|_| !self.is_ready).map(News::Ready);
        let tape = state.tape.clone().filter(|it| state.has_begun() && it.length > self.recorded);
        let untold = state.trials.iter().filter(|it: &&Trial| it.number > self.after);
        let untold = untold.map(|it| News::Interval(Box::new(it.clone())));
        let ended = state.ended.as_ref().map(|it| match it {
            Ok(()) => News::Ended,
            Err(why) => News::Failed { why: why.clone() },
        });
        let before = ready.into_iter().map(Coming::News).chain(tape.map(Coming::Tape));
        before.chain(untold.chain(ended).map(Coming::News)).collect()
    }

    /// Sends the rest of a recording; returns why it cannot be read back, where it cannot.
    fn tape(
        &mut self,
        tape: &Tape,
        say: impl Fn(&News) -> io::Result<()>,
    ) -> io::Result<Option<String>> {
        while self.recorded < tape.length {
            let at = self.recorded;
            let end = tape.length.min(at + PIECE);
            let mut bytes = vec![0; usize::try_from(end - at).unwrap_or_default()];
            if let Err(error) = tape.file.read_exact_at(&mut bytes, at) {
                return Ok(Some(format!("its recording cannot be read back: {error}")));
            }
            say(&News::Recorded { at, bytes: BASE64_STANDARD.encode(&bytes) })?;
            self.recorded = end;
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn a_recording_that_cannot_be_read_back_says_why() {
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(b"whole", 0).unwrap();
        let told = RefCell::new(Vec::new());
        let say = |news: &News| {
            told.borrow_mut().push(format!("{news:?}"));
            Ok(())
        };
        let mut heard = Heard::default();
        let tape = |length| Tape { file: Arc::new(file.try_clone().unwrap()), length };
        assert_eq!(heard.tape(&tape(5), say).unwrap(), None);
        let why = heard.tape(&tape(6), say).unwrap().unwrap();
        assert!(why.starts_with("its recording cannot be read back: "), "{why}");
        assert_eq!((heard.recorded, told.borrow().len()), (5, 1));
    }
}
