//! Processors: whether they are throttled, why, and for how long they were.

use super::Word;
use super::limit::Limit;
use super::part::{Link, Part, Resource};
use serde::{Deserialize, Serialize};
use std::fmt;

/// One processor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Processor {
    /// Its place in the service, for evidence.
    pub source: String,
    /// `Socket`, or `Id` where it has none.
    pub name: String,
    /// `Model`.
    pub model: Option<String>,
    /// `Throttled`: at this moment.
    pub throttled: Option<bool>,
    /// `ThrottleCauses`.
    pub causes: Vec<Cause>,
    /// `OperatingSpeedMHz`: the clock, which changes faster than a controller looks.
    pub speed_mhz: Option<f64>,
    /// `BaseSpeedMHz`: the nominal clock.
    pub base_mhz: Option<f64>,
    /// `MaxSpeedMHz`. Some services tell that of the socket.
    pub max_mhz: Option<f64>,
    /// `SpeedLimitMHz`, or the upper end of `OperatingSpeedRangeMHz`: a limit of the clock that was set.
    pub limit_mhz: Option<f64>,
    /// `TurboState`.
    pub turbo: Option<String>,
    /// `PowerLimitThrottleDuration`: seconds since it was reset.
    pub power_limited_s: Option<f64>,
    /// `ThermalLimitThrottleDuration`, the same.
    pub heat_limited_s: Option<f64>,
    /// `TemperatureCelsius`.
    pub celsius: Option<f64>,
    /// `Status/Health`.
    pub health: Option<String>,
    /// Its metrics.
    #[serde(skip)]
    pub metrics: Option<Link>,
    /// Its power and its limit.
    #[serde(skip)]
    pub environment: Option<Link>,
}

/// Why a processor is throttled: `ThrottleCauses`, in the controller's word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cause(pub String);

impl Cause {
    /// What the schema says that it means; `None` of a word that the schema does not have.
    pub fn meaning(&self) -> Option<&'static str> {
        Some(match &*self.0 {
            "PowerLimit" => "a power limit",
            "ThermalLimit" => "heat",
            "ClockLimit" => "a limit of the clock",
            "ManagementDetectedFault" => "a fault that management hardware or firmware found",
            "Unknown" => "unknown",
            "OEM" => "a cause of the maker's own",
            _ => return None,
        })
    }

    /// Whether it is heat.
    pub fn is_heat(&self) -> bool {
        self.0 == "ThermalLimit"
    }
}

/// "PowerLimit (a power limit)".
impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.meaning() {
            Some(meaning) => write!(f, "{} ({meaning})", self.0),
            None => f.write_str(&self.0),
        }
    }
}

impl Processor {
    /// Whether the service says anything of its clock or of what holds it down.
    pub fn tells(&self) -> bool {
        let numbers = [self.speed_mhz, self.limit_mhz];
        self.throttled.is_some()
            || numbers.iter().any(Option::is_some)
            || self.turbo.is_some()
            || self.metrics.is_some()
            || self.environment.is_some()
    }

    /// The limit of its clock, where that is below its highest clock.
    pub fn clock_limit(&self) -> Option<f64> {
        self.limit_mhz.filter(|it| *it > 0.0 && self.max_mhz.is_none_or(|max| *it < max))
    }

    /// Takes over what its metrics say.
    pub fn add_metrics(&mut self, metrics: &Resource) {
        let metrics = metrics.whole();
        self.power_limited_s = metrics.seconds("PowerLimitThrottleDuration");
        self.heat_limited_s = metrics.seconds("ThermalLimitThrottleDuration");
        self.celsius = self.celsius.or(metrics.number("TemperatureCelsius"));
        self.speed_mhz = metrics.amount("OperatingSpeedMHz").or(self.speed_mhz);
    }
}

/// What Nvidia's controllers add to the metrics of a processor (openbmc/bmcweb as Nvidia ships it, `NvidiaProcessorMetrics`).
const WORDS: &[&str] = &[
    "Oem/Nvidia/ThrottleReasons",
    "Oem/Nvidia/EDPViolationState",
    "Oem/Nvidia/PerformanceState",
    "Oem/Nvidia/PowerBreakPerformanceState",
];

impl Resource {
    /// A processor; `None` of one that is no CPU, and of an empty socket.
    pub fn processor(&self) -> Option<Processor> {
        let it = self.whole();
        let kind = it.text("ProcessorType");
        let status = it.part("Status");
        if kind.is_some_and(|it| it != "CPU")
            || status.text("State").is_some_and(|it| it == "Absent")
        {
            return None;
        }
        Some(Processor {
            source: self.path().to_owned(),
            name: it.text("Socket").or_else(|| it.text("Id")).unwrap_or_default(),
            model: it.text("Model"),
            throttled: it.flag("Throttled"),
            causes: it.texts("ThrottleCauses").into_iter().map(Cause).collect(),
            speed_mhz: it.amount("OperatingSpeedMHz"),
            base_mhz: it.amount("BaseSpeedMHz"),
            max_mhz: it.amount("MaxSpeedMHz"),
            limit_mhz: it.amount("SpeedLimitMHz").or_else(|| clock_range(&it)),
            turbo: it.text("TurboState"),
            health: status.text("Health"),
            metrics: it.link("Metrics"),
            environment: it.link("EnvironmentMetrics"),
            ..Processor::default()
        })
    }

    /// What the maker adds to the metrics of a processor.
    pub fn words_of_metrics(&self) -> Vec<Word> {
        self.words(WORDS)
    }
}

/// The highest clock that a control gives (`OperatingSpeedRangeMHz`), where that is below what it may be.
fn clock_range(it: &Part<'_>) -> Option<f64> {
    let range = it.part("OperatingSpeedRangeMHz");
    let (most, allowed) = (range.amount("SettingMax")?, range.amount("AllowableMax")?);
    let is_off = range.text("ControlMode").is_some_and(|it| it == Limit::DISABLED);
    (most < allowed && !is_off).then_some(most)
}
