//! QEMU without hardware help: machines with P-states, C-states and a BMC.
//!
//! Its CPUs answer nearly every model-specific register with zero and ignore writes, as some
//! hypervisors do: a case of its own.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "starts an emulator, and says when it had to again"
)]

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result};

use crate::acpi;
use crate::bmc::{Pace, SlowBmc};
use crate::emulator::{self, Ended, Guest, Limit, LostKernel, Patience};

/// Five times what the longest boot takes, and at least twice what any step does, beside a compile on a machine with two CPUs.
const TO_BOOT: Duration = Duration::from_secs(150);
const A_STEP: Duration = Duration::from_secs(600);

/// How often a machine is booted whose kernel stands still or dies of a breakpoint, which is this emulator's doing.
///
/// With a thread for each CPU, QEMU before 8.1 translates a page without holding its lock (fixed by "accel/tcg: Always lock
/// pages before translation"). The kernel patches its text while it runs, by way of breakpoints (arch/x86/kernel/alternative.c,
/// `text_poke_bp_batch`): at boot, and whenever somebody begins or ends to trace. A CPU that translates the breakpoint as it is
/// taken away keeps it for good, and traps there for ever. It was seen in `__schedule`, whose tracepoints perf had just enabled:
/// a CPU in `asm_exc_int3` again and again, another waiting for the run queue's lock that it held. That is one boot in some
/// hundred; no program of the guest could make its kernel do that. Linux 7.3 was seen to die of it (`exc_int3`: a breakpoint that
/// nobody owns) where 6.1 traps for ever.
const N_BOOTS: u32 = 3;

/// A q35 machine.
#[derive(Debug, Clone)]
pub struct Qemu {
    /// CPU model as QEMU names it.
    pub cpu_model: &'static str,
    /// CPUs the machine has.
    pub n_cpus: usize,
    /// Whether the first two CPUs have P-states (2534, 2133 and 1600 MHz), C1 and C2. They have to be of an Intel model:
    /// acpi-cpufreq refuses others.
    pub power_states: bool,
    /// Whether a thermal zone slows these two at 45 degrees; `heat` of `guest/faults.sh` sets its temperature.
    pub thermal_zone: bool,
    /// The management controller, if there is one.
    pub bmc: Option<Bmc>,
    /// The file behind its disk, `/dev/vda`, if there is one.
    pub disk: Option<PathBuf>,
    /// The ports that the network card, `eth0`, has; without any there is no card.
    pub forwards: Vec<Forward>,
    /// The version that its firmware gives itself; without, that of the emulator's.
    pub firmware_version: Option<&'static str>,
    /// What its time passes with.
    pub clock: Clock,
    /// Whether the machine passes for a real one, in CPUID as in the names its firmware gives.
    pub poses_as_hardware: bool,
}

/// What the time of a guest passes with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// The time of this machine: a guest that waits for its CPUs finds that they were taken from it.
    Real,
    /// Its instructions, and this machine's time where all of its CPUs sleep: a guest has the same speed whatever else this machine does. For
    /// machines of one CPU: two take turns, and while the second waits to be called by the first, a boot does not come to its end.
    Counted {
        /// How many nanoseconds of its time an instruction takes, as a power of two.
        instruction_ns_log2: u8,
    },
}

/// A port of a guest at [`GUEST_ADDRESS`] that programs of this machine reach, and nobody else. The guest reaches nothing.
#[derive(Debug, Clone, Copy)]
pub struct Forward {
    /// The port of this machine's 127.0.0.1 that leads there.
    pub from: u16,
    /// The guest's port.
    pub to: u16,
}

/// The address that the guest has to give its network card, in a network of 24 bits: QEMU forwards to no other.
pub const GUEST_ADDRESS: &str = "10.0.2.15";

/// A management controller behind a KCS interface.
#[derive(Debug, Clone, Copy)]
pub struct Bmc {
    /// Whether it interrupts; a kernel has to poll one that does not.
    pub interrupt: bool,
    /// How long it thinks about every answer; `None` is QEMU's own, which answers at once.
    pub pace: Option<Pace>,
}

impl Qemu {
    /// Boots `guest` and waits until it is off; boots it again where its kernel was lost to the emulator.
    pub(crate) fn run(&self, guest: &Guest) -> Result<Ended> {
        boot_again_if_lost(self.disk.as_deref(), || self.run_once(guest))
    }

    fn run_once(&self, guest: &Guest) -> Result<Ended> {
        for file in [guest.console(), guest.results()] {
            // What an earlier boot sent is not this one's; the first one has sent nothing.
            fs::remove_file(file).ok();
        }
        let slow_bmc = self.bmc.and_then(|bmc| bmc.pace).map(SlowBmc::start).transpose()?;
        let mut command = Command::new("qemu-system-x86_64");
        command.args(self.arguments(guest));
        let tables =
            [(self.power_states, acpi::POWER_STATES), (self.thermal_zone, acpi::THERMAL_ZONE)];
        for (_, source) in tables.into_iter().filter(|(is_there, _)| *is_there) {
            let mut table = OsString::from("file=");
            table.push(source.compile(&guest.folder)?);
            command.arg("-acpitable").arg(table);
        }
        if let Some(bmc) = self.bmc {
            command.args(bmc.arguments(slow_bmc.as_ref().map(SlowBmc::port)));
        }
        let to_boot = match self.clock {
            Clock::Real => Limit::Passed(TO_BOOT),
            Clock::Counted { .. } => Limit::Used(TO_BOOT),
        };
        emulator::run(command, guest, Patience { to_boot: Some(to_boot), a_step: A_STEP })
    }

    /// Four serial ports: the console, the transcript, and two whose scratch registers hold the
    /// P-states. No display.
    fn arguments(&self, guest: &Guest) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = Vec::new();
        let mut option = |name: &str, value: OsString| {
            arguments.push(name.into());
            arguments.push(value);
        };
        let to_file = |path: PathBuf| {
            let mut backend = OsString::from("file:");
            backend.push(path);
            backend
        };
        option("-machine", "q35".into());
        match self.clock {
            Clock::Real => option("-accel", "tcg,thread=multi".into()),
            // Instructions are counted by one thread only (docs/system/invocation, "-icount").
            Clock::Counted { instruction_ns_log2 } => {
                option("-accel", "tcg,thread=single".into());
                option("-icount", format!("shift={instruction_ns_log2},sleep=on").into());
            }
        }
        if let Some(version) = self.firmware_version {
            option("-smbios", format!("type=0,vendor=Bench,version={version}").into());
        }
        if self.poses_as_hardware {
            option("-cpu", format!("{},-hypervisor", self.cpu_model).into());
            option("-smbios", "type=1,manufacturer=Bench,product=Emulated server".into());
        } else {
            option("-cpu", self.cpu_model.into());
        }
        // The table of P-states is of two CPUs, whether they are there or not.
        let n_possible = if self.power_states { self.n_cpus.max(2) } else { self.n_cpus };
        option("-smp", format!("{},maxcpus={n_possible}", self.n_cpus).into());
        option("-m", "512".into());
        option("-kernel", guest.kernel.clone().into());
        option("-initrd", guest.initramfs.clone().into());
        option("-append", guest.command_line.clone().into());
        option("-serial", to_file(guest.console()));
        option("-serial", to_file(guest.results()));
        option("-serial", "null".into());
        option("-serial", "null".into());
        option("-monitor", {
            let mut socket = OsString::from("unix:");
            socket.push(guest.monitor());
            socket.push(",server=on,wait=off");
            socket
        });
        option("-display", "none".into());
        if let Some(disk) = &self.disk {
            let mut drive = OsString::from("if=virtio,format=raw,file=");
            drive.push(disk);
            option("-drive", drive);
        }
        if !self.forwards.is_empty() {
            let port =
                |Forward { from, to }: &Forward| format!(",hostfwd=tcp:127.0.0.1:{from}-:{to}");
            let ports: String = self.forwards.iter().map(port).collect();
            option("-netdev", format!("user,id=net,restrict=on{ports}").into());
            // It boots from elsewhere: the card needs no firmware.
            option("-device", "virtio-net-pci,netdev=net,romfile=".into());
        }
        arguments.extend(["-nodefaults", "-no-user-config", "-no-reboot"].map(OsString::from));
        arguments
    }
}

/// Calls `boot`, at most [`N_BOOTS`] times, until the kernel is not lost. The machine's `disk` is put back each time to
/// what the first boot found: what the lost boot had written is undone with it.
///
/// Errors: that of the last boot; the disk cannot be read or put back.
fn boot_again_if_lost(
    disk: Option<&Path>,
    mut boot: impl FnMut() -> Result<Ended>,
) -> Result<Ended> {
    let found =
        disk.map(|path| fs::read(path).with_context(|| format!("cannot read {}", path.display())));
    let found = disk.zip(found.transpose()?);
    for _ in 1..N_BOOTS {
        match boot() {
            Err(error) if error.is::<LostKernel>() => eprintln!("booted again: {error}"),
            ended => return ended,
        }
        if let Some((path, found)) = &found {
            fs::write(path, found)
                .with_context(|| format!("cannot put {} back", path.display()))?;
        }
    }
    boot()
}

impl Bmc {
    /// The devices; `port` is where the controller listens if it is not QEMU's own.
    fn arguments(self, port: Option<u16>) -> Vec<String> {
        let controller = match port {
            // QEMU may connect only when its devices are there, and does so when told to retry.
            Some(port) => vec![
                "-chardev".to_owned(),
                format!("socket,id=bmc-link,host=127.0.0.1,port={port},reconnect=1"),
                "-device".to_owned(),
                "ipmi-bmc-extern,id=bmc,chardev=bmc-link".to_owned(),
            ],
            None => vec!["-device".to_owned(), "ipmi-bmc-sim,id=bmc".to_owned()],
        };
        let irq = if self.interrupt { 5 } else { 0 };
        let interface = ["-device".to_owned(), format!("isa-ipmi-kcs,bmc=bmc,irq={irq}")];
        controller.into_iter().chain(interface).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::bail;
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::ExitStatus;

    fn stood_still() -> LostKernel {
        LostKernel::Stuck { program: "qemu".to_owned(), words: "rcu: INFO".to_owned() }
    }

    fn ended() -> Ended {
        Ended { status: ExitStatus::from_raw(0), printed: String::new() }
    }

    #[test]
    fn a_machine_that_stood_still_boots_again_with_the_disk_as_the_first_boot_found_it() {
        let folder = tempfile::tempdir().unwrap();
        let disk = folder.path().join("disk");
        fs::write(&disk, "as found").unwrap();
        let mut n_boots = 0;
        let result = boot_again_if_lost(Some(&disk), || {
            n_boots += 1;
            assert_eq!(fs::read_to_string(&disk).unwrap(), "as found", "boot {n_boots}");
            fs::write(&disk, "written by the guest").unwrap();
            if n_boots < N_BOOTS { bail!(stood_still()) } else { Ok(ended()) }
        });
        result.unwrap();
        assert_eq!(n_boots, N_BOOTS);
        assert_eq!(fs::read_to_string(&disk).unwrap(), "written by the guest");
    }

    #[test]
    fn a_machine_that_always_stands_still_is_an_error_after_the_last_boot() {
        let mut n_boots = 0;
        let error = boot_again_if_lost(None, || {
            n_boots += 1;
            bail!(stood_still())
        });
        assert!(error.unwrap_err().is::<LostKernel>());
        assert_eq!(n_boots, N_BOOTS);
    }

    #[test]
    fn a_machine_that_fails_otherwise_is_not_booted_again() {
        let mut n_boots = 0;
        let error = boot_again_if_lost(None, || {
            n_boots += 1;
            bail!("a step takes too long")
        });
        assert_eq!(error.unwrap_err().to_string(), "a step takes too long");
        assert_eq!(n_boots, 1);
    }
}
