//! Why a controller did not answer.

use facts::ipmi::{Completion, Unanswered};
use rustix::io::Errno;
use std::time::Duration;

/// What went wrong between a question and its answer.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The driver shows no device.
    #[error("none of {tried} exists")]
    NoDevice {
        /// The paths, with commas between them.
        tried: String,
    },
    /// The device is there and cannot be opened.
    #[error("{path} cannot be opened: {error}{}", remedy(.error))]
    Unopened {
        /// The device.
        path: String,
        /// What the operating system said.
        error: Errno,
    },
    /// The driver refused to take a question or to give an answer.
    #[error("{path}: {what}: {error}")]
    System {
        /// The device.
        path: String,
        /// The system call or the step that failed.
        what: String,
        /// What the operating system said.
        error: Errno,
    },
    /// Nothing came in time.
    #[error(
        "{path}: no answer to {question} within {} s: the controller hangs or starts anew, or other programs keep it busy; \
         look whether `ipmitool mc info` is answered, and reset the controller where it is not", .limit.as_secs_f64()
    )]
    NoAnswer {
        /// The device.
        path: String,
        /// What was asked.
        question: &'static str,
        /// How long it had.
        limit: Duration,
    },
    /// It answered that it does not answer, or something that is no answer.
    #[error("{path}: {question}: {why}")]
    Unanswered {
        /// The device.
        path: String,
        /// What was asked.
        question: &'static str,
        /// What came.
        why: Unanswered,
    },
    /// Others take the reservation away as fast as it is made.
    #[error(
        "{path}: the reservation of the sensor records was lost {times} times in a row: another program reads them; stop it \
         during the measurement"
    )]
    Contended {
        /// The device.
        path: String,
        /// How often.
        times: u32,
    },
    /// The number of the next record is that of one before.
    #[error(
        "{path}: the sensor records lead back to record {record:#06x} and have no end: the controller's repository is damaged; \
         its maker's tools write it anew"
    )]
    Circular {
        /// The device.
        path: String,
        /// The record that comes twice.
        record: u16,
    },
    /// Whoever asked wants to stop.
    #[error("stopped")]
    Stopped,
}

impl Failure {
    /// Whether the controller answered with this completion code, which is not that it did as it was asked.
    pub(super) fn is_refusal(&self, code: Completion) -> bool {
        matches!(self, Failure::Unanswered { why: Unanswered::Refused(it), .. } if *it == code)
    }
}

fn remedy(error: &Errno) -> &'static str {
    match *error {
        Errno::ACCESS | Errno::PERM => {
            "; run as root, and in a container with the device passed through"
        }
        Errno::NODEV | Errno::NXIO => {
            "; the driver has no interface behind it: see `dmesg | grep ipmi`"
        }
        Errno::BUSY => "; too many programs have it open: end one",
        _ => "",
    }
}
