//! Asks the drivers of Intel Speed Select of this machine.
//!
//! Source: include/uapi/linux/isst_if.h; drivers/platform/x86/intel/speed_select_if. Only commands that read are sent: the driver's list of
//! those of the mailbox that set (`isst_cmd_set_reqs`) has none of them, and `get_set` of `struct isst_core_power` stays 0. The device is
//! opened for reading; its driver does not look at that.
#![expect(
    unsafe_code,
    reason = "the device answers by ioctl, which takes a pointer to what it reads and writes"
)]

use super::missing;
use facts::power::speed_select::{Command, DEVICE, Question};
use facts::{Fact, Missing};
use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::ioctl::{Opcode, Updater, ioctl, opcode};

/// ISST_IF_MAGIC.
const MAGIC: u8 = 0xfe;

/// The numbers are made with the size of a pointer, whatever the structures are.
type Pointer = usize;
const MAILBOX: Opcode = opcode::read_write::<Pointer>(MAGIC, 3);
const DOMAINS: Opcode = opcode::read::<Pointer>(MAGIC, 5);
const CORE_POWER: Opcode = opcode::read_write::<Pointer>(MAGIC, 6);
const LEVELS: Opcode = opcode::read_write::<Pointer>(MAGIC, 9);
const LEVEL: Opcode = opcode::read::<Pointer>(MAGIC, 12);

/// `struct isst_if_mbox_cmds` of one command.
#[repr(C)]
#[derive(Default)]
struct Mailbox {
    count: u32,
    cpu: u32,
    parameter: u32,
    request: u32,
    response: u32,
    command: u16,
    sub_command: u16,
    reserved: u32,
}

/// More bytes than the longest structure of the driver has (`struct isst_perf_level_data_info`: 154).
const ROOM: usize = 512;
/// As many as a structure has that anybody looks at.
const SHOWN: usize = 32;

/// What the driver answers, numbers with their lowest byte first.
pub(super) fn ask(question: Question) -> Fact<Vec<u8>> {
    let asked = || -> Result<Vec<u8>, Errno> {
        let device = open(DEVICE, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        answer(device.as_fd(), question)
    };
    let name = question.name();
    asked().map_err(|error| match (question, error) {
        // None of the drivers that are loaded has the command.
        (_, Errno::NOTTY) => Missing::not_here(name, "its driver does not answer it"),
        // The mailbox says that it does not know the command (isst_if_mbox_cmd in isst_if_mbox_pci.c), or there is no such domain.
        (Question::Mailbox { .. }, Errno::NXIO) => {
            Missing::not_here(name, "the processor does not answer it")
        }
        (_, error) => missing(&name, error),
    })
}

fn answer(device: BorrowedFd<'_>, question: Question) -> Result<Vec<u8>, Errno> {
    match question {
        Question::Mailbox { cpu, command } => mailbox(device, cpu, command),
        Question::Domains { package } => structure::<DOMAINS>(device, &[package]),
        Question::InForce { package, domain } => structure::<LEVELS>(device, &[package, domain]),
        Question::Profile { package, domain, level } => {
            structure::<LEVEL>(device, &[package, domain, level])
        }
        // The first byte says whether to get or to set.
        Question::CorePower { package, domain } => {
            structure::<CORE_POWER>(device, &[0, package, domain])
        }
    }
}

fn mailbox(device: BorrowedFd<'_>, cpu: u32, command: Command) -> Result<Vec<u8>, Errno> {
    let (number, sub_command) = command.numbers();
    let request = command.data();
    let mut asked =
        Mailbox { count: 1, cpu, request, command: number, sub_command, ..Mailbox::default() };
    // SAFETY: the layout is that of struct isst_if_mbox_cmds with room for the one command that it announces; the kernel reads and writes
    // that much, and numbers are good with any bits.
    unsafe { ioctl(device, Updater::<MAILBOX, Mailbox>::new(&mut asked))? };
    Ok(asked.response.to_le_bytes().to_vec())
}

/// The structure that begins with these bytes and goes on with zeros, as the driver fills it in.
fn structure<const COMMAND: Opcode>(
    device: BorrowedFd<'_>,
    start: &[u8],
) -> Result<Vec<u8>, Errno> {
    let mut bytes = [0_u8; ROOM];
    bytes[..start.len()].copy_from_slice(start);
    // SAFETY: the kernel copies a structure of the command's own length in and out, for which there is room, and bytes are good with any bits.
    unsafe { ioctl(device, Updater::<COMMAND, [u8; ROOM]>::new(&mut bytes))? };
    Ok(bytes[..SHOWN].to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_and_commands_are_the_kernels() {
        assert_eq!(size_of::<Mailbox>(), 4 + 24);
        assert_eq!(std::mem::offset_of!(Mailbox, response), 16);
        // As `intel-speed-select` asks on x86-64.
        if cfg!(all(target_arch = "x86_64", target_pointer_width = "64")) {
            let commands = [MAILBOX, DOMAINS, CORE_POWER, LEVELS, LEVEL];
            assert_eq!(commands, [0xc008_fe03, 0x8008_fe05, 0xc008_fe06, 0xc008_fe09, 0x8008_fe0c]);
        }
    }

    #[test]
    fn a_machine_without_the_device_has_no_answer() {
        if open(DEVICE, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).is_ok() {
            return;
        }
        let question = Question::Mailbox { cpu: 0, command: Command::InForce };
        assert_eq!(ask(question), Err(Missing::absent(question.name())));
    }
}
