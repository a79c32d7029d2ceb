//! What the kernel does about each fault of the processor that it knows of. Most of it costs time on the way in and out
//! of the kernel, between two tasks, or at each indirect branch.
//!
//! Source: Documentation/admin-guide/hw-vuln/, Documentation/ABI/testing/sysfs-devices-system-cpu
//! (/sys/devices/system/cpu/vulnerabilities), since 4.15. A kernel that does not name a fault does nothing about it. What
//! firmware does by itself does not show, nor what a hypervisor does about its guests.

use crate::Fact;

/// The folder with a file for each fault.
pub const FOLDER: &str = "/sys/devices/system/cpu/vulnerabilities";

/// A fault of processors, and how this machine stands to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Vulnerability {
    /// The kernel's name: `spectre_v2`.
    pub name: String,
    /// The kernel's words: `Not affected`, `Vulnerable`, `Mitigation: Retpolines; IBPB: conditional`.
    pub state: Fact<String>,
}
