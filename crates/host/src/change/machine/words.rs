//! What the system refuses, in words that say what to do about it.

use crate::change::Trouble;
use rustix::io::Errno;
use std::fmt::Display;

pub(super) fn trouble(place: impl Display, why: impl Into<String>) -> Trouble {
    Trouble::new(place, why)
}

/// What an error of the system means where a setting is read or written.
pub(super) fn of(place: impl Display, doing: &str, error: Errno) -> Trouble {
    // ENOTSUPP is the kernel's own and meant for no program; some settings answer it all the same (include/linux/errno.h).
    if error.raw_os_error() == 524 {
        return trouble(place, format!("cannot be {doing}: the kernel does not support it here"));
    }
    let text = std::io::Error::from(error);
    let advice = match error {
        Errno::INVAL => "the kernel does not take that value here",
        Errno::BUSY => {
            "another setting holds it; with energy_performance_preference it is the governor performance"
        }
        Errno::PERM | Errno::ACCESS => "run it as root, outside of a container",
        Errno::ROFS => "it is mounted for reading only, as in a container: run it on the host",
        Errno::NOENT | Errno::NODEV | Errno::NXIO => {
            "it is not there, or not any more; its CPU may be offline"
        }
        Errno::IO => "the kernel or the device behind it refuses; see the kernel's log",
        Errno::AGAIN => "the driver behind it is off",
        Errno::SRCH => "the task has ended",
        Errno::LOOP | Errno::XDEV => "a link leads elsewhere, and is not followed",
        Errno::NOSPC | Errno::DQUOT => "make room there",
        _ => return trouble(place, format!("cannot be {doing}: {text}")),
    };
    let trouble = trouble(place, format!("cannot be {doing}: {text}; {advice}"));
    let is_gone = matches!(error, Errno::NOENT | Errno::NODEV | Errno::NXIO | Errno::SRCH);
    if is_gone { trouble.gone() } else { trouble }
}
