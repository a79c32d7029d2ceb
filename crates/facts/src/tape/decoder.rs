//! Makes samples of frames.

use super::frame::{Head, Kind};
use super::sample::{self, Sample};
use crate::counters::Counters;
use crate::parse::Expected;

/// Reads the samples of one tape, in their order.
#[derive(Debug, Default)]
pub struct Decoder {
    /// The number of the sample that was read last, and its counters; `None` until a key frame.
    before: Option<(u32, Counters)>,
    n_unknown: usize,
}

/// Why a frame makes no sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Undecoded {
    /// It holds the differences from a sample that was not read.
    #[error("the sample before it is lost")]
    Orphan,
    /// It is what was written, and was never a sample.
    #[error(transparent)]
    Malformed(#[from] Expected),
}

impl Decoder {
    /// For the beginning of a tape, or any place in it.
    pub fn new() -> Decoder {
        Decoder::default()
    }

    /// The sample of a frame whose payload fits its head. After an error, frames are orphans up to the next key
    /// frame.
    pub fn sample(&mut self, head: &Head, payload: &[u8]) -> Result<Sample, Undecoded> {
        let before = match (head.kind, self.before.take()) {
            (Kind::Key, _) => Counters::unread(),
            (Kind::Differences, Some((number, before)))
                if number.wrapping_add(1) == head.number =>
            {
                before
            }
            (Kind::Differences | Kind::Label, _) => return Err(Undecoded::Orphan),
        };
        let (sample, n_unknown) = sample::take(payload, &before)?;
        self.n_unknown = self.n_unknown.max(n_unknown);
        self.before = Some((head.number, sample.counters.clone()));
        Ok(sample)
    }

    /// How many parts of a sample were of a kind that only a later fullclock knows: they were left out.
    pub fn unknown_parts(&self) -> usize {
        self.n_unknown
    }
}
