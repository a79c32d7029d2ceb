//! The connection to one node: made, lost, and made again.
//!
//! ```text
//!   Preparing -> Following -> Ended
//!                  |   ^
//!                  v   |        while the race goes on
//!                  Lost  -> Ended
//! ```
//!
//! Each node has a thread that goes through these states. The race sends its orders over the same connection.

use super::connection::{Input, Way, offset_of};
use super::nodes::{Node, Piece, Place};
use super::turns::{Taken, Turn};
use crate::peer::client::{self, Patience, Unanswered, greet};
use anyhow::{Result, anyhow, bail};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use lab::lines::send;
use lab::race::protocol::{News, Order, PROTOCOL, Ready};
use lab::race::{Offset, Task};
use lab::trial::{Mark, Trial};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a lost connection is tried again, and how often.
const PATIENCE: Patience =
    Patience { total: Duration::from_secs(60), pause: Duration::from_secs(1) };

/// What happens on a node.
pub(super) enum NodeEvent {
    /// It is ready to begin.
    Ready(Box<Standing>),
    /// An interval has ended.
    Interval(Box<Trial>),
    /// The next piece of its machine's recording.
    Recorded(Piece),
    /// It has ended, or failed.
    Ended(Result<()>),
    /// Something that users should know.
    Note(String),
}

/// What is known of a node before it begins.
pub(super) struct Standing {
    pub(super) engine: Ready,
    pub(super) offset: Offset,
}

/// Takes events of a node; returns whether the race still listens.
type Tell<'a> = &'a dyn Fn(NodeEvent) -> bool;

/// A node, as the race sees it.
pub(super) struct Link {
    node: Node,
    task: Task,
    token: String,
    /// Taken while a node of this machine gets ready: the cost of an interrupt is measured on a CPU that is otherwise idle.
    turn: Turn,
    orders: Mutex<Orders>,
}

/// What orders depend on.
struct Orders {
    phase: Phase,
    /// The way to the agent, once its clock is known.
    way: Option<Way>,
    /// Added to the numbers of the agent's intervals: an agent that was started anew counts from 1.
    base: u32,
}

/// The phase of the race.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The time of its beginning is not set.
    Preparing,
    /// It begins, or began, at this moment of our CLOCK_MONOTONIC_RAW.
    Racing { begin_ns: u64 },
    /// Nodes have to end.
    Over,
}

/// The state of a node's thread.
enum State {
    /// Connects for the first time, and makes the engine ready.
    Preparing,
    /// Receives what the node sends.
    Following(Input),
    /// The connection was lost for this reason; connects again.
    Lost(String),
    /// The node has ended, or failed.
    Ended(Result<()>),
}

/// How much of a node's messages was received.
#[derive(Default)]
struct Progress {
    /// The last interval, as the race numbers them.
    latest: u32,
    /// How many bytes of the recording.
    recorded: u64,
    /// The node was restarted, and the next interval gets a mark of it.
    is_restarted: bool,
}

impl Link {
    pub(super) fn new(node: Node, task: Task, token: &str, turn: Turn) -> Link {
        Link {
            task,
            // Only agents that listen check it.
            token: if let Place::Agent(_) = node.place { token.to_owned() } else { String::new() },
            turn,
            orders: Mutex::new(Orders { phase: Phase::Preparing, way: None, base: 0 }),
            node,
        }
    }

    /// Shows the agent that the race is alive, and asks for a sign of life.
    pub(super) fn beat(&self) {
        self.orders().give(|_| Order::Time);
    }

    /// Begins at this time of our CLOCK_MONOTONIC_RAW.
    pub(super) fn begin(&self, begin_ns: u64) {
        let mut orders = self.orders();
        orders.phase = Phase::Racing { begin_ns };
        orders.repeat_phase();
    }

    /// The agent may forget intervals up to this one.
    pub(super) fn keep(&self, up_to: u32) {
        let mut orders = self.orders();
        let up_to = up_to.saturating_sub(orders.base);
        orders.give(|_| Order::Kept { up_to });
    }

    /// The race is over.
    pub(super) fn end(&self) {
        let mut orders = self.orders();
        orders.phase = Phase::Over;
        orders.repeat_phase();
    }

    /// Passes on what the node sends, until it has ended or cannot be reached any more.
    pub(super) fn follow(&self, tell: Tell<'_>) {
        let mut progress = Progress::default();
        let mut state = State::Preparing;
        let ended = loop {
            state = match state {
                State::Preparing => self.prepare(tell),
                State::Following(input) => self.hear(input, &mut progress, tell),
                State::Lost(why) => self.reconnect(&why, &mut progress, tell),
                State::Ended(ended) => break ended,
            };
        };
        self.hang_up();
        tell(NodeEvent::Ended(ended));
    }

    /// Whether its node is a process of this machine.
    pub(super) fn is_here(&self) -> bool {
        self.node.is_here()
    }

    fn turn(&self) -> Option<Taken<'_>> {
        self.is_here().then(|| self.turn.take())
    }

    fn prepare(&self, tell: Tell<'_>) -> State {
        let turn = self.turn();
        let prepared = self.connect().and_then(|(mut input, offset)| {
            let engine = self.make_ready(&mut input)?;
            Ok((input, Standing { engine, offset }))
        });
        drop(turn);
        match prepared {
            Ok((input, standing)) => {
                tell(NodeEvent::Ready(Box::new(standing)));
                State::Following(input)
            }
            Err(why) => State::Ended(Err(why)),
        }
    }

    /// Receives intervals until the node has ended, or the connection is lost.
    fn hear(&self, mut input: Input, progress: &mut Progress, tell: Tell<'_>) -> State {
        if self.orders().phase == Phase::Over {
            // There was no connection when the order was given.
            self.end();
        }
        loop {
            match PROTOCOL.receive(&mut input) {
                Ok(Some(News::Interval(trial))) => {
                    let base = self.orders().base;
                    tell(NodeEvent::Interval(progress.numbered(trial, base)));
                }
                Ok(Some(News::Recorded { at, bytes })) => match progress.piece(at, &bytes) {
                    Some(piece) => drop(tell(NodeEvent::Recorded(piece))),
                    None => {
                        let next = progress.recorded;
                        let why = format!("the agent's recording does not go on at byte {next}");
                        return self.lost(why);
                    }
                },
                Ok(Some(News::Ended)) => return State::Ended(Ok(())),
                Ok(Some(News::Failed { why } | News::Refused { why })) => {
                    return State::Ended(Err(anyhow!(why)));
                }
                Ok(Some(News::Time { .. } | News::Ready(_))) => {}
                Ok(None) => return self.lost("the agent is gone".to_owned()),
                Err(why) => return self.lost(format!("the connection is lost: {why}")),
            }
        }
    }

    /// The state after a lost connection: it is made again only during the race.
    fn lost(&self, why: String) -> State {
        self.hang_up();
        if self.is_racing() { State::Lost(why) } else { State::Ended(Err(anyhow!(why))) }
    }

    fn reconnect(&self, lost: &str, progress: &mut Progress, tell: Tell<'_>) -> State {
        let seconds = PATIENCE.total.as_secs();
        tell(NodeEvent::Note(format!("{lost}; trying again for {seconds} s")));
        let resume = || self.resume(progress).inspect_err(|_| self.hang_up());
        match PATIENCE.retry(|| self.is_racing(), resume) {
            Ok(input) => {
                tell(NodeEvent::Note("connected again".to_owned()));
                State::Following(input)
            }
            Err(why) => {
                let why = why.unwrap_or_else(|| anyhow!("the race is over"));
                State::Ended(Err(why.context(format!("{lost}, and no other could be made"))))
            }
        }
    }

    /// Connects again. An agent that knows the race goes on; another one begins anew.
    fn resume(&self, progress: &mut Progress) -> Result<Input> {
        let (mut input, _) = self.connect()?;
        let Progress { latest, recorded, .. } = *progress;
        let mut orders = self.orders();
        let after = latest.saturating_sub(orders.base);
        orders.give(|_| Order::Resume { race: self.task.race.clone(), after, recorded });
        drop(orders);
        match answer(&mut input)? {
            News::Refused { .. } => {
                self.orders().base = latest;
                *progress = Progress { latest, recorded: 0, is_restarted: true };
                let _turn = self.turn();
                self.make_ready(&mut input)?;
            }
            News::Ready(_) => {}
            News::Failed { why } => bail!(why),
            _ => bail!(NO_AGENT),
        }
        // The agent may have missed the order. One that has begun already ignores it.
        self.orders().repeat_phase();
        Ok(input)
    }

    /// Connects, says hello, and measures the offset of the clocks.
    fn connect(&self) -> Result<(Input, Offset)> {
        let (mut input, mut output) = self.node.connect()?;
        let who = format!("node {}", self.node.name);
        let greeted = greet(&PROTOCOL, &who, &self.token, &mut input, &mut output);
        greeted.map_err(unanswered)?;
        let offset = offset_of(&mut input, &mut output)?;
        self.orders().way = Some(Way { output, offset });
        Ok((input, offset))
    }

    fn make_ready(&self, input: &mut Input) -> Result<Ready> {
        self.orders().give(|_| Order::Prepare(Box::new(self.task.clone())));
        match answer(input)? {
            News::Ready(ready) => Ok(ready),
            News::Failed { why } | News::Refused { why } => Err(anyhow!(why)),
            _ => Err(anyhow!(NO_AGENT)),
        }
    }

    /// Closes the connection to the agent, and waits for its end where we started it.
    fn hang_up(&self) {
        let way = self.orders().way.take();
        // Dropped after the lock is released, so that orders do not wait.
        drop(way);
    }

    fn is_racing(&self) -> bool {
        matches!(self.orders().phase, Phase::Racing { .. })
    }

    fn orders(&self) -> MutexGuard<'_, Orders> {
        self.orders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Orders {
    /// Sends an order. A lost connection is noticed by the thread that reads.
    fn give(&mut self, order: impl FnOnce(&Offset) -> Order) {
        if let Some(Way { output, offset }) = &mut self.way {
            send(output, &order(offset)).ok();
        }
    }

    /// Orders what belongs to the phase of the race.
    fn repeat_phase(&mut self) {
        match self.phase {
            Phase::Preparing => {}
            Phase::Racing { begin_ns } => {
                self.give(|offset| Order::Begin { at_ns: offset.there(begin_ns) });
            }
            Phase::Over => self.give(|_| Order::End),
        }
    }
}

impl Progress {
    /// The interval with its number in the race.
    fn numbered(&mut self, mut trial: Box<Trial>, base: u32) -> Box<Trial> {
        trial.number = trial.number.saturating_add(base);
        if std::mem::take(&mut self.is_restarted) {
            trial.marks.push(Mark::Restarted);
        }
        self.latest = trial.number;
        trial
    }

    /// The next piece of the recording; `None` where it is another one.
    fn piece(&mut self, at: u64, text: &str) -> Option<Piece> {
        let bytes = BASE64_STANDARD.decode(text).ok().filter(|_| at == self.recorded)?;
        self.recorded = self.recorded.saturating_add(bytes.len() as u64);
        Some(Piece { is_first: at == 0, bytes })
    }
}

/// The error for an answer that no agent gives.
const NO_AGENT: &str = "the program that answers is not a fullclock agent";

/// The next message of an agent, leaving out answers about the time.
fn answer(input: &mut Input) -> Result<News> {
    loop {
        match client::answer(&PROTOCOL, input).map_err(unanswered)? {
            News::Time { .. } => {}
            news => return Ok(news),
        }
    }
}

fn unanswered(why: Unanswered) -> anyhow::Error {
    match why {
        Unanswered::Refused(why) => anyhow!("the agent refuses: {why}"),
        Unanswered::Differs(why) => anyhow!(why),
        Unanswered::Strange => anyhow!(NO_AGENT),
        Unanswered::Closed => anyhow!("the agent exited without a message"),
        Unanswered::Broken(why) => anyhow!(why),
    }
}

#[cfg(test)]
mod tests;
