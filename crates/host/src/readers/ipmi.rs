//! Reads the interfaces to the BMC and the threads that poll them.

use super::processes::kernel_threads;
use crate::Source;
use facts::system::ipmi::{Interface, Ipmi, PollingThread, numbers, polled_interface};
use facts::system::process::{Process, run_time};
use facts::{Fact, Missing, parse};

/// One driver, registered with both buses: BMCs announced by ACPI and DMI, and PCI devices.
const DRIVERS: [&str; 2] = ["/sys/bus/platform/drivers/ipmi_si", "/sys/bus/pci/drivers/ipmi_si"];

pub(super) fn read(source: &dyn Source, processes: &Fact<Vec<Process>>) -> Ipmi {
    Ipmi {
        interfaces: interfaces(source),
        threads: kernel_threads(processes).map(|it| threads(source, &it)),
        max_busy_us: source.parsed(Ipmi::MAX_BUSY_US, numbers),
    }
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
        Some(PollingThread {
            pid: process.pid,
            interface: polled_interface(process)?,
            started: process.started.clone(),
            run_time: source.parsed(&format!("/proc/{}/schedstat", process.pid), run_time),
        })
    };
    processes.iter().filter_map(thread).collect()
}
