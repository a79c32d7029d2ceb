//! Reads the interfaces to the BMC, the threads that poll them, and the power limit of the board.

use crate::Source;
use facts::ipmi::{DcmiCapabilities, PowerLimit, PowerReading};
use facts::power::cap::PowerCap;
use facts::system::ipmi::{Interface, Ipmi, PollingThread, numbers, polled_interface};
use facts::system::process::{Process, cpu_time, kernel_threads, run_time};
use facts::{Fact, Missing, Why, parse};
use std::time::Duration;

/// One driver, registered with both buses: BMCs announced by ACPI and DMI, and PCI devices.
const DRIVERS: [&str; 2] = ["/sys/bus/platform/drivers/ipmi_si", "/sys/bus/pci/drivers/ipmi_si"];

pub(super) fn read(source: &dyn Source, processes: &Fact<Vec<Process>>) -> Ipmi {
    Ipmi {
        interfaces: interfaces(source),
        threads: kernel_threads(processes).map(|it| threads(source, &it)),
        max_busy_us: source.parsed(Ipmi::MAX_BUSY_US, numbers),
    }
}

/// The version of the management controller's firmware, as its driver asks it: no part of a view, which leaves the controller alone.
/// Since Linux 4.15 the driver asks anew where its answer is older than 10 s.
///
/// Source: drivers/char/ipmi/ipmi_msghandler.c, firmware_revision: the major version in decimal, the minor one as two BCD digits.
pub fn bmc_firmware(source: &dyn Source) -> Fact<String> {
    source.parsed(&format!("{}/firmware_revision", bmc_device(source)?), parse::line)
}

/// The folder of the controller that the kernel's driver knows. Nothing is asked of the controller.
pub fn bmc_device(source: &dyn Source) -> Fact<String> {
    const DEVICES: &str = "/sys/devices/platform";
    let names = source.list(DEVICES)?;
    let name = names.iter().find(|it| it.starts_with("ipmi_bmc"));
    let name = name.ok_or_else(|| Missing::absent(format!("{DEVICES}/ipmi_bmc.*")))?;
    Ok(format!("{DEVICES}/{name}"))
}

fn interfaces(source: &dyn Source) -> Fact<Vec<Interface>> {
    let mut found = Vec::new();
    let mut missing = None;
    for driver in DRIVERS {
        match source.list(driver) {
            Ok(names) => {
                // Devices are named after a bus address, or a number: `IPI0001:00`, `dmi-ipmi-si.0`.
                let devices = names.iter().filter(|name| name.contains([':', '.']));
                found.extend(devices.map(|name| interface(source, format!("{driver}/{name}"))));
            }
            Err(reason) => missing = missing.or(Some(reason)),
        }
    }
    if found.is_empty() {
        return Err(missing.unwrap_or_else(|| Missing::absent(format!("{}/*", DRIVERS[0]))));
    }
    Ok(found)
}

fn interface(source: &dyn Source, folder: String) -> Interface {
    let line = |file: &str| source.parsed(&format!("{folder}/{file}"), parse::line);
    Interface {
        kind: line("type"),
        interrupts_enabled: source.parsed(&format!("{folder}/interrupts_enabled"), parse::switch),
        params: line("params"),
        folder,
    }
}

fn threads(source: &dyn Source, processes: &[&Process]) -> Vec<PollingThread> {
    let thread = |process: &&Process| {
        // Of the few that poll alone: a large host has thousands of kernel threads.
        let interface = polled_interface(process)?;
        let (run_time, only_ticks) = time_on_cpu(source, process.pid);
        Some(PollingThread {
            pid: process.pid,
            interface,
            started: process.started.clone(),
            run_time,
            only_ticks,
        })
    };
    processes.iter().filter_map(thread).collect()
}

/// From `schedstat`, or from `stat`, and why, where the kernel has none or keeps it at zero.
fn time_on_cpu(source: &dyn Source, pid: u32) -> (Fact<Duration>, Option<Missing>) {
    let missing = match source.parsed(&format!("/proc/{pid}/schedstat"), run_time) {
        Ok(time) => return (Ok(time), None),
        Err(missing) => missing,
    };
    match source.parsed(&format!("/proc/{pid}/stat"), cpu_time) {
        Ok(time) => (Ok(time), Some(missing)),
        Err(_) => (Err(missing), None),
    }
}

/// Asks the BMC for the power of the board and its power limit.
///
/// One question if it does not manage power, else three. Each source decides whether it asks the BMC.
pub(super) fn read_power_cap(source: &dyn Source, interfaces: &Fact<Vec<Interface>>) -> PowerCap {
    match source.response(&DcmiCapabilities::question(), std::convert::identity) {
        Ok(told) if told.holds.manages_power => PowerCap {
            limit: source.response(&PowerLimit::question(), PowerLimit::in_force),
            reading: source.response(&PowerReading::question(), std::convert::identity),
        },
        Ok(told) => {
            let because =
                format!("its controller says that it manages no power ({})", told.digits());
            PowerCap::none(Missing::not_here(PowerLimit::question().path(), because))
        }
        // Without its device the controller of a driver that has an interface is there all the same.
        Err(missing)
            if missing.why == Why::Absent && interfaces.as_ref().is_ok_and(|it| !it.is_empty()) =>
        {
            PowerCap::none(Missing::without_device(missing.what))
        }
        Err(missing) => PowerCap::none(missing),
    }
}

#[cfg(test)]
mod tests {
    use crate::{Captured, Recording, view, view_of};
    use facts::power::cap::PowerCap;
    use facts::{Subject, Subjects};

    #[test]
    fn the_time_of_a_kernel_thread_that_polls_no_controller_is_not_asked_for() {
        let thread = |pid: u32, name: &str| {
            format!(
                "//- /proc/{pid}/stat\n{pid} ({name}) S 2 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 39 19 1 0 10 0 0\n\
                 //- /proc/{pid}/schedstat\n1000000 99 7\n"
            )
        };
        let text = thread(412, "kipmi0") + &thread(413, "kworker/0:1");
        let source = Captured::excerpt(&text).unwrap();
        let recording = Recording::new(&source);
        let host = view_of(&recording, Subjects::of(&[Subject::Ipmi]));
        assert_eq!(host.ipmi.threads.unwrap().len(), 1);
        let capture = recording.capture();
        assert!(capture.contains("/proc/412/schedstat"), "{capture}");
        assert!(!capture.contains("/proc/413/schedstat"), "{capture}");
    }

    const KNOWS: &str = "//- /dev/ipmi0 0x2c 0x01 dc 01\n00 dc 01 05 02 00 01 07\n";
    const DRAWS: &str = "//- /dev/ipmi0 0x2c 0x02 dc 01 00 00\n\
                         00 dc d6 00 02 00 d4 01 b8 00 84 83 37 66 e8 03 00 00 40\n";

    fn limit(answer: &str) -> String {
        format!("//- /dev/ipmi0 0x2c 0x03 dc 00 00\n{answer}\n")
    }

    fn cap(excerpt: &str) -> PowerCap {
        view_of(&Captured::excerpt(excerpt).unwrap(), Subjects::of(&[Subject::PowerCap])).power_cap
    }

    #[test]
    fn a_limit_and_the_power_are_told_with_their_bytes() {
        let cap = cap(&(KNOWS.to_owned()
            + DRAWS
            + &limit("00 dc 00 00 11 f4 01 70 17 00 00 00 00 01 00")));
        assert_eq!(cap.in_force().unwrap().power.to_string(), "500 W");
        let told = cap.limit.unwrap();
        assert_eq!(told.question, "/dev/ipmi0 0x2c 0x03 dc 00 00");
        assert_eq!(told.digits(), "00 dc 00 00 11 f4 01 70 17 00 00 00 00 01 00");
        assert_eq!(cap.reading.unwrap().holds.current.to_string(), "214 W");
    }

    #[test]
    fn no_limit_in_force_is_a_fact() {
        let cap = cap(&(KNOWS.to_owned() + DRAWS + &limit("80")));
        assert_eq!(cap.limit.unwrap().holds, None);
    }

    #[test]
    fn reasons_why_there_is_none_are_told_apart() {
        let missing = |excerpt: &str| cap(excerpt).limit.unwrap_err();
        let first = "//- /dev/ipmi0 0x2c 0x01 dc 01\n";
        assert!(missing("").is_absence());
        let denied = missing(&format!("{first}!denied\n"));
        assert_eq!(denied.to_string(), "/dev/ipmi0 0x2c 0x01 dc 01 may not be read");
        let unknown = missing(&format!("{first}c1\n"));
        assert_eq!(
            unknown.to_string(),
            "no /dev/ipmi0 0x2c 0x01 dc 01 here: Get DCMI Capabilities Info: the controller does not know this command \
             (completion code 0xc1)"
        );
        let powerless = missing(&format!("{first}00 dc 01 05 02 00 00 07\n"));
        assert!(powerless.is_absence() && powerless.to_string().contains("manages no power"));
        let busy = missing(&format!("{first}c0\n"));
        assert!(
            !busy.is_absence() && busy.to_string().contains("the controller is busy"),
            "{busy}"
        );
        let nonsense = missing(&format!("{first}00 dc\n"));
        assert!(
            !nonsense.is_absence() && nonsense.to_string().contains("expected 0xdc"),
            "{nonsense}"
        );
    }

    #[test]
    fn an_interface_without_a_device_is_not_known_and_what_makes_one_is_said() {
        let interface = "//- /sys/bus/platform/drivers/ipmi_si/IPI0001:00/type\nkcs\n";
        let missing = cap(interface).limit.unwrap_err();
        assert_eq!(
            (missing.is_absence(), missing.remedy()),
            (false, Some("modprobe ipmi_devintf"))
        );
    }

    #[test]
    fn the_firmware_of_the_controller_is_what_its_driver_says() {
        let device = "//- /sys/devices/platform/ipmi_bmc.0/firmware_revision\n6.10\n";
        let said = |excerpt: &str| super::bmc_firmware(&Captured::excerpt(excerpt).unwrap());
        assert_eq!(said(device), Ok("6.10".to_owned()));
        assert!(said("").unwrap_err().is_absence());
    }

    #[test]
    fn a_capture_has_the_answers_and_the_refusals_and_nobody_else_asks() {
        let host = Captured::excerpt(&(KNOWS.to_owned() + DRAWS + &limit("!denied"))).unwrap();
        let recording = Recording::new(&host);
        let before = view(&recording).power_cap;
        let capture = recording.capture();
        assert!(capture.contains(&(KNOWS.to_owned() + DRAWS + &limit("!denied"))), "{capture}");
        assert_eq!(view(&Captured::parse(&capture).unwrap()).power_cap, before);
        let recording = Recording::new(&host);
        view_of(&recording, Subjects::of(&[Subject::Ipmi, Subject::PowerLimits, Subject::Msrs]));
        assert!(!recording.capture().contains("/dev/ipmi0"));
    }

    #[test]
    fn bytes_that_look_like_the_hosts_name_stay() {
        let name = "//- /proc/sys/kernel/hostname\nd6-00\n//- /etc/hostname\n500\n";
        let host = Captured::excerpt(&(KNOWS.to_owned() + DRAWS + &limit("80") + name)).unwrap();
        let recording = Recording::new(&host);
        view(&recording);
        assert!(recording.capture().contains(DRAWS));
    }
}
