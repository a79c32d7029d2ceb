//! The CPU test that databases are measured by: `n = 0; for f in 1..=N { n = mod(n, 999999) + sqrt(f) }`.
//!
//! With ten million iterations it prints 873729.72, in decimal numbers and in IEEE 754 doubles. In doubles every step
//! is exact or correctly rounded (fmod is exact, square root and sum round once), so that the last bit is known too.

use crate::failure::Failure;
use std::ops::RangeInclusive;

/// The iterations of the published test.
pub(crate) const ITERATIONS: u64 = 10_000_000;

/// The most that any language counts to: a 32-bit integer is what PL/SQL and PL/pgSQL count loops with. Takes seconds
/// natively.
pub(crate) const MOST_ITERATIONS: u64 = i32::MAX as u64;

/// What is left of the sum is always below this.
const MODULUS: f64 = 999_999.0;

/// What decimal arithmetic may differ by: half of the last of two places.
const DECIMAL_TOLERANCE: f64 = 0.005;

/// The answer of the published test in doubles.
const ANSWER: f64 = 873_729.720_152_688_6;

/// The answer in doubles, right to the last bit. Takes some nanoseconds an iteration, unless it is the published one.
pub(crate) fn answer(iterations: u64) -> f64 {
    if iterations == ITERATIONS { ANSWER } else { computed(iterations) }
}

/// The same, computed in any case.
pub(crate) fn computed(iterations: u64) -> f64 {
    continued(0.0, 1..=iterations)
}

/// What the loop makes of `n` in these iterations.
#[inline(never)]
pub(crate) fn continued(n: f64, iterations: RangeInclusive<u64>) -> f64 {
    // The counter is exact as a double up to 2^53.
    iterations.fold(n, |n, f| n % MODULUS + (f as f64).sqrt())
}

/// Nothing where a native run gave the answer to the last bit; otherwise the loud failure of that workload.
pub(crate) fn verify(workload: &'static str, found: f64, expected: f64) -> Result<(), Failure> {
    if found.to_bits() == expected.to_bits() {
        return Ok(());
    }
    Err(Failure::WrongAnswer { workload, found: found.to_string(), expected: expected.to_string() })
}

/// Whether a number computed in decimals is [`answer`] to two places.
pub(crate) fn agrees_in_decimals(found: f64, expected: f64) -> bool {
    let apart = (found - expected).abs();
    // The last sum but one may fall on either side of the modulus, by its rounding alone.
    apart <= DECIMAL_TOLERANCE || (apart - MODULUS).abs() <= DECIMAL_TOLERANCE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_answer_comes_out_to_the_last_bit() {
        assert_eq!(computed(ITERATIONS).to_bits(), ANSWER.to_bits());
        assert_eq!(format!("{ANSWER:.12}"), "873729.720152688562");
    }

    #[test]
    fn a_wrong_answer_is_told_loudly() {
        assert!(verify("cpu-loop", 2.5, 2.5).is_ok());
        let text = verify("cpu-loop", 2.5, 1.0).unwrap_err().to_string();
        assert!(text.starts_with("WRONG ANSWER: cpu-loop computed 2.5, and 1 is right"), "{text}");
        assert!(verify("cpu-loop", 0.0, -0.0).is_err());
    }

    #[test]
    fn decimals_agree_to_two_places_and_no_better() {
        let expected = answer(1_000_000);
        assert!(agrees_in_decimals(667_832.458_822_108_3, expected));
        assert!(
            agrees_in_decimals(667_832.46, expected)
                && agrees_in_decimals(expected + MODULUS, expected)
        );
        for wrong in [667_832.47, 0.0, f64::NAN, f64::INFINITY] {
            assert!(!agrees_in_decimals(wrong, expected), "{wrong}");
        }
    }
}
