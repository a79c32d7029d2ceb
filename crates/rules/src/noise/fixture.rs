//! Time lines for tests.

use facts::probe::{Gap, Gaps, NotKept};

/// CPU 1, watched for 1 s by thread 9: gaps of these lengths, one every millisecond.
pub(super) fn gaps(lengths: impl IntoIterator<Item = u64>) -> Gaps {
    let gap = |(n, length_ns): (u64, u64)| Gap { at_ns: 1_000_000 * n, length_ns };
    Gaps {
        cpu: 1,
        thread: 9,
        started_ns: 0,
        ended_ns: 1_000_000_000,
        reads: 50_000_000,
        floor_ns: 40,
        slack_ns: 20,
        switches: 0,
        gaps: (1..).zip(lengths).map(gap).collect(),
        not_kept: NotKept::default(),
    }
}
