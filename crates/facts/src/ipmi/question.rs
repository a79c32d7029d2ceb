//! A question to a controller, its answer, and why there may be none.
//!
//! Source: IPMI 2.0, section 5.1 (network functions) and section 5.2, table 5-2 (completion codes). Codes from 80h
//! to BEh are defined by each command.

use crate::Expected;
use std::fmt::{self, Write as _};

/// A question to a controller; its answer is a `T`.
#[derive(Clone, Debug)]
pub struct Question<T> {
    /// The specification's name of the command: `Get Device ID`.
    pub name: &'static str,
    /// The network function, an even number.
    pub function: u8,
    /// The number of the command.
    pub command: u8,
    /// The data of the request.
    pub data: Vec<u8>,
    /// Parses an answer: takes the data of the request, and the bytes after the completion code.
    pub(super) read: fn(&[u8], &[u8]) -> Result<T, Expected>,
}

/// Why an answer has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unanswered {
    /// The controller refused, with a completion code.
    #[error("{0}")]
    Refused(Completion),
    /// The answer does not fit the question.
    #[error("it answers {found}, expected {expected}")]
    Malformed {
        /// Its bytes in hexadecimal.
        found: String,
        /// What was expected.
        expected: String,
    },
}

/// The first part of the name of every question.
const DEVICE: &str = "/dev/ipmi0 ";

/// Whether this is the name of a question in a capture: see [`Question::path`].
pub fn is_question(name: &str) -> bool {
    name.starts_with(DEVICE)
}

/// This bit is set in the function of an answer (IPMI 2.0, section 5.1).
const ANSWER: u8 = 1;

impl<T> Question<T> {
    /// The name in captures and evidence, by function, command and data: `/dev/ipmi0 0x2c 0x03 dc 00 00`.
    pub fn path(&self) -> String {
        let Question { function, command, .. } = self;
        let data: String = self.data.iter().map(|byte| format!(" {byte:02x}")).collect();
        format!("{DEVICE}{function:#04x} {command:#04x}{data}")
    }

    /// The same question, with the raw bytes after the completion code as its answer.
    pub fn verbatim(&self) -> Question<Vec<u8>> {
        let Question { name, function, command, ref data, .. } = *self;
        let read = |_: &[u8], data: &[u8]| Ok(data.to_vec());
        Question { name, function, command, data: data.clone(), read }
    }

    /// Parses an answer that is known to belong to this question: data with the completion code first.
    pub fn parse(&self, data: &[u8]) -> Result<T, Unanswered> {
        self.answered(self.function | ANSWER, self.command, data)
    }

    /// Parses an answer: its function and command, and its data with the completion code first.
    pub fn answered(&self, function: u8, command: u8, data: &[u8]) -> Result<T, Unanswered> {
        let malformed = |expected: String| Unanswered::Malformed {
            found: format!("function {function:#04x} command {command:#04x}:{}", hexadecimal(data)),
            expected,
        };
        if (function, command) != (self.function | ANSWER, self.command) {
            let (function, command) = (self.function | ANSWER, self.command);
            return Err(malformed(format!("function {function:#04x} command {command:#04x}")));
        }
        let (code, rest) =
            data.split_first().ok_or_else(|| malformed("a completion code".to_owned()))?;
        match Completion(*code) {
            Completion::DONE => {
                (self.read)(&self.data, rest).map_err(|Expected(it)| malformed(it.to_owned()))
            }
            refused => Err(Unanswered::Refused(refused)),
        }
    }
}

/// The first bytes of an answer, each after a space.
fn hexadecimal(data: &[u8]) -> String {
    const READABLE: usize = 32;
    let mut text = data.iter().take(READABLE).fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        write!(text, " {byte:02x}").ok();
        text
    });
    match data.len() {
        0 => text.push_str(" no data"),
        n if n > READABLE => text.push_str(" ..."),
        _ => {}
    }
    text
}

/// The completion code, which is the first byte of every answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion(pub u8);

impl Completion {
    /// The command completed.
    pub const DONE: Completion = Completion(0x00);
    /// Get Power Limit: no limit is active (DCMI 1.5, section 6.6.2).
    pub const NO_SET_POWER_LIMIT: Completion = Completion(0x80);
    /// The controller does not know the command.
    pub const INVALID_COMMAND: Completion = Completion(0xc1);
    /// The reservation was cancelled: another program reserved the sensor records, or they changed.
    pub const RESERVATION_LOST: Completion = Completion(0xc5);

    /// There is no such record. For the first record: there are no records.
    pub const NOT_PRESENT: Completion = Completion(0xcb);

    /// Whether a question for fewer bytes may succeed. The driver reports an answer that does not fit its buffer as
    /// truncated, and some controllers report "unspecified".
    pub fn is_about_size(self) -> bool {
        matches!(self.0, 0xc6 | 0xc8 | 0xca | 0xff)
    }

    fn meaning(self) -> &'static str {
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
        write!(f, "{} (completion code {:#04x})", self.meaning(), self.0)
    }
}

/// An answer, with its question and its bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Response<T> {
    /// The value that was parsed from the answer.
    pub holds: T,
    /// The name of the question: see [`Question::path`].
    pub question: String,
    /// The bytes of the answer, the completion code first.
    pub answer: Vec<u8>,
}

impl<T> Response<T> {
    /// An answer to this question, and the value that was parsed from it.
    pub fn new<Q>(question: &Question<Q>, answer: Vec<u8>, holds: T) -> Response<T> {
        Response { holds, question: question.path(), answer }
    }

    /// The answer as in captures and evidence: `00 dc 00 00`.
    pub fn digits(&self) -> String {
        digits(&self.answer)
    }
}

/// Bytes in hexadecimal, separated by spaces.
pub fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}

/// Parses such a text.
pub fn bytes(text: &str) -> Option<Vec<u8>> {
    // `from_str_radix` takes a sign, too.
    let is_byte = |it: &str| it.len() == 2 && it.bytes().all(|byte| byte.is_ascii_hexdigit());
    let byte = |it: &str| u8::from_str_radix(it, 16).ok().filter(|_| is_byte(it));
    text.split_whitespace().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question() -> Question<u8> {
        let read = |_: &[u8], data: &[u8]| match data {
            [byte] => Ok(*byte),
            _ => Err(Expected("one byte")),
        };
        Question { name: "Get Byte", function: 0x06, command: 0x70, data: vec![], read }
    }

    #[test]
    fn an_answer_is_what_comes_behind_the_completion_code() {
        assert_eq!(question().answered(0x07, 0x70, &[0, 42]), Ok(42));
    }

    #[test]
    fn a_refusal_is_no_answer_whatever_comes_with_it() {
        let refused = Unanswered::Refused(Completion(0xc0));
        assert_eq!(question().answered(0x07, 0x70, &[0xc0, 42]), Err(refused));
    }

    #[test]
    fn an_answer_of_a_wrong_length_is_shown() {
        let text = |data| question().answered(0x07, 0x70, data).unwrap_err().to_string();
        let found = "it answers function 0x07 command 0x70:";
        assert_eq!(text(&[0]), format!("{found} 00, expected one byte"));
        assert_eq!(text(&[0, 1, 2]), format!("{found} 00 01 02, expected one byte"));
        assert_eq!(text(&[]), format!("{found} no data, expected a completion code"));
        assert!(text(&[0; 40]).contains("00 ..., expected"));
    }

    #[test]
    fn a_question_has_a_name_and_can_be_asked_for_the_bytes_alone() {
        let question = Question { data: vec![0xdc, 0], ..question() };
        assert_eq!(question.path(), "/dev/ipmi0 0x06 0x70 dc 00");
        assert!(is_question(&question.path()) && !is_question("/dev/ipmi0"));
        assert_eq!(question.verbatim().answered(7, 0x70, &[0, 1, 2]), Ok(vec![1, 2]));
        assert_eq!(question.verbatim().path(), question.path());
        assert_eq!(question.parse(&[0, 42]), Ok(42));
    }

    #[test]
    fn an_answer_to_something_else_is_none() {
        let text = question().answered(0x07, 0x01, &[0, 42]).unwrap_err().to_string();
        assert!(text.ends_with("expected function 0x07 command 0x70"), "{text}");
        assert!(question().answered(0x06, 0x70, &[0, 42]).is_err());
    }

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

    #[test]
    fn digits_are_read_back_and_nothing_else_is() {
        assert_eq!(digits(&[0, 0xdc, 1]), "00 dc 01");
        assert_eq!(bytes("00 dc 01\n"), Some(vec![0, 0xdc, 1]));
        for odd in ["0 dc", "00dc", "00 +1", "zz"] {
            assert_eq!(bytes(odd), None, "{odd}");
        }
    }
}
