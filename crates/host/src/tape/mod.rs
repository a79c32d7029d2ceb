//! Tapes in files: what `watch --record` writes, and whatever reads samples later.
//!
//! The bytes are described in [`facts::tape`]. The host is on the tape as a capture, compressed, so that a tape
//! answers every question that the host would have been asked.

mod frames;
mod reader;
mod writer;

#[cfg(test)]
mod tests;

pub use reader::{Damage, OpenTapeError, Reader};
pub use writer::{Existing, RecordError, Writer};

use flate2::Compression;
use flate2::read::{DeflateDecoder, DeflateEncoder};
use std::io::{self, Read};

/// A capture of 4,096 CPUs has some 100 MiB; bytes that unpack to more are no capture's.
const LARGEST_CAPTURE: u64 = 512 << 20;

fn packed(capture: &str) -> io::Result<Vec<u8>> {
    let mut packed = Vec::new();
    DeflateEncoder::new(capture.as_bytes(), Compression::default()).read_to_end(&mut packed)?;
    Ok(packed)
}

fn unpacked(packed: &[u8]) -> io::Result<String> {
    let mut capture = String::new();
    DeflateDecoder::new(packed).take(LARGEST_CAPTURE).read_to_string(&mut capture)?;
    Ok(capture)
}
