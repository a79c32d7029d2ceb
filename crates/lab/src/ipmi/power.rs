//! The board's power against the controller's limit, and what the processors say at the same moments.

use facts::Microwatts;
use facts::ipmi::{PowerLimit, PowerReading};
use rules::power_cap::{Counts, Moment, is_at};
use rules::prochot::Since;
use std::time::Duration;

/// What was asked, and what came.
pub struct Power {
    /// The device, and what the controller says of itself.
    pub name: String,
    /// The limit in force.
    pub limit: Option<PowerLimit>,
    /// The time between two samples.
    pub interval: Duration,
    /// The registers that tell of PROCHOT#, or why none does.
    pub registers: Result<Vec<String>, String>,
    /// In the order in which they were taken.
    pub samples: Vec<Sample>,
}

/// One reading of the board's power.
pub struct Sample {
    /// The time since the first sample.
    pub at: Duration,
    /// What the board drew, or why that is not known.
    pub reading: Result<PowerReading, String>,
    /// What the registers said; none where they could not be read.
    pub signals: Option<Signals>,
}

/// What the registers of all CPUs say of a moment; none of a signal that no register tells of.
#[derive(Clone, Copy, Debug)]
pub struct Signals {
    /// PROCHOT#.
    pub prochot: Option<Since>,
    /// The power limits of the processors.
    pub power_limit: Option<Since>,
    /// Whether some registers could not be read.
    pub is_partial: bool,
}

/// The least, the mean and the most that was drawn.
pub struct Drawn {
    /// The least.
    pub least: Microwatts,
    /// The mean of the readings.
    pub mean: Microwatts,
    /// The most.
    pub most: Microwatts,
}

impl Power {
    /// What was drawn; none where no reading came.
    pub fn drawn(&self) -> Option<Drawn> {
        let readings =
            || self.samples.iter().filter_map(|it| Some(it.reading.as_ref().ok()?.current));
        let n_readings = u64::try_from(readings().count()).unwrap_or(u64::MAX);
        let sum: u64 = readings().map(|it| it.0).sum();
        Some(Drawn {
            least: readings().min()?,
            mean: Microwatts(sum.checked_div(n_readings)?),
            most: readings().max()?,
        })
    }

    /// Whether the board was at its limit in a sample; none where there is no limit, or no reading.
    pub fn is_at_limit(&self, sample: &Sample) -> Option<bool> {
        let limit = self.limit.as_ref()?;
        Some(is_at(sample.reading.as_ref().ok()?.current, limit.power))
    }

    /// How often which of limit and PROCHOT# were seen.
    pub fn counts(&self) -> Counts {
        Counts::of(self.samples.iter().filter_map(|it| {
            let is_pulled = it.signals?.prochot?.was_seen();
            Some(Moment { is_at_limit: self.is_at_limit(it)?, is_pulled })
        }))
    }

    /// In how many samples a signal was seen, of how many that tell.
    pub fn seen(&self, signal: impl Fn(&Signals) -> Option<Since>) -> (usize, usize) {
        let told: Vec<bool> =
            self.samples.iter().filter_map(|it| Some(signal(&it.signals?)?.was_seen())).collect();
        (told.iter().filter(|it| **it).count(), told.len())
    }

    /// In how many samples some registers could not be read, or all; none where there are no registers.
    pub fn n_partial(&self) -> Option<usize> {
        self.registers.as_ref().ok()?;
        let partial = self.samples.iter().filter(|it| it.signals.is_none_or(|it| it.is_partial));
        Some(partial.count())
    }
}
