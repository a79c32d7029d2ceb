//! cpuidle: how deep a CPU without work may sleep, and who forbids it to.
//!
//! Source: Documentation/admin-guide/pm/cpuidle.rst; drivers/cpuidle/sysfs.c. What the hardware made of a
//! request for an idle state is not written here: only its residency counters know.

use crate::parse::{Expected, number, trimmed};
use crate::system::process::Process;
use crate::{CpuSet, Fact, PerCpu};

/// The folder of the subsystem.
pub const FOLDER: &str = "/sys/devices/system/cpu/cpuidle";

/// drivers/idle/intel_idle.c, `module_param_named`: as the boot line or modprobe gave them.
pub const PARAMETERS: &str = "/sys/module/intel_idle/parameters";

/// The device through which a process limits every CPU's exit latency, for as long as it holds it open
/// (kernel/power/qos.c).
pub const LATENCY_DEVICE: &str = "/dev/cpu_dma_latency";

/// Idle states, and what limits their use.
#[derive(Clone, Debug, PartialEq)]
pub struct Cpuidle {
    /// `current_driver`: intel_idle, acpi_idle, haltpoll; `none` where no driver has registered.
    pub driver: Fact<String>,
    /// `current_governor`, or `current_governor_ro` before Linux 5.8: menu, teo, ladder, haltpoll.
    pub governor: Fact<String>,
    /// What intel_idle was told: its parameters in [`PARAMETERS`], by name, those that are empty left out. Absent without that driver.
    ///
    /// `max_cstate`, `states_off` (a bit for each state that starts disabled), `preferred_cstates`, `use_acpi`, `no_acpi`, `no_native`,
    /// `ibrs_off`; since Linux 7.0 `table`, which changes latencies and residencies: `C1E:5:20,C6::400`.
    pub parameters: Fact<Vec<(String, String)>>,
    /// The states that the driver offers, one table for each kind of core.
    pub tables: Fact<Vec<StateTable>>,
    /// The longest exit latency that any state may have on any CPU, in microseconds.
    pub latency_limit: Fact<u32>,
    /// The processes that hold [`LATENCY_DEVICE`] open; looked for only where the limit forbids a state.
    pub latency_holders: Fact<Vec<Process>>,
    /// The same limit for one CPU each.
    pub resume_latency: PerCpu<ResumeLatency>,
}

impl Cpuidle {
    /// One of [`Cpuidle::parameters`]; `None` where it is empty or unknown.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let parameters = self.parameters.as_deref().unwrap_or_default();
        parameters.iter().find(|it| it.0 == name).map(|it| it.1.as_str())
    }

    /// Whether `intel_idle.states_off` switched a state off when the driver was loaded.
    pub fn is_off_by_parameter(&self, number: u32) -> bool {
        let mask = self.parameter("states_off").and_then(|it| it.parse::<u64>().ok());
        mask.and_then(|it| it.checked_shr(number)).is_some_and(|it| it & 1 == 1)
    }
}

/// The idle states of like CPUs.
#[derive(Clone, Debug, PartialEq)]
pub struct StateTable {
    /// The online CPUs that have these states.
    pub cpus: CpuSet,
    /// From the shallowest to the deepest.
    pub states: Vec<IdleState>,
}

/// An idle state of one CPU, as cpuidle shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct IdleState {
    /// The number in its folder's name.
    pub number: u32,
    /// `name`: POLL, C1, C1E, C6.
    pub name: String,
    /// `desc`: MWAIT 0x20.
    pub description: Fact<String>,
    /// `latency`: what it takes to leave it, in microseconds.
    pub latency: Fact<u64>,
    /// `residency`: how long it must last to be worth entering, in microseconds.
    pub residency: Fact<u64>,
    /// `disable`, by CPU. Read only of states deeper than C1: nothing depends on the shallow ones.
    pub disabled: PerCpu<bool>,
    /// `default_status` is `disabled`: the driver leaves it off on this processor. Read only of states deeper than C1.
    pub is_off_by_default: Fact<bool>,
}

/// `power/pm_qos_resume_latency_us` of a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ResumeLatency {
    /// `0`: no restriction (drivers/base/power/sysfs.c).
    Any,
    /// So many microseconds.
    AtMost(u64),
    /// `n/a`: none at all, so that the CPU polls.
    None,
}

impl IdleState {
    /// Parses `default_status`: whether the driver leaves a state off (drivers/cpuidle/sysfs.c, show_state_default_status).
    pub fn parse_default(text: &str) -> Result<bool, Expected> {
        match trimmed(text) {
            "disabled" => Ok(true),
            "enabled" => Ok(false),
            _ => Err(Expected("enabled or disabled")),
        }
    }
}

impl ResumeLatency {
    /// Parses `pm_qos_resume_latency_us`.
    pub fn parse(text: &str) -> Result<ResumeLatency, Expected> {
        match trimmed(text) {
            "n/a" => Ok(ResumeLatency::None),
            "0" => Ok(ResumeLatency::Any),
            _ => number(text).map(ResumeLatency::AtMost).map_err(|_| Expected("n/a or a number")),
        }
    }

    /// The longest exit latency it allows, in microseconds.
    pub fn limit(self) -> u64 {
        match self {
            ResumeLatency::Any => u64::MAX,
            ResumeLatency::AtMost(microseconds) => microseconds,
            ResumeLatency::None => 0,
        }
    }
}

/// As the file writes it.
impl std::fmt::Display for ResumeLatency {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ResumeLatency::Any => f.write_str("0"),
            ResumeLatency::AtMost(microseconds) => write!(f, "{microseconds}"),
            ResumeLatency::None => f.write_str("n/a"),
        }
    }
}

/// Parses what reading [`LATENCY_DEVICE`] gives: a signed 32-bit number in the machine's byte order, which is
/// little-endian wherever turbo is.
pub fn latency_limit(bytes: &[u8]) -> Result<u32, Expected> {
    let number = bytes.try_into().map(i32::from_le_bytes).ok();
    number.and_then(|it| it.try_into().ok()).ok_or(Expected("four bytes, a number of microseconds"))
}

impl IdleState {
    /// How deep it is, by its name: 0 for POLL, 1 for C1 and C1E, 6 for C6, C6P and SNB-C6; `None` where the
    /// name says nothing (`haltpoll`, `WFI`).
    pub fn depth(&self) -> Option<u32> {
        if self.name == "POLL" {
            return Some(0);
        }
        // Older kernels write NHM-C6 or C6-HSW; C2_ACPI is a state that intel_idle took from ACPI tables.
        self.name.split(['-', '_']).find_map(|part| {
            let digits = part.strip_prefix('C')?;
            let end = digits.find(|it: char| !it.is_ascii_digit()).unwrap_or(digits.len());
            digits.get(..end)?.parse().ok()
        })
    }

    /// Whether it is deeper than C1 and C1E, so that a core in it leaves its share of power and current to
    /// the others.
    pub fn is_deep(&self) -> bool {
        self.depth().is_some_and(|depth| depth > 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn depth(name: &str) -> Option<u32> {
        let missing = || crate::Missing::absent("");
        let state = IdleState {
            number: 0,
            name: name.to_owned(),
            description: Err(missing()),
            latency: Err(missing()),
            residency: Err(missing()),
            disabled: PerCpu::default(),
            is_off_by_default: Err(missing()),
        };
        state.depth()
    }

    #[test]
    fn the_depth_is_read_from_every_spelling_of_a_name() {
        let names = ["POLL", "C0", "C1", "C1E", "C1E-HSW", "C1_ACPI", "C6SP", "NHM-C6", "C10"];
        assert_eq!(names.map(depth), [0, 0, 1, 1, 1, 1, 6, 6, 10].map(Some));
        assert_eq!(["haltpoll", "WFI", "C", "Cé", ""].map(depth), [None; 5]);
    }

    #[test]
    fn zero_allows_every_latency_and_not_available_none() {
        assert_eq!(ResumeLatency::parse("0\n").map(ResumeLatency::limit), Ok(u64::MAX));
        assert_eq!(ResumeLatency::parse("n/a\n").map(ResumeLatency::limit), Ok(0));
        assert_eq!(ResumeLatency::parse("50\n"), Ok(ResumeLatency::AtMost(50)));
        assert_eq!(ResumeLatency::parse("auto"), Err(Expected("n/a or a number")));
    }

    #[test]
    fn the_latency_limit_is_four_bytes() {
        assert_eq!(latency_limit(&[0x00, 0x94, 0x35, 0x77]), Ok(2_000_000_000));
        assert!(latency_limit(&[0xff; 4]).is_err() && latency_limit(b"10\n").is_err());
    }
}
