//! Timers that go off one after the other, for a thread that watches what an interrupt takes.
//!
//! A timerfd that nobody reads costs its interrupt and nothing else: it wakes nobody, and fires once (fs/timerfd.c).
//! Its timer goes off on the CPU that set it.

use rustix::fd::OwnedFd;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use std::time::Duration;

/// Timers that were set; those that did not go off never will once this is dropped.
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
    use super::*;

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
