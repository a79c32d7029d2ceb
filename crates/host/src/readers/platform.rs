//! Reads what kind of machine this is: hypervisor, container, and the DMI tables of the firmware.

use crate::Source;
use facts::cpu::cpuinfo::CpuInfo;
use facts::system::platform::{Dmi, Platform, SIGNATURE_LEAF, hypervisor, is_control_domain};
use facts::system::process::Process;
use facts::{Elsewhere, Fact, HostView, Missing, parse};

pub(super) fn read(source: &dyn Source, cpuinfo: &Fact<CpuInfo>, dmi: &Dmi) -> Platform {
    let xen_type = source.parsed("/sys/hypervisor/type", parse::line);
    let sysinfo = source.text("/proc/sysinfo");
    let is_guest = cpuinfo.as_ref().is_ok_and(|it| it.has("hypervisor"));
    let signature = is_guest.then(|| source.cpuid(SIGNATURE_LEAF, 0).ok()).flatten();
    // Only Xen has the files that tell its domains apart.
    let is_control_domain = xen_type.as_deref() == Ok("xen")
        && is_control_domain(
            &source.text("/proc/xen/capabilities"),
            &source.parsed("/sys/hypervisor/uuid", parse::line),
        );
    Platform {
        is_control_domain,
        hypervisor: hypervisor(cpuinfo, dmi, &xen_type, &sysinfo, signature),
        container: container(source),
    }
}

/// Marks what the kernel of Xen's control domain lacks as managed by Xen, which drives clocks and idle states.
pub(super) fn leave_to_xen(host: &mut HostView) {
    fn leave<T>(fact: &mut Fact<T>, what: &str) {
        if fact.as_ref().is_err_and(Missing::is_absence) {
            *fact = Err(Missing::elsewhere(what, Elsewhere::Xen));
        }
    }
    leave(&mut host.cpufreq.policies, "the clock's driver");
    leave(&mut host.cpuidle.driver, "the idle driver");
    leave(&mut host.cpuidle.governor, "the idle governor");
    leave(&mut host.cpuidle.tables, "the idle states");
}

/// systemd writes the kind of the container to a file that all users may read; podman and docker create marker
/// files, which an image that became a machine still has. Where kernel thread 2 is visible, there is no container.
fn container(source: &dyn Source) -> Fact<Option<String>> {
    if source.parsed("/proc/2/stat", Process::parse).is_ok_and(|it| it.is_kernel_thread) {
        return Ok(None);
    }
    if let Ok(kind) = source.parsed("/run/systemd/container", parse::line) {
        return Ok(Some(kind));
    }
    for (mark, kind) in [("/run/.containerenv", "podman"), ("/.dockerenv", "docker")] {
        if source.read(mark).is_ok() {
            return Ok(Some(kind.to_owned()));
        }
    }
    Ok(None)
}

/// Reads the DMI tables: names and versions, never serial numbers.
pub(super) fn read_dmi(source: &dyn Source) -> Dmi {
    let line = |file: &str| -> Fact<String> {
        source.parsed(&format!("/sys/class/dmi/id/{file}"), parse::line)
    };
    Dmi {
        vendor: line("sys_vendor"),
        product: line("product_name"),
        board: line("board_name"),
        firmware_vendor: line("bios_vendor"),
        firmware_version: line("bios_version"),
        firmware_date: line("bios_date"),
        chassis: source.parsed("/sys/class/dmi/id/chassis_type", parse::number),
    }
}
