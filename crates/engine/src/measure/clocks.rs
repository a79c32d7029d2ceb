//! The thread that visits each CPU with the clock probe while an interval goes on.
//!
//! Only for CPUs whose clock no counter shows: a visit takes a millisecond of the CPU's time, which is entered in
//! the books as measuring.

use facts::probe::ClockReading;
use facts::{CpuSet, Fact, Missing, PerCpu};
use host::probe::{Windows, clock, pinned};
use host::thread;
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Duration;

/// The time between visits of one CPU: a millisecond in this is 0.2 % of it.
const PAUSE: Duration = Duration::from_millis(500);

/// Visits that go on.
pub(super) struct Clocks<'scope> {
    cpus: CpuSet,
    thread: Fact<ScopedJoinHandle<'scope, PerCpu<Vec<ClockReading>>>>,
}

impl<'scope> Clocks<'scope> {
    /// Begins to visit `cpus` in turn, until the sender behind `stop` is gone.
    pub(super) fn start(
        scope: &'scope Scope<'scope, '_>,
        cpus: CpuSet,
        stop: Receiver<()>,
    ) -> Clocks<'scope> {
        let visited = cpus.clone();
        let work = move || {
            let mut readings: BTreeMap<u32, Fact<Vec<ClockReading>>> = BTreeMap::new();
            loop {
                for cpu in visited.iter() {
                    if stop.try_recv() == Err(TryRecvError::Disconnected) {
                        break;
                    }
                    add(&mut readings, cpu, visit(cpu));
                }
                if stop.recv_timeout(PAUSE) != Err(RecvTimeoutError::Timeout) {
                    return readings.into_iter().collect();
                }
            }
        };
        Clocks { cpus, thread: thread::scoped(scope, "clocks", "the clock by the probe", work) }
    }

    /// What was read, once the thread has been told to stop, or why none could be started.
    pub(super) fn finish(self) -> PerCpu<Vec<ClockReading>> {
        match self.thread {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(why) => self.cpus.iter().map(|cpu| (cpu, Err(why.clone()))).collect(),
        }
    }
}

fn visit(cpu: u32) -> Fact<ClockReading> {
    pinned(cpu, || clock(Windows::SHORT))?
}

/// A CPU with any reading has readings; one without any has the last reason.
fn add(readings: &mut BTreeMap<u32, Fact<Vec<ClockReading>>>, cpu: u32, visit: Fact<ClockReading>) {
    let known = readings.entry(cpu).or_insert_with(|| Err(Missing::not_collected("")));
    match (known, visit) {
        (Ok(known), Ok(reading)) => known.push(reading),
        (known @ Err(_), Ok(reading)) => *known = Ok(vec![reading]),
        (known @ Err(_), Err(missing)) => *known = Err(missing),
        (Ok(_), Err(_)) => {}
    }
}
