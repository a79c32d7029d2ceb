//! A question to a controller, and what its answer must look like.

use super::Completion;
use crate::Expected;
use std::fmt::Write as _;

/// What a controller is asked; its answer is a `T`.
#[derive(Clone, Debug)]
pub struct Question<T> {
    /// What the specification calls it: `Get Device ID`.
    pub name: &'static str,
    /// The network function, an even number.
    pub function: u8,
    /// The command of that function.
    pub command: u8,
    /// What it is asked with.
    pub data: Vec<u8>,
    /// Reads the answer: what was asked with, and what came behind the completion code.
    pub(super) read: fn(&[u8], &[u8]) -> Result<T, Expected>,
}

/// Why an answer holds nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unanswered {
    /// The controller says why it does not answer.
    #[error("{0}")]
    Refused(Completion),
    /// The answer is none to this question.
    #[error("it answers {found}, expected {expected}")]
    Malformed {
        /// Its bytes in hexadecimal.
        found: String,
        /// What should have come.
        expected: String,
    },
}

/// What the name of every question begins with.
const DEVICE: &str = "/dev/ipmi0 ";

/// Whether this is how captures call a question to the controller: [`Question::path`].
pub fn is_question(name: &str) -> bool {
    name.starts_with(DEVICE)
}

/// Set in the function of an answer (IPMI 2.0, section 5.1).
const ANSWER: u8 = 1;

impl<T> Question<T> {
    /// How captures and evidence call it, by function, command and data: `/dev/ipmi0 0x2c 0x03 dc 00 00`.
    pub fn path(&self) -> String {
        let Question { function, command, .. } = self;
        let data: String = self.data.iter().map(|byte| format!(" {byte:02x}")).collect();
        format!("{DEVICE}{function:#04x} {command:#04x}{data}")
    }

    /// The same question, whose answer is the bytes behind the completion code.
    pub fn verbatim(&self) -> Question<Vec<u8>> {
        let Question { name, function, command, ref data, .. } = *self;
        let read = |_: &[u8], data: &[u8]| Ok(data.to_vec());
        Question { name, function, command, data: data.clone(), read }
    }

    /// What an answer says that is known to be one to this question: its data with the completion code first.
    pub fn told(&self, data: &[u8]) -> Result<T, Unanswered> {
        self.answered(self.function | ANSWER, self.command, data)
    }

    /// What an answer says: its function and command, and its data with the completion code first.
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

/// The first bytes of an answer, each with a space before it.
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
        assert_eq!(question.told(&[0, 42]), Ok(42));
    }

    #[test]
    fn an_answer_to_something_else_is_none() {
        let text = question().answered(0x07, 0x01, &[0, 42]).unwrap_err().to_string();
        assert!(text.ends_with("expected function 0x07 command 0x70"), "{text}");
        assert!(question().answered(0x06, 0x70, &[0, 42]).is_err());
    }
}
