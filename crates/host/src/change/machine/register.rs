//! Model-specific registers, by /dev/cpu/N/msr (arch/x86/kernel/msr.c): eight bytes at the offset that is the address.
//!
//! Only the bits of the mask are changed, in the value that this CPU itself holds. The kernel marks itself as tainted by the
//! attempt (TAINT_CPU_OUT_OF_SPEC), also where it then refuses.

use super::Machine;
use crate::change::Trouble;
use facts::change::REGISTERS;
use rustix::fd::OwnedFd;
use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;

/// What a register holds.
pub(super) fn read(machine: &Machine, cpu: u32, address: u32) -> Result<u64, Trouble> {
    let refused = |error| refused(machine, cpu, address, "read", error);
    let file = open(machine, cpu, OFlags::RDONLY).map_err(refused)?;
    value(&file, address).map_err(refused)
}

/// Gives the bits of the mask the values they have in `text`. Bits that may only be cleared are set only where `sets`.
pub(super) fn write(
    machine: &Machine,
    cpu: u32,
    address: u32,
    mask: u64,
    text: &str,
    sets: bool,
) -> Result<(), Trouble> {
    let place = place(cpu, address);
    let wanted = parse(text)
        .ok_or_else(|| Trouble::new(&place, format!("{text:?} is no hexadecimal number")))?;
    let file = open(machine, cpu, OFlags::RDWR)
        .map_err(|error| refused(machine, cpu, address, "opened", error))?;
    let current =
        value(&file, address).map_err(|error| refused(machine, cpu, address, "read", error))?;
    let only_clear = REGISTERS.iter().any(|it| it.address == address && it.only_clear);
    if only_clear && !sets && wanted & mask & !current != 0 {
        let why = format!(
            "holds {current:#x}, and its bits may only be cleared: {wanted:#x} would set some"
        );
        return Err(Trouble::new(place, why));
    }
    let bytes = (current & !mask | wanted & mask).to_ne_bytes();
    match rustix::io::pwrite(&file, &bytes, u64::from(address)) {
        Ok(8) => Ok(()),
        Ok(n) => Err(Trouble::new(place, format!("took {n} of 8 bytes"))),
        Err(error) => Err(refused(machine, cpu, address, "written", error)),
    }
}

/// A register's value as this program prints it.
pub(super) fn parse(text: &str) -> Option<u64> {
    u64::from_str_radix(text.trim().strip_prefix("0x")?, 16).ok()
}

fn place(cpu: u32, address: u32) -> String {
    format!("/dev/cpu/{cpu}/msr {address:#x}")
}

fn open(machine: &Machine, cpu: u32, flags: OFlags) -> Result<OwnedFd, Errno> {
    let path = machine.at(&format!("/dev/cpu/{cpu}/msr"));
    rustix::fs::openat(CWD, path, flags | OFlags::CLOEXEC | OFlags::NOFOLLOW, Mode::empty())
}

fn value(file: &OwnedFd, address: u32) -> Result<u64, Errno> {
    let mut bytes = [0; 8];
    match rustix::io::pread(file, &mut bytes, u64::from(address))? {
        8 => Ok(u64::from_ne_bytes(bytes)),
        _ => Err(Errno::IO),
    }
}

fn refused(machine: &Machine, cpu: u32, address: u32, doing: &str, error: Errno) -> Trouble {
    let place = place(cpu, address);
    let text = std::io::Error::from(error);
    let advice = match error {
        Errno::PERM if doing == "written" => {
            let lockdown = super::control::read(machine, "/sys/kernel/security/lockdown");
            match lockdown {
                Ok(it) if !it.contains("[none]") => {
                    "the kernel is locked down (Secure Boot), which forbids writing registers"
                        .to_owned()
                }
                _ => "the module msr was told to allow no writes (msr.allow_writes=off)".to_owned(),
            }
        }
        Errno::PERM | Errno::ACCESS => "run it as root, with CAP_SYS_RAWIO".to_owned(),
        Errno::NOENT => {
            "the module msr is not there: `modprobe msr`, or the CPU is offline".to_owned()
        }
        Errno::NXIO => "the CPU is offline".to_owned(),
        Errno::IO => "the CPU refuses that register or value".to_owned(),
        _ => return Trouble::of_errno(place, doing, error),
    };
    Trouble::new(place, format!("cannot be {doing}: {text}; {advice}"))
}
