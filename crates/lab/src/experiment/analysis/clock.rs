//! What the clock alone would have changed, over the blocks in which it was seen.

use super::Known;
use super::cells::Measured;
use super::contrast::{Contrast, mean_of};
use crate::compare::ClockShare;

/// What the clock alone would have changed, and which part of the change that is.
pub(super) fn by_clock(contrast: &Contrast, measured: &Measured) -> (Known<f64>, Known<f64>) {
    let clock = contrast.values(&measured.clock);
    let figure: Vec<(usize, f64)> = contrast
        .values(&measured.figure)
        .into_iter()
        .filter(|it| clock.binary_search_by_key(&it.0, |it| it.0).is_ok())
        .collect();
    match (mean_of(&figure), mean_of(&clock)) {
        (Known::Value(figure), Known::Value(clock)) => {
            let share = ClockShare::between(figure.mean, figure.mean - clock.mean, clock.mean);
            (Known::Value(share.by_clock), share.part)
        }
        _ => (missing(), missing()),
    }
}

fn missing() -> Known<f64> {
    Known::Missing {
        missing:
            "the clock was not seen in enough blocks: raise trials, or run where it can be probed"
                .to_owned(),
    }
}
