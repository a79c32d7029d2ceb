//! Listens to what the kernel tells of every task of the machine that ends (taskstats).

use facts::counters::exits::{Exit, parse};
use facts::netlink::{ACK, REQUEST, attribute, attributes, messages, request, u16_at};
use facts::{Fact, Missing, Why};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::sockopt::{
    Timeout, set_socket_recv_buffer_size, set_socket_recv_buffer_size_force, set_socket_timeout,
};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink};
use std::fs;
use std::time::Duration;

/// What cannot be told.
const WHAT: &str = "times of tasks that ended (taskstats)";

/// GENL_ID_CTRL answers CTRL_CMD_GETFAMILY: the number of a family, by its name (include/uapi/linux/genetlink.h).
const CONTROL: u16 = 16;
const GET_FAMILY: u8 = 3;
const FAMILY_ID: u16 = 1;
const FAMILY_NAME: u16 = 2;
const FAMILY: &[u8] = b"TASKSTATS\0";

/// TASKSTATS_CMD_GET with TASKSTATS_CMD_ATTR_REGISTER_CPUMASK.
const GET: u8 = 1;
const REGISTER: u16 = 3;

/// The CPUs that may ever be there; others are refused.
const POSSIBLE: &str = "/sys/devices/system/cpu/possible";

/// The kernel keeps so much until it is read, and drops what comes then: 3,500 tasks, of which each takes 2.3 KiB.
const KEPT: usize = 8 << 20;

/// So many messages are taken in a row, on a machine where tasks end faster than they are told of.
const MOST_AT_ONCE: u32 = 1 << 16;

/// A message has less than 1.5 KiB.
const MESSAGE: usize = 8 << 10;

/// The kernel answers at once.
const PATIENCE: Duration = Duration::from_secs(1);

/// An open socket that the kernel tells of each task that ends.
#[derive(Debug)]
pub struct Exits {
    socket: OwnedFd,
    family: u16,
    buffer: Vec<u8>,
}

impl Exits {
    /// Begins to listen. It takes CAP_NET_ADMIN, a kernel with CONFIG_TASKSTATS, and the machine's own namespaces of users and
    /// processes. The kernel ends it when this is dropped.
    #[expect(clippy::disallowed_methods, reason = "the set is that of the kernel that listens")]
    pub fn listen() -> Fact<Exits> {
        let possible = fs::read_to_string(POSSIBLE).map_err(|error| failed(&error))?;
        let (kind, flags) = (SocketType::RAW, SocketFlags::CLOEXEC);
        let protocol = Some(netlink::GENERIC);
        let socket = rustix::net::socket_with(AddressFamily::NETLINK, kind, flags, protocol);
        let socket = socket.map_err(refused)?;
        set_socket_timeout(&socket, Timeout::Recv, Some(PATIENCE)).map_err(refused)?;
        // More than the limit of the machine takes CAP_NET_ADMIN, without which nothing is told anyway.
        set_socket_recv_buffer_size_force(&socket, KEPT)
            .or_else(|_| set_socket_recv_buffer_size(&socket, KEPT))
            .map_err(refused)?;
        let mut exits = Exits::of(socket, 0);
        exits.family = exits.find_family()?;
        let cpus = [possible.trim().as_bytes(), b"\0"].concat();
        exits.send(exits.family, REQUEST | ACK, GET, &attribute(REGISTER, &cpus))?;
        exits.acknowledged()?;
        Ok(exits)
    }

    /// A socket that is told of tasks already, in messages of this family.
    pub fn of(socket: OwnedFd, family: u16) -> Exits {
        Exits { socket, family, buffer: vec![0; MESSAGE] }
    }

    /// Takes what was told since the last call. Whether it is all: it is not where more tasks ended at once than the kernel
    /// keeps.
    ///
    /// Errors: the kernel does not count the times.
    pub fn take(&mut self, mut each: impl FnMut(Exit)) -> Fact<bool> {
        let mut is_all = true;
        for _ in 0..MOST_AT_ONCE {
            let n_read = match self.receive(RecvFlags::DONTWAIT) {
                Ok(0) | Err(Errno::AGAIN) => return Ok(is_all),
                Ok(n_read) => n_read,
                Err(Errno::NOBUFS) => {
                    is_all = false;
                    continue;
                }
                Err(Errno::INTR) => continue,
                Err(errno) => return Err(refused(errno)),
            };
            for message in messages(self.buffer.get(..n_read).unwrap_or_default()) {
                let message = message.map_err(malformed)?;
                if message.kind == self.family
                    && let Some(exit) = parse(message.body).map_err(malformed)?
                {
                    each(exit);
                }
            }
        }
        Ok(false)
    }

    fn find_family(&mut self) -> Fact<u16> {
        // Only the answer: an acknowledgement behind it would pass for that of the next request.
        self.send(CONTROL, REQUEST, GET_FAMILY, &attribute(FAMILY_NAME, FAMILY))?;
        let n_read = self.receive(RecvFlags::empty()).map_err(refused)?;
        let answer = messages(self.buffer.get(..n_read).unwrap_or_default()).next();
        let answer = answer.transpose().map_err(malformed)?;
        let answer = answer.ok_or_else(|| malformed(facts::Expected("an answer")))?;
        if let Some(number) = answer.error() {
            return Err(told(number));
        }
        // Behind the header of generic netlink.
        let parts = attributes(answer.body.get(4..).unwrap_or_default());
        let mut number =
            parts.filter(|it| it.0 == FAMILY_ID).filter_map(|(_, value)| u16_at(value, 0));
        number.next().ok_or_else(|| malformed(facts::Expected("the number of a family")))
    }

    /// Waits for the answer to a request, past tasks that end meanwhile.
    fn acknowledged(&mut self) -> Fact<()> {
        for _ in 0..MOST_AT_ONCE {
            let n_read = match self.receive(RecvFlags::empty()) {
                Ok(n_read) => n_read,
                Err(Errno::NOBUFS | Errno::INTR) => continue,
                Err(errno) => return Err(refused(errno)),
            };
            for message in messages(self.buffer.get(..n_read).unwrap_or_default()) {
                match message.map_err(malformed)?.error() {
                    Some(0) => return Ok(()),
                    Some(number) => return Err(told(number)),
                    None => {}
                }
            }
        }
        Err(malformed(facts::Expected("an answer among all that is told")))
    }

    fn send(&self, kind: u16, flags: u16, command: u8, attributes: &[u8]) -> Fact<()> {
        let body = [&[command, 1, 0, 0], attributes].concat();
        let message = request(kind, flags, &body);
        let sent = rustix::net::send(&self.socket, &message, SendFlags::empty());
        sent.map(drop).map_err(refused)
    }

    fn receive(&mut self, flags: RecvFlags) -> Result<usize, Errno> {
        rustix::net::recv(&self.socket, &mut self.buffer[..], flags).map(|(n_read, _)| n_read)
    }
}

fn refused(errno: Errno) -> Missing {
    told(errno.raw_os_error())
}

fn told(number: i32) -> Missing {
    let errno = Errno::from_raw_os_error(number);
    if matches!(errno, Errno::PERM | Errno::ACCESS) {
        return Missing { what: WHAT.to_owned(), why: Why::Denied };
    }
    failed(&errno.into())
}

fn failed(error: &std::io::Error) -> Missing {
    Missing { what: WHAT.to_owned(), why: Why::Failed(error.to_string()) }
}

fn malformed(expected: facts::Expected) -> Missing {
    Missing::malformed(WHAT, "something else", expected.0)
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "waits for the kernel to tell of a thread of its own"
)]
mod tests {
    use super::*;
    use std::thread;
    use std::time::Instant;

    /// What a thread that ends is told with.
    fn ended(exits: &mut Exits, tid: u32) -> Exit {
        let since = Instant::now();
        loop {
            let mut found = None;
            exits.take(|exit| found = found.or(Some(exit).filter(|it| it.tid == tid))).unwrap();
            if let Some(found) = found {
                return found;
            }
            assert!(since.elapsed() < Duration::from_secs(60), "thread {tid} is not told of");
        }
    }

    #[test]
    fn a_thread_that_ended_is_told_with_what_it_ran_or_why_nothing_is() {
        let mut exits = match Exits::listen() {
            Ok(exits) => exits,
            // Without the privilege, in a container, or on a kernel without it.
            Err(missing) => {
                assert!(matches!(missing.why, Why::Denied | Why::Failed(_)), "{missing:?}");
                return;
            }
        };
        let thread = thread::Builder::new().name("ends-soon".to_owned());
        let thread = thread.spawn(|| {
            let tid = rustix::thread::gettid().as_raw_nonzero().get().cast_unsigned();
            let path = format!("/proc/self/task/{tid}/schedstat");
            let ran = || {
                let text = fs::read_to_string(&path).unwrap();
                text.split(' ').next().unwrap().parse::<u64>().unwrap()
            };
            while ran() < 20_000_000 {}
            (tid, ran())
        });
        let (tid, ran_ns) = thread.unwrap().join().unwrap();
        let exit = ended(&mut exits, tid);
        assert_eq!(exit.name.as_str(), "ends-soon");
        assert!(exit.run_ns >= ran_ns, "{exit:?} {ran_ns}");
        let parent = rustix::process::getppid().unwrap().as_raw_nonzero().get();
        assert_eq!(exit.parent, parent.cast_unsigned());
        assert!(exit.process.is_none_or(|it| it == std::process::id()), "{exit:?}");
    }
}
