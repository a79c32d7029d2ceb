//! Lists and masks of CPUs: what is accepted prints as a list that means the same, and sets behave as sets do.

use facts::CpuSet;
use std::collections::BTreeSet;

pub(crate) fn run(input: &[u8]) {
    let text = crate::text(input);
    // The halves of the text are two lists, to be cut from one another.
    let (left, right) = text.split_once(';').unwrap_or((text, "0-63:1/2"));
    let _ = CpuSet::parse_mask(left).map(round_trip);
    let _ = CpuSet::parse_list(left).map(round_trip);
    let sets = (CpuSet::parse_boot_list(left, 1023), CpuSet::parse_boot_list(right, 1023));
    if let (Ok(left), Ok(right)) = sets {
        compare_with_model(&left, &right);
        round_trip(left);
    }
}

fn round_trip(cpus: CpuSet) {
    assert_eq!(CpuSet::parse_list(&cpus.to_string()), Ok(cpus));
}

fn compare_with_model(left: &CpuSet, right: &CpuSet) {
    // The model is slow with sets that no machine has.
    if left.len().max(right.len()) > 1024 {
        return;
    }
    let (a, b): (BTreeSet<u32>, BTreeSet<u32>) = (left.iter().collect(), right.iter().collect());
    assert_eq!(
        (left.len(), left.first(), left.last()),
        (a.len(), a.first().copied(), a.last().copied())
    );
    assert!(left.minus(right).iter().eq(a.difference(&b).copied()));
    assert!(left.and(right).iter().eq(a.intersection(&b).copied()));
    let mut grown = left.clone();
    grown.extend(right.iter());
    assert!(grown.iter().eq(a.union(&b).copied()));
}
