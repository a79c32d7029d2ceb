//! One stream of a test: bytes go and come, and nobody waits without an end.

use super::{Broken, LONGEST, SILENCE};
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often whoever waits looks whether the user wants to stop.
const GLANCE: Duration = Duration::from_millis(200);

/// A stream while one message size is measured.
pub(super) struct Channel<'a> {
    stream: &'a TcpStream,
    stop: &'a AtomicBool,
    until: Instant,
}

impl<'a> Channel<'a> {
    pub(super) fn of(stream: &'a TcpStream, stop: &'a AtomicBool) -> Result<Channel<'a>, Broken> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(GLANCE))?;
        stream.set_write_timeout(Some(GLANCE))?;
        // A test of that length ends by itself before.
        let until = now() + LONGEST + SILENCE;
        Ok(Channel { stream, stop, until })
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

    /// Waits for this byte.
    pub(super) fn expect(&self, byte: u8) -> Result<(), Broken> {
        let mut found = [0];
        self.read_exact(&mut found)?;
        if found == [byte] { Ok(()) } else { Err(Broken::Strange) }
    }

    /// Fails where a message size has taken too long.
    pub(super) fn look_at(&self, time: Instant) -> Result<(), Broken> {
        if time > self.until { Err(Broken::TooLong) } else { Ok(()) }
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
