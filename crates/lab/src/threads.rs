//! Work of our own threads on chosen CPUs, and how long it took them.

use crate::failure::Failure;
use crate::known::Known;
use crate::trial::{Figure, Outcome};
use facts::CpuSet;
use host::probe::pinned;
use host::thread_cpu_ns;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::thread::{Builder, Scope, ScopedJoinHandle};
use std::time::Instant;

/// What one thread did.
#[derive(Clone, Debug)]
pub(crate) struct Timed<T> {
    /// What came out.
    pub(crate) answer: T,
    /// Wall time, in nanoseconds.
    pub(crate) elapsed_ns: u64,
    /// The thread's time on a CPU, in nanoseconds.
    pub(crate) cpu_ns: u64,
}

/// Does `work` on the calling thread.
#[expect(clippy::disallowed_methods, reason = "times work, which is what it is for")]
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> Timed<T> {
    let began_cpu_ns = thread_cpu_ns();
    let began = Instant::now();
    let answer = work();
    let elapsed = began.elapsed();
    let cpu_ns = thread_cpu_ns().saturating_sub(began_cpu_ns);
    Timed { answer, elapsed_ns: u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX), cpu_ns }
}

/// Does `work` on a thread for each of `cpus`, pinned to it, all at once; what came out, by CPU ascending. Without
/// CPUs, on the calling thread, wherever the scheduler puts it.
pub(crate) fn on_each<T: Send>(
    cpus: Option<&CpuSet>,
    work: impl Fn() -> T + Sync,
) -> Result<Vec<T>, Failure> {
    by_rank(cpus, |_| work())
}

/// The same for work that takes the number of its thread, counted from 0 by CPU ascending. No thread begins
/// before every one is on its CPU, and none does where one cannot be: threads may wait for each other.
pub(crate) fn by_rank<T: Send>(
    cpus: Option<&CpuSet>,
    work: impl Fn(usize) -> T + Sync,
) -> Result<Vec<T>, Failure> {
    let Some(cpus) = cpus else { return Ok(vec![work(0)]) };
    if cpus.len() == 1 {
        return cpus.iter().map(|cpu| on(cpu, || work(0))).collect();
    }
    let gate = Gate::default();
    std::thread::scope(|scope| {
        let threads: Result<Vec<_>, Failure> = cpus
            .iter()
            .enumerate()
            .map(|(rank, cpu)| {
                let (gate, work) = (&gate, &work);
                let at_once = move || {
                    let there = on(cpu, || gate.wait().then(|| work(rank)));
                    if there.is_err() {
                        gate.shut();
                    }
                    there
                };
                start(scope, &format!("cpu/{cpu}"), at_once)
            })
            .collect();
        match &threads {
            Ok(threads) => gate.open(threads.len()),
            Err(_) => gate.shut(),
        }
        let join = |thread: ScopedJoinHandle<'_, Result<Option<T>, Failure>>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads?.into_iter().filter_map(|thread| join(thread).transpose()).collect()
    })
}

/// Starts a thread that does `work`.
///
/// Errors: none can be had, and which limit to raise.
pub(crate) fn start<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: &str,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>, Failure> {
    Builder::new().name(name.to_owned()).spawn_scoped(scope, work).map_err(|it| refused(&it))
}

/// No thread can be had, and which limit to raise.
pub(crate) fn refused(error: &io::Error) -> Failure {
    Failure::Unready(host::process::thread_refusal(error))
}

/// Does `work` on the calling thread, pinned to `cpu` for that time.
pub(crate) fn on<T>(cpu: u32, work: impl FnOnce() -> T) -> Result<T, Failure> {
    pinned(cpu, work).map_err(|why| Failure::Unready(why.to_string()))
}

/// What all threads together say of a trial: the longest of their times, the sum of their time on CPUs.
pub(crate) fn outcome<T>(runs: &[Timed<T>], figures: Vec<Figure>) -> Outcome {
    Outcome {
        elapsed_ns: Known::Value(slowest_ns(runs)),
        cpu_ns: Known::Value(runs.iter().map(|it| it.cpu_ns).sum()),
        tasks: u32::try_from(runs.len()).unwrap_or(u32::MAX),
        figures: figures.into(),
    }
}

/// The longest time that one of them took.
pub(crate) fn slowest_ns<T>(runs: &[Timed<T>]) -> u64 {
    runs.iter().map(|it| it.elapsed_ns).max().unwrap_or_default()
}

/// Does `step` that many times in steps of at most `length`, and looks in between whether the user wants to stop.
pub(crate) fn in_steps(
    count: u64,
    length: u64,
    stop: &AtomicBool,
    mut step: impl FnMut(u64),
) -> Result<(), Failure> {
    let mut left = count;
    while left > 0 {
        if stop.load(Ordering::Relaxed) {
            return Err(Failure::Stopped);
        }
        let part = left.min(length.max(1));
        step(part);
        left -= part;
    }
    Ok(())
}

/// Where threads wait for each other. They spin, so that all of them begin within a microsecond and none has to wake up
/// first.
#[derive(Default)]
struct Gate {
    state: AtomicU8,
    waiting: AtomicUsize,
}

const CLOSED: u8 = 0;
const GO: u8 = 1;
const GO_HOME: u8 = 2;

impl Gate {
    /// Lets all go once that many are here, unless it is shut.
    fn open(&self, count: usize) {
        while self.waiting.load(Ordering::Acquire) < count
            && self.state.load(Ordering::Acquire) != GO_HOME
        {
            std::thread::yield_now();
        }
        // Shut is shut: one that cannot come may say so at this moment.
        let _is_shut =
            self.state.compare_exchange(CLOSED, GO, Ordering::AcqRel, Ordering::Acquire).is_err();
    }

    /// Sends all home who have not gone.
    fn shut(&self) {
        self.state.store(GO_HOME, Ordering::Release);
    }

    /// Whether it is on.
    fn wait(&self) -> bool {
        self.waiting.fetch_add(1, Ordering::AcqRel);
        loop {
            match self.state.load(Ordering::Acquire) {
                GO => return true,
                GO_HOME => return false,
                _ => std::thread::yield_now(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::probe::allowed;
    use std::collections::BTreeSet;
    use std::sync::Mutex;

    #[test]
    fn each_thread_runs_where_it_was_told_to_and_only_there() {
        let cpus = allowed().unwrap();
        let seen = on_each(Some(&cpus), || allowed().unwrap().to_string()).unwrap();
        assert_eq!(seen, cpus.iter().map(|it| it.to_string()).collect::<Vec<_>>());
    }

    #[test]
    fn without_cpus_the_calling_thread_works_where_it_may() {
        let seen = on_each(None, || allowed().unwrap()).unwrap();
        assert_eq!(seen, [allowed().unwrap()]);
    }

    #[test]
    fn a_cpu_that_is_not_there_fails_it_and_hangs_nobody() {
        let mut cpus: BTreeSet<u32> = allowed().unwrap().iter().collect();
        cpus.insert(8000);
        let ran = Mutex::new(0);
        let outcome = on_each(Some(&cpus.into_iter().collect()), || *ran.lock().unwrap() += 1);
        assert!(outcome.unwrap_err().to_string().contains("CPU 8000"));
        assert_eq!(*ran.lock().unwrap(), 0);
    }

    #[test]
    fn ranks_are_counted_by_cpu_ascending() {
        let cpus = allowed().unwrap();
        let seen = by_rank(Some(&cpus), |rank| (rank, allowed().unwrap().first())).unwrap();
        let expected: Vec<_> = cpus.iter().map(Some).enumerate().collect();
        assert_eq!(seen, expected);
    }

    #[test]
    fn steps_make_up_the_whole_and_end_when_the_user_wants_to_stop() {
        let stop = AtomicBool::new(false);
        let mut steps = Vec::new();
        in_steps(25, 10, &stop, |it| steps.push(it)).unwrap();
        assert_eq!(steps, [10, 10, 5]);
        let stopped = in_steps(u64::MAX, 1, &stop, |_| stop.store(true, Ordering::Relaxed));
        assert!(matches!(stopped, Err(Failure::Stopped)));
    }

    #[test]
    fn time_on_a_cpu_is_no_longer_than_time_and_sleep_is_not_in_it() {
        let slept = timed(|| std::thread::sleep(std::time::Duration::from_millis(5)));
        assert!(slept.elapsed_ns >= 5_000_000 && slept.cpu_ns < slept.elapsed_ns);
    }
}
