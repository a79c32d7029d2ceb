//! Durations, and bars of text: linear, or logarithmic where values span several orders of magnitude.

pub(crate) use facts::quantity::short_span as span;

use crate::document::{Bar, Tone};
use rules::noise::Bucket;

/// The range of durations in a bucket.
pub(crate) fn range(bucket: &Bucket) -> String {
    match bucket.below_ns {
        Some(below_ns) => format!("{} to {}", span(bucket.from_ns), span(below_ns)),
        None => format!("{} and more", span(bucket.from_ns)),
    }
}

/// A bar in proportion to the largest value; any value above zero has at least one mark.
pub(crate) fn bar(value: u64, most: u64) -> String {
    const LONGEST: f64 = 34.0;
    let length = (value as f64 / most.max(1) as f64 * LONGEST).round() as usize;
    "#".repeat(if value > 0 { length.max(1) } else { 0 })
}

/// Above this ratio of the largest to the smallest value, bars are logarithmic.
const WIDE: f64 = 8.0;

/// A scale of bars. It is logarithmic for values from 2 bytes to 8 MiB, whose rates differ by a factor of ten thousand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    /// The value at the left end: below the smallest, or zero.
    pub from: f64,
    pub to: f64,
}

impl Scale {
    /// A scale for these values: from half of the smallest, or from zero if they are close together.
    pub(crate) fn of(values: &[u64]) -> Scale {
        let known = values.iter().filter(|it| **it > 0).map(|it| *it as f64);
        let (least, most) =
            known.fold((f64::INFINITY, 0.0_f64), |(a, b), it| (a.min(it), b.max(it)));
        let is_wide = most > WIDE * least;
        // Half, so that the smallest value has a bar too.
        let from = if is_wide { least / 2.0 } else { 0.0 };
        Scale { from, to: most }
    }

    /// The bar of a value.
    pub(crate) fn bar(self, value: u64) -> Bar {
        Bar { start: 0.0, end: self.share(value), tone: Tone::Amount }
    }

    /// How far a value is from the left end to the right one, 1 being all of the way.
    fn share(self, value: u64) -> f64 {
        if value == 0 || self.to <= 0.0 {
            return 0.0;
        }
        let value = value as f64;
        match self.is_logarithmic() {
            true => (value / self.from).ln() / (self.to / self.from).ln(),
            false => value / self.to,
        }
    }

    pub(crate) fn is_logarithmic(self) -> bool {
        self.from > 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_bucket_has_the_longest_bar_and_none_but_an_empty_one_has_no_mark() {
        assert_eq!([bar(0, 100), bar(1, 1000), bar(5, 10)].map(|it| it.len()), [0, 1, 17]);
        let open = Bucket { from_ns: 1_000, below_ns: None, count: 1, ns: 1_000 };
        assert_eq!(range(&open), "1 us and more");
    }

    #[test]
    fn the_smallest_of_a_wide_range_is_seen_and_each_doubling_is_as_long() {
        let scale = Scale::of(&[1, 2, 4, 1 << 20]);
        assert!(scale.is_logarithmic());
        let ends = [1, 2, 4, 1 << 20].map(|it| scale.bar(it).end);
        let step = ends[1] - ends[0];
        assert!((0.04..0.05).contains(&step), "{ends:?}");
        assert!((ends[2] - ends[1] - step).abs() < 1e-9 && (ends[0] - step).abs() < 1e-9);
        assert!((ends[3] - 1.0).abs() < 1e-9, "{ends:?}");
    }

    #[test]
    fn what_lies_close_is_as_long_as_it_is_and_begins_at_zero() {
        let scale = Scale::of(&[50, 100]);
        assert!(!scale.is_logarithmic());
        assert_eq!([50, 100, 0].map(|it| scale.bar(it).end), [0.5, 1.0, 0.0]);
        assert_eq!(Scale::of(&[0]).bar(0).end, 0.0);
    }
}
