//! HPE's own words for what its firmware decides of clocks: said by checks and by the kernel's log.
//!
//! Source: HPE, "UEFI System Utilities User Guide", Power Regulator.

macro_rules! os_control {
    () => {
        "Power Regulator: OS Control Mode"
    };
}

macro_rules! brings {
    () => {
        "which brings intel_pstate or acpi-cpufreq in place of pcc-cpufreq"
    };
}

/// The choice that lets Linux drive the clock.
pub const OS_CONTROL: &str = os_control!();

/// What a frequency driver of Linux's own does.
pub const BRINGS: &str = brings!();

/// What takes the place of pcc-cpufreq.
pub const REPLACES_PCC: &str = concat!(
    "Let the operating system control P-states in the firmware's setup (HP and HPE: ",
    os_control!(),
    "), ",
    brings!(),
    "; or choose Static High Performance Mode."
);
