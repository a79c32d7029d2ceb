//! Counts tests in what `cargo test` prints.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

/// How many tests passed and failed.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Tests that passed.
    pub(crate) passed: usize,
    /// Tests that failed.
    pub(crate) failed: usize,
}

impl Tally {
    /// The counts in a `test result:` line, and none in any other line.
    pub(crate) fn of_line(line: &str) -> Self {
        let Some(result) = line.strip_prefix("test result:") else {
            return Self::default();
        };
        let count = |what: &str| {
            let words: Vec<&str> = result.split([' ', ';']).collect();
            let pairs = words.windows(2).find(|pair| pair[1] == what);
            pairs.and_then(|pair| pair[0].parse().ok()).unwrap_or(0)
        };
        Self { passed: count("passed"), failed: count("failed") }
    }
}

impl Add for Tally {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl Sum for Tally {
    fn sum<I: Iterator<Item = Self>>(tallies: I) -> Self {
        tallies.fold(Self::default(), Add::add)
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_lines_count_and_others_do_not() {
        let printed = "\
running 3 tests
test passed_is_a_word ... ok
test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s
test result: \u{1b}[31mFAILED\u{1b}[0m. 4 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out
";
        let mut tally = Tally::default();
        for line in printed.lines() {
            tally += Tally::of_line(line);
        }
        assert_eq!(tally, Tally { passed: 6, failed: 1 });
    }
}
