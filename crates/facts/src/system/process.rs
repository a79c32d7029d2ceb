//! Processes and kernel threads, from /proc/PID/stat.
//!
//! Source: proc_pid_stat(5), fs/proc/array.c; the flag is PF_KTHREAD of include/linux/sched.h.

use crate::parse::Expected;

/// One process or kernel thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// Its name as the kernel keeps it, at most 15 bytes; kernel threads may have longer ones.
    pub name: String,
    /// Whether it is a thread of the kernel.
    pub is_kernel_thread: bool,
}

const PF_KTHREAD: u64 = 0x0020_0000;

impl Process {
    /// Parses a /proc/PID/stat line. The name stands in parentheses and may hold spaces and parentheses.
    pub fn parse(text: &str) -> Result<Process, Expected> {
        const STAT: Expected = Expected("a line like `1 (init) S 0 ...`");
        let (pid, rest) = text.split_once(" (").ok_or(STAT)?;
        let (name, rest) = rest.rsplit_once(") ").ok_or(STAT)?;
        // After the name: state ppid pgrp session tty_nr tpgid flags.
        let flags: u64 = rest.split(' ').nth(6).and_then(|it| it.parse().ok()).ok_or(STAT)?;
        Ok(Process {
            pid: pid.trim().parse().map_err(|_| STAT)?,
            name: name.to_owned(),
            is_kernel_thread: flags & PF_KTHREAD != 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_parentheses_and_spaces() {
        let process = Process::parse("7 (a) b) S 1 1 1 0 -1 4194560 100").unwrap();
        assert_eq!((process.name.as_str(), process.is_kernel_thread), ("a) b", false));
    }

    #[test]
    fn a_kernel_thread_is_known_by_its_flag() {
        let process = Process::parse("2 (kthreadd) S 0 0 0 0 -1 2129984 0").unwrap();
        assert!(process.is_kernel_thread);
    }

    #[test]
    fn a_cut_line_is_refused() {
        assert!(Process::parse("2 (kthreadd) S 0").is_err());
    }
}
