//! Payloads as a DEFLATE stream (RFC 1951), flushed after each payload.
//!
//! A stream begins at a key frame and has no end: the payloads of the frames up to the next key frame, one after
//! the other, are the stream.

use super::frame::LARGEST_PAYLOAD;
use crate::parse::Expected;
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

/// How many bytes a reader makes of each byte at most. DEFLATE can make 1,032; of a tape of strangers, that is too
/// many. What compresses better is padded.
const MOST_FOR_A_BYTE: usize = 128;

/// A stored block without content (RFC 1951, section 3.2.4), at the beginning of a byte.
const EMPTY_BLOCK: [u8; 5] = [0, 0, 0, 0xff, 0xff];

#[derive(Debug)]
pub(super) struct Deflater(Compress);

impl Deflater {
    pub(super) fn new() -> Deflater {
        Deflater(Compress::new(Compression::default(), false))
    }

    /// The next part of the stream. `None`: the compressor has failed, which it has no reason to.
    pub(super) fn pack(&mut self, payload: &[u8]) -> Option<Vec<u8>> {
        // More than any input takes (mz_deflateBound). When its output is full, miniz forgets to flush.
        let mut packed = Vec::with_capacity(payload.len() + payload.len() / 10 + 128);
        let end = self.0.total_in() + payload.len() as u64;
        self.0.compress_vec(payload, &mut packed, FlushCompress::Sync).ok()?;
        if self.0.total_in() != end || packed.len() == packed.capacity() {
            return None;
        }
        while packed.len().saturating_mul(MOST_FOR_A_BYTE) < payload.len() {
            packed.extend(EMPTY_BLOCK);
        }
        Some(packed)
    }
}

#[derive(Debug)]
pub(super) struct Inflater(Decompress);

impl Inflater {
    pub(super) fn new() -> Inflater {
        Inflater(Decompress::new(false))
    }

    /// The payload in the next part of the stream. After an error the stream cannot be read any further.
    pub(super) fn unpack(&mut self, packed: &[u8]) -> Result<Vec<u8>, Expected> {
        /// The room that is made first; later it is doubled.
        const ROOM: usize = 4096;
        const STREAM: Expected = Expected("a DEFLATE stream");
        let longest = packed.len().saturating_mul(MOST_FOR_A_BYTE).min(LARGEST_PAYLOAD);
        let (mut rest, mut payload) = (packed, Vec::new());
        loop {
            payload.reserve_exact((longest + 1 - payload.len()).min(payload.len().max(ROOM)));
            let (n_read, n_before) = (self.0.total_in(), payload.len());
            let status = self.0.decompress_vec(rest, &mut payload, FlushDecompress::Sync);
            if status.map_err(|_| STREAM)? == Status::StreamEnd {
                return Err(Expected("a DEFLATE stream that goes on"));
            }
            if payload.len() > longest {
                return Err(Expected("a payload that is not longer"));
            }
            let n_taken = usize::try_from(self.0.total_in() - n_read).map_err(|_| STREAM)?;
            // Room in the payload does not mean that the inflater has nothing left.
            if n_taken == 0 && payload.len() == n_before {
                return if rest.is_empty() { Ok(payload) } else { Err(STREAM) };
            }
            rest = rest.get(n_taken..).ok_or(STREAM)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_bytes_come_back(payloads in vec(vec(any::<u8>(), 0..20_000), 1..4)) {
            let (mut deflater, mut inflater) = (Deflater::new(), Inflater::new());
            for payload in payloads {
                let packed = deflater.pack(&payload).unwrap();
                prop_assert_eq!(inflater.unpack(&packed), Ok(payload));
            }
        }

        #[test]
        fn foreign_bytes_do_no_harm(parts in vec(vec(any::<u8>(), 0..100), 1..3)) {
            let mut inflater = Inflater::new();
            for part in parts {
                let Ok(payload) = inflater.unpack(&part) else { break };
                prop_assert!(payload.len() <= part.len() * MOST_FOR_A_BYTE);
            }
        }
    }

    #[test]
    fn repeated_content_takes_less_from_sample_to_sample() {
        let mut deflater = Deflater::new();
        let payload: Vec<u8> = (0..=255).collect();
        let lengths = [0, 1, 2].map(|_| deflater.pack(&payload).unwrap().len());
        assert_eq!(lengths, [266, 21, 20]);
    }

    #[test]
    fn the_longest_payload_comes_back_and_takes_no_more_than_its_length() {
        for payload in [vec![0; LARGEST_PAYLOAD], noise(1 << 20)] {
            let packed = Deflater::new().pack(&payload).unwrap();
            assert!(packed.len() >= payload.len() / MOST_FOR_A_BYTE);
            assert!(packed.len() < payload.len() + 1000);
            assert!(Inflater::new().unpack(&packed).is_ok_and(|it| it == payload));
        }
    }

    /// Of xorshift (Marsaglia, "Xorshift RNGs", 2003).
    fn noise(length: usize) -> Vec<u8> {
        let mut state = 1u64;
        let byte = |_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        };
        (0..length).map(byte).collect()
    }

    #[test]
    fn a_stream_that_expands_too_much_is_refused() {
        let mut packed = Vec::with_capacity(1 << 17);
        let mut compress = Compress::new(Compression::best(), false);
        compress.compress_vec(&vec![0; 1 << 24], &mut packed, FlushCompress::Sync).unwrap();
        assert!(packed.len() < (1 << 24) / 1000);
        let refused = Inflater::new().unpack(&packed);
        assert_eq!(refused, Err(Expected("a payload that is not longer")));
    }

    #[test]
    fn a_stream_that_ends_is_refused() {
        // A final block without content.
        assert!(Inflater::new().unpack(&[3, 0]).is_err());
    }
}
