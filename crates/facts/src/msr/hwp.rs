//! Hardware-controlled performance states (HWP): what the kernel asks of the processor, in ratios.
//!
//! Intel SDM vol. 3B, "Hardware-Controlled Performance States". A read of 0x774 gives what was last written, not
//! what the hardware made of it.

use super::{Msrs, intel};
use crate::cpu::topology::Topology;
use crate::{Fact, PerCpu};

/// IA32_HWP_CAPABILITIES (0x771): levels that the processor knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities(pub u64);

/// IA32_HWP_REQUEST (0x774) or IA32_HWP_REQUEST_PKG (0x772): levels that were asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request(pub u64);

/// IA32_HWP_PECI_REQUEST_INFO (0x775): what the management controller requests over PECI. Each of its fields counts where its own Valid bit is set,
/// and then overrides those of [`Request`] (SDM vol. 3B, "IA32_HWP_PECI_REQUEST_INFO MSR").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControllerRequest(pub u64);

/// IA32_HWP_STATUS (0x777): log bits, each since boot or since it was cleared; the kernel clears the first two where it takes their
/// interrupts (drivers/cpufreq/intel_pstate.c, notify_hwp_interrupt).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status(pub u64);

impl ControllerRequest {
    /// The lowest level that it allows; bits 7:0 and 63.
    pub fn min(self) -> Option<u64> {
        self.valid(63, 0)
    }

    /// The highest level that it allows; bits 15:8 and 62.
    pub fn max(self) -> Option<u64> {
        self.valid(62, 8)
    }

    /// Its energy performance preference; bits 31:24 and 60.
    pub fn preference(self) -> Option<u64> {
        self.valid(60, 24)
    }

    fn valid(self, bit: u32, at: u32) -> Option<u64> {
        (self.0 >> bit & 1 == 1).then_some(self.0 >> at & 0xff)
    }
}

impl Status {
    /// The guaranteed level changed (bit 0).
    pub fn guaranteed_changed(self) -> bool {
        self.has(0)
    }

    /// The hardware could not give the minimum that was requested (bit 2).
    pub fn fell_below_minimum(self) -> bool {
        self.has(2)
    }

    /// A request of the management controller began to rule (bit 4).
    pub fn controller_began(self) -> bool {
        self.has(4)
    }

    /// A request of the management controller ended (bit 5).
    pub fn controller_ended(self) -> bool {
        self.has(5)
    }

    fn has(self, bit: u32) -> bool {
        self.0 >> bit & 1 == 1
    }
}

impl Capabilities {
    /// The highest performance level, bits 7:0.
    pub fn highest(self) -> u64 {
        self.0 & 0xff
    }

    /// The level that can be held; it may change at run time.
    pub fn guaranteed(self) -> u64 {
        self.0 >> 8 & 0xff
    }

    /// The lowest performance level, bits 31:24.
    pub fn lowest(self) -> u64 {
        self.0 >> 24 & 0xff
    }
}

impl Request {
    /// The lowest level allowed.
    pub fn min(self) -> u64 {
        self.0 & 0xff
    }

    /// The highest level allowed.
    pub fn max(self) -> u64 {
        self.0 >> 8 & 0xff
    }

    /// The energy performance preference: 0 is performance, 255 is power saving.
    pub fn preference(self) -> u64 {
        self.0 >> 24 & 0xff
    }

    /// Whether the package's register rules the fields of this CPU that are not marked as its own (bit 42, 0x774 only).
    fn follows_package(self) -> bool {
        self.0 >> 42 & 1 == 1
    }

    /// Whether the package's register rules one field of this CPU.
    fn follows_package_in(self, field: Field) -> bool {
        self.follows_package() && self.0 >> field.valid_bit() & 1 == 0
    }
}

/// A field of the request that the package's register may rule.
///
/// Under package control (bit 42), the field's Valid bit keeps the CPU's own value (intel/pepc, HWPRequest.py).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The lowest level allowed.
    Min,
    /// The highest level allowed.
    Max,
    /// The energy performance preference.
    Preference,
}

impl Field {
    fn valid_bit(self) -> u32 {
        match self {
            Field::Min => 63,
            Field::Max => 62,
            Field::Preference => 60,
        }
    }
}

/// The register that rules one field of one CPU: its path and value.
///
/// Errors: the CPU's own request, or the package's where that rules, is not known.
pub fn request(
    msrs: &Msrs,
    topology: &Topology,
    cpu: u32,
    field: Field,
) -> Fact<(String, Request)> {
    let own = msrs.value(&intel::HWP_REQUEST, cpu)?;
    let (register, at, value) = if Request(own).follows_package_in(field) {
        let leader = topology.package_leader(cpu);
        (&intel::HWP_REQUEST_PKG, leader, msrs.value(&intel::HWP_REQUEST_PKG, leader)?)
    } else {
        (&intel::HWP_REQUEST, cpu, own)
    };
    Ok((register.path(at), Request(value)))
}

/// The upper limit that rules one CPU, beside what the hardware could give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The highest level allowed.
    pub max: u64,
    /// What the hardware could give.
    pub capabilities: Capabilities,
    /// The path of the register that holds it.
    pub path: String,
    /// The value of the register that holds the limit.
    pub value: u64,
}

impl Limit {
    /// The highest level to be had: without turbo, nothing above the guaranteed one.
    pub fn reachable(&self, turbo: bool) -> u64 {
        let highest = self.capabilities.highest();
        if turbo { highest } else { highest.min(self.capabilities.guaranteed()) }
    }
}

/// The upper limit of every CPU; from the package's register where that rules it.
pub fn limits(msrs: &Msrs, topology: &Topology) -> Fact<PerCpu<Limit>> {
    let limit = |cpu| -> Fact<Limit> {
        let capabilities = Capabilities(msrs.value(&intel::HWP_CAPABILITIES, cpu)?);
        let (path, request) = request(msrs, topology, cpu, Field::Max)?;
        Ok(Limit { max: request.max(), capabilities, path, value: request.0 })
    };
    Ok(msrs.of(&intel::HWP_REQUEST)?.iter().map(|(cpu, _)| (cpu, limit(cpu))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_xeons_levels_are_read_from_their_bytes() {
        let capabilities = Capabilities(0x070f_1827);
        let levels = (capabilities.highest(), capabilities.guaranteed(), capabilities.lowest());
        assert_eq!(levels, (39, 24, 7));
        let request = Request(0x8000_270a);
        assert_eq!((request.min(), request.max(), request.preference()), (10, 39, 128));
        assert!(!request.follows_package());
    }

    #[test]
    fn a_controllers_request_counts_field_by_field() {
        let request = ControllerRequest(1 << 62 | 0xc000_0c08);
        assert_eq!((request.min(), request.max(), request.preference()), (None, Some(12), None));
        let all = ControllerRequest(0xd000_0000_ff00_0c08);
        assert_eq!((all.min(), all.max(), all.preference()), (Some(8), Some(12), Some(255)));
    }

    #[test]
    fn a_status_is_a_log_of_four_kinds() {
        let told = |it: Status| {
            [
                it.guaranteed_changed(),
                it.fell_below_minimum(),
                it.controller_began(),
                it.controller_ended(),
            ]
        };
        assert_eq!(told(Status(0x15)), [true, true, true, false]);
        assert_eq!(told(Status(0x2a)), [false, false, false, true]);
    }

    #[test]
    fn under_package_control_a_valid_bit_keeps_the_cpus_own_field() {
        let package = Request(1 << 42 | 0x8000_270a);
        assert!(package.follows_package_in(Field::Max) && package.follows_package_in(Field::Min));
        let own_max = Request(1 << 62 | package.0);
        assert!(!own_max.follows_package_in(Field::Max));
        assert!(own_max.follows_package_in(Field::Min));
        // Without package control the Valid bits say nothing.
        assert!(!Request(0x270a).follows_package_in(Field::Max));
    }
}
