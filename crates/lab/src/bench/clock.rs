//! The clock of several CPUs at one moment.

use facts::probe::ClockReading;
use facts::{CpuSet, Fact, Missing, Why};
use host::probe::{Windows, clock, pinned};

/// What the probe sees on each of `cpus`, on all of them at once: the clock of a core depends on how many others are
/// awake. Missing where one of them cannot be read.
pub(super) fn clocks(cpus: &CpuSet) -> Fact<Vec<ClockReading>> {
    let read = |cpu: u32| pinned(cpu, || clock(Windows::SHORT)).flatten();
    if cpus.len() == 1 {
        return cpus.iter().map(read).collect();
    }
    std::thread::scope(|scope| {
        let spawned: Vec<_> = cpus
            .iter()
            .map(|cpu| std::thread::Builder::new().spawn_scoped(scope, move || read(cpu)))
            .collect();
        let join = |thread: std::io::Result<std::thread::ScopedJoinHandle<'_, _>>| match thread {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(error) => Err(no_thread(&error)),
        };
        spawned.into_iter().map(join).collect()
    })
}

fn no_thread(error: &std::io::Error) -> Missing {
    let why = Why::Failed(format!("no thread can be started: {error}"));
    Missing { what: "the clock of the CPUs".to_owned(), why }
}

/// The mean of what was seen, in hertz.
pub(super) fn mean_hz(readings: &[ClockReading]) -> f64 {
    let sum: f64 = readings.iter().map(|it| it.mean.0 as f64).sum();
    sum / readings.len().max(1) as f64
}
