//! A log writer and its sessions, as databases have them, in this process.
//!
//! Each session is a thread. It inserts a row into its own table in memory, builds the redo of that row, posts it and waits.
//! One log writer takes all redo that was posted, writes it, makes it durable and wakes the sessions that wait for it; redo
//! posted during the write is the next write (group commit). Oracle's LGWR and MySQL's log writer work that way.

mod log_buffer;
mod log_file;
mod log_writer;
mod redo;
mod session;

use super::Engine;
use super::sample::{LogCounts, Ran, Sample};
use crate::failure::Failure;
use crate::known::Known;
use crate::workload::{Scene, Settings};
use facts::CpuSet;
use log_buffer::LogBuffer;
use log_file::LogFile;
use log_writer::{LogWriter, Schedstat, Written};
use session::{Session, Tally};
use std::sync::Arc;
use std::thread::JoinHandle;

/// As many as a small server has busy at once.
const SESSIONS: u32 = 8;

/// More threads than that measure the scheduler.
const MOST_SESSIONS: u32 = 4096;

/// An engine of this process.
pub(super) struct Embedded {
    file: Arc<LogFile>,
    n_sessions: u32,
    cpus: Option<CpuSet>,
    /// Tells the redo of this start from what earlier ones left in the file.
    run: u32,
    running: Option<Running>,
}

/// What there is while it works.
struct Running {
    log: Arc<LogBuffer>,
    sessions: Vec<(Arc<Tally>, JoinHandle<()>)>,
    writer: JoinHandle<()>,
    written: Arc<Written>,
}

impl Embedded {
    /// Makes the log file, and no thread yet.
    pub(super) fn open(settings: &Settings, scene: &Scene<'_>) -> Result<Embedded, Failure> {
        if settings.timeout.is_some() {
            let why = "--timeout: of commit, only a server may keep us waiting; the embedded engine does not";
            return Err(Failure::Unready(why.to_owned()));
        }
        let n_sessions = settings.sessions_up_to(MOST_SESSIONS, SESSIONS)?;
        let file = match &settings.folder {
            Some(folder) => LogFile::make(folder.as_ref())?,
            None => LogFile::make_somewhere(&scene.temporary)?,
        };
        let cpus = settings.cpus()?;
        Ok(Embedded { file: Arc::new(file), n_sessions, cpus, run: 0, running: None })
    }

    fn threads(&self, run: u32) -> Result<Running, Failure> {
        let log = Arc::new(LogBuffer::new());
        let written = Arc::new(Written::default());
        let (file, buffer, counts) = (self.file.clone(), log.clone(), written.clone());
        let writer =
            spawn("log-writer", move || LogWriter::new(&file, &buffer, &counts, run).run())?;
        let mut running = Running { log, sessions: Vec::new(), writer, written };
        for number in 0..self.n_sessions {
            let tally = Arc::new(Tally::default());
            let (log, own) = (running.log.clone(), tally.clone());
            let thread = spawn(&format!("session/{number}"), move || {
                Session::new(number).run(&log, &own);
            });
            match thread {
                Ok(thread) => running.sessions.push((tally, thread)),
                Err(failure) => {
                    running.end();
                    return Err(failure);
                }
            }
        }
        Ok(running)
    }
}

impl Engine for Embedded {
    fn start(&mut self) -> Result<(), Failure> {
        self.stop()?;
        self.run += 1;
        let running = match &self.cpus {
            Some(cpus) => host::probe::pinned_to(cpus, || self.threads(self.run))
                .map_err(|why| Failure::Unready(format!("--cpus {cpus}: {why}")))?,
            None => self.threads(self.run),
        };
        self.running = Some(running?);
        Ok(())
    }

    fn sample(&mut self) -> Result<Sample, Failure> {
        let running = self.running.as_ref().ok_or(Failure::Stopped)?;
        running.sample()
    }

    fn stop(&mut self) -> Result<(), Failure> {
        let Some(running) = self.running.take() else { return Ok(()) };
        let ended = running.end();
        ended.failure.map_or(Ok(()), Err)?;
        redo::check(&self.file, self.run, ended.last_batch, &ended.committed)
    }

    fn cpus(&self) -> Option<&CpuSet> {
        self.cpus.as_ref()
    }

    fn about(&self) -> Vec<(String, String)> {
        vec![
            ("sessions".to_owned(), self.n_sessions.to_string()),
            ("log".to_owned(), self.file.about()),
        ]
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            running.end();
        }
    }
}

/// What is left of a run.
struct Ended {
    failure: Option<Failure>,
    last_batch: u32,
    /// The number of commits that were confirmed to each session.
    committed: Vec<u64>,
}

impl Running {
    fn sample(&self) -> Result<Sample, Failure> {
        if let Some(failure) = self.log.failure() {
            return Err(failure);
        }
        let tallies = || self.sessions.iter().map(|(tally, _)| tally);
        let sum = |of: fn(&Tally) -> u64| tallies().map(|it| of(it)).fold(0, u64::saturating_add);
        let log: LogCounts = self.written.counts();
        Ok(Sample {
            at_ns: self.log.now_ns(),
            sessions: u32::try_from(self.sessions.len()).unwrap_or(u32::MAX),
            commits: sum(Tally::commits),
            log,
            writer: ran([self.written.tid()].into_iter()),
            crew: ran(tallies().map(|it| it.tid())),
            log_wait_ns: Known::Value(sum(Tally::log_wait_ns)),
        })
    }

    fn end(self) -> Ended {
        self.log.let_sessions_end();
        let mut panicked = false;
        let mut committed = Vec::with_capacity(self.sessions.len());
        for (tally, thread) in self.sessions {
            panicked |= thread.join().is_err();
            committed.push(tally.commits());
        }
        self.log.let_writer_end();
        panicked |= self.writer.join().is_err();
        let bug = || Failure::NoFigure("a thread of the engine panicked".to_owned());
        let failure = self.log.failure().or_else(|| panicked.then(bug));
        Ended { failure, last_batch: self.log.last_batch(), committed }
    }
}

/// What the scheduler says of threads of this process together.
fn ran(tids: impl Iterator<Item = u32>) -> Known<Ran> {
    let sum = |sum: Ran, tid| Schedstat::of(tid).and_then(|it| it.read()).map(|it| sum.plus(it));
    tids.filter(|it| *it != 0).try_fold(Ran::default(), sum).into()
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, Failure> {
    let builder = std::thread::Builder::new().name(name.to_owned());
    builder.spawn(work).map_err(|it| crate::threads::refused(&it))
}

#[cfg(test)]
mod tests;
