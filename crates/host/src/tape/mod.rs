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

use liblzma::read::XzDecoder;
use liblzma::stream::{LzmaOptions, Stream};
use liblzma::write::XzEncoder;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

/// Whether a file begins as tapes of any version do. What cannot be read is none: whoever reads it as something else says why.
#[expect(clippy::disallowed_methods, reason = "a file that the user named is no fact of a host")]
pub fn is_tape(path: &Path) -> bool {
    let mut start = [0; START.len()];
    let read = File::open(path).and_then(|mut it| it.read_exact(&mut start));
    read.is_ok() && start == *START
}

/// The first line of a tape without its version.
const START: &[u8] = b"fullclock tape ";

/// A capture of 4,096 CPUs has some 100 MiB; bytes that unpack to more are no capture's.
const LARGEST_CAPTURE: u64 = 512 << 20;

/// How far back a repetition is found: many CPUs' worth, and little memory beside a watched database.
const DICTIONARY: u32 = 1 << 20;

/// What the dictionary and the decoder take together, at most.
const MOST_MEMORY: u64 = 8 << 20;

/// As LZMA, in the format of .lzma files, which has no more than 13 bytes around it: the frame has a checksum.
fn packed(capture: &str) -> io::Result<Vec<u8>> {
    // Text has no alignment, and its next character depends on the one before.
    let mut options = LzmaOptions::new_preset(6)?;
    options.dict_size(DICTIONARY).literal_context_bits(4).position_bits(0);
    let mut encoder = XzEncoder::new_stream(Vec::new(), Stream::new_lzma_encoder(&options)?);
    encoder.write_all(capture.as_bytes())?;
    encoder.finish()
}

fn unpacked(packed: &[u8]) -> io::Result<String> {
    let mut capture = String::new();
    let decoder = XzDecoder::new_stream(packed, Stream::new_lzma_decoder(MOST_MEMORY)?);
    decoder.take(LARGEST_CAPTURE).read_to_string(&mut capture)?;
    Ok(capture)
}
