//! Why the clock is below the one that was asked for, in the processor's own words.
//!
//! Two registers, three layouts. Skylake to Ice Lake: 0x64F, SDM vol. 4 and edk2 SkylakeMsr.h. Haswell and
//! Broadwell clients: 0x690, edk2 HaswellMsr.h. Haswell-EP, Broadwell-EP and -D: 0x690 with other bits and no
//! power limits, edk2 HaswellEMsr.h and XeonDMsr.h; turbostat prints the client's names there. Bits 15:0 are
//! the state; bits 31:16 the same since boot or since somebody cleared them.

use super::thermal_status::{PROCHOT, TOO_HOT};
use super::{Register, intel};
use crate::cpu::cpuinfo::CpuInfo;

/// The bits of one model's register.
#[derive(Debug)]
pub struct Layout {
    reasons: &'static [Reason],
    /// Where they are.
    pub register: &'static Register,
}

/// One bit, and its twin in the log.
#[derive(Debug, PartialEq, Eq)]
pub struct Reason {
    bit: u32,
    /// In words that "holds the clock down" can follow.
    pub name: &'static str,
    /// What kind of reason it is.
    pub kind: Kind,
}

/// What kind of reason holds a clock down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A signal from outside of the processor.
    Prochot,
    /// Temperature, of the processor or of its voltage regulator.
    Heat,
    /// A power limit that somebody set.
    Power,
    /// A limit of electrical current, which belongs to the board.
    Current,
    /// The processor's own rules for turbo and for idle cores: no fault.
    Normal,
}

impl Layout {
    /// The layout of a processor; `None` where it has no such register, or where this program does not read it: Sapphire
    /// Rapids and later, whose bits were not checked against the manual.
    pub fn of(cpuinfo: &CpuInfo) -> Option<&'static Layout> {
        match (cpuinfo.family, cpuinfo.model) {
            _ if !cpuinfo.is_intel() => None,
            (6, model) if intel::LIMIT_REASONS.contains(&model) => Some(&SKYLAKE),
            (6, 0x3c | 0x45 | 0x46 | 0x3d | 0x47) => Some(&HASWELL),
            (6, 0x3f | 0x4f | 0x56) => Some(&HASWELL_EP),
            _ => None,
        }
    }

    /// What holds the clock down at the moment of reading.
    pub fn active(&self, value: u64) -> impl Iterator<Item = &'static Reason> {
        self.reasons.iter().filter(move |it| value >> it.bit & 1 == 1)
    }

    /// What has, since boot or since somebody cleared the log.
    pub fn logged(&self, value: u64) -> impl Iterator<Item = &'static Reason> {
        self.active(value >> 16)
    }
    /// What began to between two readings, the earlier first. Of a reason whose log was set before, nobody can tell.
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
    fn the_register_of_sapphire_rapids_is_not_read() {
        let info =
            CpuInfo { vendor: "GenuineIntel".into(), family: 6, model: 0x8f, ..CpuInfo::default() };
        assert!(Layout::of(&info).is_none());
    }
}
