//! Who keeps a clock low or takes time.

/// Who keeps a clock low or takes time, and so who can change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Party {
    /// Settings of the operating system.
    OperatingSystem,
    /// A program that writes settings.
    Program,
    /// Settings of the firmware.
    Firmware,
    /// The management controller (BMC).
    ManagementController,
    /// The hypervisor under a guest.
    Hypervisor,
    /// Power limits and heat.
    Physics,
}

impl Party {
    /// Every party.
    pub const ALL: [Party; 6] = [
        Party::OperatingSystem,
        Party::Program,
        Party::Firmware,
        Party::ManagementController,
        Party::Hypervisor,
        Party::Physics,
    ];

    /// The words in output.
    pub fn name(self) -> &'static str {
        match self {
            Party::OperatingSystem => "operating system",
            Party::Program => "program",
            Party::Firmware => "firmware",
            Party::ManagementController => "management controller",
            Party::Hypervisor => "hypervisor",
            Party::Physics => "power and heat",
        }
    }
}
