//! How likely a bit is, by what came before in the same circumstances.

use super::range::Likelihood;

/// How many circumstances are told apart; those that share a place by chance only cost a few bits.
const PLACES: usize = 1 << 16;

/// A bit that never changes is told as 255 in 256: what cannot be surprised would be without bound in what it
/// unpacks to, and an eighth of what it saves is lost.
const SUREST: i32 = 1 << 8;

/// A place forgets what is longer ago than so many bits.
const MEMORY: u16 = 30;

/// What each of the circumstances has seen; zeros where it has seen nothing.
#[derive(Clone, Debug)]
pub(super) struct Likelihoods {
    /// How far the likelihood that a bit is set is above one half, in parts of 2^16.
    above_half: Vec<i16>,
    /// From how many bits that is known.
    seen: Vec<u16>,
}

const HALF: i32 = 1 << 15;

impl Likelihoods {
    /// Nothing has been seen.
    pub(super) fn new() -> Likelihoods {
        Likelihoods { above_half: vec![0; PLACES], seen: vec![0; PLACES] }
    }

    /// How likely the next bit is to be set, as all of its circumstances have it together: those count more that
    /// have seen more bits, and that are surer.
    pub(super) fn of<const N: usize>(&self, circumstances: [u64; N]) -> Likelihood {
        /// From so many bits on, more make nothing surer.
        const MANY: u16 = 20;
        let (mut sum, mut weights) = (0, 0);
        for circumstance in circumstances {
            let at = index(circumstance);
            let above_half = self.above_half.get(at).copied().map_or(0, i64::from);
            let seen = self.seen.get(at).copied().unwrap_or(0).min(MANY);
            let weight = (above_half.abs() / 128 + 26) * (4 * i64::from(seen) + 1);
            sum += weight * above_half;
            weights += weight;
        }
        let likelihood = HALF + sum.checked_div(weights).unwrap_or(0) as i32;
        likelihood.clamp(SUREST, (1 << 16) - SUREST) as Likelihood
    }

    /// Remembers a bit.
    pub(super) fn learn<const N: usize>(&mut self, circumstances: [u64; N], bit: bool) {
        for circumstance in circumstances {
            let at = index(circumstance);
            let (Some(above_half), Some(seen)) =
                (self.above_half.get_mut(at), self.seen.get_mut(at))
            else {
                continue;
            };
            let was = i32::from(*above_half);
            let end = if bit { HALF - 1 } else { -HALF };
            // The n-th bit moves the mean by the n-th part, the first by two thirds: one bit is no certainty.
            *above_half = (was + (end - was) * 2 / (2 * i32::from(*seen) + 3)) as i16;
            *seen = (*seen + 1).min(MEMORY);
        }
    }
}

/// Multiplicative hashing: Knuth, The Art of Computer Programming, volume 3, section 6.4; 2^64 over the golden ratio.
fn index(circumstance: u64) -> usize {
    const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
    let mixed = (circumstance ^ (circumstance >> 29)).wrapping_mul(MULTIPLIER);
    (mixed >> (u64::BITS - PLACES.trailing_zeros())) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_becomes_likely_and_what_was_not_stays_open() {
        let mut likelihoods = Likelihoods::new();
        assert_eq!(likelihoods.of([1, 2]), 1 << 15);
        (0..100).for_each(|_| likelihoods.learn([1, 2], true));
        assert_eq!(likelihoods.of([1, 2]), u16::MAX - 255);
        assert_eq!(likelihoods.of([3]), 1 << 15);
        assert!(likelihoods.of([1, 3]) > 60_000, "who has seen more counts more");
        (0..3).for_each(|_| likelihoods.learn([1], false));
        assert!(likelihoods.of([1]) < 60_000, "it forgets");
    }
}
