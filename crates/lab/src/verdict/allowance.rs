//! What two runs of the same may differ by.

/// What is not the difference that was asked for and may lie between two runs, as logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Allowance {
    /// The largest move of the median within either run. It counts twice: see [`largest_move`](crate::stats::largest_move).
    pub largest_move: f64,
    /// What two runs of the same differ by.
    pub between_runs: BetweenRuns,
}

impl Allowance {
    /// What the interval has to clear.
    pub fn total(&self) -> f64 {
        2.0 * self.largest_move + self.between_runs.limit
    }
}

/// What two runs of the same differ by, as a logarithm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BetweenRuns {
    /// They hardly ever differ by more.
    pub limit: f64,
    /// Of how many earlier runs that is known; `None` where it is taken for granted.
    pub known_of: Option<usize>,
}

impl BetweenRuns {
    /// Where no runs are known: 1 % each, which makes 1.4 % of their difference.
    pub const ASSUMED: BetweenRuns =
        BetweenRuns { limit: 0.01 * std::f64::consts::SQRT_2, known_of: None };
}
