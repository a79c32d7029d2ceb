//! What a management controller says over Redfish: power limits, throttled processors, temperatures, and the settings of the firmware.
//!
//! Controllers differ in what they have, and hardly any keeps to the schemas in all points. A property that is absent or null is
//! `None`; one of a wrong type is `None`, too, and is told ([`Odd`]). Nothing here keeps serial numbers, UUIDs or addresses.
//!
//! Sources: DMTF DSP0266 1.20 for links, `$expand` and errors; the schemas of DSP8010: ServiceRoot 1.17, ComputerSystem 1.22, Chassis 1.25,
//! Processor 1.20 (`Throttled` and `ThrottleCauses` since 1.16), ProcessorMetrics 1.6 (`PowerLimitThrottleDuration` and
//! `ThermalLimitThrottleDuration`), EnvironmentMetrics 1.3, Control 1.5, Power 1.7, Thermal 1.7, ThermalMetrics 1.3, Bios 1.2, Settings 1.3,
//! SoftwareInventory 1.10; DMTF DSP0270 1.3 for the host interface.

mod bios;
mod host_interface;
mod inventory;
mod limit;
mod part;
mod processor;
mod redacted;
mod registry;
mod rise;
mod service;
#[cfg(test)]
mod tests;
mod thermal;

pub use bios::{Bios, ON_RESET, Pending, Takes, pending_names};
pub use host_interface::{HostInterface, host_interfaces};
pub use inventory::Software;
pub use limit::Limit;
pub use part::{Link, Resource};
pub use processor::{Cause, Processor};
pub use redacted::without_names;
pub use registry::is_registry;
pub use rise::{Rise, Risen, rises};
pub use service::{Chassis, Collection, Member, Service, System};
pub use thermal::Temperature;

use crate::Expected;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What it is called in messages.
pub const NAME: &str = "Redfish";

/// What one controller said, as far as it was asked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Redfish {
    /// Who made the service, and its version.
    pub service: Service,
    /// The machine.
    pub system: System,
    /// Limits on power, in force or not.
    pub limits: Vec<Limit>,
    /// The processors that are CPUs, as far as they were read.
    pub processors: Vec<Processor>,
    /// How many the controller lists, less those that were read and are no CPU; 0 in copies that do not have it.
    pub n_listed: usize,
    /// Temperatures of CPUs and of the air that comes in, and all that are at a threshold.
    pub temperatures: Vec<Temperature>,
    /// What the maker adds to the schemas about limits, in its own words.
    pub words: Vec<Word>,
    /// Settings of the firmware, where they were requested.
    pub bios: Option<Bios>,
    /// Versions of firmware, where they were requested.
    pub inventory: Vec<Software>,
    /// What could not be learned.
    pub unknown: Vec<Unknown>,
    /// Properties that are not what the schemas say.
    pub odd: Vec<Odd>,
    /// The requests, in their order.
    pub requests: Vec<Request>,
    /// The controller's URL. No copy of a host has it.
    #[serde(skip)]
    pub address: Option<String>,
    /// Whether it says that it is of the machine that asks, where that was compared.
    #[serde(skip)]
    pub is_own: Option<bool>,
}

/// A property that a maker adds: `Oem/Hpe/PowerRegulatorMode`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Word {
    /// The resource and the property.
    pub source: String,
    /// What it holds.
    pub value: String,
}

/// What [`Unknown::what`] says of processors.
pub const A_PROCESSOR: &str = "a processor";

/// What [`Unknown::what`] says of the system itself.
pub const THE_MACHINE: &str = "the machine";

/// What [`Unknown::what`] says of the time for which processors were throttled.
pub const THROTTLED_TIME: &str = "how long a processor was throttled";

/// Something that could not be learned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unknown {
    /// What: the power limit, a path.
    pub what: String,
    /// Why, in words without a secret and without the address of the controller.
    pub why: String,
}

/// A property that is not what the schema says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Odd {
    /// The resource and the property.
    pub source: String,
    /// What it holds, cut.
    pub found: String,
    /// What the schema says.
    pub expected: String,
}

/// One request, and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// What was requested.
    pub path: String,
    /// The status, or in a few words why there is none.
    pub outcome: String,
    /// How long it took, the connection included.
    pub seconds: f64,
    /// The length of the answer's body.
    pub bytes: u64,
}

/// What is unknown where a service has more systems than the one that is looked at: why it is names them.
pub const OTHER_SYSTEMS: &str = "the other systems";

impl Redfish {
    /// Whether it is unknown of a processor what the controller says of it.
    pub fn left_out_a_processor(&self) -> bool {
        self.unknown.iter().any(|it| it.what == A_PROCESSOR)
    }

    /// How many processors there are, read or not.
    pub fn n_processors(&self) -> usize {
        self.n_listed.max(self.processors.len())
    }

    /// Of how many of them the controller was heard to say whether they are throttled.
    pub fn n_judged(&self) -> usize {
        self.processors.iter().filter(|it| it.throttled.is_some()).count()
    }

    /// Why one of these is unknown, the first that is.
    pub fn why_unknown(&self, what: &[&str]) -> Option<&str> {
        let of = |what: &&str| self.unknown.iter().find(|it| it.what == *what);
        what.iter().find_map(of).map(|it| &*it.why)
    }

    /// A limit, or whether a processor is throttled, that is no value of the schema's.
    pub fn odd_limit(&self) -> Option<&Odd> {
        const OF_LIMITS: [&str; 3] = ["Limit", "SetPoint", "Throttled"];
        self.odd.iter().find(|it| OF_LIMITS.iter().any(|name| it.source.contains(name)))
    }

    /// Parses what [`Redfish::to_text`] wrote.
    pub fn parse(text: &str) -> Result<Redfish, Expected> {
        const EXPECTED: Expected = Expected("what a controller said over Redfish, as JSON");
        // A list would do for the fields in their order.
        let object: Map<String, Value> = serde_json::from_str(text).map_err(|_| EXPECTED)?;
        serde_json::from_value(Value::Object(object)).map_err(|_| EXPECTED)
    }

    /// The whole as JSON.
    pub fn to_text(&self) -> String {
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        format!("{text}\n")
    }

    /// The limits that are in force.
    pub fn in_force(&self) -> impl Iterator<Item = &Limit> {
        self.limits.iter().filter(|it| it.is_in_force())
    }

    /// The processors that the controller calls throttled.
    pub fn throttled(&self) -> impl Iterator<Item = &Processor> {
        self.processors.iter().filter(|it| it.throttled == Some(true))
    }
}
