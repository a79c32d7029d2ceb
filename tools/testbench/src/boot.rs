//! What a machine is and what is done in it.

use crate::bochs::Bochs;
use crate::qemu::Qemu;

/// One machine, described from its hardware to its boot line.
#[derive(Debug, Clone)]
pub struct Boot {
    /// The hardware.
    pub emulator: Emulator,
    /// Options the boot line has besides those every guest needs.
    pub kernel_arguments: Vec<String>,
    /// Kernel modules that must be in before the first step; what they need is added.
    pub modules: Vec<&'static str>,
    /// Who runs the steps once they are in.
    pub init: Init,
    /// Whether its programs measure the time that passes, so that no other machine may run beside it.
    pub runs_alone: bool,
}

/// The first process of a guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Init {
    /// A script, which does nothing else.
    Script,
    /// Debian's systemd: the steps are a service of it, behind everything else that a boot starts.
    Systemd,
}

/// Who plays the hardware.
#[derive(Debug, Clone)]
pub enum Emulator {
    /// Boots in seconds; P-states, C-states, a BMC; registers that are all zero.
    Qemu(Qemu),
    /// Boots in a minute or more; registers that hold what they are told to.
    Bochs(Bochs),
}

/// A piece of shell run in the guest, as root and after the ones before it.
#[derive(Debug, Clone)]
pub struct Step {
    /// What the host calls the step's output.
    pub name: String,
    /// The shell text. Besides programs it can call the functions of `guest/faults.sh`.
    pub script: String,
}

impl Step {
    /// A step called `name` that runs `script`.
    #[must_use]
    pub fn new(name: &str, script: &str) -> Self {
        Self { name: name.to_owned(), script: script.to_owned() }
    }
}
