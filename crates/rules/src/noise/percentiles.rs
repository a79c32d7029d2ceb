//! Percentiles of the lengths of gaps, exact: every length that was seen is there.

use facts::probe::Gaps;
use facts::{Fact, Missing};

/// Lengths of gaps in nanoseconds, each the shortest that at least so many of all gaps do not exceed (nearest rank).
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
    /// All of them.
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
    use super::super::fixture::gaps;
    use super::*;
    use facts::probe::NotKept;

    fn shown(lengths: impl IntoIterator<Item = u64>) -> String {
        match Percentiles::of(&gaps(lengths)) {
            Ok(it) => it.named().map(|(name, ns)| format!("{name} {ns}")).join(", "),
            Err(missing) => missing.to_string(),
        }
    }

    #[test]
    fn a_percentile_is_a_length_that_was_seen() {
        assert_eq!(shown((1..=1000).rev()), "p50 500, p90 900, p99 990, p99.9 999, longest 1000");
        assert_eq!(shown([7]), "p50 7, p90 7, p99 7, p99.9 7, longest 7");
        assert_eq!(shown([10, 20, 30]), "p50 20, p90 30, p99 30, p99.9 30, longest 30");
    }

    #[test]
    fn without_every_gap_there_is_no_percentile() {
        assert!(shown([]).contains("there was no gap"), "{}", shown([]));
        let cut = Gaps { not_kept: NotKept { count: 2, total_ns: 9 }, ..gaps([5]) };
        let missing = Percentiles::of(&cut).unwrap_err().to_string();
        assert!(missing.contains("3 gaps, 1 of them kept"), "{missing}");
    }
}
