//! Where a screen's readings come from: a thread that samples this machine, or one that plays a recording.
//!
//! The screen never waits for a sample: both threads send what they have, and are told what to do in between.

use crate::config;
use crate::tui::{Effect, Feed, Findings};
use anyhow::Result;
use engine::clock::since_1970;
use engine::sampling::{Replay, Watched};
use host::Live;
use rules::config::Config;
use rules::watch::{Probing, Reading};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// What a thread sends to the screen.
pub(super) enum News {
    /// An interval is over.
    Reading(Arc<Reading>),
    /// What an audit found.
    Audited(Arc<Findings>),
    /// The feed is another one.
    Feed(Feed),
    /// Something that has to be said.
    Notice(String),
}

/// Samples until nobody listens any more, and closes the recording.
pub(super) fn sample(
    mut watched: Watched,
    effects: &Receiver<Effect>,
    mut tell: impl FnMut(News) -> bool,
) -> Result<()> {
    loop {
        match effects.recv_timeout(watched.left()) {
            Ok(Effect::Probe(probing)) => watched.probing = probing,
            Ok(_) => {}
            Err(RecvTimeoutError::Timeout) => {
                if !tell(News::Reading(Arc::new(watched.sample()))) {
                    break;
                }
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    Ok(watched.finish()?)
}

/// An audit reads the whole host, a second of a large one, and what it looks at rarely changes.
const BETWEEN_AUDITS: Duration = Duration::from_secs(60);

/// Audits this machine now and then until nobody listens any more, on a thread of its own: neither samples nor the screen wait for
/// it. The management controller is left alone.
pub(super) fn audit(stop: &Receiver<()>, config: &Config, mut tell: impl FnMut(News) -> bool) {
    loop {
        let source = Live::this_machine();
        let mut host = host::view(&source);
        let today = config::today(since_1970());
        let audit = engine::advised::audit_of_site(&source, &mut host, config, &today);
        let findings = Findings::of("this machine", &host, &audit);
        let is_heard = tell(News::Audited(Arc::new(findings)));
        if !is_heard || stop.recv_timeout(BETWEEN_AUDITS) != Err(RecvTimeoutError::Timeout) {
            return;
        }
    }
}

/// The feed of this machine, as the title of the screen has it.
pub(super) fn of_machine(interval: Duration, probing: Probing) -> Feed {
    Feed::Live { interval: format!("{interval:?}"), probing }
}

/// The feed of a recording at its beginning.
pub(super) const OF_RECORDING: Feed = Feed::Replay { paused: false, speed: 1.0, ended: false };

/// Recordings have gaps of hours, where the machine slept: nobody waits for those.
const LONGEST: Duration = Duration::from_secs(10);

/// Plays a recording until nobody listens any more.
pub(super) struct Player<T> {
    replay: Replay,
    paused: bool,
    speed: f64,
    ended: bool,
    tell: T,
}

impl<T: FnMut(News) -> bool> Player<T> {
    pub(super) fn new(replay: Replay, tell: T) -> Player<T> {
        Player { replay, paused: false, speed: 1.0, ended: false, tell }
    }

    /// Shows what an audit of the recorded host finds.
    fn audit(&mut self) -> bool {
        let (host, audit) = self.replay.audit();
        let findings = Findings::of("the recorded machine", host, &audit);
        (self.tell)(News::Audited(Arc::new(findings)))
    }

    /// Shows one interval after the other, each for as long as it was; the first one at once.
    pub(super) fn play(mut self, effects: &Receiver<Effect>) {
        if !self.audit() {
            return;
        }
        let mut pause = Duration::ZERO;
        loop {
            let effect = if self.paused || self.ended {
                effects.recv().map_err(|_| RecvTimeoutError::Disconnected)
            } else {
                effects.recv_timeout(pause)
            };
            let goes_on = match effect {
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => self.step(&mut pause),
                Ok(Effect::Step) => {
                    self.paused = true;
                    self.step(&mut pause) && self.say()
                }
                Ok(Effect::Pause) => {
                    self.paused = !self.paused;
                    self.say()
                }
                Ok(Effect::Speed(speed)) => {
                    self.speed = speed;
                    self.say()
                }
                Ok(Effect::Restart) => self.restart(&mut pause),
                Ok(Effect::None | Effect::Quit | Effect::Probe(_)) => true,
            };
            if !goes_on {
                return;
            }
        }
    }

    /// Shows the next interval, and says how long it stays.
    fn step(&mut self, pause: &mut Duration) -> bool {
        let Some(reading) = self.replay.reading() else {
            self.ended = true;
            let damage = self.replay.damage().join("; ");
            return self.say() && (damage.is_empty() || (self.tell)(News::Notice(damage)));
        };
        let elapsed = Duration::from_nanos(*reading.elapsed_ns.as_ref().unwrap_or(&0));
        *pause = elapsed.div_f64(self.speed).min(LONGEST);
        (self.tell)(News::Reading(Arc::new(reading)))
    }

    fn restart(&mut self, pause: &mut Duration) -> bool {
        *pause = Duration::ZERO;
        match self.replay.restart() {
            Ok(()) => {
                self.ended = false;
                self.say()
            }
            Err(error) => (self.tell)(News::Notice(format!("{error:#}"))),
        }
    }

    fn say(&mut self) -> bool {
        let Player { paused, speed, ended, .. } = *self;
        (self.tell)(News::Feed(Feed::Replay { paused, speed, ended }))
    }
}
