//! The way to the machine: the root of the service, systems, chassis, collections.

use super::Word;
use super::part::{Link, Part, Resource};
use serde::{Deserialize, Serialize};

/// Members of a collection that are looked at.
const MOST_MEMBERS: usize = 64;

/// Who made a service, and its version.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Service {
    /// `Vendor`.
    pub vendor: Option<String>,
    /// `Product`.
    pub product: Option<String>,
    /// `RedfishVersion`.
    pub version: Option<String>,
    /// The collection of systems.
    #[serde(skip)]
    pub systems: Option<Link>,
    /// The collection of chassis.
    #[serde(skip)]
    pub chassis: Option<Link>,
    /// The update service.
    #[serde(skip)]
    pub updates: Option<Link>,
    /// The collection of registries.
    #[serde(skip)]
    pub registries: Option<Link>,
    /// The query that makes it answer with the members of a collection, and not with links to them; `None` where it cannot.
    #[serde(skip)]
    pub expand: Option<&'static str>,
}

/// A machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct System {
    /// Its place in the service, for evidence.
    pub source: String,
    /// `Manufacturer`.
    pub manufacturer: Option<String>,
    /// `Model`.
    pub model: Option<String>,
    /// `BiosVersion`.
    pub bios_version: Option<String>,
    /// `PowerState`.
    pub power: Option<String>,
    /// The collection of its processors.
    #[serde(skip)]
    pub processors: Option<Link>,
    /// The settings of its firmware.
    #[serde(skip)]
    pub bios: Option<Link>,
    /// The chassis that it is in.
    #[serde(skip)]
    pub chassis: Vec<Link>,
}

/// The links of a chassis.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chassis {
    /// Power and its limit.
    pub environment: Option<Link>,
    /// The same in older services.
    pub power: Option<Link>,
    /// Temperatures in older services.
    pub thermal: Option<Link>,
    /// The way to temperatures.
    pub thermal_subsystem: Option<Link>,
    /// Set points.
    pub controls: Option<Link>,
}

/// The members of a collection.
#[derive(Debug, Default)]
pub struct Collection {
    /// Each in its order.
    pub members: Vec<Member>,
    /// How many there are beyond those.
    pub left_out: usize,
}

/// A member of a collection.
#[derive(Debug)]
pub struct Member {
    /// Where it is.
    pub link: Link,
    /// The member itself, where the service answered with it.
    pub resource: Option<Resource>,
}

/// What HPE and Nvidia say of a system: the regulator's mode and the limit that power supplies give (HPE, iLO 5 and 6 resource definitions,
/// `HpeComputerSystemExt`).
const WORDS: &[&str] = &["Oem/Hpe/PowerRegulatorMode", "Oem/Hpe/PowerAllocationLimit"];

impl Resource {
    /// The root of the service.
    pub fn service(&self) -> Service {
        let root = self.whole();
        Service {
            vendor: root.text("Vendor"),
            product: root.text("Product"),
            version: root.text("RedfishVersion"),
            systems: root.link("Systems"),
            chassis: root.link("Chassis"),
            updates: root.link("UpdateService"),
            registries: root.link("Registries"),
            expand: expand(&root),
        }
    }

    /// A machine.
    pub fn system(&self) -> System {
        let system = self.whole();
        System {
            source: self.path().to_owned(),
            manufacturer: system.text("Manufacturer"),
            model: system.text("Model"),
            bios_version: system.text("BiosVersion"),
            power: system.text("PowerState"),
            processors: system.link("Processors"),
            bios: system.link("Bios"),
            chassis: system.part("Links").links("Chassis"),
        }
    }

    /// What the maker adds to a system.
    pub fn words_of_system(&self) -> Vec<Word> {
        self.words(WORDS)
    }

    /// The links of a chassis.
    pub fn chassis(&self) -> Chassis {
        let chassis = self.whole();
        Chassis {
            environment: chassis.link("EnvironmentMetrics"),
            power: chassis.link("Power"),
            thermal: chassis.link("Thermal"),
            thermal_subsystem: chassis.link("ThermalSubsystem"),
            controls: chassis.link("Controls"),
        }
    }

    /// A collection.
    pub fn collection(&self) -> Collection {
        let parts = self.whole().parts("Members");
        let member = |it: &Part<'_>| {
            let link = it.own_link()?;
            let resource = if it.is_expanded() { it.resource(&link) } else { None };
            Some(Member { link, resource })
        };
        let members = parts.iter().filter_map(member).take(MOST_MEMBERS).collect();
        Collection { members, left_out: parts.len().saturating_sub(MOST_MEMBERS) }
    }

    /// The name of an account.
    pub fn user_name(&self) -> Option<String> {
        self.whole().text("UserName")
    }

    /// The link of a property.
    pub fn link(&self, name: &str) -> Option<Link> {
        self.whole().link(name)
    }
}

/// `$expand=.` answers with the members and without what they link to (DSP0266, "The $expand query parameter").
fn expand(root: &Part<'_>) -> Option<&'static str> {
    let features = root.part("ProtocolFeaturesSupported").part("ExpandQuery");
    match (features.flag("NoLinks"), features.flag("Levels")) {
        (Some(true), Some(true)) => Some("$expand=.($levels=1)"),
        (Some(true), _) => Some("$expand=."),
        _ => None,
    }
}
