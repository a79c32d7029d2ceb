//! Nodes that commit at the same time, and why one of them is slower.
//!
//! [`run`] connects to every node, lets all of them begin at one moment, and gathers their intervals in a record.

mod connection;
mod link;
pub mod nodes;

use crate::interrupt::Interrupt;
use anyhow::{Result, anyhow, bail};
use facts::HostView;
use host::probe::anchor;
use host::{Live, Recording};
use lab::doubt::Doubt;
use lab::race::{Blocks, Offset, Task, ns};
use lab::record::{Arm, Fingerprint, Record};
use lab::store::Journal;
use lab::trial::{Mark, Trial};
use lab::workload::Settings;
use lab::workloads::{find, temporary_server};
use link::{Link, NodeEvent, Standing};
use nodes::{Node, Place, Recordings};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// The workload that races.
const COMMIT: &str = "commit";

/// Time from the order to the start of a race: orders arrive and engines start within it.
const HEAD_START: Duration = Duration::from_secs(1);

/// How often nodes are asked for a sign of life.
const BEAT: Duration = Duration::from_secs(2);

/// How often the interrupt and the end of the race are checked.
const GLANCE: Duration = Duration::from_millis(50);

/// How long nodes may take to stop their engines and check their logs.
const FAREWELL: Duration = Duration::from_secs(60);

/// Who races, and for how long.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The race's id, which is its result's.
    pub id: String,
    /// When it began, as results have it.
    pub began: String,
    /// At least two.
    pub nodes: Vec<Node>,
    /// How long the nodes commit.
    pub duration: Duration,
    /// The least time between two results of a node.
    pub interval: Duration,
    /// What agents that listen have to hear.
    pub token: String,
    /// Where the result and the recordings are kept; `None` where they are not.
    pub folder: Option<PathBuf>,
}

/// What happens during a race.
#[derive(Debug)]
pub enum Event<'a> {
    /// A node is ready to begin; the offset of its clock from ours.
    Ready(&'a str, &'a Offset),
    /// All nodes are ready and about to begin.
    Begun,
    /// An interval of the node with that number has ended.
    Interval(usize, &'a Trial),
    /// A node starts a server, or its connection was lost or made again.
    Note(&'a str, &'a str),
    /// A node's recording cannot be kept any longer, and why.
    NotRecorded(&'a str, &'a anyhow::Error),
    /// The recordings are incomplete, and why.
    NotAllRecorded(&'a anyhow::Error),
}

/// Takes events. An error ends the race.
pub type Tell<'a> = &'a mut dyn FnMut(Event<'_>) -> Result<()>;

/// The result of a race.
pub struct Raced {
    /// The intervals of all nodes, with doubts about them.
    pub record: Record,
    /// Where it is kept.
    pub journal: Option<Journal>,
    /// The error that ended it early.
    pub ended: Result<()>,
}

/// Runs a race to its end, or until the user wants to stop. Each line from `notes` marks the next interval.
///
/// Errors: a node could not begin; the user stopped it before.
pub fn run(
    plan: &Plan,
    notes: &Receiver<String>,
    interrupt: &Interrupt,
    tell: Tell<'_>,
) -> Result<Raced> {
    let mut race = Race::of(plan, notes, tell)?;
    let ready = race.ready(interrupt)?;
    let live = Live::this_machine();
    let recording = Recording::new(&live);
    let host = host::view(&recording);
    let mut record = record(plan, ready, &host);
    if let Err(failure) = race.keep(&mut record, &recording, &host) {
        // Errors of nodes as they end are not why there is no race.
        race.end(None).ok();
        race.journal.map(Journal::discard).transpose().ok();
        return Err(failure);
    }
    let raced = race.run(&mut record, interrupt);
    let ended = race.end(Some(&mut record));
    record.is_complete &= ended.is_ok();
    let read = race.read_back(&mut record);
    let recorded = race.recordings.finish();
    let told = recorded.or_else(|why| (race.tell)(Event::NotAllRecorded(&why)));
    if !record.trials.is_empty() {
        record.doubts.extend(lab::doubts::of(&record));
        if !record.is_complete {
            record.doubts.push(Doubt::CutShort.into());
        }
    }
    Ok(Raced { record, journal: race.journal, ended: raced.and(ended).and(read).and(told) })
}

/// A result without intervals.
fn record(plan: &Plan, ready: Vec<Standing>, host: &HostView) -> Record {
    let machine = Fingerprint::of(host);
    let arm = |(node, it): (&Node, Standing)| Arm {
        settings: Settings::without_secrets(&node.settings),
        cpus: it.engine.cpus,
        machine: Some(it.engine.machine).filter(|it| *it != machine),
        about: [("place".to_owned(), node.place.to_string())]
            .into_iter()
            .chain(it.engine.about)
            .collect(),
        ..Arm::of(&node.name, COMMIT)
    };
    let arms = plan.nodes.iter().zip(ready).map(arm).collect();
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let (id, began) = (plan.id.clone(), plan.began.clone());
    Record { id, version, began, machine: machine.clone(), ..Record::of(arms) }
}

/// The nodes under way.
struct Race<'a> {
    plan: &'a Plan,
    links: Vec<Arc<Link>>,
    threads: Vec<JoinHandle<()>>,
    events: Receiver<(usize, NodeEvent)>,
    /// Which of them have ended.
    has_ended: Vec<bool>,
    /// When nodes were asked last whether they are there.
    asked_ns: u64,
    /// The error of the first node that ended early.
    failure: Option<anyhow::Error>,
    journal: Option<Journal>,
    recordings: Recordings,
    blocks: Blocks,
    /// What the user types, once it has begun.
    notes: &'a Receiver<String>,
    tell: Tell<'a>,
}

impl<'a> Race<'a> {
    /// Connects to every node and makes it ready.
    fn of(plan: &'a Plan, notes: &'a Receiver<String>, tell: Tell<'a>) -> Result<Race<'a>> {
        let (sender, events) = mpsc::channel();
        let mut race = Race {
            plan,
            links: Vec::new(),
            threads: Vec::new(),
            events,
            has_ended: vec![false; plan.nodes.len()],
            asked_ns: 0,
            failure: None,
            journal: None,
            recordings: Recordings::default(),
            blocks: Blocks::of(plan.duration, plan.interval),
            notes,
            tell,
        };
        for node in &plan.nodes {
            let server = find(COMMIT).and_then(|it| temporary_server(it, &node.settings));
            if let Some(server) = server {
                (race.tell)(Event::Note(&node.name, &format!("starting {server}")))?;
            }
        }
        let turn = Arc::default();
        for (number, node) in plan.nodes.iter().enumerate() {
            let is_elsewhere = !matches!(node.place, Place::Here(_));
            let task = Task {
                race: plan.id.clone(),
                settings: node.settings.clone(),
                interval: plan.interval,
                // This process records this machine, outside of the control groups of its nodes.
                is_recorded: is_elsewhere && plan.folder.is_some(),
            };
            let link = Link::new(node.clone(), task, &plan.token, Arc::clone(&turn));
            let link = Arc::new(link);
            race.links.push(link.clone());
            let sender = sender.clone();
            // The receiver is gone only once the race has ended.
            let follow = move || link.follow(&|event| sender.send((number, event)).is_ok());
            let thread = Builder::new().name(format!("node {}", node.name)).spawn(follow);
            race.threads.push(thread.map_err(|it| anyhow!(host::process::thread_refusal(&it)))?);
        }
        Ok(race)
    }

    /// Waits until every node is ready to begin.
    ///
    /// Errors: one of them cannot; the user wants to stop.
    fn ready(&mut self, interrupt: &Interrupt) -> Result<Vec<Standing>> {
        let mut ready: Vec<Option<Standing>> = self.links.iter().map(|_| None).collect();
        while ready.iter().any(Option::is_none) && self.failure.is_none() {
            match self.next()? {
                Some((node, NodeEvent::Ready(standing))) => {
                    (self.tell)(Event::Ready(&self.plan.nodes[node].name, &standing.offset))?;
                    ready[node] = Some(*standing);
                }
                Some((node, event)) => self.heard(node, event, None)?,
                None => {}
            }
            if interrupt.wait(Duration::ZERO) {
                self.end(None).ok();
                bail!("stopped before every node was ready");
            }
        }
        if let Some(failure) = self.failure.take() {
            // Errors of other nodes as they end are not why there is no race.
            self.end(None).ok();
            return Err(failure);
        }
        Ok(ready.into_iter().flatten().collect())
    }

    /// Begins the journal and the recordings, where they are kept; `host` is this machine by the answers in `recording`.
    fn keep(
        &mut self,
        record: &mut Record,
        recording: &Recording<'_>,
        host: &HostView,
    ) -> Result<()> {
        let Some(folder) = &self.plan.folder else { return Ok(()) };
        let journal = self.journal.insert(Journal::begin(folder, record)?);
        self.recordings = Recordings::begin(journal, recording, host)?;
        Ok(())
    }

    /// Runs them for the planned time.
    fn run(&mut self, record: &mut Record, interrupt: &Interrupt) -> Result<()> {
        (self.tell)(Event::Begun)?;
        let begin_ns = anchor().raw_ns.saturating_add(ns(HEAD_START));
        self.links.iter().for_each(|it| it.begin(begin_ns));
        let end_ns = begin_ns.saturating_add(ns(self.plan.duration)).saturating_add(ns(GLANCE));
        while self.n_running() > 0 && self.failure.is_none() {
            if let Some((node, event)) = self.next()? {
                self.heard(node, event, Some(record))?;
            }
            if interrupt.wait(Duration::ZERO) {
                return Ok(());
            }
            if anchor().raw_ns >= end_ns {
                record.is_complete = true;
                return Ok(());
            }
        }
        self.failure.take().map_or(Ok(()), Err)
    }

    /// Ends every node, and adds their last intervals to the record, where there is one.
    fn end(&mut self, mut record: Option<&mut Record>) -> Result<()> {
        self.links.iter().for_each(|it| it.end());
        let until_ns = anchor().raw_ns.saturating_add(ns(FAREWELL));
        let mut ended = Ok(());
        while self.n_running() > 0 && anchor().raw_ns < until_ns {
            match self.next() {
                Ok(Some((node, NodeEvent::Ended(Ok(()))))) => self.has_ended[node] = true,
                Ok(Some((node, event))) => {
                    ended = ended.and(self.heard(node, event, record.as_deref_mut()));
                }
                Ok(None) => {}
                Err(_) => break,
            }
        }
        let silent: Vec<&str> = self.running().collect();
        if !silent.is_empty() {
            let (silent, seconds) = (silent.join(", "), FAREWELL.as_secs());
            ended = ended.and(Err(anyhow!(
                "node {silent} did not end within {seconds} s: whether what it committed is in its log is unknown"
            )));
        }
        self.join();
        let failure = self.failure.take();
        ended.and(failure.map_or(Ok(()), Err))
    }

    /// The next event of a node, if there is one soon. Nodes are kept alive while it waits.
    ///
    /// Errors: the threads of all nodes have ended.
    fn next(&mut self) -> Result<Option<(usize, NodeEvent)>> {
        self.beat();
        match self.events.recv_timeout(GLANCE) {
            Ok(event) => Ok(Some(event)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => bail!("no node is left"),
        }
    }

    /// Asks every node for a sign of life, every [`BEAT`].
    fn beat(&mut self) {
        let now_ns = anchor().raw_ns;
        if now_ns.saturating_sub(self.asked_ns) >= ns(BEAT) {
            self.asked_ns = now_ns;
            self.links.iter().for_each(|it| it.beat());
        }
    }

    /// The nodes that have not ended.
    fn running(&self) -> impl Iterator<Item = &str> {
        let nodes = self.plan.nodes.iter().zip(&self.has_ended);
        nodes.filter(|(_, has_ended)| !**has_ended).map(|(node, _)| &*node.name)
    }

    fn n_running(&self) -> usize {
        self.running().count()
    }

    /// Joins the threads of nodes that have ended. One that does not hang up is left alone.
    fn join(&mut self) {
        for thread in self.threads.drain(..).filter(JoinHandle::is_finished) {
            // Its panic is on standard error already.
            thread.join().ok();
        }
    }

    fn heard(&mut self, node: usize, event: NodeEvent, record: Option<&mut Record>) -> Result<()> {
        let name = &*self.plan.nodes[node].name;
        match (event, record) {
            (NodeEvent::Interval(trial), Some(record)) => self.interval(node, *trial, record),
            (NodeEvent::Ended(ended), _) => {
                self.has_ended[node] = true;
                let early = || anyhow!("it ended before the race did");
                let failure = ended.err().unwrap_or_else(early).context(format!("node {name}"));
                self.failure.get_or_insert(failure);
                Ok(())
            }
            (NodeEvent::Note(text), _) => (self.tell)(Event::Note(name, &text)),
            (NodeEvent::Recorded(piece), _) => {
                let add = |it| self.recordings.add(it, node, name, &piece);
                match self.journal.as_ref().map(add) {
                    Some(Err(why)) => (self.tell)(Event::NotRecorded(name, &why)),
                    Some(Ok(())) | None => Ok(()),
                }
            }
            (NodeEvent::Ready(_) | NodeEvent::Interval(_), _) => Ok(()),
        }
    }

    fn interval(&mut self, node: usize, mut trial: Trial, record: &mut Record) -> Result<()> {
        let told = trial.number;
        trial.arm = node;
        trial.block = self.blocks.at(trial.began_ns.value().copied().unwrap_or_default());
        let n_before = self.journal.as_ref().map_or(record.trials.len(), Journal::n_trials);
        trial.number = u32::try_from(n_before + 1).unwrap_or(u32::MAX);
        trial.marks.extend(self.notes.try_iter().map(|text| Mark::Note { text }));
        (self.tell)(Event::Interval(node, &trial))?;
        match &mut self.journal {
            Some(journal) => journal.append(&trial)?,
            None => record.trials.push(trial),
        }
        self.links[node].keep(told);
        Ok(())
    }

    /// Gives the record the intervals that only the journal holds while a race runs.
    fn read_back(&self, record: &mut Record) -> Result<()> {
        if let Some(journal) = &self.journal {
            record.trials = journal.trials()?;
        }
        Ok(())
    }
}
