//! The machines that findings are proven on, by name.
//!
//! Each has as many faults as can be told apart, for a boot costs more than an audit. What can be
//! broken and fixed in a running machine (a governor, a sysctl) is left to the steps.

use std::time::Duration;

use crate::bmc::Pace;
use crate::bochs::{Bochs, Msr};
use crate::boot::{Boot, Disk, Emulator, Init};
use crate::kernel::Flavour;
use crate::qemu::{Bmc, Clock, Forward, Qemu};

/// A machine of the bench.
#[derive(Debug, Clone, Copy)]
pub struct Machine {
    /// What it is called on a command line.
    pub name: &'static str,
    /// What is wrong with it.
    pub about: &'static str,
    /// Describes it.
    pub boot: fn() -> Boot,
}

/// Every machine of the bench but [`lasting`], [`with_systemd`] and [`paced`], which need a disk, and [`watched`] and [`clocked`], which may
/// need ports.
pub const MACHINES: &[Machine] = &[
    Machine {
        name: "sound",
        about: "two CPUs with P-states and C-states, a BMC that interrupts; registers read zero",
        boot: sound,
    },
    Machine {
        name: "half-isolated",
        about: "isolcpus without nohz_full, C2 forbidden on the boot line, a BMC to be polled",
        boot: half_isolated,
    },
    Machine {
        name: "tickless",
        about: "CPU 1 runs without a tick, CPU 2 isolated with it; a slow BMC to be polled; no P-states, no C-states",
        boot: tickless,
    },
    Machine {
        name: "with-sensors",
        about: "a BMC with two hundred sensors, to be polled; no P-states, no C-states",
        boot: with_sensors,
    },
    Machine {
        name: "wired",
        about: "two CPUs with P-states, RDMA over Ethernet by software, networks that can be shaped",
        boot: wired,
    },
    Machine {
        name: "debian-13",
        about: "Linux 6.12, two CPUs with P-states that a thermal zone slows, a third without; CPU 1 may stop its tick",
        boot: debian_13,
    },
    Machine {
        name: "backports",
        about: "the same with the newest kernel that Debian 13 has: clamps of utilization, schedulers of sched_ext",
        boot: backports,
    },
    Machine {
        name: "misspelt",
        about: "nohz_full names CPUs there are not; says that it is a virtual machine",
        boot: misspelt,
    },
    Machine {
        name: "throttled",
        about: "one CPU with real registers, turbo and C-states, its clock modulated to 25 %; takes a minute",
        boot: throttled,
    },
];

/// An Intel model, which acpi-cpufreq asks for. It has clock modulation, which CPUID calls `acpi` and
/// QEMU leaves out.
const CPU_MODEL: &str = "Skylake-Server,+acpi";

const POWER_MODULES: [&str; 4] =
    ["acpi_cpufreq", "cpufreq_ondemand", "cpufreq_powersave", "cpufreq_userspace"];
/// The device asks for the checksum by its name, which no list of what needs what has.
const WIRE_MODULES: [&str; 6] =
    ["crc32_generic", "dummy", "ib_uverbs", "rdma_rxe", "sch_netem", "veth"];
const NETWORK_MODULES: [&str; 2] = ["virtio_pci", "virtio_net"];
const BMC_MODULES: [&str; 3] = ["ipmi_si", "ipmi_devintf", "ipmi_watchdog"];

/// Two CPUs with P-states and C-states, a BMC that interrupts, nothing on the boot line.
#[must_use]
pub fn sound() -> Boot {
    qemu(2, true, Bmc { interrupt: true, pace: None }, &[])
}

/// [`sound`], but for three faults: CPU 1 isolated from the scheduler and not from the tick, no
/// idle state beyond C1, and a BMC that does not interrupt.
#[must_use]
pub fn half_isolated() -> Boot {
    let bmc = Bmc { interrupt: false, pace: None };
    qemu(2, true, bmc, &["isolcpus=1", "processor.max_cstate=1"])
}

/// CPU 1 isolated as it should be, CPU 2 isolated from the scheduler and not from the tick, and a BMC that has to be
/// polled and takes its time. There are no C-states: with them the kernel trusts no TSC here, and keeps the tick.
#[must_use]
pub fn tickless() -> Boot {
    let bmc = Bmc { interrupt: false, pace: Some(Pace::Fixed(Duration::from_millis(20))) };
    qemu(3, false, bmc, &["isolcpus=1,2", "nohz_full=1", "rcu_nocbs=1", "tsc=reliable"])
}

/// A BMC with two hundred sensors that has to be polled, and answers as fast as one in a server.
#[must_use]
pub fn with_sensors() -> Boot {
    qemu(2, false, Bmc { interrupt: false, pace: Some(Pace::Published) }, &[])
}

/// Two CPUs with P-states; an interface can be given an RDMA device that is software (rdma_rxe), and a pair of interfaces
/// (veth) a rate (netem).
#[must_use]
pub fn wired() -> Boot {
    Boot {
        modules: [&["msr"], &POWER_MODULES[..], &WIRE_MODULES].concat(),
        // perftest sees no clock where the CPU is taken from it for long (`Correlation coefficient r^2`).
        runs_alone: true,
        ..boot(TWO_CPUS)
    }
}

/// Two CPUs with P-states and a thermal zone, and one without; CPU 1 may stop its tick. With C-states beyond C1 the kernel would
/// trust no TSC here, and keep it.
fn scheduled(kernel: Flavour) -> Boot {
    let arguments = ["nohz_full=1", "rcu_nocbs=1", "processor.max_cstate=1", "tsc=reliable"];
    Boot {
        kernel,
        kernel_arguments: arguments.map(str::to_owned).to_vec(),
        modules: POWER_MODULES.to_vec(),
        has_config: true,
        runs_alone: true,
        ..boot(Qemu { n_cpus: 3, thermal_zone: true, ..TWO_CPUS })
    }
}

/// What Linux 6.12 schedules: servers of the fair class, partitions that are listed.
#[must_use]
pub fn debian_13() -> Boot {
    scheduled(Flavour::Debian13)
}

/// As [`debian_13`], with clamps of utilization and schedulers of sched_ext.
#[must_use]
pub fn backports() -> Boot {
    scheduled(Flavour::Backports)
}

/// A virtual machine that says so, with a list of CPUs on the boot line that was written for a bigger
/// one.
#[must_use]
pub fn misspelt() -> Boot {
    Boot {
        kernel_arguments: vec!["nohz_full=1,6-7".to_owned()],
        modules: vec!["msr"],
        ..boot(Qemu { power_states: false, poses_as_hardware: false, ..TWO_CPUS })
    }
}

/// Two CPUs with P-states, and a disk with an ext4 file system that holds what outlives a boot.
#[must_use]
pub fn lasting(disk: &Disk) -> Boot {
    Boot {
        // The file system asks for the checksum by its name, which no list of what needs what has.
        modules: [&["crc32c_generic", "ext4", "virtio_pci", "virtio_blk"], &POWER_MODULES[..]]
            .concat(),
        ..boot(Qemu { disk: Some(disk.path()), ..TWO_CPUS })
    }
}

/// [`lasting`] with one CPU and without P-states, whose every instruction takes 2^`instruction_ns_log2` ns: each boot has the same speed, on
/// whatever machine and next to whatever else; one with 1 more is held to half of it. Its firmware has this version.
#[must_use]
pub fn paced(disk: &Disk, firmware_version: &'static str, instruction_ns_log2: u8) -> Boot {
    let mut boot = lasting(disk);
    boot.modules.retain(|it| !POWER_MODULES.contains(it));
    if let Emulator::Qemu(machine) = &mut boot.emulator {
        machine.power_states = false;
        machine.n_cpus = 1;
        machine.firmware_version = Some(firmware_version);
        machine.clock = Clock::Counted { instruction_ns_log2 };
    }
    // Tests of ciphers wait for each other.
    boot.kernel_arguments.push("cryptomgr.notests".to_owned());
    boot
}

/// [`lasting`] with systemd as its first process, and registers at hand.
#[must_use]
pub fn with_systemd(disk: &Disk) -> Boot {
    let mut boot = lasting(disk);
    boot.init = Init::Systemd;
    boot.kernel_arguments.push("systemd.unit=multi-user.target".to_owned());
    boot.modules.push("msr");
    boot
}

/// [`sound`] with a BMC that has to be polled and takes its time, and its kernel's configuration: fullclock can tell where the time of its CPUs
/// goes. `network` lets programs of this machine look at it from outside.
#[must_use]
pub fn watched(network: Option<Forward>) -> Boot {
    let mut boot = sound();
    if let Emulator::Qemu(machine) = &mut boot.emulator {
        let pace = Some(Pace::Fixed(Duration::from_millis(20)));
        machine.bmc = Some(Bmc { interrupt: false, pace });
        machine.forwards = network.into_iter().collect();
    }
    if network.is_some() {
        boot.modules.extend(NETWORK_MODULES);
    }
    Boot { has_config: true, runs_alone: true, ..boot }
}

/// A CPU with P-states whose every instruction takes 2^`instruction_ns_log2` ns, so that one with 2 more is four times as slow, on
/// whatever machine and next to whatever else. Programs of this machine look at it from outside.
#[must_use]
pub fn clocked(instruction_ns_log2: u8, forwards: Vec<Forward>) -> Boot {
    // Its time-stamp counter counts what its clock does. C2 is a port that is read again and again, some instructions each time: only in C1 it
    // sleeps, and its time goes on as this machine's does. Tests of ciphers wait for each other.
    let arguments = ["tsc=reliable", "processor.max_cstate=1", "cryptomgr.notests"];
    let clock = Clock::Counted { instruction_ns_log2 };
    Boot {
        kernel_arguments: arguments.map(str::to_owned).to_vec(),
        modules: [&POWER_MODULES[..], &NETWORK_MODULES].concat(),
        ..boot(Qemu { n_cpus: 1, forwards, clock, ..TWO_CPUS })
    }
}

fn qemu(n_cpus: usize, power_states: bool, bmc: Bmc, kernel_arguments: &[&str]) -> Boot {
    let power_modules: &[&str] = if power_states { &POWER_MODULES } else { &[] };
    Boot {
        kernel_arguments: kernel_arguments.iter().map(ToString::to_string).collect(),
        modules: [&["msr"], power_modules, &BMC_MODULES].concat(),
        ..boot(Qemu { n_cpus, power_states, bmc: Some(bmc), ..TWO_CPUS })
    }
}

/// Two CPUs with P-states that pass for hardware.
const TWO_CPUS: Qemu = Qemu {
    cpu_model: CPU_MODEL,
    n_cpus: 2,
    power_states: true,
    thermal_zone: false,
    bmc: None,
    disk: None,
    forwards: Vec::new(),
    firmware_version: None,
    clock: Clock::Real,
    poses_as_hardware: true,
};

fn boot(machine: Qemu) -> Boot {
    Boot {
        emulator: Emulator::Qemu(machine),
        kernel: Flavour::Server,
        kernel_arguments: Vec::new(),
        modules: Vec::new(),
        has_config: false,
        init: Init::Script,
        runs_alone: false,
    }
}

/// An i7-2600K whose clock-modulation register asks for every fourth clock only, as an overzealous
/// firmware leaves it. The other registers are those of a sound one, as far as Bochs lacks them: by them intel_pstate has
/// turbo and every clock of that model, though Bochs runs at the same speed at all of them.
#[must_use]
pub fn throttled() -> Boot {
    Boot {
        emulator: Emulator::Bochs(Bochs { msrs: SANDY_BRIDGE.to_vec() }),
        kernel: Flavour::Cloud,
        kernel_arguments: Vec::new(),
        modules: vec!["msr", "cpufreq_powersave"],
        has_config: false,
        init: Init::Script,
        runs_alone: false,
    }
}

/// Addresses and fields are those of Intel's Software Developer's Manual, volume 4, chapter 2.
const SANDY_BRIDGE: [Msr; 11] = [
    // MSR_PLATFORM_INFO: 1600 to 3400 MHz in steps of 100, turbo ratios and power limits programmable.
    Msr::fixed(0xce, 0x0000_1000_7000_2200),
    // IA32_PERF_STATUS and IA32_PERF_CTL: 3400 MHz, as asked.
    Msr::fixed(0x198, 0x2200),
    Msr { address: 0x199, value: 0x2200, writable: 0x0000_0001_0000_ffff },
    // IA32_CLOCK_MODULATION: on (bit 4), duty cycle 4 of 16 (bits 3:0).
    Msr { address: 0x19a, value: 0x14, writable: 0x1f },
    // IA32_THERM_STATUS and its package's twin: valid, 66 degrees below the limit, no event ever.
    Msr { address: 0x19c, value: 0x8842_0000, writable: 0xffff_ffff },
    Msr { address: 0x1b1, value: 0x8842_0000, writable: 0xffff_ffff },
    // IA32_MISC_ENABLE: fast strings, thermal control, SpeedStep, MONITOR; turbo not disabled.
    Msr { address: 0x1a0, value: 0x0085_0089, writable: u64::MAX },
    // MSR_TEMPERATURE_TARGET: 100 degrees.
    Msr::fixed(0x1a2, 0x0064_0000),
    // MSR_TURBO_RATIO_LIMIT: 3800 MHz for one core, 3500 for four.
    Msr::fixed(0x1ad, 0x2324_2526),
    // MSR_RAPL_POWER_UNIT: 1/8 W, 15.3 uJ, 977 us.
    Msr::fixed(0x606, 0x000a_1003),
    // MSR_PKG_POWER_LIMIT: 95 W sustained, 118.75 W for a moment.
    Msr { address: 0x610, value: 0x0000_83b6_00dc_82f8, writable: u64::MAX },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_register_starts_with_a_value_it_may_hold() {
        for msr in SANDY_BRIDGE {
            assert_eq!(msr.value & !msr.writable, 0, "MSR {:#x}", msr.address);
        }
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<&str> = MACHINES.iter().map(|machine| machine.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), MACHINES.len());
    }
}
