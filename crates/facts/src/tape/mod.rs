//! A tape: the samples of one host as bytes, one after the other, each as the changes since the one before.
//!
//! ```text
//! fullclock tape 3          a line of text
//! label                     a frame: what host it is, as a capture, and who recorded it
//! key frame                 a sample that needs no other
//! differences ...           up to 59 samples
//! key frame
//! ...
//! ```
//!
//! Users know a tape as the recording that `fullclock watch --record` makes. It is only appended to, so it can be cut
//! anywhere and is whole up to the last frame. Damage costs the samples up to the next key frame. A sample consists
//! of tagged sections with differences from the sample before, as numbers of seven bits per byte. The samples from
//! one key frame to the next are one DEFLATE stream (RFC 1951), flushed after each sample.
//!
//! Tapes of version 2 packed samples differently, and can still be read. A tape with another number in its first line
//! is refused. A section that only a later version of fullclock knows is skipped.

mod client;
mod codec;
mod deflate;
mod events;
pub mod frame;
mod groups;
mod sample;
mod server;
mod table;
mod tasks;
mod users;
mod version_2;
mod wire;

#[cfg(test)]
mod tests;

pub use codec::{Decoder, Encoder, TooLarge, Undecoded};
pub use frame::Label;
pub use sample::Sample;

/// The versions of tapes that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// Samples are packed by a range coder.
    Two,
    /// Samples are a DEFLATE stream.
    Three,
}

impl Version {
    /// All of them, the one that is written last.
    pub const ALL: [Version; 2] = [Version::Two, Version::Three];

    /// The first line of a tape, with its newline.
    pub fn first_line(self) -> &'static str {
        match self {
            Version::Two => "fullclock tape 2\n",
            Version::Three => FIRST_LINE,
        }
    }
}

/// The first line of every tape that is written, with its newline.
pub const FIRST_LINE: &str = "fullclock tape 3\n";

/// A key frame is seven times as large as the frames between: every 60 samples, a minute at the usual interval, it
/// makes a ninth of the tape.
const SAMPLES_PER_KEY: u32 = 60;
