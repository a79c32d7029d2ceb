//! The clock of several CPUs at one moment.

use crate::failure::Failure;
use crate::known::Known;
use crate::threads::on_each;
use crate::trial::TrialClock;
use facts::probe::ClockReading;
use facts::{CpuSet, Fact, Missing, Why};
use host::probe::{Windows, clock};

/// What the probe sees on each of `cpus`, on all of them at once: the clock of a core depends on how many others are
/// awake. Missing where one of them cannot be read.
pub(crate) fn clocks(cpus: &CpuSet) -> Fact<Vec<ClockReading>> {
    let unread = |failure: Failure| {
        let why = Why::Failed(failure.to_string());
        Missing { what: "the clock of the CPUs".to_owned(), why }
    };
    on_each(Some(cpus), || clock(Windows::SHORT)).map_err(unread)?.into_iter().collect()
}

/// The clock around work, by what was seen before and after it.
pub(crate) fn around(
    before: &Fact<Vec<ClockReading>>,
    after: &Fact<Vec<ClockReading>>,
) -> Known<TrialClock> {
    let both = before.as_ref().and_then(|before| Ok((before, after.as_ref()?)));
    let around = both
        .map(|(before, after)| TrialClock { before_hz: mean_hz(before), after_hz: mean_hz(after) });
    around.map_err(Clone::clone).into()
}

/// The mean of what was seen, in hertz.
fn mean_hz(readings: &[ClockReading]) -> f64 {
    let sum: f64 = readings.iter().map(|it| it.mean.0 as f64).sum();
    sum / readings.len().max(1) as f64
}
