//! A change of a host before anything is written: where, from which value, to which value.
//!
//! A setting plans writes, a journal records them, and one module of `host` carries them out.

mod controls;
mod firmware;
mod recorded;

pub use controls::{Control, Controls, WRITABLE, is_writable, matched, of_older_policies};
pub use firmware::{
    ATTRIBUTES, FirmwarePlace, Held, NUMBERED, object, request_body, without_number,
};
pub use recorded::{
    ChangeLines, ChangeStanding, ChangeState, Guarding, Overdue, Recorded, RecordedGroup,
    RevertOutcome, Standing, Undone, WriteOutcome, Written, WrittenPlace,
};

use crate::CpuSet;
use crate::parse::trimmed;
use serde::{Deserialize, Serialize};
use std::fmt;

/// One planned change of one place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Write {
    /// The file, register, task or service that is written.
    pub target: Target,
    /// Its value when the plan was made; `None` where a file does not exist yet.
    pub from: Option<String>,
    /// The new value; `None` where a file is to be removed, and for [`Aim::Forgotten`].
    pub to: Option<String>,
    /// What is expected of it.
    pub aim: Aim,
}

/// The expected result of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aim {
    /// The target reads back what was written; anything else fails the whole plan.
    Sticks,
    /// The kernel may refuse the write, for reasons that it does not show before (managed interrupts, bound threads).
    /// A refusal is reported, and the plan continues.
    IfTaken,
    /// A later write of the group makes the kernel forget the value (a governor's tunables). Nothing is written here;
    /// reverting the group, in reverse order, restores the value.
    Forgotten,
}

/// The writes of one setting. They are journaled together, made in order, and reverted in reverse order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// The ID of the setting.
    pub setting: String,
    /// The requested value, in the user's notation: `performance`, `off@4-7`.
    pub value: String,
    /// Whether the first write is a canary: it must stick, and its CPU must respond, before any other write.
    pub canary: bool,
    /// The writes, in order.
    pub writes: Vec<Write>,
}

impl Write {
    /// A write that must stick.
    pub fn of(target: Target, from: impl Into<String>, to: impl Into<String>) -> Write {
        Write { target, from: Some(from.into()), to: Some(to.into()), aim: Aim::Sticks }
    }

    /// The same write, where the kernel may refuse it.
    #[must_use]
    pub fn if_taken(mut self) -> Write {
        self.aim = Aim::IfTaken;
        self
    }

    /// A value that a later write of the group makes the kernel forget: it is restored when the group is reverted.
    pub fn forgotten(target: Target, from: impl Into<String>) -> Write {
        Write { target, from: Some(from.into()), to: None, aim: Aim::Forgotten }
    }

    /// Whether the target already has the new value.
    pub fn is_idle(&self) -> bool {
        match (&self.from, &self.to) {
            (Some(from), Some(to)) => is_same(from, to),
            (from, to) => from == to,
        }
    }
}

/// Whether two texts are the same value. The kernel seldom prints a setting as it was written: white space, the case
/// of hexadecimal digits, and leading zeros of numbers and of groups of a mask may differ. Both texts must use one
/// notation; `0-3` is not `f`.
pub fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (trimmed(one), trimmed(other));
    one == other || digits(one).is_some_and(|it| digits(other) == Some(it))
}

/// A number or mask in normal form; `None` where the text is neither.
fn digits(text: &str) -> Option<String> {
    let hexadecimal = text.strip_prefix("0x").unwrap_or(text);
    let mut groups = hexadecimal.split(',');
    let is_group = |it: &str| !it.is_empty() && it.chars().all(|it| it.is_ascii_hexdigit());
    let first = groups.next().filter(|it| is_group(it))?;
    let mut digits = first.to_ascii_lowercase();
    for group in groups {
        // Lists of CPUs have commas, too; only a mask has eight digits after each (lib/bitmap.c).
        if group.len() != 8 || !is_group(group) {
            return None;
        }
        digits.push_str(&group.to_ascii_lowercase());
    }
    let significant = digits.trim_start_matches('0');
    Some(if significant.is_empty() { "0".to_owned() } else { significant.to_owned() })
}

/// Splits a value at its `@`: `off@4-7` is `off` on CPUs 4 to 7. Fails where the text after the `@` is not a list of
/// CPUs, or is empty.
pub fn cpus_of(text: &str) -> Result<(&str, Option<CpuSet>), String> {
    let Some((value, list)) = text.rsplit_once('@') else { return Ok((text, None)) };
    let cpus = CpuSet::parse_list(list).map_err(|error| format!("{list:?}: {error}"))?;
    if cpus.is_empty() {
        return Err(format!("{text:?} names no CPU after the @"));
    }
    Ok((value, Some(cpus)))
}

/// Something that a change can write.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Target {
    /// A file that shows a setting and takes another; one that [`is_writable`].
    Control {
        /// The absolute path of a file in /proc or /sys.
        path: String,
    },
    /// Some bits of a model-specific register of one CPU, one of [`REGISTERS`]. The value is that of the whole
    /// register in hexadecimal, as read; bits outside the mask are never changed.
    Register {
        /// The CPU.
        cpu: u32,
        /// The address of the register.
        address: u32,
        /// The bits to change.
        mask: u64,
    },
    /// The CPUs that a task may run on, as a list.
    Affinity {
        /// The thread ID.
        tid: u32,
        /// When the task started, in ticks since boot (/proc/PID/stat, field 22): distinguishes it from a later task
        /// with the same ID.
        started: u64,
        /// Its name (`comm`), for messages.
        name: String,
    },
    /// A service of systemd, or of System V where there is no systemd; `running` or `stopped`.
    Service {
        /// The name of the unit or service: `tuned.service`.
        name: String,
    },
    /// A whole configuration file.
    File {
        /// The absolute path.
        path: String,
    },
    /// A limit on the wake-up latency of all CPUs, in microseconds, requested by keeping /dev/cpu_dma_latency open;
    /// `none` where this program requests nothing. It ends with the process
    /// (Documentation/power/pm_qos_interface.rst).
    LatencyRequest,
    /// Settings of the firmware, which the management controller takes over Redfish and the next restart brings.
    Firmware(Box<FirmwarePlace>),
}

/// A register that may be written, and the bits that may be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WritableRegister {
    /// The address of the model-specific register.
    pub address: u32,
    /// The bits that may be changed.
    pub mask: u64,
    /// Whether the bits may only be cleared.
    pub only_clear: bool,
}

/// All registers that may be written: no other is, whatever a plan or a journal says.
pub const REGISTERS: &[WritableRegister] = &[
    // IA32_CLOCK_MODULATION, duty and enable (SDM vol. 3B, "Software Controlled Clock Modulation").
    WritableRegister { address: 0x19a, mask: 0x1f, only_clear: true },
    // IA32_POWER_CTL, BD PROCHOT and C1E enable (SDM vol. 4).
    WritableRegister { address: 0x1fc, mask: 0b11, only_clear: false },
];

impl Target {
    /// The control at a path.
    pub fn control(path: impl Into<String>) -> Target {
        Target::Control { path: path.into() }
    }

    /// The configuration file at a path.
    pub fn file(path: impl Into<String>) -> Target {
        Target::File { path: path.into() }
    }

    /// Whether its value is a fault: bits that may only be cleared.
    pub fn holds_fault(&self) -> bool {
        let Target::Register { address, .. } = self else { return false };
        REGISTERS.iter().any(|it| it.address == *address && it.only_clear)
    }

    /// Whether a reboot resets it, so that nothing needs to be reverted.
    pub fn ends_with_boot(&self) -> bool {
        !matches!(self, Target::File { .. } | Target::Firmware(_))
    }
}

/// The path, or a name in its place: `/dev/cpu/3/msr 0x19a`, `affinity of 4711 (kipmi0)`.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Control { path } | Target::File { path } => f.write_str(path),
            Target::Register { cpu, address, .. } => write!(f, "/dev/cpu/{cpu}/msr {address:#x}"),
            Target::Affinity { tid, name, .. } => write!(f, "affinity of {tid} ({name})"),
            Target::Service { name } => write!(f, "service {name}"),
            Target::LatencyRequest => f.write_str("/dev/cpu_dma_latency"),
            Target::Firmware(place) => place.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_the_same_however_the_kernel_prints_it() {
        assert!(is_same("performance", "performance\n"));
        assert!(is_same("f", "00000000,0000000f"));
        assert!(is_same("0x14", "0X14".to_lowercase().as_str()));
        assert!(is_same("0", "00000000"));
    }

    #[test]
    fn values_that_differ_are_never_taken_for_the_same() {
        assert!(!is_same("performance", "powersave"));
        assert!(!is_same("0-3", "f"));
        assert!(!is_same("1,2", "12"));
        assert!(!is_same("10", "1"));
        assert!(!is_same("", "0"));
    }

    #[test]
    fn a_value_may_be_for_some_cpus() {
        assert_eq!(cpus_of("off"), Ok(("off", None)));
        let some = CpuSet::parse_list("4-7").ok();
        assert_eq!(cpus_of("off@4-7"), Ok(("off", some)));
        assert!(cpus_of("off@").is_err() && cpus_of("off@x").is_err());
    }

    #[test]
    fn a_target_is_shown_as_the_place_it_is() {
        let register = Target::Register { cpu: 3, address: 0x19a, mask: 0x1f };
        let task = Target::Affinity { tid: 4711, started: 1, name: "kipmi0".to_owned() };
        assert_eq!(register.to_string(), "/dev/cpu/3/msr 0x19a");
        assert_eq!(task.to_string(), "affinity of 4711 (kipmi0)");
    }

    #[test]
    fn only_files_outlive_a_boot() {
        assert!(Target::control("/proc/sys/vm/stat_interval").ends_with_boot());
        assert!(!Target::file("/etc/sysctl.d/90-fullclock.conf").ends_with_boot());
    }
}
