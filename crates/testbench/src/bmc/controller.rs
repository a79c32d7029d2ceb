//! What a management controller answers.

use super::records::records;
use super::wire::Request;

/// What it knows from one question to the next.
pub(super) struct Controller {
    records: Vec<Vec<u8>>,
    /// The one that is valid; the first is 1.
    reservation: u16,
}

// Completion codes and commands are those of IPMI 2.0, table 5-2 and appendix G.
const DONE: u8 = 0;
const INVALID_COMMAND: u8 = 0xc1;
const RESERVATION_LOST: u8 = 0xc5;
const WRONG_LENGTH: u8 = 0xc7;
const OUT_OF_RANGE: u8 = 0xc9;
const NOT_PRESENT: u8 = 0xcb;

impl Controller {
    pub(super) fn new() -> Controller {
        Controller { records: records(), reservation: 0 }
    }

    /// Completion code and data for a request.
    pub(super) fn answer(&mut self, request: &Request) -> Vec<u8> {
        match request.asks() {
            // Get Device ID: device 0x20 revision 1, firmware 1.0, IPMI 2.0, the functions of a controller,
            // made by no one in particular.
            (6, 0x01) => vec![DONE, 0x20, 1, 1, 0, 2, 0xbf, 0, 0, 0, 0, 0],
            // Get Device GUID.
            (6, 0x08) => [&[DONE][..], &[0x5a; 16]].concat(),
            // Reset and Set Watchdog Timer; Set and Get Global Enables; Get Message Flags.
            (6, 0x22 | 0x24 | 0x2e) => vec![DONE],
            (6, 0x2f | 0x31) => vec![DONE, 0],
            // Reserve SDR Repository.
            (0x0a, 0x22) => {
                self.reservation += 1;
                [&[DONE][..], &self.reservation.to_le_bytes()].concat()
            }
            // Get SDR.
            (0x0a, 0x23) => self.record(request.data()).unwrap_or_else(|code| vec![code]),
            _ => vec![INVALID_COMMAND],
        }
    }

    /// The number of the record after the one that is asked for, and that one's bytes; or a completion code.
    fn record(&self, asked: &[u8]) -> Result<Vec<u8>, u8> {
        const FIRST: u16 = 0;
        const LAST: u16 = 0xffff;
        const ALL_OF_IT: u8 = 0xff;
        let &[low, high, number_low, number_high, offset, count] = asked else {
            return Err(WRONG_LENGTH);
        };
        // Only who reads a record in parts needs a reservation (section 33.12).
        if offset > 0 && u16::from_le_bytes([low, high]) != self.reservation {
            return Err(RESERVATION_LOST);
        }
        let number = match u16::from_le_bytes([number_low, number_high]) {
            FIRST => 1,
            LAST => self.records.len(),
            number => usize::from(number),
        };
        let record =
            number.checked_sub(1).and_then(|it| self.records.get(it)).ok_or(NOT_PRESENT)?;
        let rest = record.get(usize::from(offset)..).ok_or(OUT_OF_RANGE)?;
        let count = if count == ALL_OF_IT { rest.len() } else { usize::from(count) };
        let bytes = rest.get(..count).ok_or(OUT_OF_RANGE)?;
        let has_next = number < self.records.len();
        let next = u16::try_from(number + 1).ok().filter(|_| has_next).unwrap_or(LAST);
        Ok([&[DONE][..], &next.to_le_bytes(), bytes].concat())
    }
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
        let controller = Controller { records: records(), reservation: 7 };
        let mut number = 0;
        for record in records() {
            let answer = controller.record(&[0, 0, number, 0, 0, 0xff]).unwrap();
            assert_eq!(answer[3..], record);
            number = answer[1];
        }
        assert_eq!(number, 0xff);
        let second = &records()[1];
        let found = part(&controller, 5, 16).unwrap();
        assert_eq!((&found.bytes[..], found.next), (&second[5..21], Some(3)));
        assert_eq!(part(&controller, 5, 200), None);
        assert_eq!(controller.record(&[6, 0, 2, 0, 5, 16]), Err(RESERVATION_LOST));
        assert_eq!(controller.record(&[7, 0, 99, 0, 0, 0xff]), Err(NOT_PRESENT));
    }
}
