//! Two threads that wake each other in turn.
//!
//! Parking and unparking a thread is futex(2) without any spinning before, so that each handover is a sleep and a
//! wake-up by the kernel: what a session and a log writer do with each other.

use super::WORKLOAD;
use super::now;
use crate::failure::Failure;
use crate::threads::{Timed, on, start, timed};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Thread, current, park};

/// Plays `rounds` rounds between two threads, on those CPUs or wherever the scheduler puts them. The first thread's
/// answer is how long each round trip took, in nanoseconds; the second's is empty.
pub(super) fn play(
    cpus: Option<[u32; 2]>,
    rounds: u64,
    stop: &AtomicBool,
) -> Result<[Timed<Vec<u64>>; 2], Failure> {
    let table = Table::default();
    let here = current();
    std::thread::scope(|scope| {
        let (table, here) = (&table, &here);
        let pong = move || {
            let _leaving = Leaving { table, other: here };
            on_cpu(cpus.map(|[_, second]| second), || timed(|| pong(table, here)))
        };
        let pong = start(scope, "pong", pong)?;
        let ping = {
            let other = pong.thread();
            let _leaving = Leaving { table, other };
            on_cpu(cpus.map(|[first, _]| first), || timed(|| ping(table, other, rounds, stop)))
        };
        let pong = pong.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        let ping = ping?;
        check(rounds, ping.answer.len() as u64, pong.answer, stop)?;
        Ok([ping, Timed { answer: Vec::new(), elapsed_ns: pong.elapsed_ns, cpu_ns: pong.cpu_ns }])
    })
}

fn on_cpu<T>(cpu: Option<u32>, work: impl FnOnce() -> T) -> Result<T, Failure> {
    match cpu {
        Some(cpu) => on(cpu, work),
        None => Ok(work()),
    }
}

/// Whose turn it is, and whether one of the two has left.
#[derive(Default)]
struct Table {
    is_pongs_turn: AtomicBool,
    is_over: AtomicBool,
}

impl Table {
    /// Gives the turn to the other.
    fn pass(&self, is_pongs_turn: bool, other: &Thread) {
        self.is_pongs_turn.store(is_pongs_turn, Ordering::Release);
        other.unpark();
    }

    /// Sleeps until it is this one's turn; whether the other is still there.
    fn wait(&self, is_pong: bool) -> bool {
        loop {
            if self.is_pongs_turn.load(Ordering::Acquire) == is_pong {
                return true;
            }
            if self.is_over.load(Ordering::Acquire) {
                return false;
            }
            park();
        }
    }
}

/// Wakes the other player when one leaves, however it leaves, so that neither sleeps for ever.
struct Leaving<'a> {
    table: &'a Table,
    other: &'a Thread,
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.table.is_over.store(true, Ordering::Release);
        self.other.unpark();
    }
}

fn ping(table: &Table, other: &Thread, rounds: u64, stop: &AtomicBool) -> Vec<u64> {
    let mut round_trips_ns = Vec::new();
    // The first round is for the other to come to the table.
    for round in 0..=rounds {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let began = now();
        table.pass(true, other);
        if !table.wait(false) {
            break;
        }
        let took_ns = now().saturating_sub(began).as_nanos();
        if round > 0 {
            round_trips_ns.push(u64::try_from(took_ns).unwrap_or(u64::MAX));
        }
    }
    round_trips_ns
}

/// How many turns it had.
fn pong(table: &Table, other: &Thread) -> u64 {
    let mut turns = 0;
    while table.wait(true) {
        turns += 1;
        table.pass(false, other);
    }
    turns
}

fn check(rounds: u64, played: u64, turns: u64, stop: &AtomicBool) -> Result<(), Failure> {
    if stop.load(Ordering::Relaxed) {
        return Err(Failure::Stopped);
    }
    // The second thread also had the first round, which counts for nothing else.
    let expected = rounds.saturating_add(1);
    if played == rounds && turns == expected {
        return Ok(());
    }
    Err(Failure::WrongAnswer {
        workload: WORKLOAD.id,
        found: format!("{played} round trips and {turns} turns"),
        expected: format!("{rounds} and {expected}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::probe::allowed;

    #[test]
    fn every_round_is_played_wherever_the_two_sit() {
        let cpus = allowed().unwrap();
        let (first, last) = (cpus.first().unwrap(), cpus.last().unwrap());
        for cpus in [None, Some([first, last]), Some([last, last])] {
            let [ping, pong] = play(cpus, 50, &AtomicBool::new(false)).unwrap();
            assert_eq!((ping.answer.len(), pong.answer.len()), (50, 0));
        }
    }

    #[test]
    fn a_player_who_cannot_come_keeps_nobody_waiting() {
        let here = allowed().unwrap().first().unwrap();
        for cpus in [[here, 8000], [8000, here]] {
            let failure = play(Some(cpus), 50, &AtomicBool::new(false)).unwrap_err().to_string();
            assert!(failure.contains("CPU 8000"), "{failure}");
        }
    }

    #[test]
    fn a_user_who_wants_to_stop_ends_the_game() {
        let stopped = play(None, 1_000_000, &AtomicBool::new(true));
        assert!(matches!(stopped, Err(Failure::Stopped)));
    }

    #[test]
    fn a_lost_wake_up_is_told_loudly() {
        let text = check(5, 5, 5, &AtomicBool::new(false)).unwrap_err().to_string();
        assert!(
            text.starts_with(
                "WRONG ANSWER: wakeup computed 5 round trips and 5 turns, and 5 and 6"
            ),
            "{text}"
        );
    }
}
