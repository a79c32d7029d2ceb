//! Work of our own threads on chosen CPUs, and how long it took them.

use crate::failure::Failure;
use facts::CpuSet;
use host::probe::pinned;
use rustix::time::{ClockId, clock_gettime};
use std::sync::atomic::{AtomicU8, Ordering};
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
    let began_cpu_ns = cpu_ns();
    let began = Instant::now();
    let answer = work();
    let elapsed = began.elapsed();
    let cpu_ns = cpu_ns().saturating_sub(began_cpu_ns);
    Timed { answer, elapsed_ns: u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX), cpu_ns }
}

/// Does `work` on a thread for each of `cpus`, pinned to it, all at once; what came out, by CPU ascending. Without
/// CPUs, on the calling thread, wherever the scheduler puts it.
pub(crate) fn on_each<T: Send>(
    cpus: Option<&CpuSet>,
    work: impl Fn() -> T + Sync,
) -> Result<Vec<T>, Failure> {
    let Some(cpus) = cpus else { return Ok(vec![work()]) };
    if cpus.len() == 1 {
        return cpus.iter().map(|cpu| on(cpu, &work)).collect();
    }
    let gate = Gate::default();
    std::thread::scope(|scope| {
        let threads: Result<Vec<_>, Failure> = cpus
            .iter()
            .map(|cpu| {
                let (gate, work) = (&gate, &work);
                let at_once = move || on(cpu, || gate.wait().then(work));
                std::thread::Builder::new()
                    .spawn_scoped(scope, at_once)
                    .map_err(Failure::system("cannot start a thread for each CPU"))
            })
            .collect();
        // Whoever waits has to be let go, also when the others cannot come.
        gate.open(threads.is_ok());
        let join = |thread: std::thread::ScopedJoinHandle<'_, Result<Option<T>, Failure>>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads?.into_iter().filter_map(|thread| join(thread).transpose()).collect()
    })
}

fn on<T>(cpu: u32, work: impl FnOnce() -> T) -> Result<T, Failure> {
    pinned(cpu, work).map_err(|why| Failure::Unready(why.to_string()))
}

/// Where threads wait for each other. They spin, so that all of them begin within a microsecond and none has to wake up
/// first.
#[derive(Default)]
struct Gate(AtomicU8);

const GO: u8 = 1;
const GO_HOME: u8 = 2;

impl Gate {
    fn open(&self, is_on: bool) {
        self.0.store(if is_on { GO } else { GO_HOME }, Ordering::Release);
    }

    /// Whether it is on.
    fn wait(&self) -> bool {
        loop {
            match self.0.load(Ordering::Acquire) {
                GO => return true,
                GO_HOME => return false,
                _ => std::thread::yield_now(),
            }
        }
    }
}

fn cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    let nanoseconds = u64::try_from(time.tv_nsec).unwrap_or_default();
    seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds)
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
    }

    #[test]
    fn time_on_a_cpu_is_no_longer_than_time_and_sleep_is_not_in_it() {
        let slept = timed(|| std::thread::sleep(std::time::Duration::from_millis(5)));
        assert!(slept.elapsed_ns >= 5_000_000 && slept.cpu_ns < slept.elapsed_ns);
    }
}
