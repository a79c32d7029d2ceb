//! What AMD's server processors report of each socket through HSMP, the Host System Management Port.
//!
//! Sources: Documentation/arch/x86/amd_hsmp.rst, "HSMP telemetry sysfs files" and "HSMP HWMON interface";
//! drivers/platform/x86/amd/hsmp/{acpi,plat,hwmon,hsmp}.c. Where firmware describes the port (ACPI device AMDI0097), each socket has
//! files of its own and a power sensor. Elsewhere the driver amd_hsmp makes the sensors alone. Older drivers have only /dev/hsmp, to
//! which this program writes nothing. Each file is a message to the processor's firmware, and any of them can fail: it does not know the
//! message (ENOMSG), is busy (EBUSY), or answers too late (ETIMEDOUT).

use crate::parse::{Expected, trimmed};
use crate::{Fact, Hertz, Microwatts};

/// All sockets; absent where the driver shows none.
pub type HsmpSockets = Fact<Vec<HsmpSocket>>;

/// The telemetry of one socket.
#[derive(Clone, Debug, PartialEq)]
pub struct HsmpSocket {
    /// Its folder, for evidence: `/sys/devices/platform/AMDI0097:00`; `/sys/devices/platform/amd_hsmp` where it has only a sensor.
    pub folder: String,
    /// Which socket it is, from 0: `firmware_node/uid`.
    pub number: Fact<u32>,
    /// `prochot_status`: whether the processor is at its thermal threshold.
    pub prochot: Fact<bool>,
    /// `cclk_freq_limit_input`: the limit on the clock of its cores.
    pub clock_limit: Fact<Hertz>,
    /// `pwr_current_active_freq_limit`: the limit in force of those that `limit_sources` names.
    pub active_limit: Fact<Hertz>,
    /// `pwr_current_active_freq_limit_source`: what limits the clock. Nothing where nothing does.
    pub limit_sources: Fact<Vec<String>>,
    /// `fclk_input`: the clock of the fabric, which joins cores, memory and devices.
    pub fabric_clock: Fact<Hertz>,
    /// `mclk_input`: the clock of the memory.
    pub memory_clock: Fact<Hertz>,
    /// `c0_residency_input`: how many of 100 cores worked.
    pub busy_percent: Fact<u64>,
    /// Its power sensor.
    pub power: Fact<SocketPower>,
}

/// The power of a socket, by its sensor `amd_hsmp_hwmon`.
#[derive(Clone, Debug, PartialEq)]
pub struct SocketPower {
    /// The folder of its files, for evidence and commands.
    pub folder: String,
    /// `power1_cap`: the limit in force (PPT), set by firmware, the management controller or a program.
    pub limit: Fact<Microwatts>,
    /// `power1_cap_max`: the highest limit that the processor takes.
    pub highest_limit: Fact<Microwatts>,
    /// `power1_input`: what it draws.
    pub drawn: Fact<Microwatts>,
}

impl SocketPower {
    /// What the sensors are called.
    pub const SENSOR: &str = "amd_hsmp_hwmon";

    /// The path of one of its files.
    pub fn path(&self, file: &str) -> String {
        format!("{}/{file}", self.folder)
    }
}

impl HsmpSocket {
    /// The folder of the driver where firmware does not describe the port.
    pub const PLATFORM: &str = "/sys/devices/platform/amd_hsmp";

    /// The folder of an ACPI device of the port.
    pub fn acpi_folder(instance: u32) -> String {
        format!("/sys/devices/platform/AMDI0097:{instance:02x}")
    }

    /// The path of one of its files.
    pub fn path(&self, file: &str) -> String {
        format!("{}/{file}", self.folder)
    }

    /// The lowest limit on the clock of its cores, and its file; `None` where none is known.
    pub fn lowest_limit(&self) -> Option<(&'static str, Hertz)> {
        let limits = [
            ("cclk_freq_limit_input", &self.clock_limit),
            ("pwr_current_active_freq_limit", &self.active_limit),
        ];
        let known = limits.into_iter().filter_map(|(file, it)| Some((file, *it.as_ref().ok()?)));
        known.filter(|(_, it)| it.0 > 0).min_by_key(|(_, it)| *it)
    }

    /// Whether its files of telemetry are not there.
    pub fn is_sensor_alone(&self) -> bool {
        self.folder == HsmpSocket::PLATFORM
    }

    /// Parses `pwr_current_active_freq_limit_source`: names, one a line. An empty file is no name.
    pub fn sources(text: &str) -> Vec<String> {
        text.lines().map(|it| it.trim().to_owned()).filter(|it| !it.is_empty()).collect()
    }

    /// Parses `uid`: `ID00` is socket 0 (hsmp_get_uid in drivers/platform/x86/amd/hsmp/acpi.c).
    pub fn number_of_uid(text: &str) -> Result<u32, Expected> {
        let digits = trimmed(text).strip_prefix("ID").filter(|it| it.len() <= 4);
        digits.and_then(|it| it.parse().ok()).ok_or(Expected("a socket like ID00"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Missing;

    #[test]
    fn sources_are_names_one_a_line_and_an_empty_file_names_none() {
        assert_eq!(HsmpSocket::sources("cHTC-Active\nPPT Limit\n"), ["cHTC-Active", "PPT Limit"]);
        assert!(HsmpSocket::sources("").is_empty() && HsmpSocket::sources("\n").is_empty());
    }

    #[test]
    fn a_uid_is_the_number_of_a_socket() {
        assert_eq!(HsmpSocket::number_of_uid("ID00\n"), Ok(0));
        assert_eq!(HsmpSocket::number_of_uid("ID10"), Ok(10));
        for text in ["", "00", "ID", "ID-1", "ID00001", "IDxx"] {
            assert!(HsmpSocket::number_of_uid(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_lowest_limit_counts_and_one_of_0_is_none() {
        let socket = |clock_limit, active_limit| {
            let none = || Missing::absent("x");
            HsmpSocket {
                folder: String::new(),
                number: Ok(0),
                prochot: Ok(false),
                clock_limit,
                active_limit,
                limit_sources: Err(none()),
                fabric_clock: Err(none()),
                memory_clock: Err(none()),
                busy_percent: Err(none()),
                power: Err(none()),
            }
        };
        let mhz = |it| Ok(Hertz::from_mhz(it));
        let lowest = |a, b| socket(a, b).lowest_limit().map(|(_, it)| it.mhz());
        assert_eq!(lowest(mhz(3400), mhz(1200)), Some(1200.0));
        assert_eq!(lowest(mhz(1500), mhz(0)), Some(1500.0));
        assert_eq!(lowest(Err(Missing::absent("x")), mhz(0)), None);
    }
}
