//! Reads the server under test at both ends of a trial, and now and then between them.
//!
//! A client's connections often end before it does, and with them the count of how long they waited. So they are read during the
//! trial as well, which takes some 50 us for each process; it is done so rarely that it takes 0.3 % of a CPU at most.

use super::{FoundServer, ServerSelection, ServerWork, find};
use crate::failure::Failure;
use crate::known::Known;
use host::server::{Members, Reading, Spent};
use host::{Live, Source, thread_cpu_ns};
use rules::ledger::ServerTasks;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// How often a server is read during a trial at most.
const PACE: Duration = Duration::from_millis(100);

/// A reading takes no more than this part of a CPU: one in 300.
const LEAST_PACES: u32 = 300;

/// Of less than this share of the CPU time the wait says nothing of all of it.
const LEAST_SEEN: f64 = 0.9;

/// A server under test.
pub(crate) struct Meter {
    selection: ServerSelection,
    found: FoundServer,
    /// Shared with the thread of a trial, which has it while it reads.
    members: Arc<Mutex<Members>>,
    running: Option<Running>,
}

/// A trial that runs.
struct Running {
    began: Instant,
    first: Reading,
    /// Reads during the trial until the sender is dropped; none where no thread could be had.
    thread: Option<(Sender<()>, JoinHandle<Reading>)>,
}

impl Meter {
    /// Finds the server. Errors: it does not run here.
    pub(crate) fn of(selection: &ServerSelection, stop: &AtomicBool) -> Result<Meter, Failure> {
        let found = find(selection, &Live::this_machine(), stop)?;
        let members = Arc::new(Mutex::new(Members::of(found.extent.clone())));
        Ok(Meter { selection: selection.clone(), found, members, running: None })
    }

    /// Begins a trial.
    #[expect(clippy::disallowed_methods, reason = "a trial has a length")]
    pub(crate) fn begin(&mut self, stop: &AtomicBool) {
        let mut first = read(&self.members, Members::look);
        if !self.is_there() && self.find_again(stop) {
            first = read(&self.members, Members::look);
        }
        self.forget_ended();
        let (end, ended) = channel();
        let members = Arc::clone(&self.members);
        let thread = Builder::new().name("server".to_owned());
        let thread = thread.spawn(move || follow(&members, &ended)).ok().map(|it| (end, it));
        self.running = Some(Running { began: Instant::now(), first, thread });
    }

    /// Ends a trial: what the server did in it, and its processes, for the trial's ledger.
    pub(crate) fn end(&mut self) -> (ServerWork, ServerTasks) {
        let Some(Running { began, first, thread }) = self.running.take() else {
            return (ServerWork::unknown("no trial has begun"), ServerTasks::default());
        };
        let over_ns = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let between = thread.map(|(end, thread)| {
            drop(end);
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        let mut last = read(&self.members, Members::look);
        last.remember(between.unwrap_or_default());
        let spent = last.since(&first);
        let work = if first.is_empty() {
            ServerWork::unknown("the server did not run when the trial began")
        } else {
            work(&spent, over_ns)
        };
        (work, self.tasks(&spent))
    }

    fn tasks(&self, spent: &Spent) -> ServerTasks {
        let members = self.members.lock().unwrap_or_else(PoisonError::into_inner);
        let name = members.usual_of_ended().unwrap_or_else(|| self.found.title());
        ServerTasks {
            processes: members.processes().collect(),
            names: members.names().clone(),
            ended_name: format!("{name} (ended)"),
            ended_ns: spent.ended_ns,
        }
    }

    fn is_there(&self) -> bool {
        self.members.lock().unwrap_or_else(PoisonError::into_inner).is_there()
    }

    /// Members of earlier trials are not this one's.
    fn forget_ended(&self) {
        let mut members = self.members.lock().unwrap_or_else(PoisonError::into_inner);
        members.forget_ended(&Live::this_machine());
    }

    /// A server that was restarted has other processes. Whether it was found.
    fn find_again(&mut self, stop: &AtomicBool) -> bool {
        let Ok(found) = find(&self.selection, &Live::this_machine(), stop) else { return false };
        self.members = Arc::new(Mutex::new(Members::of(found.extent.clone())));
        self.found = found;
        true
    }
}

/// Looks who is there, and reads them.
fn read(members: &Mutex<Members>, look: fn(&mut Members, &dyn Source)) -> Reading {
    let source = Live::this_machine();
    let mut members = members.lock().unwrap_or_else(PoisonError::into_inner);
    look(&mut members, &source);
    Reading::of(&source, &members)
}

/// Reads again and again until the sender is gone: the latest reading of each thread.
fn follow(members: &Mutex<Members>, ended: &Receiver<()>) -> Reading {
    let (mut latest, mut pace) = (Reading::default(), PACE);
    while ended.recv_timeout(pace) == Err(RecvTimeoutError::Timeout) {
        let began_ns = thread_cpu_ns();
        let mut reading = read(members, Members::glance);
        reading.remember(latest);
        latest = reading;
        // Not by the wall clock: on full CPUs a reading waits, and is needed most.
        let took = Duration::from_nanos(thread_cpu_ns().saturating_sub(began_ns));
        pace = PACE.max(took * LEAST_PACES);
    }
    latest
}

fn work(spent: &Spent, over_ns: u64) -> ServerWork {
    let Spent { cpu_ns, uncertainty_ns, wait_ns, seen_ns, is_cut, .. } = *spent;
    if is_cut {
        let why = "a process of the server ended, and its CPU time went to no other one of it";
        return ServerWork { over_ns, ..ServerWork::unknown(why) };
    }
    let is_seen = seen_ns as f64 >= cpu_ns as f64 * LEAST_SEEN;
    let wait_ns = if is_seen {
        Known::Value(wait_ns)
    } else {
        let unseen = 100.0 * (1.0 - seen_ns as f64 / cpu_ns.max(1) as f64);
        let why =
            format!("{unseen:.0} % of its CPU time was that of processes too short to be read");
        Known::missing(why)
    };
    ServerWork { over_ns, cpu_ns: Known::Value(cpu_ns), uncertainty_ns, wait_ns }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spent(cpu_ns: u64, seen_ns: u64, is_cut: bool) -> Spent {
        Spent { cpu_ns, seen_ns, wait_ns: 7, is_cut, ..Spent::default() }
    }

    #[test]
    fn a_wait_is_known_only_where_most_of_the_time_was_read() {
        let waits = |seen_ns| work(&spent(1000, seen_ns, false), 1).wait_ns;
        assert_eq!(waits(950), Known::Value(7));
        let why = waits(250);
        assert_eq!(
            why.reason(),
            Some("75 % of its CPU time was that of processes too short to be read")
        );
        assert!(work(&spent(1000, 1000, true), 1).cpu_ns.value().is_none());
    }
}
