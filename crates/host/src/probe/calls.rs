//! Functions that another CPU has this one run, for a thread that watches what an interrupt from there takes.
//!
//! membarrier(2), expedited: the kernel interrupts every CPU that runs a thread of this process, has it pass a memory barrier,
//! and waits until it has. That is the interrupt of any function call between CPUs (`CAL`), with next to nothing in it.

use super::anchor::raw_ns;
use super::pinned_to;
use facts::probe::Call;
use facts::{CpuSet, Fact, Missing, Why};
use rustix::thread::{MembarrierCommand, membarrier};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Does `work`, for which the calling thread must be pinned to a CPU that is not among `senders`, while a thread on one of
/// those interrupts it every `spacing` or so; what became of it, and the interrupts in their order.
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
        let sender = crate::thread::scoped(scope, "caller", WHAT, send)?;
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
}
