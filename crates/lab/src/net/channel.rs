//! One stream of a test: sends and receives bytes, with a time limit for each wait.

use super::{Broken, LONGEST, SILENCE};
use facts::CpuSet;
use rustix::fs::sendfile;
use std::cell::{Cell, RefCell};
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often a wait checks the stop flag.
const GLANCE: Duration = Duration::from_millis(200);

/// A stream while one message size is measured.
pub(super) struct Channel<'a> {
    stream: &'a TcpStream,
    stop: &'a AtomicBool,
    until: Instant,
    /// The CPUs that its thread was seen on.
    cpus: RefCell<CpuSet>,
    /// The latest of them.
    cpu: Cell<usize>,
}

impl<'a> Channel<'a> {
    pub(super) fn of(stream: &'a TcpStream, stop: &'a AtomicBool) -> Result<Channel<'a>, Broken> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(GLANCE))?;
        stream.set_write_timeout(Some(GLANCE))?;
        // A test of that length ends by itself before.
        let until = now() + LONGEST + SILENCE;
        let (cpus, cpu) = (RefCell::default(), Cell::new(usize::MAX));
        Ok(Channel { stream, stop, until, cpus, cpu })
    }

    /// Some bytes, at least one; how many.
    pub(super) fn read(&self, into: &mut [u8]) -> Result<usize, Broken> {
        let mut stream = self.stream;
        self.patiently(|| stream.read(into))
    }

    pub(super) fn read_exact(&self, into: &mut [u8]) -> Result<(), Broken> {
        let mut n_read = 0;
        while let Some(rest) = into.get_mut(n_read..).filter(|it| !it.is_empty()) {
            n_read += self.read(rest)?;
        }
        Ok(())
    }

    pub(super) fn write(&self, bytes: &[u8]) -> Result<(), Broken> {
        let mut stream = self.stream;
        let mut n_written = 0;
        while let Some(rest) = bytes.get(n_written..).filter(|it| !it.is_empty()) {
            n_written += self.patiently(|| stream.write(rest))?;
        }
        Ok(())
    }

    /// Sends a file from its beginning to `bytes`. The kernel hands its pages to the connection as they are, instead of copying them
    /// (sendfile(2)); they must not change before all has arrived.
    pub(super) fn send_file(&self, file: &OwnedFd, bytes: u64) -> Result<(), Broken> {
        let mut offset = 0;
        while offset < bytes {
            let left = usize::try_from(bytes - offset).unwrap_or(usize::MAX);
            self.patiently(|| Ok(sendfile(self.stream, file, Some(&mut offset), left)?))?;
        }
        Ok(())
    }

    /// Waits for this byte.
    pub(super) fn expect(&self, byte: u8) -> Result<(), Broken> {
        let mut found = [0];
        self.read_exact(&mut found)?;
        if found == [byte] { Ok(()) } else { Err(Broken::Strange) }
    }

    /// Fails where a message size has taken too long; and sees where the thread is.
    pub(super) fn look_at(&self, time: Instant) -> Result<(), Broken> {
        self.look_around();
        if time > self.until { Err(Broken::TooLong) } else { Ok(()) }
    }

    /// The CPUs that the thread was seen on, which are those that it worked on but for a short time.
    pub(super) fn cpus(self) -> CpuSet {
        self.look_around();
        self.cpus.into_inner()
    }

    /// The number of a CPU costs some nanoseconds: the kernel keeps it where programs can read it (vdso(7)).
    fn look_around(&self) {
        let cpu = rustix::thread::sched_getcpu();
        if self.cpu.replace(cpu) != cpu {
            self.cpus.borrow_mut().extend(u32::try_from(cpu));
        }
    }

    fn patiently(&self, mut step: impl FnMut() -> io::Result<usize>) -> Result<usize, Broken> {
        let mut silent = Duration::ZERO;
        while silent < SILENCE {
            if self.stop.load(Ordering::Relaxed) {
                return Err(Broken::Stopped);
            }
            match step() {
                Ok(0) => return Err(Broken::Closed),
                Ok(n) => return Ok(n),
                Err(error) => match error.kind() {
                    ErrorKind::Interrupted => {}
                    ErrorKind::WouldBlock | ErrorKind::TimedOut => silent += GLANCE,
                    ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => {
                        return Err(Broken::Closed);
                    }
                    _ => return Err(Broken::Lost(error)),
                },
            }
        }
        Err(Broken::Silent)
    }
}

#[expect(clippy::disallowed_methods, reason = "throughput and latency are what happens in a time")]
pub(super) fn now() -> Instant {
    Instant::now()
}
