//! What the sensors of a controller read, and what happens to them: the controller is asked again and again, lost, and found
//! again.

mod events;

pub use events::{Heard, Rounds};

use crate::clock::since_1970_ns;
use anyhow::Result;
use events::Events;
use facts::HostView;
use facts::ipmi::{DeviceId, EventLogEntry, Threshold};
use host::ipmi::{Controller, EventLog, Failure, Patience, Sensors};
use lab::ipmi::sensors::{Board, Event, Line, Round};
use std::path::PathBuf;
use std::time::Duration;

/// What is asked of a controller.
pub struct Wanted<'a> {
    /// Where the sensor records are kept.
    pub folder: Option<PathBuf>,
    /// The thresholds of each sensor, too.
    pub thresholds: bool,
    /// The whole log, not only what is new in it.
    pub log: bool,
    /// To be asked more than once, and to send events.
    pub is_watch: bool,
    /// How long it may take over an answer.
    pub patience: Patience<'a>,
}

/// What came by itself.
pub struct News {
    /// When, in nanoseconds since 1970.
    pub at_ns: u64,
    /// What it is.
    pub event: Event,
}

/// A controller whose sensors are known.
pub struct Session<'a> {
    open: Opening<'a>,
    wanted: Wanted<'a>,
    /// None while it is lost.
    controller: Option<Controller>,
    sensors: Sensors,
    /// By the place of their sensor; empty until they were asked for.
    thresholds: Vec<Vec<(Threshold, f64)>>,
    /// The device, and what the controller says of itself.
    name: String,
    /// None where nobody wants it, and where the controller has none.
    log: Option<EventLog>,
    events: Events,
}

type Opening<'a> = Box<dyn Fn() -> Result<Controller, lab::failure::Failure> + 'a>;

impl<'a> Session<'a> {
    /// Opens this machine's controller and learns which sensors there are.
    ///
    /// Errors: there is none, or it does not answer.
    pub fn begin(host: &'a HostView, wanted: Wanted<'a>) -> Result<Session<'a>> {
        Session::of(Box::new(move || lab::ipmi::open(host)), wanted)
    }

    fn of(open: Opening<'a>, wanted: Wanted<'a>) -> Result<Session<'a>> {
        let patience = wanted.patience;
        let mut controller = open()?;
        let id = controller.ask(&DeviceId::question(), patience.anew())?;
        let sensors = Sensors::learn(&mut controller, wanted.folder.as_deref(), patience)?;
        let log = match (wanted.log, wanted.is_watch) {
            (true, _) => Some(EventLog::at_start(&mut controller, patience)?),
            (false, true) => match EventLog::at_end(&mut controller, patience) {
                // Not every controller has one.
                Err(Failure::Unanswered { .. }) => None,
                log => Some(log?),
            },
            (false, false) => None,
        };
        if wanted.is_watch {
            controller.want_events()?;
        }
        let name = format!("{}: {id}", controller.path());
        Ok(Session {
            open,
            wanted,
            controller: Some(controller),
            name,
            sensors,
            thresholds: Vec::new(),
            log,
            events: Events::default(),
        })
    }

    fn board(&self) -> Board<'_> {
        Board { name: &self.name, origin: &self.sensors.origin }
    }

    /// Reads all sensors, and what is new in the log. A controller that does not answer is opened anew by the next round.
    fn round(&mut self) -> Round {
        let at_ns = since_1970_ns();
        let found = self.asked();
        let took = Duration::from_nanos(since_1970_ns().saturating_sub(at_ns));
        let (events, n_untold) = self.events.take();
        Round { at_ns, took, found: found.map_err(|why| format!("{why:#}")), events, n_untold }
    }

    fn asked(&mut self) -> Result<Vec<Line>> {
        let mut controller = match self.controller.take() {
            Some(controller) => controller,
            None => {
                let mut controller = (self.open)()?;
                controller.want_events()?;
                controller
            }
        };
        let lines = self.lines(&mut controller)?;
        self.controller = Some(controller);
        Ok(lines)
    }

    fn lines(&mut self, controller: &mut Controller) -> Result<Vec<Line>> {
        let patience = self.wanted.patience;
        if self.sensors.revalidate(controller, self.wanted.folder.as_deref(), patience)? {
            self.thresholds.clear();
        }
        if self.wanted.thresholds && self.thresholds.is_empty() {
            self.thresholds = self.sensors.thresholds(controller, patience)?;
        }
        let measured = self.sensors.read(controller, patience)?;
        if let Some(log) = &mut self.log {
            for entry in log.news(controller, patience)? {
                self.events.log(&entry.logged, &self.sensors.sensors);
            }
        }
        let with_sensor = self.sensors.sensors.iter().zip(measured).enumerate();
        let lines = with_sensor.map(|(index, (sensor, measured))| {
            let thresholds = self.thresholds.get(index).cloned().unwrap_or_default();
            Line { sensor: sensor.clone(), measured, thresholds }
        });
        Ok(lines.collect())
    }

    /// Waits for an event, at most that long.
    fn wait(&mut self, time: Duration) -> Option<News> {
        let Some(controller) = &mut self.controller else {
            std::thread::sleep(time);
            return None;
        };
        let came = controller.event(time);
        self.events.lose(controller.dropped_events());
        match came {
            Ok(came) => {
                let EventLogEntry { logged, .. } = came?;
                let event = self.events.send(logged, &self.sensors.sensors)?;
                Some(News { at_ns: since_1970_ns(), event })
            }
            Err(_) => {
                // The next round finds out what it is.
                self.controller = None;
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::ipmi::{Arrived, Asked, Carrier, Kind};
    use rustix::io::Errno;
    use std::cell::RefCell;
    use std::collections::VecDeque;
    use std::rc::Rc;
    use std::sync::atomic::AtomicBool;

    static NEVER: AtomicBool = AtomicBool::new(false);

    /// A controller with one sensor, a temperature.
    #[derive(Default)]
    struct Bmc {
        /// What it was asked for, by command.
        asked: Vec<u8>,
        arriving: VecDeque<Arrived>,
        log: Vec<[u8; 16]>,
        /// When its records changed last.
        changed: u8,
        has_no_log: bool,
        /// Its driver has gone.
        is_gone: bool,
    }

    impl Bmc {
        fn answer(&mut self, command: u8, data: &[u8]) -> Vec<u8> {
            let n_entries = u8::try_from(self.log.len()).unwrap();
            match command {
                0x01 => vec![0, 0x20, 1, 1, 0, 2, 0xbf, 0, 0, 0, 0, 0],
                0x08 => [&[0][..], &[0x5a; 16]].concat(),
                0x20 => vec![0, 0x51, 1, 0, 0, 1, self.changed, 0, 0, 0x60, 0, 0, 0, 0, 0],
                0x22 => vec![0, 1, 0],
                0x23 => [&[0, 0xff, 0xff][..], &record()].concat(),
                0x27 => vec![0, 0x10, 0, 0, 0, 0, 90, 0],
                0x2d => vec![0, 21, 0xc0, 0xc0],
                0x40 if self.has_no_log => vec![0xc1],
                0x40 => [&[0, 0x51, n_entries, 0, 0, 1], &[0xff; 8][..], &[0]].concat(),
                0x43 => self.entry(data[2]),
                _ => vec![0xc1],
            }
        }

        /// The entry of that number; 0 is the first and 255 the last.
        fn entry(&self, id: u8) -> Vec<u8> {
            let position = match id {
                0 => Some(0),
                0xff => self.log.len().checked_sub(1),
                id => self.log.iter().position(|it| it[0] == id),
            };
            let Some(entry) = position.and_then(|it| self.log.get(it)) else { return vec![0xcb] };
            let next = position.and_then(|it| self.log.get(it + 1));
            let next = next.map_or([0xff; 2], |it| [it[0], 0]);
            [&[0][..], &next, entry].concat()
        }

        fn send(&mut self, event: [u8; 16]) {
            let (function, command) = (4, 2);
            let data = event.to_vec();
            self.arriving.push_back(Arrived {
                kind: Kind::Event,
                number: 0,
                function,
                command,
                data,
            });
        }
    }

    fn record() -> Vec<u8> {
        let header = [1, 0, 0x51, 1, 44];
        let who = [0x20, 0, 1, 3, 1, 0x7f, 0x68, 1, 1, 0, 0, 0, 0, 0x10, 0];
        let scale = [0, 1, 0, 0, 2, 0, 0, 0, 0, 0, 0];
        [&header[..], &who, &scale, &[0; 16], b"\xc1T"].concat()
    }

    /// The temperature is too high, as the entry of that number says.
    fn event(id: u8) -> [u8; 16] {
        [id, 0, 2, 0, 0, 0, 0x60, 0x20, 0, 4, 1, 1, 1, 0x59, 96, 90]
    }

    struct Wire(Rc<RefCell<Bmc>>);

    impl Carrier for Wire {
        fn send(&mut self, asked: &Asked<'_>) -> Result<(), Errno> {
            let mut bmc = self.0.borrow_mut();
            bmc.asked.push(asked.command);
            let answer = asked.answer(bmc.answer(asked.command, asked.data));
            bmc.arriving.push_back(answer);
            Ok(())
        }

        fn receive(&mut self, _: Duration) -> Result<Option<Arrived>, Errno> {
            let mut bmc = self.0.borrow_mut();
            if bmc.is_gone { Err(Errno::NODEV) } else { Ok(bmc.arriving.pop_front()) }
        }
    }

    fn session(bmc: &Rc<RefCell<Bmc>>, log: bool) -> Result<Session<'static>> {
        let wire = Rc::clone(bmc);
        let open = move || {
            let carrier = Box::new(Wire(Rc::clone(&wire)));
            Ok(Controller::behind("/dev/x".to_owned(), carrier))
        };
        let patience = Patience::begin(Duration::from_secs(60), &NEVER);
        let wanted = Wanted { folder: None, thresholds: true, log, is_watch: true, patience };
        Session::of(Box::new(open), wanted)
    }

    fn values(round: &Round) -> Vec<f64> {
        let lines = round.found.as_ref().unwrap();
        lines.iter().filter_map(|it| it.measured.as_ref().unwrap().value).collect()
    }

    #[test]
    fn thresholds_are_asked_for_once_until_the_records_change() {
        let bmc = Rc::default();
        let mut session = session(&bmc, false).unwrap();
        let n_asked = || bmc.borrow().asked.iter().filter(|it| **it == 0x27).count();
        let first = session.round();
        assert_eq!(values(&first), [42.0]);
        assert_eq!(first.found.unwrap()[0].thresholds.len(), 1);
        assert_eq!(session.round().found.unwrap()[0].thresholds.len(), 1);
        assert_eq!(n_asked(), 1);
        bmc.borrow_mut().changed = 1;
        session.round();
        assert_eq!(n_asked(), 2);
        assert_eq!(session.board().origin.why, "they have changed since");
    }

    #[test]
    fn a_controller_that_goes_is_told_of_and_found_again() {
        let bmc = Rc::default();
        let mut session = session(&bmc, false).unwrap();
        bmc.borrow_mut().is_gone = true;
        assert!(session.wait(Duration::ZERO).is_none());
        let why = session.round().found.err().unwrap();
        assert!(why.starts_with("/dev/x"), "{why}");
        assert!(session.wait(Duration::ZERO).is_none());
        bmc.borrow_mut().is_gone = false;
        bmc.borrow_mut().arriving.clear();
        assert_eq!(values(&session.round()), [42.0]);
    }

    #[test]
    fn what_is_sent_is_told_at_once_and_not_again_when_the_log_has_it() {
        let bmc = Rc::default();
        let mut session = session(&bmc, false).unwrap();
        bmc.borrow_mut().send(event(1));
        let news = session.wait(Duration::ZERO).unwrap();
        assert_eq!((&news.event.of[..], news.event.is_sent), ("T", true));
        bmc.borrow_mut().log.push(event(1));
        let told: Vec<bool> = session.round().events.iter().map(|it| it.is_sent).collect();
        assert_eq!(told, [true]);
        bmc.borrow_mut().log.push(event(2));
        let told: Vec<bool> = session.round().events.iter().map(|it| it.is_sent).collect();
        assert_eq!(told, [false]);
    }

    #[test]
    fn only_who_asks_for_the_log_hears_that_there_is_none() {
        let bmc: Rc<RefCell<Bmc>> = Rc::default();
        bmc.borrow_mut().has_no_log = true;
        let why = session(&bmc, true).err().unwrap().to_string();
        assert!(why.contains("Get SEL Info"), "{why}");
        assert_eq!(session(&bmc, false).unwrap().round().events, []);
    }
}
