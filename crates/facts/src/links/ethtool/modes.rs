//! The link modes of Ethernet: what each stands for.
//!
//! Source: `enum ethtool_link_mode_bit_indices` of include/uapi/linux/ethtool.h, up to bit 124 (1600000baseDR8-2).

use super::Speeds;
use crate::BitsPerSecond;
use crate::links::network::speed_of;

/// Modes in full duplex: first and last bit, Mb/s. What stands between them is half duplex, a kind of plug, pause or
/// error correction.
const FULL: [(u32, u32, u64); 36] = [
    (1, 1, 10),
    (3, 3, 100),
    (5, 5, 1000),
    (12, 12, 10_000),
    (15, 15, 2500),
    (17, 17, 1000),
    (18, 19, 10_000),
    (21, 22, 20_000),
    (23, 26, 40_000),
    (27, 30, 56_000),
    (31, 33, 25_000),
    (34, 35, 50_000),
    (36, 39, 100_000),
    (40, 40, 50_000),
    (41, 41, 1000),
    (42, 46, 10_000),
    (47, 47, 2500),
    (48, 48, 5000),
    (52, 56, 50_000),
    (57, 61, 100_000),
    (62, 66, 200_000),
    (67, 67, 100),
    (68, 68, 1000),
    (69, 73, 400_000),
    (75, 79, 100_000),
    (80, 84, 200_000),
    (85, 89, 400_000),
    (91, 91, 100),
    (92, 92, 10),
    (93, 98, 800_000),
    (99, 99, 10),
    (102, 102, 10),
    (103, 108, 200_000),
    (109, 114, 400_000),
    (115, 120, 800_000),
    (121, 124, 1_600_000),
];

/// The speeds that a bitmap of modes holds, in words of 32 bits.
pub(super) fn of_bits(words: &[u32]) -> Speeds {
    let is_set = |bit: u32| {
        let word = usize::try_from(bit / 32).ok().and_then(|it| words.get(it));
        word.is_some_and(|it| it & (1 << (bit % 32)) != 0)
    };
    let found = FULL.iter().filter(|(first, last, _)| (*first..=*last).any(is_set));
    Speeds::of(found.map(|(.., megabits)| BitsPerSecond::from_megabits(*megabits)))
}

/// The speeds among words like `1000baseT/Full`.
pub(super) fn of_names(names: &str) -> Speeds {
    Speeds::of(names.split_whitespace().filter_map(full))
}

fn full(name: &str) -> Option<BitsPerSecond> {
    let (megabits, _) = name.strip_suffix("/Full")?.split_once("base")?;
    speed_of(megabits.parse().ok()?).ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_bit(bit: u32) -> String {
        let mut words = [0; 4];
        words[usize::try_from(bit / 32).unwrap()] = 1 << (bit % 32);
        of_bits(&words).to_string()
    }

    #[test]
    fn modes_are_told_by_their_bits() {
        assert_eq!(of_bit(5), "1 Gb/s");
        assert_eq!(of_bit(31), "25 Gb/s");
        assert_eq!(of_bit(38), "100 Gb/s");
        assert_eq!(of_bit(48), "5 Gb/s");
        assert_eq!(of_bit(73), "400 Gb/s");
        assert_eq!(of_bit(120), "800 Gb/s");
    }

    #[test]
    fn half_duplex_plugs_pause_and_correction_are_no_speed() {
        for bit in [0, 2, 4, 6, 7, 10, 13, 14, 16, 20, 49, 50, 51, 74, 90, 100, 101, 125, 127] {
            assert_eq!(of_bit(bit), "none that is told", "bit {bit}");
        }
    }

    #[test]
    fn every_bit_is_of_one_mode() {
        let mut last_bit = None;
        for (first, last, _) in FULL {
            assert!(first <= last && last_bit.is_none_or(|it| it < first), "bit {first}");
            last_bit = Some(last);
        }
    }

    #[test]
    fn modes_are_told_by_their_names() {
        let text = "10baseT/Half 1000baseT/Full 10000baseKX4/Full Not reported 9999999999base/Full";
        assert_eq!(of_names(text).to_string(), "1, 10 Gb/s");
    }
}
