//! How much of a difference the clock explains.

use crate::known::Known;
use crate::verdict::Ratio;

/// How the change of the main result is made up, in its own unit.
///
/// Work that takes a fixed number of cycles takes a time that falls with the clock: then time by clock is constant, and the
/// clock explains the whole difference. In logarithms a change of time is the sum of a change of cycles and one of the
/// time of a cycle, and a change of a rate that of results per cycle and of the clock.
#[derive(Clone, Debug, PartialEq)]
pub struct ClockShare {
    /// How much higher the clock was for B, as a share.
    pub clock: f64,
    /// What the clock alone would have changed of the result, as a share.
    pub by_clock: f64,
    /// The part of the change that the clock makes up, in logarithms: 1 is all of it; above 1 or below 0 the cycles
    /// changed the other way. Missing where the result changed too little to have parts.
    pub part: Known<f64>,
    /// Whether what is left in cycles lies, with its whole interval, within a quarter of the change to either side.
    pub explains_all: bool,
}

impl ClockShare {
    /// Of the main result and the same in cycles; `clock` is the logarithm of the clock of B over that of A.
    pub(super) fn of(result: &Ratio, cycles: &Ratio, clock: f64) -> ClockShare {
        ClockShare {
            clock: clock.exp_m1(),
            by_clock: (result.log - cycles.log).exp_m1(),
            part: part(result.log, result.log - cycles.log),
            explains_all: ClockShare::explains_all(result, cycles),
        }
    }

    /// Whether the clock explains a difference: there is one, and what is left in cycles lies, with its whole interval, within a
    /// quarter of it to either side.
    pub fn explains_all(result: &Ratio, cycles: &Ratio) -> bool {
        let quarter = result.log.abs() / 4.0;
        let is_within = cycles.interval.low >= -quarter && cycles.interval.high <= quarter;
        is_within && result.excludes_none()
    }

    /// What the clock alone would have changed of a time, as a share, and its part of the change; of logarithms of times, of which
    /// nothing else is known.
    pub(crate) fn of_time(time: f64, cycle: f64) -> (f64, Known<f64>) {
        (cycle.exp_m1(), part(time, cycle))
    }
}

fn part(whole: f64, by_clock: f64) -> Known<f64> {
    if whole.abs() < LEAST_CHANGE {
        Known::missing("the result changed too little to have parts")
    } else {
        Known::Value(by_clock / whole)
    }
}

/// Half a percent: parts of less are ratios of noise.
const LEAST_CHANGE: f64 = 0.005;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Interval;

    fn ratio(log: f64, half: f64) -> Ratio {
        let interval = Interval { low: log - half, high: log + half };
        Ratio { log, interval, confidence: 0.99 }
    }

    /// 6 % longer at a clock that is 3 % lower: half of it is left, and the clock does not explain it.
    #[test]
    fn half_of_a_difference_is_not_all_of_it() {
        let clock = 0.97_f64.ln();
        let share = ClockShare::of(&ratio(0.0583, 0.001), &ratio(0.0583 + clock, 0.001), clock);
        assert!(
            !share.explains_all && (share.part.value().unwrap() - 0.522).abs() < 0.01,
            "{share:?}"
        );
        let all = ClockShare::of(&ratio(-clock, 0.001), &ratio(0.0, 0.002), clock);
        assert!(all.explains_all && (all.by_clock - (1.0 / 0.97 - 1.0)).abs() < 1e-9, "{all:?}");
        // Cycles that are not known well may be no difference, and may be half of it.
        assert!(!ClockShare::of(&ratio(-clock, 0.001), &ratio(0.0, 0.02), clock).explains_all);
    }

    #[test]
    fn a_result_that_hardly_changed_has_no_parts() {
        assert!(
            ClockShare::of(&ratio(0.002, 0.001), &ratio(0.001, 0.001), 0.001)
                .part
                .reason()
                .is_some()
        );
        assert_eq!(ClockShare::of_time(0.1, 0.1).1, Known::Value(1.0));
    }
}
