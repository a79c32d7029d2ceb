//! Frames: what a tape is cut into, so that damage costs no more than what it hits.
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
//! Numbers are little-endian, checksums are CRC-32 (ISO-HDLC). A head vouches for itself, so that a damaged
//! payload can be stepped over, and the next head can be searched for after a damaged one.

/// How many bytes stand before the payload.
pub const HEAD_LENGTH: usize = 20;

/// A sample of 8,192 CPUs with as many interrupts and 100,000 tasks takes a tenth of this; a head that claims
/// more is damaged.
pub const LARGEST_PAYLOAD: usize = 64 << 20;

const MARK: [u8; 3] = [0xff, b'F', b'C'];

/// What stands before a payload.
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

/// What a payload is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// What the tape says of itself.
    Label,
    /// A sample that needs no other.
    Key,
    /// What changed since the sample before.
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
    /// The head at the beginning of `bytes`; `None` where there is none, or a damaged one.
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

    /// Whether this is the payload that the head was written for.
    pub fn fits(&self, payload: &[u8]) -> bool {
        payload.len() == self.length as usize && crc32fast::hash(payload) == self.checksum
    }

    /// How many of the bytes at the beginning of `bytes` cannot begin a head.
    pub fn none_before(bytes: &[u8]) -> usize {
        let begins = |at: usize| {
            let rest = bytes.get(at..).unwrap_or_default();
            let length = rest.len().min(MARK.len());
            rest.get(..length) == MARK.get(..length)
        };
        (1..bytes.len()).find(|&at| begins(at)).unwrap_or(bytes.len())
    }
}

/// The whole frame around a payload; `None` where the payload is larger than [`LARGEST_PAYLOAD`].
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
}
