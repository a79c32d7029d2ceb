//! What a controller says of a question besides its answer.
//!
//! Source: IPMI 2.0, section 5.2, table 5-2. Codes from 80h to BEh are those of one command alone.

use std::fmt;

/// The first byte of every answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion(pub u8);

impl Completion {
    /// The question was answered.
    pub const DONE: Completion = Completion(0x00);
    /// Of Get Power Limit: none is in force (DCMI 1.5, section 6.6.2).
    pub const NO_SET_POWER_LIMIT: Completion = Completion(0x80);
    /// There is no such command here.
    pub const INVALID_COMMAND: Completion = Completion(0xc1);
    /// Somebody else has reserved the sensor records since, or they have changed.
    pub const RESERVATION_LOST: Completion = Completion(0xc5);

    /// There is no such record: where it is the first one, there are none.
    pub const NOT_PRESENT: Completion = Completion(0xcb);

    /// Whether fewer bytes at a time may be answered. The driver calls an answer truncated that does not fit its
    /// buffer, and some controllers know no better word than "unspecified".
    pub fn is_about_size(self) -> bool {
        matches!(self.0, 0xc6 | 0xc8 | 0xca | 0xff)
    }

    fn words(self) -> &'static str {
        match self.0 {
            0x00 => "completed",
            0xc0 => "the controller is busy",
            0xc1 => "the controller does not know this command",
            0xc2 => "the controller does not know this command on this logical unit",
            0xc3 => "the controller took too long",
            0xc4 => "the controller is out of space",
            0xc5 => "the reservation is not valid any more",
            0xc6 => "the message was cut off",
            0xc7 => "the question has a wrong length",
            0xc8 => "the question is too long",
            0xc9 => "a parameter is out of range",
            0xca => "so many bytes cannot be answered at once",
            0xcb => "there is no such sensor, record or data",
            0xcc => "a field of the question is invalid",
            0xcd => "this sensor or record has no such command",
            0xce => "no answer could be made",
            0xcf => "the question is taken for a repeated one",
            0xd0 => "the sensor records are being updated",
            0xd1 => "the controller's firmware is being updated",
            0xd2 => "the controller is starting",
            0xd3 => "the destination cannot be reached",
            0xd4 => "the privilege does not suffice",
            0xd5 => "the controller's state does not allow it",
            0xd6 => "this part of the command is disabled",
            0xff => "an error that the controller does not name",
            0x01..=0x7e => "a code of the maker's own",
            0x80..=0xbe => "a code of this command's own",
            0x7f | 0xbf | 0xd7..=0xfe => "a reserved code",
        }
    }
}

impl fmt::Display for Completion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (completion code {:#04x})", self.words(), self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_told_in_words_and_as_a_number() {
        let text = Completion::RESERVATION_LOST.to_string();
        assert_eq!(text, "the reservation is not valid any more (completion code 0xc5)");
        assert_eq!(
            Completion(0x81).to_string(),
            "a code of this command's own (completion code 0x81)"
        );
    }

    #[test]
    fn only_codes_about_size_ask_for_less_at_a_time() {
        let about_size: Vec<u8> =
            (0..=u8::MAX).filter(|code| Completion(*code).is_about_size()).collect();
        assert_eq!(about_size, [0xc6, 0xc8, 0xca, 0xff]);
    }
}
