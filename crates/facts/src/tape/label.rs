//! What a tape says of itself, in its first frame: tagged sections, as in a sample.

use super::wire::{Bytes, put_number, put_section};
use crate::parse::Expected;

/// Whose samples are on the tape, and who took them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Label {
    /// The capture of the host, compressed with LZMA, in the format of .lzma files.
    pub capture: Vec<u8>,
    /// The version of the fullclock that recorded.
    pub version: String,
    /// Its process, whose run time is what measuring took.
    pub observer: u32,
}

/// Tags of sections; they stay with their sections for as long as tapes are read.
const CAPTURE: u64 = 1;
const VERSION: u64 = 2;
const OBSERVER: u64 = 3;

impl Label {
    /// As the payload of a frame.
    pub fn payload(&self) -> Vec<u8> {
        let (mut out, mut observer) = (Vec::new(), Vec::new());
        put_number(&mut observer, u64::from(self.observer));
        put_section(&mut out, VERSION, self.version.as_bytes());
        put_section(&mut out, OBSERVER, &observer);
        put_section(&mut out, CAPTURE, &self.capture);
        out
    }

    /// The label in the payload of a frame. A section that only a later fullclock knows is stepped over.
    pub fn parse(payload: &[u8]) -> Result<Label, Expected> {
        let (mut label, mut bytes) = (Label::default(), Bytes::new(payload));
        while !bytes.is_empty() {
            let (tag, mut section) = bytes.section()?;
            let length = section.len();
            match tag {
                CAPTURE => label.capture = section.take(length)?.to_vec(),
                VERSION => {
                    label.version = String::from_utf8_lossy(section.take(length)?).into_owned();
                }
                OBSERVER => label.observer = section.small()?,
                _ => {}
            }
        }
        Ok(label)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_comes_back_with_or_without_what_a_later_one_adds() {
        let label = Label { capture: vec![1, 2, 3], version: "0.1.0".to_owned(), observer: 4711 };
        let mut payload = label.payload();
        assert_eq!(Label::parse(&payload).as_ref(), Ok(&label));
        payload.extend([99, 1, 0]);
        assert_eq!(Label::parse(&payload), Ok(label));
        assert!(Label::parse(&payload[..payload.len() - 1]).is_err());
    }
}
