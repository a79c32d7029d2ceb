//! What is looked at in a service, in which order, and how many requests each kind may take.

use super::{MOST, MOST_FOR_BIOS, MOST_FOR_INVENTORY, MOST_FOR_REGISTRY};

/// What a resource is looked at for. The order is that of the requests: what decides comes first, for there are few.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum What {
    Systems,
    System,
    /// Another system, where the first one has no processors.
    OtherSystem,
    Chassis,
    ChassisCollection,
    Processors,
    Environment,
    Power,
    /// The processor at a place of the list, or the next one.
    Processor,
    Metrics(usize),
    /// Power and limit of a processor.
    ProcessorEnvironment(usize),
    Controls,
    Control,
    Thermal,
    ThermalSubsystem,
    ThermalMetrics,
    Bios,
    BiosSettings,
    Registries,
    RegistryFile,
    Registry,
    Updates,
    Inventory,
    Software,
}

impl What {
    /// In words, for what could not be learned.
    pub(super) fn name(self) -> &'static str {
        match self {
            What::Systems | What::System | What::OtherSystem => "the machine",
            What::Chassis | What::ChassisCollection => "the chassis, and so its power limit",
            What::Processors | What::Processor => facts::redfish::A_PROCESSOR,
            What::Environment | What::Power => "the power limit",
            What::Metrics(_) => facts::redfish::THROTTLED_TIME,
            What::ProcessorEnvironment(_) => "the power limit of a processor",
            What::Controls | What::Control => "set points",
            What::Thermal | What::ThermalSubsystem | What::ThermalMetrics => "temperatures",
            What::Bios => "settings of the firmware",
            What::BiosSettings => "settings of the firmware that wait for a restart",
            What::Registries | What::RegistryFile | What::Registry => {
                "which values settings of the firmware take"
            }
            What::Updates | What::Inventory | What::Software => "versions of firmware",
        }
    }

    pub(super) fn is_of_bios(self) -> bool {
        matches!(self, What::Bios | What::BiosSettings)
    }

    pub(super) fn is_of_registry(self) -> bool {
        matches!(self, What::Registries | What::RegistryFile | What::Registry)
    }

    pub(super) fn is_of_inventory(self) -> bool {
        matches!(self, What::Updates | What::Inventory | What::Software)
    }

    /// Whether the members of a collection are worth to be answered with.
    pub(super) fn is_expanded(self) -> bool {
        matches!(self, What::Processors | What::Controls | What::Inventory)
    }
}

/// Requests that may still be sent.
pub(super) struct Budget {
    limits: usize,
    bios: usize,
    registry: usize,
    inventory: usize,
}

impl Budget {
    pub(super) fn whole() -> Budget {
        Budget {
            limits: MOST,
            bios: MOST_FOR_BIOS,
            registry: MOST_FOR_REGISTRY,
            inventory: MOST_FOR_INVENTORY,
        }
    }

    /// Why something is not asked for once its requests are used up.
    pub(super) fn spent(what: What) -> String {
        let (most, of) = if what.is_of_bios() {
            (MOST_FOR_BIOS, "settings of the firmware")
        } else if what.is_of_registry() {
            (MOST_FOR_REGISTRY, "the values of settings")
        } else if what.is_of_inventory() {
            (MOST_FOR_INVENTORY, "versions of firmware")
        } else {
            (MOST, "limits and throttling")
        };
        format!("not asked: a look sends {most} requests for {of}, and they were used up")
    }

    pub(super) fn of(&mut self, what: What) -> &mut usize {
        if what.is_of_bios() {
            &mut self.bios
        } else if what.is_of_registry() {
            &mut self.registry
        } else if what.is_of_inventory() {
            &mut self.inventory
        } else {
            &mut self.limits
        }
    }
}
