//! Devices that the kernel uses to cool the machine, of which two kinds stop or slow CPUs.
//!
//! Source: Documentation/ABI/testing/sysfs-class-thermal. `Processor`: drivers/acpi/processor_thermal.c;
//! `intel_powerclamp`: drivers/thermal/intel/intel_powerclamp.c.

use crate::{Fact, Missing};

/// A cooling device that acts on CPUs.
#[derive(Clone, Debug, PartialEq)]
pub struct CoolingDevice {
    /// Its folder, for evidence and commands: `/sys/class/thermal/cooling_device0`.
    pub folder: String,
    /// What it does.
    pub kind: Kind,
    /// `cur_state`; 0 is off, and for powerclamp before Linux 6.3 so is -1.
    pub state: Fact<i64>,
    /// `max_state`, read where the device is on.
    pub max: Fact<u64>,
    /// The CPU it acts on, read where the device is on.
    pub cpu: Fact<u32>,
}

/// What a cooling device does to CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// ACPI passive cooling: steps of the highest frequency, then T-states.
    Processor,
    /// Idle time forced onto every CPU, in percent.
    Powerclamp,
}

impl Kind {
    /// The kind with this `type`; `None` for fans and others that leave the CPUs alone.
    pub fn of_type(name: &str) -> Option<Kind> {
        match name {
            "Processor" => Some(Kind::Processor),
            "intel_powerclamp" => Some(Kind::Powerclamp),
            _ => None,
        }
    }
}

impl CoolingDevice {
    /// The path of its state.
    pub fn state_path(&self) -> String {
        format!("{}/cur_state", self.folder)
    }

    /// How far it is on, 0 being off.
    pub fn level(&self) -> Result<u64, &Missing> {
        self.state.as_ref().map(|&state| u64::try_from(state).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_powerclamp_that_is_off_may_read_minus_one() {
        let device = CoolingDevice {
            folder: "/sys/class/thermal/cooling_device4".to_owned(),
            kind: Kind::Powerclamp,
            state: Ok(-1),
            max: Err(Missing::absent("max_state")),
            cpu: Err(Missing::absent("device")),
        };
        assert_eq!(device.level(), Ok(0));
    }
}
