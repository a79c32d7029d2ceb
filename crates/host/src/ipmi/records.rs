//! Sensor records, fetched one after the other.
//!
//! A record comes whole where the controller gives so much at once, else its header and then the rest in portions, as
//! ipmitool does it. Which size works is learnt once and kept.

use super::controller::{Controller, Patience};
use super::failure::Failure;
use facts::ipmi::{
    Completion, HEADER_LENGTH, Part, Portion, Question, RecordHeader, Reservation, Unanswered,
};
use std::collections::HashSet;

/// The way through a controller's sensor records, from the first to the last and around again.
#[derive(Clone, Copy, Debug)]
pub struct SensorRecords {
    reservation: Reservation,
    portion: Portion,
    next: u16,
}

/// A sensor record in the order of the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Header and body.
    pub bytes: Vec<u8>,
    /// How many questions it took.
    pub questions: u32,
}

/// The number that stands for the first record.
const FIRST: u16 = 0;
/// How often a reservation may be lost over one record.
const MOST_LOSSES: u32 = 5;

impl SensorRecords {
    /// Reserves the records, and begins with the first one.
    pub fn reserve(
        controller: &mut Controller,
        patience: Patience<'_>,
    ) -> Result<SensorRecords, Failure> {
        let reservation = controller.ask(&Reservation::question(), patience)?;
        Ok(SensorRecords { reservation, portion: Portion::Whole, next: FIRST })
    }

    /// How much of a record it asks for at once.
    pub fn portion(&self) -> Portion {
        self.portion
    }

    /// Whether the next one is the first.
    pub fn is_at_start(&self) -> bool {
        self.next == FIRST
    }

    /// Reserves them anew and goes back to the first one.
    pub fn rewind(
        &mut self,
        controller: &mut Controller,
        patience: Patience<'_>,
    ) -> Result<(), Failure> {
        self.reservation = controller.ask(&Reservation::question(), patience)?;
        self.next = FIRST;
        Ok(())
    }

    /// Fetches the next record; the first one comes after the last. A reservation that was lost is made anew, and a
    /// portion that is too large made smaller.
    pub fn fetch(
        &mut self,
        controller: &mut Controller,
        patience: Patience<'_>,
    ) -> Result<Record, Failure> {
        let (mut questions, mut losses) = (0, 0);
        loop {
            let mut ask = |question: &Question<Part>| {
                questions += 1;
                controller.ask(question, patience)
            };
            match self.attempt(&mut ask) {
                Ok((bytes, next)) => {
                    self.next = next.unwrap_or(FIRST);
                    return Ok(Record { bytes, questions });
                }
                Err(failure) if failure.is_refusal(Completion::RESERVATION_LOST) => {
                    losses += 1;
                    if losses == MOST_LOSSES {
                        let path = controller.path().to_owned();
                        return Err(Failure::Contended { path, times: losses });
                    }
                    questions += 1;
                    self.reservation = controller.ask(&Reservation::question(), patience)?;
                }
                Err(failure) if self.is_too_much(&failure) => {
                    let Some(smaller) = self.portion.smaller() else { return Err(failure) };
                    self.portion = smaller;
                }
                Err(failure) => return Err(failure),
            }
        }
    }

    /// All of them, from the first one on, each with its own patience.
    pub fn all(
        controller: &mut Controller,
        patience: Patience<'_>,
    ) -> Result<Vec<Record>, Failure> {
        let mut records = SensorRecords::reserve(controller, patience.anew())?;
        let (mut fetched, mut met) = (Vec::new(), HashSet::new());
        loop {
            // A controller whose records lead back to one that was met would never come to an end.
            if !met.insert(records.next) {
                let path = controller.path().to_owned();
                return Err(Failure::Circular { path, record: records.next });
            }
            fetched.push(records.fetch(controller, patience.anew())?);
            if records.is_at_start() {
                return Ok(fetched);
            }
        }
    }

    /// The record's bytes, and the number of the one after it.
    fn attempt(
        &self,
        ask: &mut dyn FnMut(&Question<Part>) -> Result<Part, Failure>,
    ) -> Result<(Vec<u8>, Option<u16>), Failure> {
        let most = match self.portion {
            Portion::Whole => {
                let Part { next, bytes } = ask(&self.reservation.whole(self.next))?;
                return Ok((bytes, next));
            }
            Portion::Bytes(count) => count,
        };
        let Part { next, mut bytes } = ask(&self.reservation.part(self.next, 0, HEADER_LENGTH))?;
        // A part is as long as was asked for: these are a header's bytes.
        let body = RecordHeader::parse(&bytes).map_or(0, |it| it.body_length);
        let mut offset = HEADER_LENGTH;
        let mut left = body;
        while left > 0 {
            // An offset is one byte, so the last one that there is must be met: of the longest record, 5 bytes lie
            // behind it.
            let count = match u8::MAX - offset {
                0 => left.min(most),
                to_last => left.min(most).min(to_last),
            };
            bytes.extend(ask(&self.reservation.part(self.next, offset, count))?.bytes);
            offset = offset.saturating_add(count);
            left -= count;
        }
        Ok((bytes, next))
    }

    /// Whether less at a time may do: the controller says so, or gives another number of bytes than there are.
    fn is_too_much(&self, failure: &Failure) -> bool {
        match failure {
            Failure::Unanswered { why: Unanswered::Refused(code), .. } => code.is_about_size(),
            Failure::Unanswered { why: Unanswered::Malformed { .. }, .. } => {
                self.portion == Portion::Whole
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::carrier::{Arrived, Asked, Carrier};
    use super::*;
    use rustix::io::Errno;
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    /// Two records of 12 and 25 bytes.
    struct Repository {
        /// How many bytes of a record it gives at once.
        most: usize,
        /// After so many answers each, another reader reserves the records.
        disturbed_after: u32,
        reservation: u8,
        answers: u32,
        arriving: Option<Arrived>,
    }

    fn records() -> [Vec<u8>; 2] {
        [(1, 7), (9, 20)].map(|(id, body): (u8, u8)| {
            [&[id, 0, 0x51, 1, body][..], &(0..body).collect::<Vec<u8>>()].concat()
        })
    }

    impl Repository {
        fn answer(&mut self, command: u8, data: &[u8]) -> Vec<u8> {
            self.answers += 1;
            if self.answers.is_multiple_of(self.disturbed_after) {
                self.reservation += 1;
            }
            let &[reservation, _, id, _, offset, count] = data else {
                assert_eq!(command, 0x22);
                self.reservation += 1;
                return vec![0, self.reservation, 0];
            };
            let [first, second] = records();
            let (record, next) = if id == 9 { (second, [0xff, 0xff]) } else { (first, [9, 0]) };
            let rest = &record[usize::from(offset)..];
            let count = if count == 0xff { rest.len() } else { usize::from(count) };
            match () {
                () if reservation != self.reservation => vec![0xc5],
                () if count > self.most => vec![0xca],
                () => [&[0][..], &next, &rest[..count]].concat(),
            }
        }
    }

    impl Carrier for Repository {
        fn send(&mut self, asked: &Asked<'_>) -> Result<(), Errno> {
            self.arriving = Some(asked.answer(self.answer(asked.command, asked.data)));
            Ok(())
        }

        fn receive(&mut self, _: Duration) -> Result<Option<Arrived>, Errno> {
            Ok(self.arriving.take())
        }
    }

    /// Three records of such a repository, and what they took.
    fn fetched(most: usize, disturbed_after: u32) -> Result<(Vec<Record>, Portion), Failure> {
        let repository =
            Repository { most, disturbed_after, reservation: 0, answers: 0, arriving: None };
        let mut controller = Controller::behind("/dev/x".to_owned(), Box::new(repository));
        let stop = AtomicBool::new(false);
        let patience = Patience::begin(Duration::from_secs(3600), &stop);
        let mut records = SensorRecords::reserve(&mut controller, patience)?;
        let fetched: Result<Vec<Record>, Failure> =
            (0..3).map(|_| records.fetch(&mut controller, patience)).collect();
        Ok((fetched?, records.portion()))
    }

    fn three_records() -> Vec<Vec<u8>> {
        let [first, second] = records();
        vec![first.clone(), second, first]
    }

    #[test]
    fn whole_records_take_a_question_each_and_the_first_follows_the_last() {
        let (fetched, portion) = fetched(300, u32::MAX).unwrap();
        assert_eq!(portion, Portion::Whole);
        assert!(fetched.iter().all(|it| it.questions == 1), "{fetched:?}");
        assert_eq!(fetched.into_iter().map(|it| it.bytes).collect::<Vec<_>>(), three_records());
    }

    #[test]
    fn one_that_gives_little_at_once_is_asked_in_portions_and_the_size_is_kept() {
        for (most, kept, questions) in [(16, 16, [1, 4, 2]), (8, 8, [3, 6, 2])] {
            let (fetched, portion) = fetched(most, u32::MAX).unwrap();
            assert_eq!(portion, Portion::Bytes(kept));
            assert_eq!(fetched.iter().map(|it| it.questions).collect::<Vec<_>>(), questions);
            assert_eq!(fetched.into_iter().map(|it| it.bytes).collect::<Vec<_>>(), three_records());
        }
        let text = fetched(7, u32::MAX).unwrap_err().to_string();
        assert!(text.starts_with("/dev/x: Get SDR: so many bytes cannot be answered"), "{text}");
    }

    #[test]
    fn a_reservation_that_another_reader_takes_away_is_made_anew() {
        let (fetched, _) = fetched(16, 5).unwrap();
        assert_eq!(fetched.iter().map(|it| it.questions).collect::<Vec<_>>(), [1, 7, 4]);
        assert_eq!(fetched.into_iter().map(|it| it.bytes).collect::<Vec<_>>(), three_records());
    }

    #[test]
    fn one_that_is_taken_away_every_time_is_given_up() {
        let text = fetched(300, 1).unwrap_err().to_string();
        assert!(
            text.starts_with("/dev/x: the reservation of the sensor records was lost 5"),
            "{text}"
        );
    }
}
