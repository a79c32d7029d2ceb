//! What the kernel's thread that polls the controller is accounted.
//!
//! `ps` and /proc/stat of older kernels count samples at timer ticks, before which a thread that always sleeps shows
//! nothing; the scheduler counts nanoseconds (/proc/PID/schedstat, Documentation/scheduler/sched-stats.rst). While the
//! thread runs, what it ran since the last tick is not in it yet: a trial of a second is known to some thousandths.

use facts::system::ipmi::PollingThread;
use facts::system::process::{cpu_time, run_time};
use facts::{Fact, HostView};
use host::Source;
use std::time::Duration;

/// The kernel thread of the first interface, or why there is none to measure.
pub struct Polling {
    thread: Result<Thread, String>,
}

struct Thread {
    pid: u32,
    interface: usize,
    /// Why the scheduler's own count cannot be had, where it cannot.
    in_ticks: Option<String>,
}

/// /dev/ipmi0 is the interface that kipmi0 polls.
const INTERFACE: usize = 0;

impl Polling {
    /// Finds the thread that polls.
    pub fn of(host: &HostView, source: &dyn Source) -> Polling {
        let thread = match &host.ipmi.threads {
            Err(why) => Err(format!("unknown: {why}")),
            Ok(threads) => of_first_interface(threads),
        };
        let thread = thread.and_then(|(pid, interface)| {
            let Err(why) = nanoseconds(source, pid) else {
                return Ok(Thread { pid, interface, in_ticks: None });
            };
            ticks(source, pid).map_err(|it| format!("unknown: {why}; {it}"))?;
            Ok(Thread { pid, interface, in_ticks: Some(why.to_string()) })
        });
        Polling { thread }
    }

    /// How long it has run since it started.
    pub fn ran(&self, source: &dyn Source) -> Option<Duration> {
        let Thread { pid, in_ticks, .. } = self.thread.as_ref().ok()?;
        let ran = if in_ticks.is_none() { nanoseconds } else { ticks };
        ran(source, *pid).ok()
    }

    /// Does `work`, and tells the CPU time of the thread during it; `None` where that is unknown.
    pub fn during<T>(
        &self,
        source: &dyn Source,
        work: impl FnOnce() -> T,
    ) -> (T, Option<Duration>) {
        let before = self.ran(source);
        let done = work();
        let after = self.ran(source);
        (done, before.zip(after).map(|(before, after)| after.saturating_sub(before)))
    }

    /// Its number as a task.
    ///
    /// Errors: why there is none, in words.
    pub fn task(&self) -> Result<u32, String> {
        self.thread.as_ref().map(|it| it.pid).map_err(Clone::clone)
    }

    /// Who it is and how it is counted.
    pub fn about(&self) -> String {
        match &self.thread {
            Err(why) => why.clone(),
            Ok(Thread { interface, in_ticks: None, .. }) => {
                format!("kipmi{interface}, as the scheduler accounts it")
            }
            Ok(Thread { interface, in_ticks: Some(why), .. }) => {
                format!("kipmi{interface}, in steps of 10 ms: {why}")
            }
        }
    }
}

/// The time between two ticks of this kernel: what its coarse clocks are exact to (kernel/time/posix-timers.c,
/// `posix_get_coarse_res`).
pub fn tick() -> Duration {
    let tick = rustix::time::clock_getres(rustix::time::ClockId::MonotonicCoarse);
    Duration::try_from(tick).unwrap_or_default()
}

/// The thread's number and its interface's.
fn of_first_interface(threads: &[PollingThread]) -> Result<(u32, usize), String> {
    let first = threads.iter().find(|it| it.interface == INTERFACE);
    // A device that a driver of another kind made first shifts the numbers of one against those of the other.
    let only = if let [only] = threads { Some(only) } else { None };
    match first.or(only) {
        Some(it) => Ok((it.pid, it.interface)),
        None if threads.is_empty() => {
            Err("none: no thread polls, since the interface interrupts or force_kipmid is 0"
                .to_owned())
        }
        None => Err("unknown: several threads poll, and none of them is kipmi0".to_owned()),
    }
}

fn nanoseconds(source: &dyn Source, pid: u32) -> Fact<Duration> {
    source.parsed(&format!("/proc/{pid}/schedstat"), run_time)
}

fn ticks(source: &dyn Source, pid: u32) -> Fact<Duration> {
    source.parsed(&format!("/proc/{pid}/stat"), cpu_time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// A host with a thread for each name, each with that line in `schedstat`.
    fn polling(names: &[&str], schedstat: &str) -> (Polling, Option<Duration>) {
        let root = tempfile::tempdir().unwrap();
        #[expect(clippy::disallowed_methods, reason = "lays out the files of a machine")]
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("proc/version", "Linux version 6.1.0\n");
        for (pid, name) in (40..).zip(names) {
            let stat =
                format!("{pid} ({name}) S 2 0 0 0 -1 2129984 0 0 0 0 0 125 0 0 39 19 1 0 250 0 0");
            write(&format!("proc/{pid}/stat"), &stat);
            write(&format!("proc/{pid}/schedstat"), schedstat);
        }
        let source = host::Live::copy(Path::new(root.path())).unwrap();
        let polling = Polling::of(&host::view(&source), &source);
        let ran = polling.ran(&source);
        (polling, ran)
    }

    #[test]
    fn a_tick_is_between_one_and_ten_milliseconds() {
        assert!((Duration::from_millis(1)..=Duration::from_millis(10)).contains(&tick()));
    }

    #[test]
    fn the_scheduler_is_asked_before_ticks_are_counted() {
        let (polling, ran) = polling(&["kipmi1", "kipmi0"], "1500 0 7\n");
        assert_eq!(polling.about(), "kipmi0, as the scheduler accounts it");
        assert_eq!(ran, Some(Duration::from_nanos(1500)));
    }

    #[test]
    fn a_kernel_that_does_not_account_has_ticks_and_the_reason() {
        let (polling, ran) = polling(&["kipmi0"], "0 0 0\n");
        let about = polling.about();
        assert!(
            about.starts_with("kipmi0, in steps of 10 ms: /proc/40/schedstat: found"),
            "{about}"
        );
        assert_eq!(ran, Some(Duration::from_millis(1250)));
    }

    #[test]
    fn the_only_thread_is_it_whatever_its_number() {
        assert_eq!(polling(&["kipmi1"], "5 0 1").1, Some(Duration::from_nanos(5)));
        let (several, ran) = polling(&["kipmi1", "kipmi2"], "5 0 1");
        assert_eq!((several.about().starts_with("unknown: several"), ran), (true, None));
    }

    #[test]
    fn an_interface_that_nobody_polls_has_no_share_and_a_reason() {
        let (polling, ran) = polling(&["kworker/0:1"], "5 0 1");
        assert_eq!((polling.about().starts_with("none: no thread"), ran), (true, None));
    }
}
