//! What AMD's Host System Management Port reports of each socket, by the amd_hsmp driver.
//!
//! Source: Documentation/arch/x86/amd_hsmp.rst, "HSMP telemetry sysfs files"; drivers/platform/x86/amd/hsmp/acpi.c.
//! Older drivers have /dev/hsmp alone, to which this program writes nothing.

use crate::{Fact, Hertz};

/// Every socket; absent where the driver shows none.
pub type HsmpSockets = Fact<Vec<HsmpSocket>>;

/// One socket.
#[derive(Clone, Debug, PartialEq)]
pub struct HsmpSocket {
    /// Its folder, for evidence: `/sys/devices/platform/AMDI0097:00`.
    pub folder: String,
    /// `prochot_status`: whether the processor is at its thermal threshold.
    pub prochot: Fact<bool>,
    /// `cclk_freq_limit_input`: the limit on the clock of its cores.
    pub clock_limit: Fact<Hertz>,
    /// `pwr_current_active_freq_limit_source`: what limits the clock, a name a line.
    pub limit_sources: Fact<Vec<String>>,
}

impl HsmpSocket {
    /// The path of one of its files.
    pub fn path(&self, file: &str) -> String {
        format!("{}/{file}", self.folder)
    }

    /// Parses `pwr_current_active_freq_limit_source`.
    pub fn sources(text: &str) -> Vec<String> {
        text.lines().map(|it| it.trim().to_owned()).filter(|it| !it.is_empty()).collect()
    }
}
