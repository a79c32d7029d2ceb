//! The clock that the kernel and every program tell the time by.
//!
//! Source: Documentation/timers/timekeeping.rst; /sys/devices/system/clocksource/clocksource0. How long one
//! reading takes is not written here: only measuring tells.

use crate::Fact;

/// The folder of the clock source.
pub const FOLDER: &str = "/sys/devices/system/clocksource/clocksource0";

/// The clock source in use, and those that could be.
#[derive(Clone, Debug, PartialEq)]
pub struct Clocksource {
    /// `current_clocksource`: tsc, kvm-clock, hpet, acpi_pm.
    pub current: Fact<String>,
    /// `available_clocksource`. A tsc that the kernel has found unstable is not among them.
    pub available: Fact<Vec<String>>,
}

impl Clocksource {
    /// Whether `name` could be chosen.
    pub fn offers(&self, name: &str) -> bool {
        self.available.as_ref().is_ok_and(|names| names.iter().any(|it| it == name))
    }
}
