//! Sensors that are read once, or again and again until the user has seen enough, and what happens to them: sent by the controller as
//! it happens, logged by it, or both.

use super::{News, Session};
use crate::clock::now;
use crate::interrupt::Interrupt;
use anyhow::{Result, bail};
use facts::ipmi::{Logged, Sensor, Timestamp};
use lab::ipmi::sensors::{Board, Event, Round};
use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// What has happened since the last round, each of it once.
#[derive(Default)]
pub(super) struct Events {
    /// What was sent, until the log has it.
    sent: VecDeque<Logged>,
    since: Vec<Event>,
    n_untold: u64,
}

/// More than that sent between two rounds are counted and not told: a controller that floods its host must not flood whoever
/// reads.
const MOST_SENT: usize = 64;

impl Events {
    /// Takes in what the controller sent; what to tell of it, if anything.
    pub(super) fn send(&mut self, logged: Logged, sensors: &[Sensor]) -> Option<Event> {
        if self.since.iter().filter(|it| it.is_sent).count() >= MOST_SENT {
            self.n_untold += 1;
            return None;
        }
        let event = event(&logged, true, sensors);
        self.since.push(event.clone());
        self.sent.push_back(logged);
        // Some controllers send what they do not log.
        if self.sent.len() > MOST_SENT {
            self.sent.pop_front();
        }
        Some(event)
    }

    /// Takes in what the log has, but for what was sent before.
    pub(super) fn log(&mut self, logged: &Logged, sensors: &[Sensor]) {
        match self.sent.iter().position(|it| is_same(it, logged)) {
            Some(position) => drop(self.sent.remove(position)),
            None => self.since.push(event(logged, false, sensors)),
        }
    }

    /// Takes in that so many were sent and lost.
    pub(super) fn lose(&mut self, n_events: u64) {
        self.n_untold += n_events;
    }

    /// What there was, and how much more than that.
    pub(super) fn take(&mut self) -> (Vec<Event>, u64) {
        (std::mem::take(&mut self.since), std::mem::take(&mut self.n_untold))
    }
}

/// Whether what was sent is what the log has. Some controllers set the time of an event only when they log it.
fn is_same(sent: &Logged, logged: &Logged) -> bool {
    match (sent, logged) {
        (Logged::Event { at: a, event: sent }, Logged::Event { at: b, event: logged }) => {
            let is_other_time = matches!(
                (a, b),
                (Some(Timestamp::Date(a)), Some(Timestamp::Date(b))) if a != b
            );
            sent == logged && !is_other_time
        }
        _ => sent == logged,
    }
}

/// In words, with the name of its sensor.
fn event(logged: &Logged, is_sent: bool, sensors: &[Sensor]) -> Event {
    let (at, of, what) = match logged {
        Logged::Event { at, event } => {
            let named =
                sensors.iter().find(|it| (it.owner, it.number) == (event.source, event.number));
            let unnamed = || format!("{} {:#04x}", event.sensor_type, event.number);
            (*at, named.map_or_else(unnamed, |it| it.name.clone()), event.what())
        }
        Logged::Oem { kind, at, manufacturer, data } => {
            (*at, format!("maker {manufacturer}"), unknown(*kind, data))
        }
        Logged::Other { kind, data } => (None, "unknown".to_owned(), unknown(*kind, data)),
    };
    Event { at, of, what, is_sent }
}

fn unknown(kind: u8, data: &[u8]) -> String {
    let digits: Vec<String> = data.iter().map(|it| format!("{it:02x}")).collect();
    format!("entry of kind {kind:#04x}, data {}", digits.join(" "))
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use facts::ipmi::EventLogEntry;

    /// A fan that reads too little, at that time.
    fn fan(at: u32) -> Logged {
        let [a, b, c, d] = at.to_le_bytes();
        let entry = [1, 0, 2, a, b, c, d, 0x20, 0, 4, 4, 0x31, 1, 0x52, 10, 20];
        EventLogEntry::parse_sent(&entry).unwrap().logged
    }

    #[test]
    fn what_is_sent_and_logged_is_told_once_however_often_it_happens() {
        let mut events = Events::default();
        assert!(events.send(fan(0), &[]).unwrap().is_sent);
        events.log(&fan(1_600_000_000), &[]);
        events.log(&fan(1_600_000_000), &[]);
        let (told, n_untold) = events.take();
        assert_eq!((told.len(), n_untold), (2, 0));
        assert_eq!(told[0].what, told[1].what);
        assert!(!told[1].is_sent);
    }

    #[test]
    fn what_happens_at_another_time_is_another_event() {
        let mut events = Events::default();
        events.send(fan(1_600_000_000), &[]).unwrap();
        events.take();
        events.log(&fan(1_600_000_001), &[]);
        events.log(&fan(1_600_000_000), &[]);
        assert_eq!(events.take().0.len(), 1);
    }

    #[test]
    fn a_flood_is_counted_and_the_next_round_tells_again() {
        let mut events = Events::default();
        let n_told = (0..100).filter_map(|_| events.send(fan(0), &[])).count();
        events.lose(5);
        assert_eq!((n_told, events.take().1), (MOST_SENT, 41));
        assert!(events.send(fan(0), &[]).is_some());
        assert_eq!(events.take().1, 0);
    }

    #[test]
    fn what_only_its_maker_knows_is_shown_as_it_is() {
        let entry = [1, 0, 0xc0, 0, 0x10, 0x5e, 0x5f, 0x57, 1, 0, 1, 2, 3, 4, 5, 0xff];
        let event = event(&EventLogEntry::parse_sent(&entry).unwrap().logged, true, &[]);
        assert_eq!(
            (&event.of[..], &event.what[..]),
            ("maker 343", "entry of kind 0xc0, data 01 02 03 04 05 ff")
        );
    }
}
