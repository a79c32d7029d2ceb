//! Frames: the parts of a tape, each with checksums, so that damage costs only the frames that it hits. The first
//! frame is the label, which says what the tape is.
//!
//! ```text
//!  0  mark       ff 'F' 'C'
//!  3  kind       'l' the label, 'k' a key frame, 'd' differences from the sample before
//!  4  number     of the sample, from 0; samples that could not be written have numbers too
//!  8  length     of the payload
//! 12  checksum   of the payload
//! 16  checksum   of the 16 bytes above
//! 20  payload
//! ```
//!
//! Numbers are little-endian, checksums are CRC-32 (ISO-HDLC). The head has its own checksum, so that a reader can
//! skip a damaged payload, and can search for the next head after a damaged one. The payload of the label consists of
//! tagged sections, as a sample does.

use super::wire::{Bytes, put_number, put_section};
use crate::parse::Expected;

/// The length of the head in bytes.
pub const HEAD_LENGTH: usize = 20;

/// The largest payload. A sample of 8,192 CPUs with as many interrupts and 100,000 tasks has a tenth of this size: a
/// head with a larger length is damaged.
pub const LARGEST_PAYLOAD: usize = 64 << 20;

const MARK: [u8; 3] = [0xff, b'F', b'C'];

/// The head of a frame, which precedes the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// What the payload is.
    pub kind: Kind,
    /// The number of the sample; 0 for the label.
    pub number: u32,
    /// The payload's length in bytes, at most [`LARGEST_PAYLOAD`].
    pub length: u32,
    /// The payload's CRC-32.
    checksum: u32,
}

/// The kind of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The label of the tape.
    Label,
    /// A sample that needs no other.
    Key,
    /// The changes since the sample before.
    Differences,
}

impl Kind {
    fn letter(self) -> u8 {
        match self {
            Kind::Label => b'l',
            Kind::Key => b'k',
            Kind::Differences => b'd',
        }
    }
}

impl Head {
    /// Parses the head at the beginning of `bytes`; `None` where there is none, or a damaged one.
    pub fn parse(bytes: &[u8]) -> Option<Head> {
        let (head, own) = bytes.get(..HEAD_LENGTH)?.split_at(16);
        let number = |at: usize| Some(u32::from_le_bytes(head.get(at..at + 4)?.try_into().ok()?));
        if !head.starts_with(&MARK) || crc32fast::hash(head).to_le_bytes() != *own {
            return None;
        }
        let kinds = [Kind::Label, Kind::Key, Kind::Differences];
        let kind = kinds.into_iter().find(|kind| Some(&kind.letter()) == head.get(3))?;
        let length = number(8)?;
        let is_possible = length as usize <= LARGEST_PAYLOAD;
        is_possible.then_some(Head { kind, number: number(4)?, length, checksum: number(12)? })
    }

    /// Whether the payload has the length and the checksum in the head.
    pub fn fits(&self, payload: &[u8]) -> bool {
        payload.len() == self.length as usize && crc32fast::hash(payload) == self.checksum
    }

    /// The number of bytes to skip to reach the next possible beginning of a head.
    pub fn none_before(bytes: &[u8]) -> usize {
        let begins = |at: usize| {
            let rest = bytes.get(at..).unwrap_or_default();
            let length = rest.len().min(MARK.len());
            rest.get(..length) == MARK.get(..length)
        };
        (1..bytes.len()).find(|&at| begins(at)).unwrap_or(bytes.len())
    }
}

/// A frame with this payload; `None` where the payload is larger than [`LARGEST_PAYLOAD`].
pub fn frame(kind: Kind, number: u32, payload: &[u8]) -> Option<Vec<u8>> {
    let length = u32::try_from(payload.len()).ok()?;
    if payload.len() > LARGEST_PAYLOAD {
        return None;
    }
    let mut frame = Vec::with_capacity(HEAD_LENGTH + payload.len());
    frame.extend(MARK);
    frame.push(kind.letter());
    for field in [number, length, crc32fast::hash(payload)] {
        frame.extend(field.to_le_bytes());
    }
    let own = crc32fast::hash(&frame);
    frame.extend(own.to_le_bytes());
    frame.extend_from_slice(payload);
    Some(frame)
}

/// The host of a tape, and the process that recorded it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Label {
    /// The capture of the host, compressed with LZMA, in the format of .lzma files.
    pub capture: Vec<u8>,
    /// The version of fullclock that recorded.
    pub version: String,
    /// The ID of the recording process, whose run time is the cost of recording.
    pub observer: u32,
}

/// Tags of sections; they never change.
const CAPTURE: u64 = 1;
const VERSION: u64 = 2;
const OBSERVER: u64 = 3;

impl Label {
    /// Encodes the label as the payload of a frame.
    pub fn payload(&self) -> Vec<u8> {
        let (mut out, mut observer) = (Vec::new(), Vec::new());
        put_number(&mut observer, u64::from(self.observer));
        put_section(&mut out, VERSION, self.version.as_bytes());
        put_section(&mut out, OBSERVER, &observer);
        put_section(&mut out, CAPTURE, &self.capture);
        out
    }

    /// Parses the payload of a label. Sections that only a later version of fullclock knows are skipped.
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
    fn a_frame_comes_back() {
        let frame = frame(Kind::Differences, 7, b"payload").unwrap();
        let head = Head::parse(&frame).unwrap();
        assert_eq!((head.kind, head.number, head.length), (Kind::Differences, 7, 7));
        assert!(head.fits(&frame[HEAD_LENGTH..]));
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let whole = frame(Kind::Key, 7, b"payload").unwrap();
        for bit in 0..whole.len() * 8 {
            let mut damaged = whole.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let fits = Head::parse(&damaged).is_some_and(|it| it.fits(&damaged[HEAD_LENGTH..]));
            assert!(!fits, "bit {bit}");
        }
    }

    #[test]
    fn the_search_goes_on_at_the_next_mark_or_half_of_one() {
        assert_eq!(Head::none_before(b"\xffFCd"), 4);
        assert_eq!(Head::none_before(b"ab\xffFCd"), 2);
        assert_eq!(Head::none_before(b"\xffabc\xffF"), 4);
        assert_eq!(Head::none_before(b"\xff"), 1);
    }

    #[test]
    fn a_payload_beyond_all_measure_makes_no_frame() {
        assert_eq!(frame(Kind::Key, 0, &vec![0; LARGEST_PAYLOAD + 1]), None);
    }

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
