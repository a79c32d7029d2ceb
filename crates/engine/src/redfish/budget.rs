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
            What::Systems | What::System | What::OtherSystem => facts::redfish::THE_MACHINE,
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

    /// The place of its requests in [`SHARES`].
    fn share(self) -> usize {
        match self {
            What::Bios | What::BiosSettings => 1,
            What::Registries | What::RegistryFile | What::Registry => 2,
            What::Updates | What::Inventory | What::Software => 3,
            _ => 0,
        }
    }

    /// Whether the members of a collection are worth to be answered with.
    pub(super) fn is_expanded(self) -> bool {
        matches!(self, What::Processors | What::Controls | What::Inventory)
    }
}

/// How many requests a look may send, and for what.
const SHARES: [(usize, &str); 4] = [
    (MOST, "limits and throttling"),
    (MOST_FOR_BIOS, "settings of the firmware"),
    (MOST_FOR_REGISTRY, "the values of settings"),
    (MOST_FOR_INVENTORY, "versions of firmware"),
];

/// Requests that may still be sent, of each share.
pub(super) struct Budget([usize; SHARES.len()]);

impl Budget {
    pub(super) fn whole() -> Budget {
        Budget(SHARES.map(|it| it.0))
    }

    /// Why something is not asked for once its requests are used up.
    pub(super) fn spent(what: What) -> String {
        let (most, of) = SHARES[what.share()];
        format!("not asked: a look sends {most} requests for {of}, and they were used up")
    }

    pub(super) fn of(&mut self, what: What) -> &mut usize {
        &mut self.0[what.share()]
    }
}
