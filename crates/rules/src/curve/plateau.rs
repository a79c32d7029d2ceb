//! The bandwidth that large messages settle at.

use facts::links::perftest::Bandwidth;
use facts::{Bytes, BytesPerSecond};

/// A run of message sizes that move the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Plateau {
    /// The median of their averages.
    pub rate: BytesPerSecond,
    /// The smallest of them.
    pub from: Bytes,
    /// The largest of them.
    pub to: Bytes,
    /// How far they are apart, 1 being all of the rate.
    pub spread: f64,
}

/// Sizes this near to the best are taken for the same: runs of one size differ by a percent or two, and each doubling
/// on the way up adds far more.
const NEAR: f64 = 0.95;
/// Two sizes may be alike by chance, at the end of a curve that rises.
const FEWEST: usize = 3;

/// The run of sizes around the best one that are near to it. The points are ascending by size, and none is 0.
pub(super) fn find(points: &[Bandwidth]) -> Option<Plateau> {
    let (top, best) = points.iter().enumerate().max_by_key(|(_, it)| it.average)?;
    let is_near = |it: &&Bandwidth| it.average.share_of(best.average) >= NEAR;
    let n_below = points[..top].iter().rev().take_while(is_near).count();
    let n_above = points[top..].iter().take_while(is_near).count();
    let run = &points[top - n_below..top + n_above];
    let mut rates: Vec<BytesPerSecond> = run.iter().map(|it| it.average).collect();
    rates.sort_unstable();
    let (lowest, highest) = (*rates.first()?, *rates.last()?);
    let rate = *rates.get(rates.len() / 2)?;
    (run.len() >= FEWEST).then(|| Plateau {
        rate,
        from: run[0].message,
        to: run[run.len() - 1].message,
        spread: highest.share_of(rate) - lowest.share_of(rate),
    })
}
