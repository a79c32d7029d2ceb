//! Intel Speed Select (SST): which performance profile is in force on a package, and which features make its CPUs unequal.
//!
//! Sources: include/uapi/linux/isst_if.h; drivers/platform/x86/intel/speed_select_if (`isst_if_common.c`, `isst_tpmi_core.c`);
//! tools/power/x86/intel-speed-select (`isst-core-mbox.c`, `isst-core-tpmi.c`). A profile (SST-PP level) sets the base clock, the turbo limits,
//! the design power and the number of cores; level 0 is what the processor was sold as. Under SST-BF some CPUs have a higher base clock and
//! the others a lower one, under SST-TF some have higher turbo limits and the others are clipped, and SST-CP shares power by priority.
//!
//! No file shows the profile: `base_frequency` shows what follows from it, and from other things. The driver's device answers by ioctl. Of its
//! commands those that only read are here, and none that sets: what is asked is a [`Question`].

use crate::cpu::cpuinfo::CpuInfo;
use crate::parse::Expected;
use crate::power::plr;
use crate::{Fact, Hertz, Microwatts};

/// What it is called in messages.
pub const NAME: &str = "Speed Select profile";

/// The device of all its drivers; root opens it.
pub const DEVICE: &str = "/dev/isst_interface";

/// How a processor is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interface {
    /// By a mailbox of each package: Cascade Lake to Emerald Rapids.
    Mailbox,
    /// By registers of each power domain that the driver decodes: Granite Rapids and later.
    Tpmi,
}

impl Interface {
    /// That of a processor; `None` of those that have no Speed Select. Of Cascade Lake (which shares its model with Skylake) few have it.
    pub fn of(info: &CpuInfo) -> Option<Interface> {
        match (info.is_intel(), info.family, info.model) {
            _ if plr::has_logs(info) => Some(Interface::Tpmi),
            (true, 6, 0x55 | 0x6a | 0x6c | 0x8f | 0xcf) => Some(Interface::Mailbox),
            _ => None,
        }
    }

    /// Whether each processor with this interface has profiles, so that a missing driver is a gap and no answer.
    pub fn is_certain(info: &CpuInfo) -> bool {
        info.model != 0x55
    }
}

/// A question to the driver that changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// One command of the mailbox of this CPU's package. The answer is one number of 32 bits.
    Mailbox {
        /// A CPU of the package.
        cpu: u32,
        /// Which.
        command: Command,
    },
    /// The power domains of a package: `struct isst_tpmi_instance_count`.
    Domains {
        /// The package, by `physical_package_id`.
        package: u8,
    },
    /// What is in force in a power domain: `struct isst_perf_level_info`.
    InForce {
        /// The package.
        package: u8,
        /// The domain.
        domain: u8,
    },
    /// What a profile sets: `struct isst_perf_level_data_info`.
    Profile {
        /// The package.
        package: u8,
        /// The domain.
        domain: u8,
        /// The profile.
        level: u8,
    },
    /// Whether power is shared by priority: `struct isst_core_power`.
    CorePower {
        /// The package.
        package: u8,
        /// The domain.
        domain: u8,
    },
}

/// A command of the mailbox that reads (tools/power/x86/intel-speed-select/isst.h).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// CONFIG_TDP_GET_LEVELS_INFO.
    InForce,
    /// CONFIG_TDP_GET_TDP_CONTROL of a profile.
    Features(u8),
    /// CONFIG_TDP_GET_TDP_INFO of a profile.
    Base(u8),
    /// CONFIG_TDP_GET_TURBO_LIMIT_RATIOS of a profile: those of the fewest cores, without AVX.
    Turbo(u8),
    /// READ_PM_CONFIG, PM_FEATURE.
    CorePower,
}

impl Command {
    /// Command and subcommand.
    pub fn numbers(self) -> (u16, u16) {
        /// CONFIG_TDP.
        const PROFILES: u16 = 0x7f;
        match self {
            Command::InForce => (PROFILES, 0),
            Command::Features(_) => (PROFILES, 1),
            Command::Base(_) => (PROFILES, 3),
            Command::Turbo(_) => (PROFILES, 7),
            Command::CorePower => (0x94, 3),
        }
    }

    /// What is sent with it: the profile.
    pub fn data(self) -> u32 {
        match self {
            Command::Features(level) | Command::Base(level) | Command::Turbo(level) => level.into(),
            Command::InForce | Command::CorePower => 0,
        }
    }
}

impl Question {
    /// The name in captures and evidence: the device, and what was asked.
    pub fn name(self) -> String {
        match self {
            Question::Mailbox { cpu, command } => {
                let (number, sub) = command.numbers();
                let data = command.data();
                format!("{DEVICE} mailbox cpu{cpu} {number:#x} {sub:#x} {data:#x}")
            }
            Question::Domains { package } => format!("{DEVICE} domains package{package}"),
            Question::InForce { package, domain } => {
                format!("{DEVICE} levels package{package} domain{domain}")
            }
            Question::Profile { package, domain, level } => {
                format!("{DEVICE} level{level} package{package} domain{domain}")
            }
            Question::CorePower { package, domain } => {
                format!("{DEVICE} core-power package{package} domain{domain}")
            }
        }
    }
}

/// The packages, or power domains of them, that were asked.
pub type SpeedSelect = Fact<Vec<Domain>>;

/// A package, or a part of one that has a profile of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Domain {
    /// The lowest CPU of its package.
    pub leader: u32,
    /// Its number in the package; `None` where the package is one.
    pub number: Option<u8>,
    /// What was asked to know it, for evidence.
    pub source: String,
    /// What is in force; the numbers that say so are in its text.
    pub in_force: Fact<InForce>,
    /// What the profile in force sets.
    pub current: Fact<Profile>,
    /// What level 0 sets; read where another is in force.
    pub sold: Fact<Profile>,
    /// SST-CP: whether power is shared between CPUs by priority.
    pub core_power: Fact<bool>,
}

/// What is in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InForce {
    /// The number of the profile; 0 is what the processor was sold as.
    pub level: u8,
    /// Whether firmware has locked the choice until the next start.
    pub is_locked: bool,
    /// SST-BF: whether base clocks are unequal.
    pub unequal_base: bool,
    /// SST-TF: whether turbo limits are unequal.
    pub unequal_turbo: bool,
}

/// What a profile sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// The base clock.
    pub base: Hertz,
    /// The highest turbo clock.
    pub turbo: Hertz,
    /// The design power.
    pub power: Microwatts,
}

/// What the mailbox says is in force, in two answers; `None` where the processor has one profile only and cannot change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels {
    /// The number of the profile.
    pub level: u8,
    /// Whether the choice is locked.
    pub is_locked: bool,
}

const NUMBER: Expected = Expected("32 bits");
const STRUCT: Expected = Expected("the structure of include/uapi/linux/isst_if.h");

/// The number in an answer of the mailbox.
pub fn number(answer: &[u8]) -> Result<u32, Expected> {
    answer.try_into().map(u32::from_le_bytes).map_err(|_| NUMBER)
}

/// `mbox_get_config_levels`: `None` where profiles are not enabled.
pub fn levels(number: u32) -> Option<Levels> {
    let is_enabled = number >> 31 == 1;
    is_enabled.then_some(Levels { level: (number >> 16) as u8, is_locked: number >> 24 & 1 == 1 })
}

impl InForce {
    /// `mbox_get_ctdp_control`.
    pub fn of_mailbox(levels: Levels, features: u32) -> InForce {
        let Levels { level, is_locked } = levels;
        let has = |bit: u32| features >> bit & 1 == 1;
        InForce { level, is_locked, unequal_turbo: has(16), unequal_base: has(17) }
    }

    /// `isst_if_get_perf_level`; `None` where profiles are not enabled. The driver reads more bits into `locked` than the lock.
    pub fn of_struct(answer: &[u8]) -> Result<Option<InForce>, Expected> {
        let [_, _, _, _, _, level, features, locked, enabled, ..] = *answer else {
            return Err(STRUCT);
        };
        let (unequal_base, unequal_turbo) = (features & 1 == 1, features & 2 == 2);
        let in_force = InForce { level, is_locked: locked & 1 == 1, unequal_base, unequal_turbo };
        Ok((enabled != 0).then_some(in_force))
    }
}

/// MHz of a ratio of 100 MHz (DISP_FREQ_MULTIPLIER).
const RATIO_MHZ: u64 = 100;

impl Profile {
    /// `mbox_get_tdp_info` and `mbox_get_get_trl`.
    pub fn of_mailbox(base: u32, turbo: u32) -> Result<Profile, Expected> {
        let clock = |ratio: u32| Hertz::from_mhz(RATIO_MHZ * u64::from(ratio & 0xff));
        let power = Microwatts(1_000_000 * u64::from(base & 0x7fff));
        Profile { base: clock(base >> 16), turbo: clock(turbo), power }.checked()
    }

    /// `isst_if_get_perf_level_info`.
    pub fn of_struct(answer: &[u8]) -> Result<Profile, Expected> {
        let word = |at: usize| -> Result<u64, Expected> {
            let bytes = answer.get(at..at + 2).and_then(|it| it.try_into().ok()).ok_or(STRUCT)?;
            Ok(u16::from_le_bytes(bytes).into())
        };
        let (base, power, turbo) = (word(6)?, word(14)?, word(22)?);
        let (base, turbo) = (Hertz::from_mhz(base), Hertz::from_mhz(turbo));
        Profile { base, turbo, power: Microwatts(1_000_000 * power) }.checked()
    }

    /// A profile that the processor does not have reads as zeros.
    fn checked(self) -> Result<Profile, Expected> {
        let is_real = self.base.0 > 0 && self.turbo >= self.base;
        if is_real { Ok(self) } else { Err(Expected("a base clock and a turbo clock above it")) }
    }
}

/// The numbers of the domains in `struct isst_tpmi_instance_count`.
pub fn domains(answer: &[u8]) -> Result<Vec<u8>, Expected> {
    let [_, _, low, high, ..] = *answer else { return Err(STRUCT) };
    let mask = u16::from_le_bytes([low, high]);
    Ok((0..16).filter(|it| mask >> it & 1 == 1).collect())
}

/// Whether power is shared by priority, in the answer of the mailbox: `isst_read_pm_config`.
pub fn core_power(number: u32) -> bool {
    number >> 16 & 1 == 1
}

/// The same in `struct isst_core_power`; `None` where the processor cannot.
pub fn core_power_of_struct(answer: &[u8]) -> Result<bool, Expected> {
    let [_, _, _, enable, supported, ..] = *answer else { return Err(STRUCT) };
    Ok(enable != 0 && supported != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mailbox_tells_the_profile_and_its_features() {
        assert_eq!(levels(0x8103_0404), Some(Levels { level: 3, is_locked: true }));
        assert_eq!(levels(0x8000_0404), Some(Levels { level: 0, is_locked: false }));
        assert_eq!(levels(0x0103_0404), None);
        let in_force =
            |features| InForce::of_mailbox(Levels { level: 1, is_locked: false }, features);
        let unequal = |it: InForce| (it.unequal_base, it.unequal_turbo);
        assert_eq!(unequal(in_force(0x0000_0003)), (false, false));
        assert_eq!(unequal(in_force(0x0001_0003)), (false, true));
        assert_eq!(unequal(in_force(0x0002_0003)), (true, false));
        assert_eq!((core_power(0x0001_0001), core_power(0x1)), (true, false));
        assert_eq!(number(&[4, 3, 2, 1]), Ok(0x0102_0304));
        assert!(number(&[4, 3, 2]).is_err());
    }

    #[test]
    fn a_profile_of_the_mailbox_has_clocks_and_watts() {
        let profile = Profile::of_mailbox(0x0017_00c8, 0x2020_2225).unwrap();
        assert_eq!((profile.base, profile.turbo), (Hertz::from_mhz(2300), Hertz::from_mhz(3700)));
        assert_eq!(profile.power, Microwatts(200_000_000));
        assert!(Profile::of_mailbox(0, 0).is_err());
        assert!(Profile::of_mailbox(0x0017_00c8, 0x16).is_err(), "turbo below the base clock");
    }

    #[test]
    fn the_structures_of_the_driver_are_read_at_their_places() {
        let of = |bytes: &[u8]| InForce::of_struct(bytes).unwrap();
        let in_force = of(&[0, 1, 4, 2, 0b1_1111, 2, 0b10, 0b110, 1, 1, 1]).unwrap();
        assert_eq!((in_force.level, in_force.is_locked), (2, false));
        assert_eq!((in_force.unequal_base, in_force.unequal_turbo), (false, true));
        assert!(of(&[0, 1, 4, 2, 1, 0, 1, 1, 1, 1, 1]).unwrap().is_locked);
        assert_eq!(of(&[0, 1, 0, 2, 1, 0, 0, 0, 0, 0, 0]), None);
        assert!(InForce::of_struct(&[0; 8]).is_err());
        let mut profile = [0; 32];
        for (at, value) in [(6, 2_000_u16), (14, 350), (22, 3_900)] {
            profile[at..at + 2].copy_from_slice(&value.to_le_bytes());
        }
        let read = Profile::of_struct(&profile).unwrap();
        assert_eq!(
            (read.base.mhz(), read.turbo.mhz(), read.power.0),
            (2000.0, 3900.0, 350_000_000)
        );
        assert!(Profile::of_struct(&profile[..20]).is_err());
        assert_eq!(domains(&[0, 2, 0b101, 0]), Ok(vec![0, 2]));
        assert!(domains(&[0, 2]).is_err());
        assert_eq!(core_power_of_struct(&[0, 0, 1, 1, 1, 0]), Ok(true));
        assert_eq!(core_power_of_struct(&[0, 0, 1, 1, 0, 0]), Ok(false));
    }

    #[test]
    fn processors_are_asked_by_what_they_have() {
        let of = |vendor: &str, model| {
            let info = CpuInfo { vendor: vendor.into(), family: 6, model, ..CpuInfo::default() };
            Interface::of(&info)
        };
        assert_eq!(of("GenuineIntel", 0x6a), Some(Interface::Mailbox));
        assert_eq!(of("GenuineIntel", 0xad), Some(Interface::Tpmi));
        assert_eq!(of("GenuineIntel", 0x97), None);
        assert_eq!(of("AuthenticAMD", 0x6a), None);
    }

    #[test]
    fn each_question_has_a_name_of_its_own_and_none_sets() {
        let of = |command| Question::Mailbox { cpu: 4, command };
        let all = [
            of(Command::InForce),
            of(Command::Features(1)),
            of(Command::Base(1)),
            of(Command::Base(0)),
            of(Command::Turbo(1)),
            of(Command::CorePower),
            Question::Domains { package: 1 },
            Question::InForce { package: 1, domain: 2 },
            Question::Profile { package: 1, domain: 2, level: 3 },
            Question::CorePower { package: 1, domain: 2 },
        ];
        let names: std::collections::BTreeSet<String> = all.iter().map(|it| it.name()).collect();
        assert_eq!(names.len(), all.len());
        assert!(names.contains("/dev/isst_interface mailbox cpu4 0x7f 0x3 0x1"));
        // isst_cmd_set_reqs in isst_if_common.c: what needs CAP_SYS_ADMIN because it sets; beside these command 0xd0.
        const SETS: [(u16, u16); 3] = [(0x7f, 0x02), (0x7f, 0x08), (0x95, 0x03)];
        for question in all {
            if let Question::Mailbox { command, .. } = question {
                assert!(!SETS.contains(&command.numbers()), "{}", question.name());
            }
        }
    }
}
