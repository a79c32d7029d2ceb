//! The log of the running kernel.
//!
//! Sources: syslog(2), kernel/printk/printk.c. One call gives the whole ring buffer, of what does not fit the oldest left out, where
//! /dev/kmsg (Linux 3.5) gives one message for each read: some 10,000 calls for a megabyte. /dev/kmsg also has the times where the
//! kernel was told not to print them (`printk.time=0`), and is there where syslog(2) is filtered.
//! Both need CAP_SYSLOG where kernel.dmesg_restrict is 1.
#![expect(unsafe_code, reason = "syslog(2) has no safe function")]

use super::missing;
use facts::{Fact, Missing, Why};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// What the log is asked for by, and the file that holds it.
pub(super) const DEVICE: &str = "/dev/kmsg";

/// CONFIG_LOG_BUF_SHIFT is at most 25.
const MOST_BYTES: usize = 32 << 20;

/// The whole log as text: `<6>[   12.345678] text` a line, or, without times in these, as /dev/kmsg has them.
pub(super) fn read() -> Fact<Vec<u8>> {
    match all() {
        Ok(log) if has_times(&log) && begins_at_boot(&log) => Ok(log),
        // `dmesg --clear` hides messages from that call, and not from the device.
        Ok(log) => match records().unwrap_or(log) {
            log if log.is_empty() => Err(Missing {
                what: DEVICE.to_owned(),
                why: Why::Failed("the log is empty: somebody cleared it".to_owned()),
            }),
            log => Ok(log),
        },
        Err(error) => records().map_err(|of_device| {
            let told = if of_device == Errno::NOENT { error } else { of_device };
            missing(DEVICE, told)
        }),
    }
}

/// Whether it begins with the first message of a kernel: nothing was overwritten or cleared.
fn begins_at_boot(log: &[u8]) -> bool {
    const FIRST: &[u8] = b"Linux version";
    let begin = log.get(..4096).unwrap_or(log);
    begin.windows(FIRST.len()).any(|it| it == FIRST)
}

/// `<6>[` before the first message.
fn has_times(log: &[u8]) -> bool {
    let behind = log.iter().position(|it| *it == b'>').map_or(0, |at| at + 1);
    log.get(behind).is_none_or(|it| *it == b'[')
}

/// The ring buffer, formatted by the kernel.
fn all() -> Result<Vec<u8>, Errno> {
    const READ_ALL: libc::c_int = 3;
    const SIZE_BUFFER: libc::c_int = 10;
    let result = |n: libc::c_int| usize::try_from(n).map_err(|_| last_error());
    // SAFETY: this action takes no buffer.
    let size = result(unsafe { libc::klogctl(SIZE_BUFFER, std::ptr::null_mut(), 0) })?;
    // Times and levels come on top of what the buffer holds.
    let mut log = vec![0; size.saturating_mul(2).min(MOST_BYTES)];
    let length = libc::c_int::try_from(log.len()).unwrap_or(libc::c_int::MAX);
    // SAFETY: the kernel writes at most `length` bytes, which `log` has.
    let n_read = result(unsafe { libc::klogctl(READ_ALL, log.as_mut_ptr().cast(), length) })?;
    log.truncate(n_read);
    Ok(log)
}

fn last_error() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}

/// The records of /dev/kmsg, a read each, up to the last that there is or to the limit.
fn records() -> Result<Vec<u8>, Errno> {
    /// PRINTKRB_RECORD_MAX and the fields before it (kernel/printk/internal.h); 8 KiB before Linux 6.3.
    const LONGEST_RECORD: usize = 8 << 10;
    /// A log that is written faster than it is read has no end.
    const MOST_OVERWRITTEN: u32 = 1000;
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let device = rustix::fs::open(DEVICE, flags, Mode::empty())?;
    let mut log = Vec::new();
    let mut record = vec![0; LONGEST_RECORD];
    let mut n_overwritten = 0;
    while log.len() < MOST_BYTES && n_overwritten < MOST_OVERWRITTEN {
        match rustix::io::read(&device, &mut record) {
            Ok(0) | Err(Errno::AGAIN) => break,
            Ok(n) => log.extend_from_slice(&record[..n]),
            // EPIPE: what was to come was overwritten, and the next read goes on behind it.
            Err(Errno::PIPE | Errno::INTR) => n_overwritten += 1,
            Err(error) => return Err(error),
        }
    }
    Ok(log)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_with_and_without_times_is_told_by_its_first_line() {
        assert!(has_times(b"<6>[    0.000000] Linux version 6.1\n"));
        assert!(has_times(b""));
        assert!(!has_times(b"<6>Linux version 2.6.32\n"));
    }

    #[test]
    fn the_log_of_this_machine_is_text_or_there_is_a_reason() {
        match read() {
            Ok(log) => assert!(log.is_empty() || log.ends_with(b"\n"), "{log:?}"),
            Err(missing) => assert_eq!(missing.what, DEVICE),
        }
    }
}
