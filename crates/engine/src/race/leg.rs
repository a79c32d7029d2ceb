//! One leg of a race: nodes that are started for it, begin at one moment and end together.

use super::kept::{Kept, Place, noted};
use super::link::{Link, NodeEvent, Standing};
use super::nodes::{Node, of_leg};
use super::noticed::in_memory;
use super::plan::{COMMIT, Event, Race};
use super::turns::{Turn, Turns};
use anyhow::{Result, anyhow, bail};
use host::probe::anchor;
use lab::race::{Task, ns};
use lab::trial::Trial;
use lab::workloads::{find, temporary_server};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// Time from the order to the start of a race: orders arrive and engines start within it.
const HEAD_START: Duration = Duration::from_secs(1);

/// How often nodes are asked for a sign of life.
const BEAT: Duration = Duration::from_secs(2);

/// How often the interrupt and the end of the race are checked.
const GLANCE: Duration = Duration::from_millis(50);

/// How long nodes may take to stop their engines and check their logs.
const FAREWELL: Duration = Duration::from_secs(60);

/// The nodes under way.
pub(super) struct Leg {
    /// Counted from 1; `None` where the race has no legs.
    number: Option<u32>,
    nodes: Vec<Node>,
    links: Vec<Arc<Link>>,
    threads: Vec<JoinHandle<()>>,
    events: Receiver<(usize, NodeEvent)>,
    /// Which of them have ended.
    has_ended: Vec<bool>,
    /// When nodes were asked last whether they are there.
    asked_ns: u64,
    /// When it begins.
    begin_ns: u64,
    /// How long that is after the first leg began.
    after_ns: u64,
    /// The error of the first node that ended early.
    failure: Option<anyhow::Error>,
}

impl Leg {
    /// Starts the nodes of a leg, counted from 0, and waits until every one is ready to begin.
    ///
    /// Errors: one of them cannot; the user wants to stop.
    pub(super) fn ready(race: &mut Race<'_>, leg: u32) -> Result<(Leg, Vec<Standing>)> {
        let number = (race.plan.legs > 1).then_some(leg + 1);
        if let Some(number) = number {
            (race.tell)(Event::Leg(number, race.plan.legs))?;
        }
        let mut leg = Leg::start(race, leg)?;
        let ready = leg.wait_until_ready(race)?;
        Ok((leg, ready))
    }

    /// Connects to every node and makes it ready.
    fn start(race: &mut Race<'_>, leg: u32) -> Result<Leg> {
        let plan = race.plan;
        let nodes = of_leg(&plan.nodes, leg);
        for node in &nodes {
            let server = find(COMMIT).and_then(|it| temporary_server(it, &node.settings));
            if let Some(server) = server {
                (race.tell)(Event::Note(&node.name, &format!("starting {server}")))?;
            }
        }
        let (sender, events) = mpsc::channel();
        let turns = Arc::new(Turns::default());
        let is_backwards = leg % 2 == 1;
        let n_here = nodes.iter().filter(|it| it.is_here()).count();
        let mut links = Vec::with_capacity(nodes.len());
        for node in &nodes {
            let task = Task {
                race: if leg == 0 { plan.id.clone() } else { format!("{}.{}", plan.id, leg + 1) },
                settings: node.settings.clone(),
                interval: plan.interval,
                // This process records this machine, outside of the control groups of its nodes.
                is_recorded: !node.is_here() && plan.folder.is_some(),
            };
            let before = links.iter().filter(|it: &&Arc<Link>| it.is_here()).count();
            let place = if is_backwards { n_here.saturating_sub(before + 1) } else { before };
            let turn = Turn::after(place, &turns);
            links.push(Arc::new(Link::new(node.clone(), task, &plan.token, turn)));
        }
        let mut threads = Vec::with_capacity(nodes.len());
        for (number, (node, link)) in nodes.iter().zip(&links).enumerate() {
            let (link, sender) = (link.clone(), sender.clone());
            // The receiver is gone only once the race has ended.
            let follow = move || link.follow(&|event| sender.send((number, event)).is_ok());
            let thread = Builder::new().name(format!("node {}", node.name)).spawn(follow);
            threads.push(thread.map_err(|it| anyhow!(host::process::thread_refusal(&it)))?);
        }
        Ok(Leg {
            number: (plan.legs > 1).then_some(leg + 1),
            has_ended: vec![false; nodes.len()],
            nodes,
            links,
            threads,
            events,
            asked_ns: 0,
            begin_ns: 0,
            after_ns: 0,
            failure: None,
        })
    }

    fn wait_until_ready(&mut self, race: &mut Race<'_>) -> Result<Vec<Standing>> {
        let mut ready: Vec<Option<Standing>> = self.links.iter().map(|_| None).collect();
        while ready.iter().any(Option::is_none) && self.failure.is_none() {
            match self.next()? {
                Some((node, NodeEvent::Ready(standing))) => {
                    let name = &*self.nodes[node].name;
                    (race.tell)(Event::Ready(name, &standing.offset))?;
                    if let Some(folder) = &standing.engine.in_memory {
                        (race.tell)(Event::Note(name, &in_memory(folder)))?;
                    }
                    ready[node] = Some(*standing);
                }
                Some((node, event)) => self.heard(race, node, event, None)?,
                None => {}
            }
            if race.interrupt.wait(Duration::ZERO) {
                self.end(race, None).ok();
                bail!("stopped before every node was ready");
            }
        }
        if let Some(failure) = self.failure.take() {
            // Errors of other nodes as they end are not why there is no race.
            self.end(race, None).ok();
            return Err(failure);
        }
        Ok(ready.into_iter().flatten().collect())
    }

    /// Runs the nodes for the planned time, or until the user wants to stop, and ends them. Whether it was the planned time.
    ///
    /// Errors: why a node ended early, or is not known to have kept what it committed.
    pub(super) fn race(&mut self, race: &mut Race<'_>, kept: &mut Kept) -> Result<bool> {
        let raced = self.run(race, kept);
        let ended = self.end(race, Some(kept));
        let is_whole = raced.and_then(|is_whole| ended.map(|()| is_whole));
        kept.end_leg(matches!(is_whole, Ok(true)))?;
        is_whole
    }

    fn run(&mut self, race: &mut Race<'_>, kept: &mut Kept) -> Result<bool> {
        (race.tell)(Event::Begun)?;
        self.begin_ns = anchor().raw_ns.saturating_add(ns(HEAD_START));
        self.after_ns = kept.since_first(self.begin_ns);
        self.links.iter().for_each(|it| it.begin(self.begin_ns));
        let length_ns = ns(race.plan.duration).saturating_add(ns(GLANCE));
        let end_ns = self.begin_ns.saturating_add(length_ns);
        while self.n_running() > 0 && self.failure.is_none() {
            if let Some((node, event)) = self.next()? {
                self.heard(race, node, event, Some(kept))?;
            }
            if race.interrupt.wait(Duration::ZERO) {
                return Ok(false);
            }
            if anchor().raw_ns >= end_ns {
                return Ok(true);
            }
        }
        self.failure.take().map_or(Ok(false), Err)
    }

    /// Ends every node, and keeps their last intervals, where they are kept.
    pub(super) fn end(&mut self, race: &mut Race<'_>, mut kept: Option<&mut Kept>) -> Result<()> {
        self.links.iter().for_each(|it| it.end());
        let until_ns = anchor().raw_ns.saturating_add(ns(FAREWELL));
        let mut ended = Ok(());
        while self.n_running() > 0 && anchor().raw_ns < until_ns {
            match self.next() {
                Ok(Some((node, NodeEvent::Ended(Ok(()))))) => self.has_ended[node] = true,
                Ok(Some((node, event))) => {
                    ended = ended.and(self.heard(race, node, event, kept.as_deref_mut()));
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
        let nodes = self.nodes.iter().zip(&self.has_ended);
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

    fn heard(
        &mut self,
        race: &mut Race<'_>,
        node: usize,
        event: NodeEvent,
        kept: Option<&mut Kept>,
    ) -> Result<()> {
        let name = &*self.nodes[node].name;
        match (event, kept) {
            (NodeEvent::Interval(trial), Some(kept)) => self.interval(race, node, *trial, kept),
            (NodeEvent::Ended(ended), _) => {
                self.has_ended[node] = true;
                let early = || anyhow!("it ended before the race did");
                let failure = ended.err().unwrap_or_else(early).context(format!("node {name}"));
                self.failure.get_or_insert(failure);
                Ok(())
            }
            (NodeEvent::Note(text), _) => (race.tell)(Event::Note(name, &text)),
            (NodeEvent::Recorded(piece), Some(kept)) => match kept.record_piece(node, name, &piece)
            {
                Err(why) => (race.tell)(Event::NotRecorded(name, &why)),
                Ok(()) => Ok(()),
            },
            (NodeEvent::Ready(_) | NodeEvent::Interval(_) | NodeEvent::Recorded(_), _) => Ok(()),
        }
    }

    fn interval(
        &mut self,
        race: &mut Race<'_>,
        node: usize,
        trial: Trial,
        kept: &mut Kept,
    ) -> Result<()> {
        let told = trial.number;
        let place = Place { node, leg: self.number, after_ns: self.after_ns };
        let trial = noted(kept.placed(place, trial), race.notes.try_iter());
        (race.tell)(Event::Interval(node, &trial))?;
        kept.add(trial)?;
        self.links[node].keep(told);
        Ok(())
    }
}
