//! What a controller answered, with the bytes that say so.

use super::Question;

/// An answer, and how it was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Told<T> {
    /// What it says.
    pub holds: T,
    /// The name of the question: [`Question::path`].
    pub question: String,
    /// The answer's bytes, the completion code first.
    pub answer: Vec<u8>,
}

impl<T> Told<T> {
    /// What `holds` says is what came as `answer` to that question.
    pub fn new<Q>(question: &Question<Q>, answer: Vec<u8>, holds: T) -> Told<T> {
        Told { holds, question: question.path(), answer }
    }

    /// The answer as captures and evidence have it: `00 dc 00 00`.
    pub fn digits(&self) -> String {
        digits(&self.answer)
    }
}

/// Bytes in hexadecimal, with spaces between them.
pub fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}

/// The bytes of such a text.
pub fn bytes(text: &str) -> Option<Vec<u8>> {
    // A sign is no digit.
    let is_byte = |it: &str| it.len() == 2 && it.bytes().all(|byte| byte.is_ascii_hexdigit());
    let byte = |it: &str| u8::from_str_radix(it, 16).ok().filter(|_| is_byte(it));
    text.split_whitespace().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_read_back_and_nothing_else_is() {
        assert_eq!(digits(&[0, 0xdc, 1]), "00 dc 01");
        assert_eq!(bytes("00 dc 01\n"), Some(vec![0, 0xdc, 1]));
        for odd in ["0 dc", "00dc", "00 +1", "zz"] {
            assert_eq!(bytes(odd), None, "{odd}");
        }
    }
}
