//! Asks the controller, and times the round trips, within the time that a trial may take.

use super::{ID, Times};
use crate::failure::Failure;
use crate::threads::timed;
use facts::ipmi::{Completion, DeviceId, Portion, Unanswered};
use host::ipmi::{Controller, Failure as Why, Patience, SensorRecords};
use rustix::time::{ClockId, clock_gettime};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// A controller that has answered once.
pub struct Asker {
    controller: Controller,
    /// What it said of itself.
    id: DeviceId,
    /// Its sensor records, or why there are none to fetch.
    records: Result<SensorRecords, String>,
    timeout: Option<Duration>,
}

impl Asker {
    /// Asks who it is, and fetches the sensor records that a trial of so many trips will: how much of one it gives at
    /// once is known then.
    pub fn begin(
        mut controller: Controller,
        trips: u64,
        timeout: Option<Duration>,
        stop: &AtomicBool,
    ) -> Result<Asker, Failure> {
        let allowed = Allowance::begin(timeout, stop);
        let id = allowed.ask(|patience| controller.ask(&DeviceId::question(), patience))?;
        if id.is_updating {
            return Err(Failure::Unready(updating(&controller)));
        }
        let records = if id.has_sensor_records {
            records(&mut controller, trips, allowed)?
        } else {
            Err("none: the controller says that it keeps none".to_owned())
        };
        Ok(Asker { controller, id, records, timeout })
    }

    /// Does that number of round trips of each kind, and adds their durations to `times`.
    ///
    /// Errors: why not all of them came about; `times` has those that did.
    pub fn trips(
        &mut self,
        count: u64,
        stop: &AtomicBool,
        times: &mut Times,
    ) -> Result<(), Failure> {
        let allowed = Allowance::begin(self.timeout, stop);
        let Asker { controller, id, records, .. } = self;
        let portion = records.as_ref().ok().map(SensorRecords::portion);
        if let Ok(records) = records {
            allowed.ask(|patience| records.rewind(controller, patience))?;
        }
        for _ in 0..count {
            let asked =
                timed(|| allowed.ask(|patience| controller.ask(&DeviceId::question(), patience)));
            same(id, &asked.answer?, controller)?;
            times.device_id.push(asked.elapsed_ns);
            if let Ok(records) = records {
                let fetched = timed(|| allowed.ask(|patience| records.fetch(controller, patience)));
                fetched.answer?;
                times.record.push(fetched.elapsed_ns);
            }
        }
        if records.as_ref().ok().map(SensorRecords::portion) == portion {
            return Ok(());
        }
        // It takes more questions from here on, and other trials would be compared with these.
        let path = controller.path();
        Err(Failure::NoFigure(format!(
            "{path}: the controller gives less of a record at once than it did before"
        )))
    }

    /// What its figures depend on.
    pub fn about(&self) -> Vec<(String, String)> {
        let records = match &self.records {
            Err(why) => why.clone(),
            Ok(records) => match records.portion() {
                Portion::Whole => "whole, with one question each".to_owned(),
                Portion::Bytes(count) => {
                    format!("header first, then {count} bytes with each question")
                }
            },
        };
        let controller = format!("{}: {}", self.controller.path(), self.id);
        vec![("controller".to_owned(), controller), ("sensor records".to_owned(), records)]
    }
}

/// The way through its records, after at most so many of them have been fetched; in words, where there are none.
fn records(
    controller: &mut Controller,
    most: u64,
    allowed: Allowance<'_>,
) -> Result<Result<SensorRecords, String>, Failure> {
    let mut reserve = |patience: Patience<'_>| {
        let mut records = SensorRecords::reserve(controller, patience)?;
        records.fetch(controller, patience)?;
        Ok(records)
    };
    let first = allowed.ask(|patience| match reserve(patience) {
        Err(Why::Unanswered { question, why: Unanswered::Refused(code), .. })
            if code == Completion::INVALID_COMMAND || code == Completion::NOT_PRESENT =>
        {
            Ok(Err(format!("none: {question}: {code}")))
        }
        other => other.map(Ok),
    })?;
    let Ok(mut records) = first else { return Ok(first) };
    for _ in 1..most {
        if records.is_at_start() {
            break;
        }
        allowed.ask(|patience| records.fetch(controller, patience))?;
    }
    Ok(Ok(records))
}

/// Refuses an answer that another controller must have given, or one that is starting.
fn same(before: &DeviceId, after: &DeviceId, controller: &Controller) -> Result<(), Failure> {
    if before == after {
        return Ok(());
    }
    if after.is_updating {
        return Err(Failure::NoFigure(updating(controller)));
    }
    Err(Failure::WrongAnswer {
        workload: ID,
        found: after.to_string(),
        expected: before.to_string(),
    })
}

fn updating(controller: &Controller) -> String {
    let path = controller.path();
    format!(
        "{path}: the controller is starting, or its firmware or sensor records are being updated: wait for it"
    )
}

/// The kernel takes an interface that does nothing for 5 s for broken, and tries again up to ten times
/// (drivers/char/ipmi/ipmi_kcs_sm.c). Half of that is longer than any controller thinks.
const MOST_PATIENCE: Duration = Duration::from_secs(30);

/// The time that a trial may take, and what ends it before.
#[derive(Clone, Copy)]
struct Allowance<'a> {
    /// On CLOCK_MONOTONIC.
    began: Duration,
    timeout: Option<Duration>,
    stop: &'a AtomicBool,
}

impl<'a> Allowance<'a> {
    /// From this moment on.
    pub(super) fn begin(timeout: Option<Duration>, stop: &'a AtomicBool) -> Allowance<'a> {
        Allowance { began: now(), timeout, stop }
    }

    /// Asks, and says in the words of a workload why there is no answer.
    pub(super) fn ask<T>(
        self,
        ask: impl FnOnce(Patience<'_>) -> Result<T, Why>,
    ) -> Result<T, Failure> {
        let left = self.left()?;
        ask(Patience::begin(left.min(MOST_PATIENCE), self.stop)).map_err(|why| match why {
            Why::Stopped => Failure::Stopped,
            // It was the trial that had no time left, and not the controller.
            Why::NoAnswer { .. } if left < MOST_PATIENCE => self.timed_out(),
            why => Failure::NoFigure(why.to_string()),
        })
    }

    fn left(&self) -> Result<Duration, Failure> {
        let Some(timeout) = self.timeout else { return Ok(MOST_PATIENCE) };
        timeout.checked_sub(now().saturating_sub(self.began)).ok_or_else(|| self.timed_out())
    }

    fn timed_out(&self) -> Failure {
        let limit = self.timeout.unwrap_or(MOST_PATIENCE);
        Failure::TimedOut { program: ID.to_owned(), limit }
    }
}

fn now() -> Duration {
    // It is never negative (clock_gettime(2)).
    Duration::try_from(clock_gettime(ClockId::Monotonic)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::ipmi::{Arrived, Asked, Carrier};
    use rustix::io::Errno;
    use std::sync::atomic::Ordering;

    /// Answers at once, or never; it has two records of 8 and 9 bytes.
    #[derive(Clone, Default)]
    struct Bmc {
        /// What it can do besides, in the words of Get Device ID: 2 is to keep sensor records.
        supports: u8,
        /// The completion code of Get SDR.
        records: u8,
        /// So many questions are answered, where it is not 0.
        most_answers: u32,
        /// From the third question on it calls itself another device.
        is_swapped: bool,
        /// From that question on it gives no more than 8 bytes of a record at once, where it is not 0.
        little_from: u32,
        answers: u32,
        arriving: Option<Arrived>,
    }

    impl Bmc {
        fn record(&self, asked: &[u8]) -> Vec<u8> {
            let first = (&[2, 0][..], &[1, 0, 0x51, 1, 3, 7, 7, 7][..]);
            let last = (&[0xff, 0xff][..], &[2, 0, 0x51, 1, 4, 8, 8, 8, 8][..]);
            let (next, record) = if asked[2] == 2 { last } else { first };
            let rest = &record[usize::from(asked[4])..];
            let count = if asked[5] == 0xff { rest.len() } else { usize::from(asked[5]) };
            if self.little_from > 0 && self.answers >= self.little_from && count > 8 {
                return vec![0xca];
            }
            [&[0], next, &rest[..count]].concat()
        }
    }

    impl Carrier for Bmc {
        fn send(&mut self, asked: &Asked<'_>) -> Result<(), Errno> {
            self.answers += 1;
            let device = if self.is_swapped && self.answers > 2 { 0x21 } else { 0x20 };
            let data = match (asked.function, asked.command) {
                (0x06, 0x01) => vec![0, device, 1, 1, 0, 2, self.supports, 0, 0, 0, 0, 0],
                (0x0a, 0x22) => vec![0, 1, 0],
                (0x0a, 0x23) if self.records == 0 => self.record(asked.data),
                _ => vec![self.records],
            };
            let is_silent = self.most_answers > 0 && self.answers > self.most_answers;
            self.arriving = (!is_silent).then(|| asked.answer(data));
            Ok(())
        }

        fn receive(&mut self, within: Duration) -> Result<Option<Arrived>, Errno> {
            let arrived = self.arriving.take();
            if arrived.is_none() {
                std::thread::sleep(within);
            }
            Ok(arrived)
        }
    }

    const WITH_RECORDS: u8 = 2;

    fn asker(bmc: Bmc, timeout: Option<Duration>) -> Result<Asker, Failure> {
        let controller = Controller::behind("/dev/x".to_owned(), Box::new(bmc));
        Asker::begin(controller, 3, timeout, &AtomicBool::new(false))
    }

    fn trips(bmc: Bmc, timeout: Option<Duration>) -> Result<Times, Failure> {
        let mut times = Times::default();
        asker(bmc, timeout)?.trips(3, &AtomicBool::new(false), &mut times).map(|()| times)
    }

    #[test]
    fn every_trip_is_timed() {
        let times = trips(Bmc { supports: WITH_RECORDS, ..Bmc::default() }, None).unwrap();
        assert_eq!((times.device_id.len(), times.record.len()), (3, 3));
    }

    #[test]
    fn a_controller_without_records_is_asked_for_its_id_alone_and_says_why() {
        let unknown = Bmc { supports: WITH_RECORDS, records: 0xc1, ..Bmc::default() };
        let empty = Bmc { records: 0xcb, ..unknown.clone() };
        let why = [
            (Bmc::default(), "none: the controller says that it keeps none"),
            (
                unknown,
                "none: Get SDR: the controller does not know this command (completion code 0xc1)",
            ),
            (
                empty,
                "none: Get SDR: there is no such sensor, record or data (completion code 0xcb)",
            ),
        ];
        for (bmc, expected) in why {
            let about = asker(bmc.clone(), None).unwrap().about();
            assert_eq!(about[1], ("sensor records".to_owned(), expected.to_owned()));
            let times = trips(bmc, None).unwrap();
            assert_eq!((times.device_id.len(), times.record.len()), (3, 0));
        }
    }

    #[test]
    fn what_the_controller_refuses_is_told_in_words() {
        let bmc = Bmc { supports: WITH_RECORDS, records: 0xd0, ..Bmc::default() };
        let text = trips(bmc, None).unwrap_err().to_string();
        assert_eq!(
            text,
            "/dev/x: Get SDR: the sensor records are being updated (completion code 0xd0)"
        );
    }

    #[test]
    fn a_controller_that_falls_silent_ends_the_trial_when_its_time_is_over() {
        let timeout = Some(Duration::from_millis(50));
        let text =
            trips(Bmc { most_answers: 2, ..Bmc::default() }, timeout).unwrap_err().to_string();
        assert!(text.starts_with("ipmi-roundtrip did not end within 0.05 s"), "{text}");
    }

    #[test]
    fn how_much_of_a_record_is_given_at_once_is_known_before_the_first_trial() {
        let bmc = Bmc { supports: WITH_RECORDS, little_from: 1, ..Bmc::default() };
        let about = asker(bmc.clone(), None).unwrap().about();
        assert_eq!(about[1].1, "header first, then 16 bytes with each question");
        assert_eq!(trips(bmc.clone(), None).unwrap().record.len(), 3);
        // It is asked six questions before, of which the last two are the trial's.
        let text = trips(Bmc { little_from: 7, ..bmc }, None).unwrap_err().to_string();
        assert!(text.ends_with("gives less of a record at once than it did before"), "{text}");
    }

    #[test]
    fn another_controller_in_its_place_is_told_loudly() {
        let text = trips(Bmc { is_swapped: true, ..Bmc::default() }, None).unwrap_err().to_string();
        assert!(text.starts_with("WRONG ANSWER: ipmi-roundtrip computed maker 0"), "{text}");
    }

    #[test]
    fn a_user_who_wants_to_stop_does_not_wait_for_all_trips() {
        let mut asker = asker(Bmc::default(), None).unwrap();
        let stop = AtomicBool::new(false);
        stop.store(true, Ordering::Relaxed);
        assert!(matches!(
            asker.trips(u64::MAX, &stop, &mut Times::default()),
            Err(Failure::Stopped)
        ));
    }
}
