//! Traces the calls by which sessions write the log: how long they work, which no counter of a server or of the scheduler tells.
//!
//! A server times its log writes by the wall clock, and the scheduler counts all waits of a session together. A write has
//! several waits for a CPU, or none: after the disk's interrupt, on a full CPU, at the end of a quota. So each call is followed
//! through the scheduler's tracepoints.

use crate::failure::Failure;
use crate::threads::refused;
use facts::trace::calls::{CallTimes, Calls};
use facts::trace::tracepoint::Wanted;
use facts::{CpuSet, Fact, Missing};
use host::perf::Tracer;
use host::probe::anchor;
use host::{Live, Source};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle, sleep};
use std::time::Duration;

/// How often buffers are emptied: each holds some thousand events, a tenth of a second of a busy CPU.
const PAUSE: Duration = Duration::from_millis(20);

/// What the calls are.
const WHAT: &str = "the time of log writes in the kernel";

/// Follows the calls of sessions until it is dropped.
pub(super) struct LogCalls {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    traced: Mutex<Traced>,
    is_over: AtomicBool,
}

struct Traced {
    tracer: Tracer,
    calls: Calls,
}

impl LogCalls {
    /// Follows these tasks.
    ///
    /// Errors: tracing is not possible here, or not of all CPUs; no task is known.
    pub(super) fn of(tasks: &[u32]) -> Result<Fact<LogCalls>, Failure> {
        let traced = match Traced::open(tasks) {
            Ok(traced) => Mutex::new(traced),
            Err(missing) => return Ok(Err(missing)),
        };
        let shared = Arc::new(Shared { traced, is_over: AtomicBool::new(false) });
        let own = shared.clone();
        let thread = Builder::new().name("log-calls".to_owned()).spawn(move || {
            while !own.is_over.load(Ordering::Relaxed) {
                own.lock().drain();
                sleep(PAUSE);
            }
        });
        let thread = Some(thread.map_err(|it| refused(&it))?);
        Ok(Ok(LogCalls { shared, thread }))
    }

    /// The calls that have ended up to now.
    pub(super) fn times(&self) -> Fact<CallTimes> {
        let mut traced = self.shared.lock();
        let times = traced.drain();
        match traced.tracer.gone().into_iter().next() {
            Some((_, missing)) => Err(missing),
            None => Ok(times),
        }
    }
}

impl Drop for LogCalls {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        // One that panicked has ended, too.
        let _panicked = self.thread.take().is_some_and(|it| it.join().is_err());
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Traced> {
        self.traced.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Traced {
    fn open(tasks: &[u32]) -> Fact<Traced> {
        let live = Live::this_machine();
        let source: &dyn Source = &live;
        if tasks.is_empty() {
            return Err(Missing::not_here(WHAT, "the server's tasks on this host are unknown"));
        }
        let cpus = source.parsed("/sys/devices/system/cpu/online", CpuSet::parse_list)?;
        let tracer = Tracer::open_anyway(source, &cpus, Wanted::CALLS)?;
        let incomplete = tracer.refused().iter().map(|it| &it.1).chain(tracer.lacking()).next();
        if let Some(missing) = incomplete {
            return Err(missing.clone());
        }
        let tasks = tasks.iter().filter_map(|it| i32::try_from(*it).ok());
        Ok(Traced { tracer, calls: Calls::follow(tasks) })
    }

    fn drain(&mut self) -> CallTimes {
        let until_ns = anchor().raw_ns;
        let calls = &mut self.calls;
        self.tracer.drain(until_ns, |event| calls.push(event));
        calls.settle(until_ns)
    }
}
