//! Sensors that are read once, or again and again until the user has seen enough.

use super::{News, Session};
use crate::clock::now;
use crate::interrupt::Interrupt;
use anyhow::{Result, bail};
use lab::ipmi::sensors::{Board, Round};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// What is heard of sensors.
pub enum Heard<'a> {
    /// All of them were read.
    Round(Board<'a>, Round),
    /// Something came by itself between two rounds.
    News(News),
}

/// How often sensors are read.
pub enum Rounds {
    /// Once; a controller that does not answer is an error.
    Once,
    /// Again and again. This outlives a controller that hangs or starts anew, and a driver that is loaded anew.
    Every {
        /// The time between the beginnings of two rounds.
        interval: Duration,
        /// How many; without it they end with the user's wish.
        count: Option<u64>,
    },
}

/// Between two rounds, however short their interval is: events are heard then, and others may ask, too.
const REST: Duration = Duration::from_millis(50);

/// How often the wish to stop is looked at.
const LOOK: Duration = Duration::from_millis(200);

impl Session<'_> {
    /// Reads the sensors in rounds and tells what they read, until all rounds are over or the user wants to stop.
    ///
    /// Errors: that of `told`; where they are read once, the controller's.
    pub fn run(
        &mut self,
        rounds: &Rounds,
        interrupt: &Interrupt,
        told: &mut dyn FnMut(Heard<'_>) -> Result<()>,
    ) -> Result<()> {
        let is_over = || interrupt.flag().load(Ordering::Relaxed);
        for n in 1.. {
            let began = now();
            let round = self.round();
            if is_over() {
                break;
            }
            let Rounds::Every { interval, count } = rounds else {
                if let Err(why) = &round.found {
                    bail!("{why}");
                }
                return told(Heard::Round(self.board(), round));
            };
            told(Heard::Round(self.board(), round))?;
            if Some(n) == *count {
                break;
            }
            let due = (began + *interval).max(now() + REST);
            while !is_over() && now() < due {
                if let Some(news) = self.wait(due.saturating_duration_since(now()).min(LOOK)) {
                    told(Heard::News(news))?;
                }
            }
        }
        Ok(())
    }
}
