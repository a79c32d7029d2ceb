//! Message sizes that move less than a smaller one.
//!
//! A larger message has fewer headers and fewer requests for the same data: it should never be slower.

use super::Plateau;
use facts::Bytes;
use facts::links::perftest::Bandwidth;

/// Sizes in a row that move less than a smaller size.
#[derive(Clone, Debug, PartialEq)]
pub struct Dip {
    /// The smallest of them.
    pub first: Bytes,
    /// The largest of them.
    pub last: Bytes,
    /// The one that lost the most.
    pub lowest: Bandwidth,
    /// The fastest of the smaller sizes.
    pub before: Bandwidth,
    /// The size behind them; `None` where it does not recover.
    pub after: Option<Bandwidth>,
    /// How much of the rate before is lost at the lowest, 1 being all.
    pub lost: f64,
}

/// A tenth is far beyond what runs of one size differ by.
const CLEAR: f64 = 0.1;
/// On the plateau nothing but noise tells sizes apart: what is not three times as far is no dip.
const TIMES_THE_NOISE: f64 = 3.0;

/// How much slower than a smaller size is clearly slower.
pub(super) fn threshold(plateau: Option<&Plateau>) -> f64 {
    plateau.map_or(CLEAR, |it| CLEAR.max(TIMES_THE_NOISE * it.spread))
}

/// The points are ascending by size, and none is 0.
pub(super) fn find(points: &[Bandwidth], threshold: f64) -> Vec<Dip> {
    let mut dips: Vec<Dip> = Vec::new();
    let mut best: Option<Bandwidth> = None;
    let mut is_open = false;
    for &point in points {
        let lost = best.map_or(0.0, |it| 1.0 - point.average.share_of(it.average));
        match (best, dips.last_mut()) {
            (Some(_), Some(dip)) if is_open && lost > threshold => deepen(dip, point, lost),
            (Some(before), _) if lost > threshold => {
                let message = point.message;
                let dip =
                    Dip { first: message, last: message, lowest: point, before, after: None, lost };
                dips.push(dip);
                is_open = true;
            }
            (_, dip) => {
                if let (true, Some(dip)) = (is_open, dip) {
                    dip.after = Some(point);
                }
                is_open = false;
            }
        }
        if best.is_none_or(|it| it.average < point.average) {
            best = Some(point);
        }
    }
    dips
}

fn deepen(dip: &mut Dip, point: Bandwidth, lost: f64) {
    dip.last = point.message;
    if lost > dip.lost {
        (dip.lowest, dip.lost) = (point, lost);
    }
}
