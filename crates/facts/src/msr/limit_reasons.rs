//! Why the clock is below the requested one: the thermal status and the limit reasons of a processor.
//!
//! IA32_THERM_STATUS (0x19C, core) and IA32_PACKAGE_THERM_STATUS (0x1B1): Intel SDM vol. 3B, "IA32_THERM_STATUS"
//! and "Package Level Thermal Management". Their bits come in pairs: the lower bit is the state, the upper one is a
//! log that stays set until it is cleared. Linux clears only the log of bit 0
//! (drivers/thermal/intel/therm_throt.c), so the others have no date.
//!
//! Limit reasons have two registers and three layouts. Skylake to Ice Lake, clients to Raptor Lake: 0x64F,
//! SDM vol. 4, table 2-39, and edk2 SkylakeMsr.h. Haswell and Broadwell clients: 0x690, edk2 HaswellMsr.h. Haswell-EP, Broadwell-EP and -D: 0x690
//! with other bits and no power limits, edk2 HaswellEMsr.h and XeonDMsr.h; turbostat prints the names of the client
//! there. Bits 15:0 are the state; bits 31:16 are a log since boot or since it was cleared.

use super::{Register, intel};
use crate::cpu::cpuinfo::CpuInfo;
use crate::{Missing, Why};

/// The layout of the limit reasons of a model.
#[derive(Debug)]
pub struct Layout {
    reasons: &'static [Reason],
    /// Their register.
    pub register: &'static Register,
}

/// One bit of the state, with its bit in the log 16 bits above.
#[derive(Debug, PartialEq, Eq)]
pub struct Reason {
    bit: u32,
    /// In words that can follow "holds the clock down".
    pub name: &'static str,
    /// The kind of reason.
    pub kind: Kind,
}

/// The kinds of reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A signal from outside the processor.
    Prochot,
    /// The temperature of the processor or of its voltage regulator.
    Heat,
    /// A configured power limit.
    Power,
    /// A limit of electrical current, which depends on the board.
    Current,
    /// A signal from outside the processor, or the temperature of a voltage regulator: it is not said which.
    Platform,
    /// A request from outside of Linux, by the management controller.
    Controller,
    /// What the processor does about errors of its own hardware.
    Errors,
    /// A reason of another kind, or without a name.
    Other,
    /// Normal rules of the processor for turbo and idle cores: not a fault.
    Normal,
}

/// Models of family 6 from before such registers: up to Ivy Bridge, and the Atoms up to Airmont (SDM vol. 4, the tables of
/// these processors). Every earlier one has a lower number than Nehalem's.
const BEFORE: &[u32] = &[
    0x1a, 0x1e, 0x1f, 0x2e, 0x25, 0x2c, 0x2f, 0x2a, 0x2d, 0x3a, 0x3e, // Nehalem to Ivy Bridge
    0x1c, 0x1d, 0x26, 0x27, 0x35, 0x36, 0x37, 0x4a, 0x4c, 0x4d, 0x5a, 0x5d,
    0x75, // Dunnington, Atoms
];
const NEHALEM: u32 = 0x1a;

/// Why the limit reasons of a processor are not known although it may have such a register: those of Goldmont, of Xeon Phi, of Meteor Lake
/// and later clients, and of Sapphire Rapids and later servers have other bits than those that were checked against a manual. `None` where
/// [`Layout::of`] knows them, and where there are none.
pub fn undecoded(cpuinfo: &CpuInfo) -> Option<Missing> {
    let is_before = match (cpuinfo.family, cpuinfo.model) {
        (6, model) => model < NEHALEM || BEFORE.contains(&model),
        (family, _) => matches!(family, 0..=5 | 15),
    };
    (cpuinfo.is_intel() && !is_before && Layout::of(cpuinfo).is_none()).then(|| {
        let (family, model) = (cpuinfo.family, cpuinfo.model);
        let why = format!("the bits of family {family}, model {model} are unknown to this program");
        Missing { what: "core limit reasons (MSR 0x64f)".to_owned(), why: Why::Failed(why) }
    })
}

impl Layout {
    /// The layout of a processor; `None` where it has no such register, or where its bits are not known here
    /// ([`undecoded`]).
    pub fn of(cpuinfo: &CpuInfo) -> Option<&'static Layout> {
        match (cpuinfo.family, cpuinfo.model) {
            _ if !cpuinfo.is_intel() => None,
            (6, model) if intel::LIMIT_REASONS.contains(&model) => Some(&SKYLAKE),
            (6, 0x3c | 0x45 | 0x46 | 0x3d | 0x47) => Some(&HASWELL),
            (6, 0x3f | 0x4f | 0x56) => Some(&HASWELL_EP),
            _ => None,
        }
    }

    /// Every reason that it has a bit for.
    pub fn reasons(&self) -> impl Iterator<Item = &'static Reason> {
        self.reasons.iter()
    }

    /// The reasons that hold the clock down at the time of reading.
    pub fn active(&self, value: u64) -> impl Iterator<Item = &'static Reason> {
        self.reasons.iter().filter(move |it| value >> it.bit & 1 == 1)
    }

    /// The reasons since boot or since the log was cleared.
    pub fn logged(&self, value: u64) -> impl Iterator<Item = &'static Reason> {
        self.active(value >> 16)
    }
    /// The reasons that appeared between two readings. A reason that was already in the log of the first one is not
    /// detected.
    pub fn rose(&self, before: u64, after: u64) -> impl Iterator<Item = &'static Reason> {
        self.logged(after & !before)
    }
}

const fn reason(bit: u32, name: &'static str, kind: Kind) -> Reason {
    Reason { bit, name, kind }
}

static SKYLAKE: Layout = Layout {
    register: &intel::PERF_LIMIT_REASONS,
    reasons: &[
        reason(0, PROCHOT.name, Kind::Prochot),
        reason(1, TOO_HOT.name, Kind::Heat),
        reason(4, "residency state regulation", Kind::Normal),
        reason(5, "its running average temperature limit", Kind::Heat),
        reason(6, "a hot voltage regulator", Kind::Heat),
        reason(7, "the voltage regulator's design current", Kind::Current),
        // "Other: electrical or other constraints" (edk2 SkylakeMsr.h).
        reason(8, "an electrical or another constraint", Kind::Current),
        reason(10, "power limit PL1", Kind::Power),
        reason(11, "power limit PL2", Kind::Power),
        reason(12, "the turbo limit for its active cores", Kind::Normal),
        reason(13, "turbo transition attenuation", Kind::Normal),
    ],
};

static HASWELL: Layout = Layout {
    register: &intel::PERF_LIMIT_REASONS_HASWELL,
    reasons: &[
        reason(0, PROCHOT.name, Kind::Prochot),
        reason(1, TOO_HOT.name, Kind::Heat),
        reason(4, "the graphics driver", Kind::Normal),
        reason(5, "low utilization", Kind::Normal),
        reason(6, "a hot voltage regulator", Kind::Heat),
        reason(8, "an electrical limit (EDP)", Kind::Current),
        reason(9, "the core power limit", Kind::Power),
        reason(10, "power limit PL1", Kind::Power),
        reason(11, "power limit PL2", Kind::Power),
        reason(12, "the turbo limit for its active cores", Kind::Normal),
        reason(13, "turbo transition attenuation", Kind::Normal),
    ],
};

static HASWELL_EP: Layout = Layout {
    register: &intel::PERF_LIMIT_REASONS_HASWELL,
    reasons: &[
        reason(0, PROCHOT.name, Kind::Prochot),
        reason(1, TOO_HOT.name, Kind::Heat),
        reason(2, "power budget management", Kind::Power),
        reason(3, "platform configuration services", Kind::Power),
        reason(5, "low utilization", Kind::Normal),
        reason(6, "a hot voltage regulator", Kind::Heat),
        reason(8, "an electrical limit (EDP)", Kind::Current),
        reason(10, "the turbo limit for its active cores", Kind::Normal),
        reason(13, "the limit of the base clock", Kind::Normal),
        reason(14, "the turbo limit for its active cores", Kind::Normal),
        reason(15, "another limit", Kind::Normal),
    ],
};

/// One pair of bits of the thermal status: state and log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The lower bit of the pair.
    bit: u32,
    /// In words that can follow "holds the clock down".
    pub name: &'static str,
    /// The flag of /proc/cpuinfo without which the pair does not exist.
    flag: &'static str,
}

/// The sensor of the core or package reached its limit.
pub const TOO_HOT: Cause = Cause { bit: 0, name: "its own temperature", flag: "acpi" };
/// Another device asserted PROCHOT# or FORCEPR#: power supply, voltage regulator, board, BMC.
pub const PROCHOT: Cause = Cause { bit: 2, name: "PROCHOT# from another device", flag: "acpi" };
/// The temperature is close to the one at which the machine shuts down.
pub const CRITICAL: Cause = Cause { bit: 4, name: "a critical temperature", flag: "acpi" };
/// A power limit. CPUID.06H:EAX[4] is the flag `pln`.
pub const POWER_LIMIT: Cause = Cause { bit: 10, name: "a power limit", flag: "pln" };
/// A limit of electrical current; core only. CPUID.06H:EAX[7] is the flag `hwp`.
pub const CURRENT_LIMIT: Cause = Cause { bit: 12, name: "a current limit", flag: "hwp" };
/// A limit of another domain (graphics, for instance); core only.
pub const CROSS_DOMAIN: Cause = Cause { bit: 14, name: "a limit of another domain", flag: "hwp" };

impl Cause {
    /// Whether it holds the clock down at the time of reading.
    pub fn is_active(&self, value: u64) -> bool {
        value >> self.bit & 1 == 1
    }

    /// Whether it did, since boot or since the log was cleared.
    pub fn was_logged(&self, value: u64) -> bool {
        value >> (self.bit + 1) & 1 == 1
    }

    /// Whether it appeared between two readings. Where the log of the first one is set already, it is not detected.
    pub fn rose(&self, before: u64, after: u64) -> bool {
        self.was_logged(after) && !self.was_logged(before)
    }

    /// Whether the processor defines this pair.
    pub fn exists(&self, cpuinfo: &CpuInfo) -> bool {
        cpuinfo.has(self.flag)
    }
}

/// The temperature in a value of 0x19C or 0x1B1, in degrees Celsius; `target` is the value of
/// [`intel::TEMPERATURE_TARGET`](super::intel::TEMPERATURE_TARGET). The lower limit that can be set in bits 29:24 of
/// the target does not shift the scale (drivers/thermal/intel/intel_tcc.c, intel_tcc_get_temp). `None` where the
/// sensor is out of range (bit 31 is 0), or the target is 0 or lower than the distance that the sensor reports.
pub fn temperature(value: u64, target: u64) -> Option<u64> {
    let (limit, below) = (target >> 16 & 0xff, value >> 16 & 0x7f);
    let is_valid = value >> 31 & 1 == 1 && limit > 0;
    limit.checked_sub(below).filter(|_| is_valid)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn active(model: u32, value: u64) -> Vec<&'static str> {
        let info =
            CpuInfo { vendor: "GenuineIntel".into(), family: 6, model, ..CpuInfo::default() };
        Layout::of(&info).unwrap().active(value).map(|it| it.name).collect()
    }

    #[test]
    fn bit_10_is_a_power_limit_on_a_client_and_turbo_on_a_haswell_server() {
        assert_eq!(active(0x3c, 1 << 10), ["power limit PL1"]);
        assert_eq!(active(0x3f, 1 << 10), ["the turbo limit for its active cores"]);
    }

    #[test]
    fn the_log_is_no_state() {
        assert_eq!(active(0x55, 0x0c00_0000), [""; 0]);
        let log: Vec<_> = SKYLAKE.logged(0x0c00_0000).map(|it| it.name).collect();
        assert_eq!(log, ["power limit PL1", "power limit PL2"]);
    }

    #[test]
    fn a_reason_rose_whose_log_was_clear_before() {
        let rose = |before, after| {
            SKYLAKE.rose(before, after).map(|it| it.name).collect::<Vec<_>>().join(", ")
        };
        assert_eq!(rose(0x0400_0000, 0x0c00_0800), "power limit PL2");
        assert_eq!(rose(0x0c00_0000, 0x0000_0800), "");
    }

    #[test]
    fn a_model_is_decoded_or_not_known_or_has_no_such_register() {
        let told = |family, model| {
            let vendor = "GenuineIntel".into();
            let info = CpuInfo { vendor, family, model, ..CpuInfo::default() };
            (Layout::of(&info).is_some(), undecoded(&info).is_some())
        };
        assert_eq!([told(6, 0x55), told(6, 0x3f), told(6, 0xb7)], [(true, false); 3]);
        // Sapphire Rapids, Goldmont, Xeon Phi, and one of a later family.
        assert_eq!([told(6, 0x8f), told(6, 0x5c), told(6, 0x57), told(19, 1)], [(false, true); 4]);
        // Ivy Bridge-EP, Core 2, Pentium 4.
        assert_eq!([told(6, 0x3e), told(6, 0x17), told(15, 4)], [(false, false); 3]);
    }

    /// A blade of 2010 whose chassis pulled PROCHOT#, and the same blade before it did.
    const PULLED: u64 = 0x881f_000c;
    const LOGGED: u64 = 0x881f_0008;

    #[test]
    fn state_and_log_are_told_apart() {
        assert!(PROCHOT.is_active(PULLED) && PROCHOT.was_logged(PULLED));
        assert!(!PROCHOT.is_active(LOGGED) && PROCHOT.was_logged(LOGGED));
        assert!(!TOO_HOT.is_active(PULLED));
    }

    #[test]
    fn a_log_that_was_set_before_tells_nothing_of_what_came_after() {
        assert!(PROCHOT.rose(LOGGED & !8, LOGGED));
        assert!(!PROCHOT.rose(LOGGED, PULLED) && !PROCHOT.rose(LOGGED, LOGGED & !8));
    }

    #[test]
    fn degrees_count_down_from_the_target() {
        assert_eq!(temperature(0x8845_0000, 0x0064_0000), Some(100 - 69));
        assert_eq!(temperature(0x8845_0000, 0x0a64_0000), Some(100 - 69));
        assert_eq!(temperature(0x0845_0000, 0x0064_0000), None);
        assert_eq!(temperature(0x8845_0000, 0), None);
        assert_eq!(temperature(0x887f_0000, 0x0064_0000), None);
    }
}
