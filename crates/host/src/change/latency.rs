//! The process that keeps a request for short wake-ups: the kernel keeps it as long as /dev/cpu_dma_latency is open
//! (Documentation/power/pm_qos_interface.rst).
//!
//! It holds whatever becomes of its starter, and ends with SIGTERM. Until its starter says `go` it asks for nothing, and ends
//! where the starter does: by then the journal knows of it.

use super::Trouble;
use super::process::{detach, leave_pipes};
use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;
use std::io::{Read, Write};

const DEVICE: &str = "/dev/cpu_dma_latency";

/// What `PROGRAM hold-latency MICROSECONDS` does: asks for it and keeps it until SIGTERM.
///
/// Errors: the device cannot be written; its starter has ended. The starter is told, too.
pub fn hold(microseconds: i32) -> Result<(), Trouble> {
    detach();
    say("ready")?;
    let mut word = [0; 3];
    let told = std::io::stdin().read_exact(&mut word);
    if told.is_err() || &word != b"go\n" {
        return Err(trouble("the process that requested it has ended"));
    }
    let kept = match ask(microseconds) {
        Ok(kept) => kept,
        Err(error) => {
            say(&error.to_string())?;
            return Err(error);
        }
    };
    say("holds")?;
    leave_pipes();
    loop {
        // A signal without a handler ends the process here, and the kernel drops the request with it.
        std::thread::park();
        debug_assert!(rustix::fs::fstat(&kept).is_ok());
    }
}

/// Asks, and sees that the kernel asks the CPUs for no less.
fn ask(microseconds: i32) -> Result<rustix::fd::OwnedFd, Trouble> {
    let refused =
        |error: Errno| trouble(&format!("cannot be written: {}", std::io::Error::from(error)));
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let device = rustix::fs::openat(CWD, DEVICE, flags, Mode::empty()).map_err(refused)?;
    rustix::io::write(&device, &microseconds.to_ne_bytes()).map_err(refused)?;
    let mut bytes = [0; 4];
    let n = rustix::io::pread(&device, &mut bytes, 0).map_err(refused)?;
    // The shortest of all requests is in force.
    let in_force = i32::from_ne_bytes(bytes);
    if n == 4 && in_force <= microseconds {
        return Ok(device);
    }
    Err(trouble(&format!("was given {microseconds} and reads back {in_force}: it did not stick")))
}

fn trouble(why: &str) -> Trouble {
    Trouble::new(DEVICE, why)
}

fn say(word: &str) -> Result<(), Trouble> {
    let mut stdout = std::io::stdout();
    let said = writeln!(stdout, "{word}").and_then(|()| stdout.flush());
    said.map_err(|_| trouble("the process that requested it has ended"))
}
