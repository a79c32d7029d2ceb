//! Lengths of gaps, and of other spans of time: a histogram in steps of 1, 2 and 5 of every power of ten (three steps a
//! decade, easy to read), and exact percentiles, for which every length must have been kept.

use facts::probe::Gaps;
use facts::{Fact, Missing};

/// The lower edges in nanoseconds. Nothing is below the first, and the last has no end.
const EDGES: [u64; 31] = [
    1,
    2,
    5,
    10,
    20,
    50,
    100,
    200,
    500,
    1_000,
    2_000,
    5_000,
    10_000,
    20_000,
    50_000,
    100_000,
    200_000,
    500_000,
    1_000_000,
    2_000_000,
    5_000_000,
    10_000_000,
    20_000_000,
    50_000_000,
    100_000_000,
    200_000_000,
    500_000_000,
    1_000_000_000,
    2_000_000_000,
    5_000_000_000,
    10_000_000_000,
];

/// How many gaps there were of each length, and what they took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram([Sum; EDGES.len()]);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sum {
    count: u64,
    ns: u64,
}

/// The gaps of one range of lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// The shortest length that belongs to it, in nanoseconds.
    pub from_ns: u64,
    /// The shortest length that is too long for it, in nanoseconds; `None` where none is.
    pub below_ns: Option<u64>,
    /// How many gaps fall into the bucket.
    pub count: u64,
    /// How long they lasted together, in nanoseconds.
    pub ns: u64,
}

impl Histogram {
    /// Of what has these lengths, in nanoseconds.
    pub fn of(lengths_ns: impl IntoIterator<Item = u64>) -> Histogram {
        let mut histogram = Histogram::default();
        for length_ns in lengths_ns {
            let above = EDGES.partition_point(|&edge| edge <= length_ns);
            // A gap of no length is one of the shortest.
            if let Some(sum) = histogram.0.get_mut(above.saturating_sub(1)) {
                sum.count += 1;
                sum.ns = sum.ns.saturating_add(length_ns);
            }
        }
        histogram
    }

    /// Adds what another CPU has.
    pub fn add(&mut self, other: &Histogram) {
        for (sum, more) in self.0.iter_mut().zip(&other.0) {
            sum.count = sum.count.saturating_add(more.count);
            sum.ns = sum.ns.saturating_add(more.ns);
        }
    }

    /// From the first bucket that has a gap to the last, ascending; empty ones in between are among them.
    pub fn buckets(&self) -> Vec<Bucket> {
        let edges = EDGES.iter().enumerate();
        let all: Vec<Bucket> = edges
            .zip(&self.0)
            .map(|((at, &from_ns), sum)| Bucket {
                from_ns,
                below_ns: EDGES.get(at + 1).copied(),
                count: sum.count,
                ns: sum.ns,
            })
            .collect();
        let has_gaps = |bucket: &Bucket| bucket.count > 0;
        let first = all.iter().position(has_gaps).unwrap_or(all.len());
        let end = all.iter().rposition(has_gaps).map_or(first, |last| last + 1);
        all.get(first..end).unwrap_or_default().to_vec()
    }
}

/// Lengths of gaps in nanoseconds, each the shortest that at least this share of all gaps does not exceed (nearest rank).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Percentiles {
    /// Half of the gaps.
    pub p50: u64,
    /// 90 % of them.
    pub p90: u64,
    /// 99 %.
    pub p99: u64,
    /// 99.9 %.
    pub p99_9: u64,
    /// The longest gap; no gap is longer.
    pub longest: u64,
}

impl Percentiles {
    /// Of the gaps of one CPU. Missing where there is none, and where some were only counted.
    pub fn of(gaps: &Gaps) -> Fact<Percentiles> {
        const WHAT: &str = "percentiles of gaps";
        if gaps.not_kept.count > 0 {
            let found = format!("{} gaps, {} of them kept", gaps.count(), gaps.gaps.len());
            return Err(Missing::malformed(WHAT, &found, "every gap: watch for a shorter time"));
        }
        let mut lengths: Vec<u64> = gaps.gaps.iter().map(|gap| gap.length_ns).collect();
        lengths.sort_unstable();
        let at = |per_mille| rank(&lengths, per_mille);
        let all = (at(500), at(900), at(990), at(999), at(1000));
        let (Some(p50), Some(p90), Some(p99), Some(p99_9), Some(longest)) = all else {
            return Err(Missing::not_here(WHAT, "there was no gap"));
        };
        Ok(Percentiles { p50, p90, p99, p99_9, longest })
    }

    /// Each with its name, ascending.
    pub fn named(&self) -> [(&'static str, u64); 5] {
        [
            ("p50", self.p50),
            ("p90", self.p90),
            ("p99", self.p99),
            ("p99.9", self.p99_9),
            ("longest", self.longest),
        ]
    }
}

fn rank(ascending: &[u64], per_mille: usize) -> Option<u64> {
    let rank = ascending.len().saturating_mul(per_mille).div_ceil(1000);
    ascending.get(rank.checked_sub(1)?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::tests::gaps;
    use facts::probe::NotKept;

    fn shown(lengths: &[u64]) -> String {
        let line = |it: &Bucket| {
            let below = it.below_ns.map_or(String::new(), |ns| ns.to_string());
            format!("{}..{below}: {} in {}", it.from_ns, it.ns, it.count)
        };
        Histogram::of(lengths.iter().copied())
            .buckets()
            .iter()
            .map(line)
            .collect::<Vec<_>>()
            .join("; ")
    }

    #[test]
    fn a_length_at_an_edge_belongs_above_it() {
        assert_eq!(
            shown(&[199, 200, 499, 500]),
            "100..200: 199 in 1; 200..500: 699 in 2; 500..1000: 500 in 1"
        );
    }

    #[test]
    fn buckets_between_two_that_have_gaps_are_shown_empty() {
        assert_eq!(shown(&[30, 150]), "20..50: 30 in 1; 50..100: 0 in 0; 100..200: 150 in 1");
    }

    #[test]
    fn no_length_is_too_short_or_too_long() {
        assert_eq!(shown(&[]), "");
        assert_eq!(shown(&[0]), "1..2: 0 in 1");
        assert_eq!(shown(&[u64::MAX, u64::MAX]), format!("10000000000..: {} in 2", u64::MAX));
    }

    #[test]
    fn edges_ascend() {
        assert!(EDGES.is_sorted_by(|a, b| a < b));
    }

    fn percentiles(lengths: impl IntoIterator<Item = u64>) -> String {
        match Percentiles::of(&gaps(lengths)) {
            Ok(it) => it.named().map(|(name, ns)| format!("{name} {ns}")).join(", "),
            Err(missing) => missing.to_string(),
        }
    }

    #[test]
    fn a_percentile_is_a_length_that_was_seen() {
        assert_eq!(
            percentiles((1..=1000).rev()),
            "p50 500, p90 900, p99 990, p99.9 999, longest 1000"
        );
        assert_eq!(percentiles([7]), "p50 7, p90 7, p99 7, p99.9 7, longest 7");
        assert_eq!(percentiles([10, 20, 30]), "p50 20, p90 30, p99 30, p99.9 30, longest 30");
    }

    #[test]
    fn without_every_gap_there_is_no_percentile() {
        assert!(percentiles([]).contains("there was no gap"), "{}", percentiles([]));
        let cut = Gaps { not_kept: NotKept { count: 2, total_ns: 9 }, ..gaps([5]) };
        let missing = Percentiles::of(&cut).unwrap_err().to_string();
        assert!(missing.contains("3 gaps, 1 of them kept"), "{missing}");
    }
}
