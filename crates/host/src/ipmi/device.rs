//! The driver's device, /dev/ipmi0.
//!
//! Source: include/uapi/linux/ipmi.h, drivers/char/ipmi/ipmi_devintf.c. Each open file
//! receives the answers to its own questions and, if it requested them, all events.
#![expect(unsafe_code, reason = "the driver is spoken to by ioctls that hold pointers")]

use super::carrier::{Arrived, Asked, Carrier, Kind};
use super::failure::Failure;
use facts::ipmi::SensorOwner;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::ioctl::{Setter, Updater, ioctl, opcode};
use std::ffi::{c_int, c_long, c_short, c_uint, c_ushort};
use std::path::Path;
use std::ptr;
use std::time::Duration;

/// Today's name of the first interface's device, and its former names.
const NAMES: [&str; 3] = ["dev/ipmi0", "dev/ipmi/0", "dev/ipmidev/0"];

#[derive(Debug)]
pub(super) struct Device(OwnedFd);

/// `struct ipmi_system_interface_addr`, whose last byte is padding, or `struct ipmi_ipmb_addr`.
#[repr(C)]
struct Address {
    kind: c_int,
    channel: c_short,
    place: [u8; 2],
}

/// `struct ipmi_msg`.
#[repr(C)]
struct Message {
    function: u8,
    command: u8,
    length: c_ushort,
    data: *mut u8,
}

/// `struct ipmi_req`.
#[repr(C)]
struct Request {
    address: *mut Address,
    address_length: c_uint,
    number: c_long,
    message: Message,
}

/// `struct ipmi_recv`.
#[repr(C)]
struct Received {
    kind: c_int,
    address: *mut [u8; LONGEST_ADDRESS],
    address_length: c_uint,
    number: c_long,
    message: Message,
}

impl Address {
    fn of(owner: SensorOwner) -> Address {
        /// IPMI_SYSTEM_INTERFACE_ADDR_TYPE and IPMI_BMC_CHANNEL: the controller itself.
        const CONTROLLER: (c_int, c_short) = (0x0c, 0x0f);
        /// IPMI_IPMB_ADDR_TYPE: another controller, on a bus behind it.
        const ON_A_BUS: c_int = 0x01;
        let SensorOwner { id, channel, lun } = owner;
        if owner.is_controller() {
            let (kind, channel) = CONTROLLER;
            return Address { kind, channel, place: [lun, 0] };
        }
        Address { kind: ON_A_BUS, channel: channel.into(), place: [id, lun] }
    }
}

/// IPMI_RESPONSE_RECV_TYPE.
const ANSWER: c_int = 1;
/// IPMI_ASYNC_EVENT_RECV_TYPE.
const EVENT: c_int = 2;
/// `sizeof(struct ipmi_addr)`: type, channel and IPMI_MAX_ADDR_SIZE, with padding.
const LONGEST_ADDRESS: usize = 40;
/// More than IPMI_MAX_MSG_LENGTH (272) of include/linux/ipmi.h: no message is cut.
const LONGEST_MESSAGE: usize = 512;

const SEND_COMMAND: rustix::ioctl::Opcode = opcode::read::<Request>(b'i', 13);
const SET_GETS_EVENTS: rustix::ioctl::Opcode = opcode::read::<c_int>(b'i', 16);
const RECEIVE_MSG_TRUNC: rustix::ioctl::Opcode = opcode::read_write::<Received>(b'i', 11);

impl Device {
    /// Opens the device of the first interface below `root`, and returns it with its path.
    pub(super) fn first(root: &Path) -> Result<(String, Device), Failure> {
        for path in NAMES.map(|name| root.join(name)) {
            let opened = Device::open(&path);
            let path = path.display().to_string();
            match opened {
                Ok(device) => return Ok((path, device)),
                Err(Errno::NOENT | Errno::NOTDIR) => {}
                Err(error) => return Err(Failure::Unopened { path, error }),
            }
        }
        let tried = NAMES.map(|name| root.join(name).display().to_string()).join(", ");
        Err(Failure::NoDevice { tried })
    }

    /// Whether there is a device below `root`.
    pub(super) fn exists(root: &Path) -> bool {
        NAMES.iter().any(|name| root.join(name).exists())
    }

    fn open(path: &Path) -> Result<Device, Errno> {
        rustix::fs::open(path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).map(Device)
    }

    /// Waits until there is a message, for at most this time; returns whether there is one.
    fn wait(&self, within: Duration) -> Result<bool, Errno> {
        let mut fds = [PollFd::new(&self.0, PollFlags::IN)];
        let within = Timespec::try_from(within).map_err(|_| Errno::INVAL)?;
        match poll(&mut fds, Some(&within)) {
            // A signal arrived: the caller checks whether it should stop.
            Err(Errno::INTR) => Ok(false),
            Err(error) => Err(error),
            Ok(_) if fds[0].revents().contains(PollFlags::IN) => Ok(true),
            // The driver has released the interface.
            Ok(_) if !fds[0].revents().is_empty() => Err(Errno::NODEV),
            Ok(_) => Ok(false),
        }
    }
}

impl Carrier for Device {
    fn send(&mut self, asked: &Asked<'_>) -> Result<(), Errno> {
        let Asked { whom, number, function, command, data } = *asked;
        let (mut address, mut data) = (Address::of(whom), data.to_vec());
        let length = c_ushort::try_from(data.len()).map_err(|_| Errno::MSGSIZE)?;
        let request = Request {
            address: &raw mut address,
            address_length: c_uint::try_from(size_of::<Address>()).map_err(|_| Errno::INVAL)?,
            number,
            message: Message { function, command, length, data: data.as_mut_ptr() },
        };
        // SAFETY: the layout is that of struct ipmi_req, and the number that of the command that takes one. Both
        // pointers are to as many bytes as their length fields say, which outlive the call; the driver copies them
        // and writes nothing. A file that is not such a device refuses the command.
        unsafe { ioctl(&self.0, Setter::<SEND_COMMAND, Request>::new(request)) }
    }

    fn want_events(&mut self) -> Result<(), Errno> {
        // SAFETY: the number is that of the command that takes a pointer to an int, which the driver only reads.
        unsafe { ioctl(&self.0, Setter::<SET_GETS_EVENTS, c_int>::new(1)) }
    }

    fn receive(&mut self, within: Duration) -> Result<Option<Arrived>, Errno> {
        if !self.wait(within)? {
            return Ok(None);
        }
        let (mut address, mut data) = ([0; LONGEST_ADDRESS], [0; LONGEST_MESSAGE]);
        let length = c_ushort::try_from(data.len()).map_err(|_| Errno::INVAL)?;
        let mut received = Received {
            kind: 0,
            address: ptr::from_mut(&mut address),
            address_length: c_uint::try_from(address.len()).map_err(|_| Errno::INVAL)?,
            number: 0,
            message: Message { function: 0, command: 0, length, data: data.as_mut_ptr() },
        };
        // SAFETY: the layout is that of struct ipmi_recv, and the number that of the command that takes one. Both
        // pointers are to as many writable bytes as their length fields say, which outlive the call.
        let arrived =
            unsafe { ioctl(&self.0, Updater::<RECEIVE_MSG_TRUNC, Received>::new(&mut received)) };
        match arrived {
            // Another thread of this process was faster, or a signal arrived.
            Err(Errno::AGAIN | Errno::INTR) => return Ok(None),
            other => other?,
        }
        let Received { kind, number, message, .. } = received;
        let data = data.get(..usize::from(message.length)).ok_or(Errno::MSGSIZE)?.to_vec();
        let kind = match kind {
            ANSWER => Kind::Answer,
            EVENT => Kind::Event,
            _ => Kind::Other,
        };
        let (function, command) = (message.function, message.command);
        Ok(Some(Arrived { kind, number, function, command, data }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_have_the_numbers_of_the_kernels_header() {
        // As the macros of include/uapi/asm-generic/ioctl.h make them on machines of 64 bits.
        if cfg!(all(
            target_pointer_width = "64",
            any(target_arch = "x86_64", target_arch = "aarch64")
        )) {
            assert_eq!((SEND_COMMAND, RECEIVE_MSG_TRUNC), (0x8028_690d, 0xc030_690b));
            assert_eq!(SET_GETS_EVENTS, 0x8004_6910);
        }
    }

    #[test]
    fn a_sensor_of_another_controller_is_asked_over_its_bus() {
        let own = Address::of(SensorOwner { lun: 1, ..SensorOwner::CONTROLLER });
        assert_eq!((own.kind, own.channel, own.place), (0x0c, 0x0f, [1, 0]));
        let other = Address::of(SensorOwner { id: 0x2c, channel: 6, lun: 2 });
        assert_eq!((other.kind, other.channel, other.place), (0x01, 6, [0x2c, 2]));
        assert_eq!(size_of::<Address>(), 8);
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "writes to a folder of the test")]
    fn a_device_is_found_under_each_of_its_names_and_told_of_where_there_is_none() {
        let root = tempfile::tempdir().unwrap();
        let text = Device::first(root.path()).unwrap_err().to_string();
        assert!(text.contains("dev/ipmi0, ") && text.ends_with("dev/ipmidev/0 exists"), "{text}");
        for name in NAMES {
            let path = root.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "").unwrap();
            let (found, _) = Device::first(root.path()).unwrap();
            assert_eq!(found, path.display().to_string());
            std::fs::remove_file(path).unwrap();
        }
    }

    #[test]
    fn a_file_that_is_no_such_device_refuses_the_command() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut device = Device::open(file.path()).unwrap();
        assert_eq!(
            device.send(&Asked {
                whom: SensorOwner::CONTROLLER,
                number: 1,
                function: 6,
                command: 1,
                data: &[]
            }),
            Err(Errno::NOTTY)
        );
        assert_eq!(device.want_events(), Err(Errno::NOTTY));
        assert_eq!(device.receive(Duration::ZERO), Err(Errno::NOTTY));
    }
}
