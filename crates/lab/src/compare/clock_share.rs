//! How much of a difference the clock explains.
//!
//! Work that takes a fixed number of cycles takes a time that falls with the clock: then time by clock is constant, and the
//! clock explains the whole difference. In logarithms a change of time is the sum of a change of cycles and one of the
//! time of a cycle.

use super::{Evidence, Measure};
use crate::known::Known;
use serde::{Deserialize, Serialize};

/// How the change of the main figure is made up. Shares are of A, as in [`Evidence`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClockShare {
    /// What the clock alone would have changed.
    pub by_clock: f64,
    /// What is left when the clock is taken out: the change of cycles.
    pub left: f64,
    /// The part of the change that the clock makes up, in logarithms: 1 is all of it; above 1 or below 0 the cycles
    /// changed the other way. Missing where the figure changed too little to have parts.
    pub part: Known<f64>,
    /// Whether the cycles are constant within [`CONSTANT`] while the clock changed by more.
    pub explains_all: bool,
}

/// Elapsed time by clock of the published tests with turbo, C-states and governors varies by 2.5 % from its middle where
/// the clock varies by a factor of three: their clock was read with three digits, and their work is not all in the core.
pub const CONSTANT: f64 = 0.03;

impl ClockShare {
    /// Of readings that hold the main figure, its cycles and the clock.
    pub(super) fn of(evidence: &[(Measure, Evidence)]) -> Known<ClockShare> {
        let change =
            |measure| evidence.iter().find(|it| it.0 == measure).map(|it| it.1.change.ln_1p());
        let changes =
            (change(Measure::Figure), change(Measure::FigureCycles), change(Measure::Clock));
        let (Some(figure), Some(cycles), Some(clock)) = changes else {
            return missing("the clock was not seen in enough trials of both arms");
        };
        Known::Value(ClockShare::between(figure, cycles, clock))
    }

    /// Of changes in logarithms.
    pub(crate) fn between(figure: f64, cycles: f64, clock: f64) -> ClockShare {
        let part = if figure.abs() < LEAST_CHANGE {
            missing("the figure changed too little to have parts")
        } else {
            Known::Value(clock / figure)
        };
        let left = cycles.exp_m1();
        let by_clock = clock.exp_m1();
        let explains_all = left.abs() <= CONSTANT && by_clock.abs() > CONSTANT;
        ClockShare { by_clock, left, part, explains_all }
    }
}

/// Half a percent: parts of less are ratios of noise.
const LEAST_CHANGE: f64 = 0.005;

fn missing<T>(why: &str) -> Known<T> {
    Known::Missing { missing: why.to_owned() }
}
