//! Temperatures: those of the CPUs and of the air that comes in, and all that are at a threshold.

use super::part::{Part, Resource};
use serde::{Deserialize, Serialize};

/// One temperature.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Temperature {
    /// The resource and the property, for evidence.
    pub source: String,
    /// `Name`, or `DeviceName`.
    pub name: String,
    /// What is read.
    pub celsius: f64,
    /// The lowest of the upper thresholds: a warning, or what throttles.
    pub threshold: Option<f64>,
}

impl Temperature {
    /// Whether it is at its threshold.
    pub fn is_high(&self) -> bool {
        self.threshold.is_some_and(|it| self.celsius >= it)
    }
}

/// Contexts whose temperatures matter to a clock, whatever they are (`PhysicalContext` of Redfish).
const CONTEXTS: &[&str] = &["CPU", "CPUSubsystem", "Intake"];

impl Resource {
    /// The temperatures of Thermal that matter.
    pub fn thermal(&self) -> Vec<Temperature> {
        self.whole().parts("Temperatures").iter().filter_map(of_thermal).collect()
    }

    /// The temperatures of ThermalMetrics that matter. They have no thresholds there.
    pub fn thermal_metrics(&self) -> Vec<Temperature> {
        let whole = self.whole();
        let intake = whole.part("TemperatureSummaryCelsius").part("Intake");
        let intake = intake.number("Reading").map(|celsius| Temperature {
            source: intake.own_source(),
            name: "Intake".to_owned(),
            celsius,
            threshold: None,
        });
        let readings = whole.parts("TemperatureReadingsCelsius");
        let others = readings.iter().filter(|it| matters(it)).filter_map(|it| {
            let name = it.text("DeviceName").unwrap_or_default();
            let celsius = it.number("Reading")?;
            Some(Temperature { source: it.own_source(), name, celsius, threshold: None })
        });
        intake.into_iter().chain(others).collect()
    }
}

fn matters(it: &Part<'_>) -> bool {
    it.text("PhysicalContext").is_some_and(|it| CONTEXTS.contains(&&*it))
}

fn of_thermal(it: &Part<'_>) -> Option<Temperature> {
    let celsius = it.number("ReadingCelsius")?;
    let names = ["UpperThresholdNonCritical", "UpperThresholdCritical", "UpperThresholdFatal"];
    // A threshold of 0 is one that a service has to have, and none.
    let thresholds = names.iter().filter_map(|name| it.number(name)).filter(|it| *it > 0.0);
    let found = Temperature {
        source: it.own_source(),
        name: it.text("Name").unwrap_or_default(),
        celsius,
        threshold: thresholds.min_by(f64::total_cmp),
    };
    // Absent sensors of some services read 0.
    (celsius != 0.0 && (matters(it) || found.is_high())).then_some(found)
}
