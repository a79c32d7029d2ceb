//! The reasons that the log of performance limits names, what each means, and whose it is.
//!
//! Names: `plr_coarse_reasons` and `plr_fine_reasons` of drivers/platform/x86/intel/plr_tpmi.c; a fine reason is bit 32 and later of the
//! register of a CPU. Meanings: pepcdata/tpmi/dmr/plr.yml of intel/pepc, which Intel made from its own description of the registers of
//! Diamond Rapids; its bits are those of the kernel's list. There MSR_TPMI is "input from OS/SW" (in-band), MMIO "input from BIOS" (CSR),
//! PCS "input from out-of-band software", and MISC a limit of "out-of-band software (e.g. BMC)".

use crate::msr::limit_reasons::{Kind, PROCHOT};
use Interface::{Controller, InBand, MappedMemory};

/// One reason.
#[derive(Debug, PartialEq, Eq)]
pub struct Reason {
    /// Its bit; above 31 it is a fine one, which CPUs have and dies have not.
    pub(super) bit: u32,
    /// As the kernel prints it.
    pub name: &'static str,
    /// In words that can stand before "held the clock down".
    pub what: &'static str,
    /// The kind of reason.
    pub kind: Kind,
    /// By which interface the limit was set, where the reason says so.
    pub set_by: Option<Interface>,
}

/// By which of its interfaces a processor was given a limit. Each has a party that can write it; firmware may have written a default
/// to any of them before Linux started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Interface {
    /// MSRs and TPMI registers: Linux, and programs on it (powercap, thermald).
    InBand,
    /// Registers mapped into memory, which firmware writes; on clients Linux does as well.
    MappedMemory,
    /// Platform configuration services, which a management controller calls over PECI.
    Controller,
}

impl Interface {
    /// In words that can stand after a limit.
    pub fn name(self) -> &'static str {
        match self {
            InBand => "set in-band (MSR, TPMI)",
            MappedMemory => "set by firmware (MMIO)",
            Controller => "set by the management controller (PCS)",
        }
    }
}

impl Reason {
    /// The reason of this name; [`UNNAMED`] where that is unknown, or the kernel has a number only, as `UNKNOWN(22)`.
    pub fn named(name: &str) -> &'static Reason {
        REASONS.iter().find(|it| it.name == name).unwrap_or(&UNNAMED)
    }

    /// The reason of this bit.
    pub(super) fn of_bit(bit: u32) -> &'static Reason {
        REASONS.iter().find(|it| it.bit == bit).unwrap_or(&UNNAMED)
    }

    /// Whether it says more precisely what `other` says: POWER_FAST_RAPL is finer than POWER.
    pub fn is_finer_than(&self, other: &Reason) -> bool {
        const FINE: u32 = 32;
        let rest = self.name.strip_prefix(other.name);
        self.bit >= FINE && other.bit < FINE && rest.is_some_and(|it| it.starts_with('_'))
    }
}

/// A reason without a name.
pub static UNNAMED: Reason = Reason {
    bit: u32::MAX,
    name: "UNKNOWN",
    what: "a reason without a known meaning",
    kind: Kind::Other,
    set_by: None,
};

const fn reason(bit: u32, name: &'static str, what: &'static str, kind: Kind) -> Reason {
    Reason { bit, name, what, kind, set_by: None }
}

/// A power limit, or a limit of the management controller, that was set by `interface`.
const fn set(
    bit: u32,
    name: &'static str,
    what: &'static str,
    kind: Kind,
    interface: Interface,
) -> Reason {
    Reason { bit, name, what, kind, set_by: Some(interface) }
}

const TURBO: &str = "the turbo limit for its active cores and instructions";
const PACKAGE_1: &str = "the package's power limit PL1";
const PACKAGE_2: &str = "the package's power limit PL2";
const PLATFORM_1: &str = "the platform's power limit PL1";
const PLATFORM_2: &str = "the platform's power limit PL2";

/// Every reason that has a name, by bit.
pub static REASONS: &[Reason] = &[
    reason(0, "FREQUENCY", TURBO, Kind::Normal),
    reason(1, "CURRENT", "a limit of electrical current or peak power", Kind::Current),
    reason(2, "POWER", "a power limit of the package or the platform", Kind::Power),
    reason(3, "THERMAL", "its own temperature", Kind::Heat),
    // XXPROCHOT or VR_HOT: which of them, only CPUs say.
    reason(4, "PLATFORM", "PROCHOT# or a hot voltage regulator", Kind::Platform),
    reason(5, "MCP", "another die of its package", Kind::Other),
    reason(6, "RAS", "its protection against hardware errors (RAS)", Kind::Errors),
    reason(7, "MISC", "software outside of Linux (the management controller)", Kind::Controller),
    reason(8, "QOS", "a rule for quality of service", Kind::Other),
    reason(9, "DFC", "a limit of peak current (DFC)", Kind::Current),
    reason(32, "FREQUENCY_CDYN0", TURBO, Kind::Normal),
    reason(33, "FREQUENCY_CDYN1", TURBO, Kind::Normal),
    reason(34, "FREQUENCY_CDYN2", TURBO, Kind::Normal),
    reason(35, "FREQUENCY_CDYN3", TURBO, Kind::Normal),
    reason(36, "FREQUENCY_CDYN4", TURBO, Kind::Normal),
    reason(37, "FREQUENCY_CDYN5", TURBO, Kind::Normal),
    reason(38, "FREQUENCY_FCT", TURBO, Kind::Normal),
    set(39, "FREQUENCY_PCS_TRL", "a turbo limit", Kind::Controller, Controller),
    reason(40, "CURRENT_MTPMAX", "a limit of peak power (Pmax)", Kind::Current),
    reason(41, "POWER_FAST_RAPL", "the fast power limit (fast RAPL)", Kind::Power),
    set(42, "POWER_PKG_PL1_MSR_TPMI", PACKAGE_1, Kind::Power, InBand),
    set(43, "POWER_PKG_PL1_MMIO", PACKAGE_1, Kind::Power, MappedMemory),
    set(44, "POWER_PKG_PL1_PCS", PACKAGE_1, Kind::Power, Controller),
    set(45, "POWER_PKG_PL2_MSR_TPMI", PACKAGE_2, Kind::Power, InBand),
    set(46, "POWER_PKG_PL2_MMIO", PACKAGE_2, Kind::Power, MappedMemory),
    set(47, "POWER_PKG_PL2_PCS", PACKAGE_2, Kind::Power, Controller),
    set(48, "POWER_PLATFORM_PL1_MSR_TPMI", PLATFORM_1, Kind::Power, InBand),
    set(49, "POWER_PLATFORM_PL1_MMIO", PLATFORM_1, Kind::Power, MappedMemory),
    set(50, "POWER_PLATFORM_PL1_PCS", PLATFORM_1, Kind::Power, Controller),
    set(51, "POWER_PLATFORM_PL2_MSR_TPMI", PLATFORM_2, Kind::Power, InBand),
    set(52, "POWER_PLATFORM_PL2_MMIO", PLATFORM_2, Kind::Power, MappedMemory),
    set(53, "POWER_PLATFORM_PL2_PCS", PLATFORM_2, Kind::Power, Controller),
    reason(55, "THERMAL_PER_CORE", "the temperature of single cores", Kind::Heat),
    reason(56, "DFC_UFS", "a limit of peak current (DFC)", Kind::Current),
    reason(57, "PLATFORM_PROCHOT", PROCHOT.name, Kind::Prochot),
    reason(58, "PLATFORM_HOT_VR", "a hot voltage regulator", Kind::Heat),
    set(61, "MISC_PCS_PSTATE", "a P-state", Kind::Controller, Controller),
];
