//! Sends interrupts to a thread that measures their cost: timers, and function calls from another CPU.

use super::pinned_to;
use crate::clock::raw_ns;
use facts::probe::Call;
use facts::{CpuSet, Fact, Missing, Why};
use rustix::fd::OwnedFd;
use rustix::thread::{MembarrierCommand, membarrier};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Does `work` while a thread on one of `senders` interrupts this CPU about every `spacing`. Gives the result and the interrupts
/// in order. The calling thread must be pinned to a CPU that is not one of `senders`.
///
/// The interrupts are those of membarrier(2), expedited: the kernel interrupts every CPU that runs a thread of this process, has it
/// execute a memory barrier, and waits for it. This is the interrupt of a function call between CPUs (`CAL`), and does almost no work.
///
/// Errors: there are no senders; no thread can be started; Linux before 4.14, or a filter of system calls.
pub fn called<T>(
    senders: &CpuSet,
    spacing: Duration,
    work: impl FnOnce() -> T,
) -> Fact<(T, Vec<Call>)> {
    if senders.is_empty() {
        return Err(Missing::not_here(WHAT, "there is no other CPU to send one from"));
    }
    barrier(MembarrierCommand::RegisterPrivateExpedited)?;
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let send = || pinned_to(senders, || calls(spacing, &is_done));
        let sender = crate::process::scoped_thread(scope, "caller", WHAT, send)?;
        // Also where the work panics, as the scope waits for the sender.
        let ending = Ending(&is_done);
        let done = work();
        drop(ending);
        let sent = sender.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok((done, sent??))
    })
}

const WHAT: &str = "the cost of an interrupt that another CPU sends";

/// Ends the sender when it is dropped.
struct Ending<'a>(&'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn calls(spacing: Duration, is_done: &AtomicBool) -> Fact<Vec<Call>> {
    let mut calls = Vec::new();
    while !is_done.load(Ordering::Relaxed) {
        let asked_ns = raw_ns();
        barrier(MembarrierCommand::PrivateExpedited)?;
        calls.push(Call { asked_ns, answered_ns: raw_ns() });
        std::thread::sleep(spacing);
    }
    Ok(calls)
}

fn barrier(command: MembarrierCommand) -> Fact<()> {
    let failed =
        |error| Missing { what: WHAT.to_owned(), why: Why::Failed(format!("membarrier: {error}")) };
    membarrier(command).map_err(failed)
}

/// Timers that expire one after the other on the CPU that set them. Dropping them cancels the rest.
///
/// A timerfd that no process reads costs its interrupt only: it wakes no task, and expires once (fs/timerfd.c).
#[derive(Debug)]
pub struct Timers {
    _timers: Vec<OwnedFd>,
}

impl Timers {
    /// Sets `count` timers, `spacing` apart, on the CPU that the calling thread runs on; fewer where the process may have
    /// no more open files.
    pub fn set(count: u32, spacing: Duration) -> Timers {
        let timers = (1..=count).map_while(|number| timer(spacing.saturating_mul(number)));
        Timers { _timers: timers.collect() }
    }
}

fn timer(from_here: Duration) -> Option<OwnedFd> {
    let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC).ok()?;
    let once = Itimerspec {
        it_interval: Timespec::default(),
        it_value: Timespec::try_from(from_here).ok()?,
    };
    timerfd_settime(&timer, TimerfdTimerFlags::empty(), &once).ok()?;
    Some(timer)
}

#[cfg(test)]
mod tests {
    use super::super::{Watch, allowed, pinned, spin};
    use super::*;

    #[test]
    fn a_watched_cpu_is_interrupted_from_elsewhere_or_says_why_not() {
        let cpus = allowed().unwrap();
        let cpu = cpus.iter().next().unwrap();
        let others = cpus.minus(&[cpu].into_iter().collect());
        let watch = Watch { length: Duration::from_millis(20), room: 20_000 };
        let work = || spin(watch, &AtomicBool::new(false)).unwrap();
        let found = pinned(cpu, || called(&others, Duration::from_micros(250), work)).unwrap();
        if others.is_empty() {
            let why = found.unwrap_err().to_string();
            assert!(why.contains("no other CPU"), "{why}");
            return;
        }
        let (gaps, calls) = found.unwrap();
        assert_eq!(gaps.cpu, cpu);
        // Where others keep the sender from running, it may have sent none.
        assert!(calls.iter().all(|it| it.asked_ns <= it.answered_ns), "{calls:?}");
        assert!(calls.is_sorted_by(|one, next| one.answered_ns <= next.asked_ns), "{calls:?}");
    }

    #[test]
    fn every_timer_goes_off_once() {
        let Timers { _timers: timers } = Timers::set(3, Duration::from_millis(1));
        assert_eq!(timers.len(), 3);
        for timer in timers {
            let mut count = [0u8; 8];
            // Reading a timer waits until it goes off.
            rustix::io::read(&timer, &mut count).unwrap();
            assert_eq!(u64::from_ne_bytes(count), 1);
        }
    }
}
