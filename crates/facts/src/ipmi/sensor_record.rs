//! Reading sensor data records (SDR) from the repository, and what came of it; `sensor` parses them.
//!
//! Source: IPMI 2.0, sections 33.11 (Reserve SDR Repository), 33.12 (Get SDR) and 43 (the header of a record). A
//! record that is read in parts needs a reservation, which a change of the records cancels. Controllers may return
//! fewer bytes at a time than a record has, and do not say how many: the reader must try.

use super::stores::STORAGE;
use super::{Question, Reading};
use crate::Expected;

/// The length of a record's header.
pub const HEADER_LENGTH: u8 = 5;

/// A reservation, which allows reading a record in parts. It ends when the records change or when another program
/// reserves them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reservation(u16);

impl Reservation {
    /// The question for a reservation.
    pub fn question() -> Question<Reservation> {
        let read = |_: &[u8], data: &[u8]| match *data {
            [low, high] => Ok(Reservation(u16::from_le_bytes([low, high]))),
            _ => Err(Expected("2 bytes after the completion code")),
        };
        let (name, command, data) = ("Reserve SDR Repository", 0x22, Vec::new());
        Question { name, function: STORAGE, command, data, read }
    }

    /// The question for a whole record; number 0 is the first one.
    pub fn whole(self, record: u16) -> Question<Part> {
        self.question_of(record, 0, WHOLE)
    }

    /// The question for `count` bytes of a record, from `offset` on.
    pub fn part(self, record: u16, offset: u8, count: u8) -> Question<Part> {
        // FFh would mean the whole record.
        self.question_of(record, offset, count.min(WHOLE - 1))
    }

    fn question_of(self, record: u16, offset: u8, count: u8) -> Question<Part> {
        let ([low, high], [record_low, record_high]) = (self.0.to_le_bytes(), record.to_le_bytes());
        let data = vec![low, high, record_low, record_high, offset, count];
        let (name, command, read) = ("Get SDR", 0x23, Part::parse);
        Question { name, function: STORAGE, command, data, read }
    }
}

/// The length that means the whole record.
const WHOLE: u8 = 0xff;

/// A part of a record, or all of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The number of the next record; `None` for the last one.
    pub next: Option<u16>,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl Part {
    /// Parses an answer. The last byte of the request is the number of bytes that it requested.
    fn parse(asked: &[u8], data: &[u8]) -> Result<Part, Expected> {
        const LAST: u16 = 0xffff;
        const NUMBER: Expected =
            Expected("the number of the next record after the completion code");
        let ([low, high], bytes) = data.split_first_chunk::<2>().ok_or(NUMBER)?;
        match asked.last() {
            Some(&WHOLE) if !is_whole(bytes) => {
                Err(Expected("a record as long as its header says"))
            }
            Some(&count) if count != WHOLE && bytes.len() != usize::from(count) => {
                Err(Expected("as many bytes of the record as were requested"))
            }
            _ => {
                let next = Some(u16::from_le_bytes([*low, *high])).filter(|it| *it != LAST);
                Ok(Part { next, bytes: bytes.to_vec() })
            }
        }
    }
}

fn is_whole(bytes: &[u8]) -> bool {
    RecordHeader::parse(bytes).is_ok_and(|it| bytes.len() == it.record_length())
}

/// The header of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordHeader {
    /// The record's number.
    pub id: u16,
    /// Its type: 01h is a full sensor record.
    pub kind: u8,
    /// The number of bytes after the header.
    pub body_length: u8,
}

impl RecordHeader {
    /// Parses the first bytes of a record.
    pub fn parse(bytes: &[u8]) -> Result<RecordHeader, Expected> {
        match *bytes {
            [low, high, _version, kind, body_length, ..] => {
                Ok(RecordHeader { id: u16::from_le_bytes([low, high]), kind, body_length })
            }
            _ => Err(Expected("a record's header of 5 bytes")),
        }
    }

    /// The length of the record with its header.
    pub fn record_length(self) -> usize {
        usize::from(HEADER_LENGTH) + usize::from(self.body_length)
    }
}

/// How much of a record one question asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Portion {
    /// All of it.
    Whole,
    /// At most this number of bytes.
    Bytes(u8),
}

impl Portion {
    /// The next size to try after this one failed: 16 bytes, which fits even a message of 32 bytes, the longest on
    /// the bus between controllers (IPMB 1.0); then 8.
    pub fn smaller(self) -> Option<Portion> {
        match self {
            Portion::Whole => Some(Portion::Bytes(16)),
            Portion::Bytes(count) if count > 8 => Some(Portion::Bytes(8)),
            Portion::Bytes(_) => None,
        }
    }
}

/// Where records come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordsOrigin {
    /// Whether they were kept on disk, and the controller says that they are still the same.
    pub is_kept: bool,
    /// How many there are, with those that are not about sensors.
    pub n_records: usize,
    /// How many of them cannot be read, because they are not as the specification says.
    pub n_unreadable: usize,
    /// How many questions fetching them took.
    pub questions: u32,
    /// Why they were fetched and not taken from the disk; empty where they were.
    pub why: String,
    /// Why they will be fetched the next time, too; empty where they will not.
    pub unkept: String,
}

/// What a sensor reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SensorValue {
    /// The reading as the controller answered.
    pub reading: Reading,
    /// In the sensor's unit; none for a sensor without numbers, and where there is no reading.
    pub value: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ipmi::{Completion, Unanswered};

    fn reservation() -> Reservation {
        Reservation::question().answered(0x0b, 0x22, &[0, 0x34, 0x12]).unwrap()
    }

    #[test]
    fn a_reservation_is_asked_with_and_given_back_in_the_same_order() {
        assert_eq!(reservation(), Reservation(0x1234));
        assert_eq!(reservation().whole(0x0201).data, [0x34, 0x12, 0x01, 0x02, 0x00, 0xff]);
        assert_eq!(reservation().part(7, 5, 16).data, [0x34, 0x12, 7, 0, 5, 16]);
        assert!(Reservation::question().answered(0x0b, 0x22, &[0, 1]).is_err());
    }

    #[test]
    fn a_whole_record_is_as_long_as_its_header_says() {
        let answer = |data: &[u8]| reservation().whole(0).answered(0x0b, 0x23, data);
        let record = [1, 0, 0x51, 0x01, 2, 0xaa, 0xbb];
        let part = answer(&[&[0, 2, 0][..], &record].concat()).unwrap();
        assert_eq!((part.next, &part.bytes[..]), (Some(2), &record[..]));
        for cut in [&record[..4], &record[..6], &[&record[..], &[0]].concat()] {
            assert!(answer(&[&[0, 2, 0][..], cut].concat()).is_err(), "{cut:?}");
        }
    }

    #[test]
    fn a_part_has_the_bytes_that_were_asked_for() {
        let answer = |data: &[u8]| reservation().part(7, 5, 2).answered(0x0b, 0x23, data);
        assert_eq!(answer(&[0, 9, 0, 1, 2]).unwrap(), Part { next: Some(9), bytes: vec![1, 2] });
        assert!(answer(&[0, 9, 0, 1]).is_err() && answer(&[0, 9, 0, 1, 2, 3]).is_err());
        assert!(answer(&[0, 9]).is_err());
    }

    #[test]
    fn no_record_comes_after_the_last_one() {
        let last = reservation().part(7, 0, 1).answered(0x0b, 0x23, &[0, 0xff, 0xff, 1]);
        assert_eq!(last.unwrap().next, None);
    }

    #[test]
    fn a_lost_reservation_is_told_apart() {
        let lost = reservation().part(7, 5, 2).answered(0x0b, 0x23, &[0xc5]);
        assert_eq!(lost, Err(Unanswered::Refused(Completion::RESERVATION_LOST)));
    }

    #[test]
    fn what_was_too_much_becomes_less_until_nothing_is_left_to_try() {
        let smaller = Portion::Whole.smaller().unwrap();
        assert_eq!(smaller.smaller(), Some(Portion::Bytes(8)));
        assert_eq!(smaller.smaller().and_then(Portion::smaller), None);
    }
}
