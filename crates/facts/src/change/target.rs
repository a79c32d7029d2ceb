//! Places that can be written.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A place that holds a value, and that a change may write.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Target {
    /// A file in which the kernel shows a setting and takes another; one that [`is_writable`](super::is_writable).
    Control {
        /// Absolute.
        path: String,
    },
    /// Some bits of a model-specific register of one CPU, one of [`REGISTERS`]. Its value is that of the whole register in
    /// hexadecimal, as read; the bits outside of the mask are never changed.
    Register {
        /// Whose.
        cpu: u32,
        /// Which.
        address: u32,
        /// The bits that are changed.
        mask: u64,
    },
    /// The CPUs that a task may run on, as a list.
    Affinity {
        /// Its id.
        tid: u32,
        /// When it started, in ticks since boot (/proc/PID/stat, field 22): another task of the same id is another task.
        started: u64,
        /// Its name (`comm`), for people.
        name: String,
    },
    /// A service of systemd, or of System V where there is no systemd; `running` or `stopped`.
    Service {
        /// As the service manager knows it: `tuned.service`.
        name: String,
    },
    /// A whole file of configuration.
    File {
        /// Absolute.
        path: String,
    },
    /// The longest wake-up that any CPU may need, in microseconds, asked for by keeping /dev/cpu_dma_latency open; `none`
    /// where this program asks for nothing. It ends with the process that asks
    /// (Documentation/power/pm_qos_interface.rst).
    LatencyRequest,
}

/// A register that may be written, and the bits of it that may be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WritableRegister {
    /// Its address.
    pub address: u32,
    /// The bits that may be changed.
    pub mask: u64,
    /// Whether they may only be cleared.
    pub only_clear: bool,
}

/// Every register that may be written: nothing else is, whatever a plan or a journal says.
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

    /// Whether what it may hold is a fault: a register whose bits may only be cleared.
    pub fn holds_fault(&self) -> bool {
        let Target::Register { address, .. } = self else { return false };
        REGISTERS.iter().any(|it| it.address == *address && it.only_clear)
    }

    /// Whether its value is gone after a reboot, so that there is nothing to undo.
    pub fn ends_with_boot(&self) -> bool {
        !matches!(self, Target::File { .. })
    }
}

/// The path, or what stands for one: `/dev/cpu/3/msr 0x19a`, `affinity of 4711 (kipmi0)`.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Control { path } | Target::File { path } => f.write_str(path),
            Target::Register { cpu, address, .. } => write!(f, "/dev/cpu/{cpu}/msr {address:#x}"),
            Target::Affinity { tid, name, .. } => write!(f, "affinity of {tid} ({name})"),
            Target::Service { name } => write!(f, "service {name}"),
            Target::LatencyRequest => f.write_str("/dev/cpu_dma_latency"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
