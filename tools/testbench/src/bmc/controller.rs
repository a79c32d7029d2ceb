//! What a management controller answers; commands are those of IPMI 2.0, appendix G.

use super::power::BoardPower;
use super::records::Sensor;
use super::wire::{
    DONE, INVALID_COMMAND, NOT_PRESENT, OUT_OF_RANGE, RESERVATION_LOST, Request, WRONG_LENGTH,
};
use std::time::Duration;

/// What it knows from one question to the next.
#[derive(Debug)]
pub(super) struct Controller {
    n_sensors: u8,
    /// When its sensor records changed last, in seconds since 1970.
    changed: u32,
    /// The reservation that is valid; the first is 1.
    reservation: u16,
    log: Vec<[u8; 16]>,
    /// How many events it has for whoever asks.
    n_events: u16,
    /// How many questions programs asked it since somebody wanted to know.
    n_questions: u32,
    power: BoardPower,
    /// What is wrong with its answers, and with how many more.
    fault: Option<(Fault, u8)>,
}

/// What the kernel's driver asks by itself, once a second while a program wants events, as `ipmitool` does: Set and Get
/// Global Enables, Get Message Flags, Read Event Message Buffer (drivers/char/ipmi/ipmi_si_intf.c, `smi_event_handler`).
const DRIVERS_OWN: [(u8, u8); 4] = [(6, 0x2e), (6, 0x2f), (6, 0x31), (6, 0x35)];

/// What can be wrong with an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// There is none.
    Hang,
    /// It is a completion code without data.
    Short,
    /// It has twenty bytes more.
    Long,
    /// It is damaged on its way.
    Checksum,
    /// It answers another question.
    Another,
    /// Whoever is to answer starts anew.
    Reset,
}

/// By their numbers, from 1 on.
const FAULTS: [Fault; 6] =
    [Fault::Hang, Fault::Short, Fault::Long, Fault::Checksum, Fault::Another, Fault::Reset];

/// An answer: completion code and data, and what is wrong with it.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) data: Vec<u8>,
    pub(super) fault: Option<Fault>,
    /// Whether it has events to be fetched: the interface says so to the machine.
    pub(super) has_events: bool,
}

/// Its maker's function, by which tests tell it what to do.
const MAKER: u8 = 0x30;

/// 2020-09-13.
const MADE: u32 = 1_600_000_000;

impl Controller {
    pub(super) fn new() -> Controller {
        Controller {
            n_sensors: 200,
            changed: MADE,
            reservation: 0,
            log: Vec::new(),
            n_events: 0,
            n_questions: 0,
            power: BoardPower::default(),
            fault: None,
        }
    }

    /// Answers a question.
    pub(super) fn answer(&mut self, request: &Request) -> Answer {
        let data = self.data(request).unwrap_or_else(|code| vec![code]);
        let fault = if is_of_program(request) { self.next_fault() } else { None };
        let data = match fault {
            Some(Fault::Short) => vec![DONE],
            Some(Fault::Long) => [&data[..], &[0; 20]].concat(),
            _ => data,
        };
        Answer { data, fault, has_events: self.n_events > 0 }
    }

    fn next_fault(&mut self) -> Option<Fault> {
        let (fault, left) = self.fault?;
        self.fault = left.checked_sub(1).filter(|it| *it > 0).map(|left| (fault, left));
        Some(fault)
    }

    /// Completion code and data; or a completion code without.
    fn data(&mut self, request: &Request) -> Result<Vec<u8>, u8> {
        let asked = request.data();
        if is_of_program(request) {
            self.n_questions += 1;
        }
        let done = |data: &[u8]| Ok([&[DONE], data].concat());
        match request.asks() {
            // Get Device ID: device 0x20 revision 1, firmware 1.0, IPMI 2.0, the functions of a controller,
            // made by no one in particular.
            (6, 0x01) => done(&[0x20, 1, 1, 0, 2, 0xbf, 0, 0, 0, 0, 0]),
            // Get Device GUID.
            (6, 0x08) => done(&[0x5a; 16]),
            // Reset and Set Watchdog Timer; Set and Get Global Enables; Get Message Flags, of which one is that there is an event.
            (6, 0x22 | 0x24 | 0x2e) => done(&[]),
            (6, 0x2f) => done(&[0]),
            (6, 0x31) => done(&[if self.n_events > 0 { 2 } else { 0 }]),
            // Read Event Message Buffer: the last of them is the one that the log has.
            (6, 0x35) => {
                self.n_events = self.n_events.checked_sub(1).ok_or(0x80)?;
                done(&entry(self.n_events, self.changed))
            }
            // Get Sensor Thresholds, and Reading.
            (4, 0x27) => done(&self.sensor(asked)?.thresholds().ok_or(NOT_PRESENT)?),
            (4, 0x2d) => done(&self.sensor(asked)?.reading()),
            // Get SDR Repository Info.
            (0x0a, 0x20) => {
                let info =
                    [&[0x51, self.n_sensors, 0, 0xff, 0xff], &self.changed.to_le_bytes()[..]];
                done(&[&info.concat()[..], &[0; 4], &[2]].concat())
            }
            // Reserve SDR Repository.
            (0x0a, 0x22) => {
                self.reservation += 1;
                done(&self.reservation.to_le_bytes())
            }
            // Get SDR.
            (0x0a, 0x23) => self.record(asked),
            // Get SEL Info, and Entry.
            (0x0a, 0x40) => {
                let [low, high, ..] = self.log.len().to_le_bytes();
                let added = MADE + u32::from(low);
                let info = [&[0x51, low, high, 0, 0x10], &added.to_le_bytes()[..], &[0; 4], &[0]];
                done(&info.concat())
            }
            (0x0a, 0x43) => self.logged(asked),
            // DCMI: a group of commands.
            (0x2c, command) => {
                self.power.answer(command, asked).map(|data| [&[DONE], &data[..]].concat())
            }
            (MAKER, command) => self.command(command, asked),
            _ => Err(INVALID_COMMAND),
        }
    }

    fn sensor(&self, asked: &[u8]) -> Result<Sensor, u8> {
        match *asked {
            [number] if (1..=self.n_sensors).contains(&number) => Ok(Sensor(number)),
            [_] => Err(NOT_PRESENT),
            _ => Err(WRONG_LENGTH),
        }
    }

    /// The number of the record after the one that is asked for, and that one's bytes; or a completion code.
    fn record(&self, asked: &[u8]) -> Result<Vec<u8>, u8> {
        const ALL_OF_IT: u8 = 0xff;
        let &[low, high, number_low, number_high, offset, count] = asked else {
            return Err(WRONG_LENGTH);
        };
        // Only who reads a record in parts needs a reservation (section 33.12).
        if offset > 0 && u16::from_le_bytes([low, high]) != self.reservation {
            return Err(RESERVATION_LOST);
        }
        let number = numbered([number_low, number_high], self.n_sensors.into())?;
        let sensor = u8::try_from(number).map(Sensor).map_err(|_| NOT_PRESENT)?;
        let record = sensor.record(number);
        let rest = record.get(usize::from(offset)..).ok_or(OUT_OF_RANGE)?;
        let count = if count == ALL_OF_IT { rest.len() } else { usize::from(count) };
        let bytes = rest.get(..count).ok_or(OUT_OF_RANGE)?;
        let next = next(number, self.n_sensors.into());
        Ok([&[DONE][..], &next.to_le_bytes(), bytes].concat())
    }

    fn logged(&self, asked: &[u8]) -> Result<Vec<u8>, u8> {
        let &[_, _, low, high, 0, 0xff] = asked else { return Err(WRONG_LENGTH) };
        let n_entries = u16::try_from(self.log.len()).unwrap_or(LAST);
        let number = numbered([low, high], n_entries)?;
        let entry = self.log.get(usize::from(number) - 1).ok_or(NOT_PRESENT)?;
        Ok([&[DONE][..], &next(number, n_entries).to_le_bytes(), entry].concat())
    }

    /// What a test wants of it.
    fn command(&mut self, command: u8, asked: &[u8]) -> Result<Vec<u8>, u8> {
        match (command, asked) {
            // The next answers are wrong in that way.
            (1, &[fault, count]) => {
                let fault = fault.checked_sub(1).and_then(|it| FAULTS.get(usize::from(it)));
                self.fault = Some((*fault.ok_or(OUT_OF_RANGE)?, count));
                Ok(vec![DONE])
            }
            // How many questions were there?
            (2, []) => {
                let n_questions = std::mem::take(&mut self.n_questions);
                Ok([&[DONE], &n_questions.to_be_bytes()[..]].concat())
            }
            // There is one sensor more.
            (3, []) => {
                self.n_sensors += 1;
                self.changed += 1;
                Ok(vec![DONE])
            }
            // Something is logged.
            (4, []) => {
                let number = u16::try_from(self.log.len()).map_err(|_| OUT_OF_RANGE)?;
                self.log.push(entry(number, MADE));
                Ok(vec![DONE])
            }
            // So many events come by themselves.
            (5, &[low, high]) => {
                self.n_events = u16::from_le_bytes([low, high]);
                Ok(vec![DONE])
            }
            // The board may draw so many watts; 0 for as much as it likes. And it draws so many.
            (6, &[low, high]) => {
                self.power.limit(u16::from_le_bytes([low, high]));
                Ok(vec![DONE])
            }
            (7, &[low, high]) => {
                self.power.draw(u16::from_le_bytes([low, high]));
                Ok(vec![DONE])
            }
            _ => Err(INVALID_COMMAND),
        }
    }
}

/// Whether a program asks for what controllers have to tell, and neither the driver nor a test.
fn is_of_program(request: &Request) -> bool {
    request.asks().0 != MAKER && !DRIVERS_OWN.contains(&request.asks())
}

/// In a question, the last one there is; in an answer, that there is none after it.
const LAST: u16 = 0xffff;

/// Which one of so many is meant, from 1 on.
fn numbered(asked: [u8; 2], count: u16) -> Result<u16, u8> {
    let number = match u16::from_le_bytes(asked) {
        0 => 1,
        LAST => count,
        number => number,
    };
    if (1..=count).contains(&number) { Ok(number) } else { Err(NOT_PRESENT) }
}

fn next(number: u16, count: u16) -> u16 {
    if number < count { number + 1 } else { LAST }
}

/// An entry of the log: the first sensor is too hot.
fn entry(index: u16, at: u32) -> [u8; 16] {
    let [low, high] = (index + 1).to_le_bytes();
    let [a, b, c, d] = at.to_le_bytes();
    [low, high, 2, a, b, c, d, 0x20, 0, 4, 1, 1, 1, 0x59, 96, 95]
}

/// The shares of answers that took so long, by the response times that were published of a controller.
///
/// Source: `kcs-response` of the study that the case `kipmid` is: how many of the waits had ended after 400 us (21 %),
/// 600 (39), 800 (44), 1,000 (55), 1,200 (89), 1,400 (94) and 1,600 (97).
const PUBLISHED: [(u64, u8); 8] =
    [(300, 21), (500, 39), (700, 44), (900, 55), (1100, 89), (1300, 94), (1500, 97), (1700, 100)];

/// How long an answer takes after which so many others were given: every hundred of them as was published, in no order.
pub(super) fn published(n_answered: u32) -> Duration {
    // 37 is coprime to 100.
    let percent = u8::try_from(u64::from(n_answered) * 37 % 100).unwrap_or_default();
    let (us, _) = PUBLISHED.iter().find(|(_, until)| percent < *until).unwrap_or(&PUBLISHED[7]);
    Duration::from_micros(*us)
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::ipmi::{Part, Reservation};

    /// What the program under test makes of it.
    fn part(controller: &Controller, offset: u8, count: u8) -> Option<Part> {
        let held = [DONE, controller.reservation.to_le_bytes()[0], 0];
        let question = Reservation::question().answered(0x0b, 0x22, &held).unwrap();
        let question = question.part(2, offset, count);
        let answer = controller.record(&question.data).unwrap_or_else(|code| vec![code]);
        question.answered(0x0b, 0x23, &answer).ok()
    }

    #[test]
    fn records_follow_each_other_to_the_last_and_can_be_had_in_parts() {
        let controller = Controller { n_sensors: 3, reservation: 7, ..Controller::new() };
        let mut number = 0;
        for sensor in 1..=3 {
            let answer = controller.record(&[0, 0, number, 0, 0, 0xff]).unwrap();
            assert_eq!(answer[3..], Sensor(sensor).record(sensor.into()));
            number = answer[1];
        }
        assert_eq!(number, 0xff);
        let second = Sensor(2).record(2);
        let found = part(&controller, 5, 16).unwrap();
        assert_eq!((&found.bytes[..], found.next), (&second[5..21], Some(3)));
        assert_eq!(part(&controller, 5, 200), None);
        assert_eq!(controller.record(&[6, 0, 2, 0, 5, 16]), Err(RESERVATION_LOST));
        assert_eq!(controller.record(&[7, 0, 99, 0, 0, 0xff]), Err(NOT_PRESENT));
    }

    #[test]
    fn log_begins_empty_and_has_what_it_was_told_to_log() {
        let mut controller = Controller::new();
        let last = [0, 0, 0xff, 0xff, 0, 0xff];
        assert_eq!(controller.logged(&last), Err(NOT_PRESENT));
        for _ in 0..2 {
            controller.command(4, &[]).unwrap();
        }
        assert_eq!(controller.logged(&last).unwrap()[..4], [DONE, 0xff, 0xff, 2]);
        assert_eq!(controller.logged(&[0, 0, 1, 0, 0, 0xff]).unwrap()[..4], [DONE, 2, 0, 1]);
    }

    #[test]
    fn a_fault_is_over_after_as_many_answers_as_it_was_meant_for() {
        let mut controller = Controller::new();
        controller.command(1, &[2, 2]).unwrap();
        let faults: Vec<_> = (0..3).map(|_| controller.next_fault()).collect();
        assert_eq!(faults, [Some(Fault::Short), Some(Fault::Short), None]);
        assert_eq!(controller.command(1, &[9, 1]), Err(OUT_OF_RANGE));
    }

    #[test]
    fn a_hundred_answers_take_as_long_as_was_published() {
        let times: Vec<Duration> = (0..100).map(published).collect();
        let n_within = |us| times.iter().filter(|it| **it <= Duration::from_micros(us)).count();
        assert_eq!([400, 800, 1200, 1600].map(n_within), [21, 44, 89, 97]);
    }
}
