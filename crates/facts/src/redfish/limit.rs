//! Limits on power: what is set, within which bounds, and what is drawn.

use super::Word;
use super::part::{Part, Resource};
use crate::Microwatts;
use serde::{Deserialize, Serialize};

/// One limit on power, in force or not.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limit {
    /// The resource and the property, for evidence.
    pub source: String,
    /// What it limits, in the controller's word: `CPU_0`, `System Power Control`.
    pub name: String,
    /// Whether it limits one processor, and not the whole machine.
    pub is_of_processor: bool,
    /// `SetPoint`, or `LimitInWatts`. `None` where none is set.
    pub watts: Option<f64>,
    /// `AllowableMin`.
    pub least: Option<f64>,
    /// `AllowableMax`.
    pub most: Option<f64>,
    /// `ControlMode`: Automatic, Override, Manual or Disabled.
    pub mode: Option<String>,
    /// `LimitException`: what happens where the limit cannot be kept.
    pub exception: Option<String>,
    /// What is drawn.
    pub drawn: Option<f64>,
    /// The average of what is drawn.
    pub average: Option<f64>,
    /// The most that was drawn.
    pub peak: Option<f64>,
}

/// A limit binds from this share on: what a controller measures lags and wavers.
const AT_LIMIT: f64 = 0.95;

impl Limit {
    /// The mode in which a control does nothing.
    pub(super) const DISABLED: &str = "Disabled";

    /// Whether it is in force: it is set, its control is not disabled, and it is below the highest that can be set.
    ///
    /// A set point at its highest is what a control has that has never been set.
    pub fn is_in_force(&self) -> bool {
        let is_off = self.mode.as_deref() == Some(Limit::DISABLED);
        self.watts.is_some_and(|it| it > 0.0 && self.most.is_none_or(|most| it < most)) && !is_off
    }

    /// The limit, where one is set.
    pub fn power(&self) -> Option<Microwatts> {
        microwatts(self.watts?)
    }

    /// Whether what is drawn reaches it, at this moment or on average; `None` where neither is known.
    pub fn is_reached(&self) -> Option<bool> {
        let limit = self.watts?;
        let highest = self.drawn.into_iter().chain(self.average).max_by(f64::total_cmp);
        highest.map(|it| it >= AT_LIMIT * limit)
    }

    /// Whether the most that was drawn reaches it.
    pub fn was_reached(&self) -> bool {
        matches!((self.peak, self.watts), (Some(peak), Some(limit)) if peak >= AT_LIMIT * limit)
    }

    /// The same of a processor.
    #[must_use]
    pub fn of_processor(mut self, name: &str) -> Limit {
        self.is_of_processor = true;
        name.clone_into(&mut self.name);
        self
    }
}

/// Watts as an amount; `None` of what is none.
fn microwatts(watts: f64) -> Option<Microwatts> {
    // Bounded when it was taken out of its resource, or read from a capture.
    (0.0..=1e9).contains(&watts).then_some(Microwatts((watts * 1e6) as u64))
}

/// What HPE adds to the power of a chassis: its limit in watts (0 for none), those of the processors in percent, and whether one cannot be kept
/// (HPE, iLO 5 and 6 resource definitions, `HpePowerMetricsExt`).
const WORDS: &[&str] = &[
    "Oem/Hpe/PowerMetric/Cap",
    "Oem/Hpe/PowerMetric/CpuCapLim",
    "Oem/Hpe/PowerMetric/CpuPwrSavLim",
    "Oem/Hpe/PowerMetric/PrMode",
    "Oem/Hpe/PowerMetric/PunCap",
    "Oem/Hpe/PowerMetric/UnachCap",
];

impl Resource {
    /// The limit of EnvironmentMetrics; `None` where it has none.
    pub fn environment(&self) -> Option<Limit> {
        let it = self.whole();
        let drawn = it.part("PowerWatts").amount("Reading");
        let limit = it.part("PowerLimitWatts");
        if !limit.exists() {
            return None;
        }
        let name = it.text("Name").unwrap_or_default();
        Some(Limit { name, drawn, ..of_control(&limit) })
    }

    /// The limits of Power, one for each of its controls; one without a limit says what is drawn.
    pub fn power(&self) -> Vec<Limit> {
        self.whole().parts("PowerControl").iter().map(of_power).collect()
    }

    /// What the maker adds to Power.
    pub fn words_of_power(&self) -> Vec<Word> {
        self.words(WORDS)
    }

    /// The limit that a Control is; `None` of one that controls no power.
    pub fn control(&self) -> Option<Limit> {
        let it = self.whole();
        if it.text("ControlType")? != "Power" {
            return None;
        }
        let drawn = it.part("Sensor").amount("Reading");
        let name = it.text("Name").or_else(|| it.text("Id")).unwrap_or_default();
        let is_of_processor = it.text("PhysicalContext").is_some_and(|it| it == "CPU");
        Some(Limit { name, drawn, is_of_processor, ..of_control(&it) })
    }
}

fn of_control(it: &Part<'_>) -> Limit {
    Limit {
        source: it.own_source(),
        watts: it.amount("SetPoint").or_else(|| it.amount("SettingMax")),
        least: it.amount("AllowableMin"),
        most: it.amount("AllowableMax"),
        mode: it.text("ControlMode"),
        drawn: it.amount("Reading"),
        ..Limit::default()
    }
}

fn of_power(it: &Part<'_>) -> Limit {
    let (limit, metrics) = (it.part("PowerLimit"), it.part("PowerMetrics"));
    Limit {
        source: it.source("PowerLimit"),
        name: it.text("Name").or_else(|| it.text("MemberId")).unwrap_or_default(),
        is_of_processor: it.text("PhysicalContext").is_some_and(|it| it == "CPU"),
        watts: limit.amount("LimitInWatts"),
        exception: limit.text("LimitException"),
        drawn: it.amount("PowerConsumedWatts"),
        average: metrics.amount("AverageConsumedWatts"),
        peak: metrics.amount("MaxConsumedWatts"),
        ..Limit::default()
    }
}
