//! Finds out by the first bytes how a file is compressed, and reads through that.
//!
//! Names lie: bundles are renamed, and a `.tgz` may be anything. Each format can ask its reader for a window
//! of memory; here that is bounded, because a file of some hundred bytes could ask for gigabytes.

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::io::{self, BufRead, BufReader, Read};

/// `xz -9` needs 65 MiB to unpack (xz(1)); a larger dictionary has to be asked for.
const XZ_MEMORY: u64 = 96 << 20;

/// The longest of the magic numbers below.
const LONGEST_MAGIC: u64 = 6;

/// How an archive is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Plain,
    Gzip,
    Bzip2,
    Xz,
    Zstd,
}

/// What `packed` holds, unpacked as it is read, and in which format it is.
pub(super) fn unpacked<'a>(mut packed: impl Read + 'a) -> io::Result<(Format, Box<dyn Read + 'a>)> {
    let mut magic = Vec::new();
    packed.by_ref().take(LONGEST_MAGIC).read_to_end(&mut magic)?;
    let format = format_of(&magic);
    let whole = io::Cursor::new(magic).chain(packed);
    let reader: Box<dyn Read + 'a> = match format {
        Format::Plain => Box::new(BufReader::new(whole)),
        Format::Gzip => Box::new(flate2::read::MultiGzDecoder::new(whole)),
        Format::Bzip2 => Box::new(bzip2::read::MultiBzDecoder::new(whole)),
        Format::Xz => {
            let flags = liblzma::stream::CONCATENATED;
            let stream = liblzma::stream::Stream::new_stream_decoder(XZ_MEMORY, flags)?;
            Box::new(liblzma::read::XzDecoder::new_stream(whole, stream))
        }
        Format::Zstd => {
            Box::new(ZstdFrames { packed: BufReader::new(whole), frame: FrameDecoder::new() })
        }
    };
    Ok((format, reader))
}

fn format_of(magic: &[u8]) -> Format {
    const MAGIC: [(&[u8], Format); 4] = [
        (&[0x1f, 0x8b], Format::Gzip),
        (b"BZh", Format::Bzip2),
        (b"\xfd7zXZ\0", Format::Xz),
        (&[0x28, 0xb5, 0x2f, 0xfd], Format::Zstd),
    ];
    let found = MAGIC.iter().find(|(number, _)| magic.starts_with(number));
    found.map_or(Format::Plain, |(_, format)| *format)
}

/// A zstd file: one frame after another, of which the decoder at hand reads one.
struct ZstdFrames<R> {
    packed: BufReader<R>,
    frame: FrameDecoder,
}

impl<R: Read> ZstdFrames<R> {
    /// Opens the next frame that holds data. `false` at the end of the file.
    fn next_frame(&mut self) -> io::Result<bool> {
        while !self.packed.fill_buf()?.is_empty() {
            match self.frame.reset(&mut self.packed) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let mut frame = self.packed.by_ref().take(length.into());
                    io::copy(&mut frame, &mut io::sink())?;
                }
                Err(error) => return Err(io::Error::other(error)),
            }
        }
        Ok(false)
    }
}

impl<R: Read> Read for ZstdFrames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.frame.can_collect() == 0 {
            if !self.frame.is_finished() {
                self.frame
                    .decode_blocks(&mut self.packed, BlockDecodingStrategy::UptoBlocks(1))
                    .map_err(io::Error::other)?;
            } else if !self.next_frame()? {
                return Ok(0);
            }
        }
        self.frame.read(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn text_of(packed: &[u8]) -> String {
        let mut text = String::new();
        unpacked(packed).unwrap().1.read_to_string(&mut text).unwrap();
        text
    }

    /// Twice the same member, as parallel compressors write them.
    fn twice(member: &[u8]) -> Vec<u8> {
        [member, member].concat()
    }

    #[test]
    fn every_format_is_known_by_its_first_bytes() {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(b"one ").unwrap();
        assert_eq!(text_of(&twice(&gzip.finish().unwrap())), "one one ");
        let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        bzip2.write_all(b"one ").unwrap();
        assert_eq!(text_of(&twice(&bzip2.finish().unwrap())), "one one ");
        let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 1);
        xz.write_all(b"one ").unwrap();
        assert_eq!(text_of(&twice(&xz.finish().unwrap())), "one one ");
        assert_eq!(text_of(b"one "), "one ");
        assert_eq!(text_of(b""), "");
    }

    #[test]
    fn zstd_frames_follow_each_other_and_skippable_ones_are_skipped() {
        use ruzstd::encoding::{CompressionLevel, compress_to_vec};
        let frame = compress_to_vec(&b"one "[..], CompressionLevel::Uncompressed);
        let skippable = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
        let file = [frame.clone(), skippable, frame].concat();
        assert_eq!(text_of(&file), "one one ");
    }

    #[test]
    fn a_file_that_is_cut_short_is_an_error_in_every_format() {
        for magic in [&[0x1f, 0x8b][..], b"BZh9", b"\xfd7zXZ\0\0", &[0x28, 0xb5, 0x2f, 0xfd, 4]] {
            let mut text = Vec::new();
            assert!(unpacked(magic).unwrap().1.read_to_end(&mut text).is_err(), "{magic:?}");
        }
    }
}
