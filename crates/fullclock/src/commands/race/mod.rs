//! `fullclock race`: nodes that commit at the same time, and why one of them is slower.

mod link;
mod nodes;
mod notes;
mod recordings;

use crate::cli::{Arguments, RaceArguments};
use crate::commands::{agent, bench};
use crate::output::{self};
use crate::tell::tell;
use anyhow::{Context, Result, anyhow, bail};
use engine::interrupt::Interrupt;
use engine::results_folder::kept_in;
use engine::secret;
use facts::HostView;
use host::probe::anchor;
use host::{Live, Recording};
use lab::doubt::Doubt;
use lab::race::{Blocks, Task, ns};
use lab::record::{Arm, Fingerprint, Record};
use lab::store::{Journal, recordings};
use lab::trial::{Mark, Trial};
use lab::workload::Settings;
use link::{Link, Standing, Told};
use nodes::{Node, Place};
use notes::Notes;
use recordings::Recordings;
use report::bench::Report;
use report::race as words;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// The workload that races.
const COMMIT: &str = "commit";

/// From the order to begin to the beginning: an order arrives meanwhile, and engines start in front of it.
const HEAD_START: Duration = Duration::from_secs(1);

/// How often nodes are asked whether they are there.
const BEAT: Duration = Duration::from_secs(2);

/// How soon a wish to stop, and the end of the race, are noticed.
const GLANCE: Duration = Duration::from_millis(50);

/// How long nodes may take to stop their engines and check their logs.
const FAREWELL: Duration = Duration::from_secs(60);

pub(super) fn run(arguments: &Arguments, options: &RaceArguments) -> Result<ExitCode> {
    let nodes = nodes::planned(options)?;
    let token = if nodes.iter().any(|it| matches!(it.place, Place::Agent(_))) {
        secret::read(&secret::path(options.token_file.as_deref(), agent::TOKEN)?)?
    } else {
        String::new()
    };
    let folder = kept_in(options.no_save, options.results.as_deref())?;
    engine::bench::clear_up(&std::env::temp_dir(), folder.as_deref(), &mut tell(arguments))?;
    let (id, began) = engine::bench::moment("race");
    let interrupt = Interrupt::listen()?;
    let mut race = Race::of(arguments, &nodes, options, (&id, &token))?;
    let ready = race.ready(&interrupt)?;
    let live = Live::this_machine();
    let recording = Recording::new(&live);
    let host = host::view(&recording);
    let mut record = record(&nodes, ready, &host, (id, began));
    if let Err(failure) = race.keep(folder.as_deref(), &mut record, (&recording, &host)) {
        // What nodes say of their end is not why there is no race.
        race.end(None).ok();
        race.journal.map(Journal::discard).transpose().ok();
        return Err(failure);
    }
    let raced = race.run(&mut record, options, &interrupt);
    let ended = race.end(Some(&mut record));
    record.is_complete &= ended.is_ok();
    finish(arguments, race, record, raced.and(ended))
}

/// Prints what there is, and keeps it.
fn finish(
    arguments: &Arguments,
    race: Race<'_>,
    mut record: Record,
    raced: Result<()>,
) -> Result<ExitCode> {
    if let Err(why) = race.recordings.finish() {
        output::note(&arguments.output, &format!("a recording lacks something: {why:#}"));
    }
    if record.trials.is_empty() {
        race.journal.map_or(Ok(()), Journal::discard)?;
        raced?;
        bail!("no node told an interval: give it longer with -d");
    }
    record.doubts.extend(lab::doubts::of(&record));
    if !record.is_complete {
        record.doubts.push(Doubt::CutShort.into());
    }
    let journal = race.journal;
    let kept = journal.map(|it| engine::bench::kept(it, &record, &mut tell(arguments))).transpose();
    let file = kept.as_ref().ok().and_then(Option::as_deref);
    let mut report = Report::of(&record, file);
    report.recordings = file.map(recordings).unwrap_or_default();
    bench::print(arguments, &report)?;
    raced?;
    kept.context("the result is printed, but not kept")?;
    Ok(ExitCode::SUCCESS)
}

/// A result without intervals.
fn record(
    nodes: &[Node],
    ready: Vec<Standing>,
    host: &HostView,
    (id, began): (String, String),
) -> Record {
    let machine = Fingerprint::of(host);
    let arm = |(node, it): (&Node, Standing)| Arm {
        settings: Settings::without_secrets(&node.settings),
        cpus: it.engine.cpus,
        machine: Some(it.machine).filter(|it| *it != machine),
        about: it.engine.about,
        ..Arm::of(&node.name, COMMIT)
    };
    let arms = nodes.iter().zip(ready).map(arm).collect();
    let version = env!("CARGO_PKG_VERSION").to_owned();
    Record { id, version, began, machine: machine.clone(), ..Record::of(arms) }
}

/// The nodes under way.
struct Race<'a> {
    arguments: &'a Arguments,
    links: Vec<Arc<Link>>,
    names: Vec<String>,
    threads: Vec<JoinHandle<()>>,
    events: Receiver<(usize, Told)>,
    /// Which of them have ended.
    has_ended: Vec<bool>,
    /// When nodes were asked last whether they are there.
    asked_ns: u64,
    /// The first node that ended before it was told to, and why.
    failure: Option<anyhow::Error>,
    journal: Option<Journal>,
    recordings: Recordings,
    blocks: Blocks,
    table: words::Table,
    /// What the user types, once it has begun.
    notes: Notes,
}

impl<'a> Race<'a> {
    /// Lets every node get ready.
    fn of(
        arguments: &'a Arguments,
        nodes: &[Node],
        options: &RaceArguments,
        (id, token): (&str, &str),
    ) -> Result<Race<'a>> {
        let (sender, events) = mpsc::channel();
        let names: Vec<String> = nodes.iter().map(|it| it.name.clone()).collect();
        let mut race = Race {
            arguments,
            links: Vec::new(),
            table: words::Table::new(&names, output::style(arguments.output.color)),
            names,
            threads: Vec::new(),
            events,
            has_ended: vec![false; nodes.len()],
            asked_ns: 0,
            failure: None,
            journal: None,
            recordings: Recordings::default(),
            blocks: Blocks::of(options.duration, options.interval),
            notes: Notes::default(),
        };
        let turn = Arc::default();
        for (number, node) in nodes.iter().enumerate() {
            let is_elsewhere = !matches!(node.place, Place::Here(_));
            let task = Task {
                race: id.to_owned(),
                settings: node.settings.clone(),
                interval: options.interval,
                // Whoever runs the race records the machine that it is run on, outside of its nodes' control groups.
                is_recorded: is_elsewhere && !options.no_save,
            };
            let link = Link::new(node.clone(), task, token, Arc::clone(&turn));
            let link = Arc::new(link);
            race.links.push(link.clone());
            let sender = sender.clone();
            let thread = Builder::new().name(format!("node {}", node.name));
            let thread = thread.spawn(move || link.follow(&(number, sender)));
            race.threads.push(thread.map_err(|it| anyhow!(host::thread::refusal(&it)))?);
        }
        Ok(race)
    }

    /// What every node is, once it could begin.
    ///
    /// Errors: one of them cannot; the user wants to stop.
    fn ready(&mut self, interrupt: &Interrupt) -> Result<Vec<Standing>> {
        let mut ready: Vec<Option<Standing>> = self.links.iter().map(|_| None).collect();
        while ready.iter().any(Option::is_none) && self.failure.is_none() {
            self.beat();
            match self.events.recv_timeout(GLANCE) {
                Ok((node, Told::Ready(standing))) => {
                    let text = words::ready(&self.names[node], &standing.offset);
                    output::note(&self.arguments.output, &text);
                    ready[node] = Some(*standing);
                }
                Ok((node, told)) => self.heard(node, told, None)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => bail!("no node is left"),
            }
            if interrupt.wait(Duration::ZERO) {
                self.end(None).ok();
                bail!("stopped before every node was ready");
            }
        }
        if let Some(failure) = self.failure.take() {
            // What the others say of their end is not why there is no race.
            self.end(None).ok();
            return Err(failure);
        }
        Ok(ready.into_iter().flatten().collect())
    }

    /// Begins the result and the recordings beside it, where they are kept; `here` is this machine and the answers about it.
    fn keep(
        &mut self,
        folder: Option<&Path>,
        record: &mut Record,
        here: (&Recording<'_>, &HostView),
    ) -> Result<()> {
        let Some(folder) = folder else { return Ok(()) };
        let journal = self.journal.insert(Journal::begin(folder, record)?);
        self.recordings = Recordings::begin(journal, here)?;
        Ok(())
    }

    /// Lets them run, for as long as was asked for.
    fn run(
        &mut self,
        record: &mut Record,
        options: &RaceArguments,
        interrupt: &Interrupt,
    ) -> Result<()> {
        self.notes = Notes::listen(&self.arguments.output);
        let begin_ns = anchor().raw_ns.saturating_add(ns(HEAD_START));
        self.links.iter().for_each(|it| it.begin(begin_ns));
        let end_ns = begin_ns.saturating_add(ns(options.duration)).saturating_add(ns(GLANCE));
        while self.n_running() > 0 && self.failure.is_none() {
            self.beat();
            match self.events.recv_timeout(GLANCE) {
                Ok((node, told)) => self.heard(node, told, Some(record))?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
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

    /// Lets every node end, and hears the last that they tell, for the record where there is one.
    fn end(&mut self, mut record: Option<&mut Record>) -> Result<()> {
        self.links.iter().for_each(|it| it.end());
        let until_ns = anchor().raw_ns.saturating_add(ns(FAREWELL));
        let mut ended = Ok(());
        while self.n_running() > 0 && anchor().raw_ns < until_ns {
            self.beat();
            match self.events.recv_timeout(GLANCE) {
                Ok((node, Told::Ended(Ok(())))) => self.has_ended[node] = true,
                Ok((node, told)) => {
                    ended = ended.and(self.heard(node, told, record.as_deref_mut()));
                }
                Err(_) => {}
            }
        }
        let silent: Vec<&str> = self.running().collect();
        if !silent.is_empty() {
            let (silent, seconds) = (silent.join(", "), FAREWELL.as_secs());
            ended = ended.and(Err(anyhow!(
                "node {silent} did not end within {seconds} s: nobody knows whether what it committed is in its log"
            )));
        }
        self.join();
        let failure = self.failure.take();
        ended.and(failure.map_or(Ok(()), Err))
    }

    /// Asks nodes whether they are there, now and then.
    fn beat(&mut self) {
        let now_ns = anchor().raw_ns;
        if now_ns.saturating_sub(self.asked_ns) >= ns(BEAT) {
            self.asked_ns = now_ns;
            self.links.iter().for_each(|it| it.beat());
        }
    }

    /// The nodes that have not ended.
    fn running(&self) -> impl Iterator<Item = &str> {
        let nodes = self.names.iter().zip(&self.has_ended);
        nodes.filter(|(_, has_ended)| !**has_ended).map(|(name, _)| &**name)
    }

    fn n_running(&self) -> usize {
        self.running().count()
    }

    /// Takes leave of the nodes that have ended. One that does not even hang up is left to itself.
    fn join(&mut self) {
        for thread in self.threads.drain(..).filter(JoinHandle::is_finished) {
            // Its panic is on standard error already.
            thread.join().ok();
        }
    }

    fn heard(&mut self, node: usize, told: Told, record: Option<&mut Record>) -> Result<()> {
        match (told, record) {
            (Told::Interval(trial), Some(record)) => self.interval(node, *trial, record),
            (Told::Ended(ended), _) => {
                self.has_ended[node] = true;
                let name = &self.names[node];
                let early = || anyhow!("it ended before the race did");
                let failure = ended.err().unwrap_or_else(early).context(format!("node {name}"));
                self.failure.get_or_insert(failure);
                Ok(())
            }
            (Told::Note(text), _) => {
                output::note(&self.arguments.output, &format!("{}: {text}", self.names[node]));
                Ok(())
            }
            (Told::Recorded(piece), _) => {
                let (name, journal) = (&self.names[node], self.journal.as_ref());
                let add = |it| self.recordings.add(it, (node, name), &piece);
                if let Some(Err(why)) = journal.map(add) {
                    let note = format!("{name}: its recording is not kept: {why:#}");
                    output::note(&self.arguments.output, &note);
                }
                Ok(())
            }
            (Told::Ready(_) | Told::Interval(_), _) => Ok(()),
        }
    }

    fn interval(&mut self, node: usize, mut trial: Trial, record: &mut Record) -> Result<()> {
        let told = trial.number;
        trial.arm = node;
        trial.block = self.blocks.at(trial.began_ns.value().copied().unwrap_or_default());
        trial.number = u32::try_from(record.trials.len() + 1).unwrap_or(u32::MAX);
        trial.marks.extend(self.notes.written().map(|text| Mark::Note { text }));
        if !self.arguments.output.json && !self.arguments.output.quiet {
            output::print(&self.table.lines(node, &trial))?;
        }
        record.trials.push(trial);
        if let Some(journal) = &mut self.journal {
            journal.add(record)?;
        }
        self.links[node].keep(told);
        Ok(())
    }
}
