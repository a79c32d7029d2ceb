//! What is compared of each trial.

use crate::trial::{Better, Figure, Trial};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A quantity that every trial of both arms has.
///
/// Logarithms of slowness: time for the same work, so that a lower one is faster, whatever the figure counts. What the
/// clock did is taken out by counting cycles; what other tasks took, by counting time on the CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// The main figure, as a time for the same work: a rate is turned over.
    Figure,
    /// The main figure in cycles of the clock that was probed around the trial.
    FigureCycles,
    /// Time on the CPU.
    CpuTime,
    /// One over the clock that was probed: the time of a cycle.
    Clock,
}

impl Measure {
    /// The logarithm of this trial's slowness; `None` where the trial does not have it, or it is no positive number.
    pub fn of(self, trial: &Trial) -> Option<f64> {
        match self {
            Measure::Figure => slowness(trial.outcome.figures.first()?),
            Measure::CpuTime => logarithm(*trial.outcome.cpu_ns.value()? as f64),
            Measure::Clock => Some(-logarithm(trial.clock.value()?.mean_hz())?),
            Measure::FigureCycles => Some(Measure::Figure.of(trial)? - Measure::Clock.of(trial)?),
        }
    }
}

fn slowness(figure: Figure<&str>) -> Option<f64> {
    let logarithm = logarithm(figure.value)?;
    Some(match figure.better {
        Better::Lower => logarithm,
        Better::Higher => -logarithm,
    })
}

fn logarithm(value: f64) -> Option<f64> {
    (value > 0.0 && value.is_finite()).then(|| value.ln())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixture::trial;
    use crate::known::Known;

    #[test]
    fn a_rate_and_a_time_that_say_the_same_are_the_same() {
        let mut rate = trial(0, 1, 0.5, 2e9);
        let time = Measure::Figure.of(&rate).unwrap();
        rate.outcome.figures.edit(|it| {
            it[0].value = 2.0;
            it[0].better = Better::Higher;
        });
        assert!((Measure::Figure.of(&rate).unwrap() - time).abs() < 1e-12);
    }

    #[test]
    fn cycles_are_time_by_clock_and_missing_without_one() {
        let mut of = trial(0, 1, 0.5, 2e9);
        assert!((Measure::FigureCycles.of(&of).unwrap().exp() - 1e9).abs() < 1.0);
        of.clock = Known::missing("the machine was too busy");
        assert_eq!(Measure::FigureCycles.of(&of), None);
        assert!(Measure::Figure.of(&of).is_some());
    }

    #[test]
    fn a_figure_that_is_no_positive_number_is_no_measure() {
        for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let mut of = trial(0, 1, 0.5, 2e9);
            of.outcome.figures.edit(|it| it[0].value = value);
            assert_eq!(Measure::Figure.of(&of), None, "{value}");
        }
    }
}
