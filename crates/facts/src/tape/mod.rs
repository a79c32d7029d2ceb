//! A tape: the samples of one host as bytes, one behind the other, each as what changed since the one before.
//!
//! ```text
//! fullclock tape 2          a line of text
//! label                     a frame: what host it is, as a capture, and who recorded it
//! key frame                 a sample that needs no other
//! differences ...           up to 59 samples
//! key frame
//! ...
//! ```
//!
//! Users know a tape as the recording that `fullclock watch --record` makes. It is only ever appended to, so it can
//! be cut anywhere and is whole up to the last frame. Damage costs the samples up to the next key frame. Counts are
//! written by hand and not by a serializer, because almost all of them are zero, or nearly what they were; that, and
//! that each frame is packed by what the frames since the last key frame were like, is what the size comes from.
//!
//! A tape with another number in its first line is refused; a part of a sample that a later fullclock adds under
//! the same number is stepped over.

mod decoder;
mod differences;
mod encoder;
mod events;
pub mod frame;
mod groups;
mod label;
mod likelihood;
mod packing;
mod range;
mod reason;
mod sample;
mod table;
mod tasks;
mod wire;

#[cfg(test)]
mod tests;

pub use decoder::{Decoder, Undecoded};
pub use encoder::{Encoder, TooLarge};
pub use label::Label;
pub use sample::Sample;

/// The first line of every tape, with its newline.
pub const FIRST_LINE: &str = "fullclock tape 2\n";

/// A key frame is about ten times as large as the frames between: every 60 samples, a minute at the usual interval,
/// it makes a seventh of the tape.
const SAMPLES_PER_KEY: u32 = 60;
