//! Processes and kernel threads, from /proc/PID/stat and /proc/PID/schedstat.
//!
//! Sources: proc_pid_stat(5), fs/proc/array.c; the flag is PF_KTHREAD of include/linux/sched.h;
//! Documentation/scheduler/sched-stats.rst.

use crate::parse::{Expected, trimmed};
use crate::{Fact, Missing, USER_TICK_NS, Why};
use std::time::Duration;

/// One process or kernel thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// The process number (PID).
    pub pid: u32,
    /// The number of its parent.
    pub parent: u32,
    /// Its name as the kernel keeps it, at most 15 bytes; kernel threads may have longer ones.
    pub name: String,
    /// Whether it is a thread of the kernel.
    pub is_kernel_thread: bool,
    /// When it started, as time since boot.
    pub started: Fact<Duration>,
    /// How long all its threads have run on a CPU.
    ///
    /// utime and stime are ticks, scaled so that their sum is the run time that the scheduler accounts (`cputime_adjust` in
    /// kernel/sched/cputime.c; `thread_group_times` in kernel/sched.c of 2.6.32).
    pub cpu_time: Fact<Duration>,
    /// The CPU that it ran on, or was queued for, at the moment of reading (state R).
    pub running_on: Option<u32>,
}

const PF_KTHREAD: u64 = 0x0020_0000;

/// The first process of every host and container.
pub const INIT: u32 = 1;

impl Process {
    /// Parses a /proc/PID/stat line. The name stands in parentheses and may hold spaces and parentheses.
    pub fn parse(text: &str) -> Result<Process, Expected> {
        const STAT: Expected = Expected("a line like `1 (init) S 0 ...`");
        let (pid, rest) = text.split_once(" (").ok_or(STAT)?;
        let (name, rest) = rest.rsplit_once(") ").ok_or(STAT)?;
        let pid: u32 = pid.trim().parse().map_err(|_| STAT)?;
        let mut fields = rest.split_ascii_whitespace();
        // After the name: state ppid pgrp session tty_nr tpgid flags; utime and stime are fields 14 and 15 of the line, the start is
        // field 22, the processor field 39. Machines have thousands of threads, so each field is looked for once.
        let is_running = fields.next() == Some("R");
        let parent = fields.next().and_then(|it| it.parse().ok()).ok_or(STAT)?;
        let flags: u64 = fields.nth(4).and_then(|it| it.parse().ok()).ok_or(STAT)?;
        let cpu_time = time_of([fields.nth(4), fields.next()]);
        let started = fields.nth(6).and_then(|it| it.parse::<u64>().ok());
        let started = started.and_then(|ticks| ticks.checked_mul(USER_TICK_NS));
        let started = started.map(Duration::from_nanos);
        let path = || format!("/proc/{pid}/stat");
        Ok(Process {
            pid,
            parent,
            name: name.to_owned(),
            is_kernel_thread: flags & PF_KTHREAD != 0,
            started: started
                .ok_or_else(|| Missing::malformed(path(), text, "a start time in field 22")),
            cpu_time: cpu_time
                .map_err(|Expected(expected)| Missing::malformed(path(), text, expected)),
            running_on: is_running.then(|| fields.nth(16).and_then(|it| it.parse().ok())).flatten(),
        })
    }
}

/// The sum of utime and stime in ticks of USER_HZ.
fn time_of(fields: [Option<&str>; 2]) -> Result<Duration, Expected> {
    const TIMES: Expected = Expected("a line with times in fields 14 and 15");
    let [user, system] = fields.map(|it| it.and_then(|it| it.parse::<u64>().ok()));
    let (user, system) = (user.ok_or(TIMES)?, system.ok_or(TIMES)?);
    let ticks = user.checked_add(system).and_then(|it| it.checked_mul(USER_TICK_NS));
    ticks.map(Duration::from_nanos).ok_or(TIMES)
}

impl Process {
    /// How long ago it started, and its share of one CPU since then, given the time since boot.
    ///
    /// One that started after that time was read has no age and no share yet. Errors: its times are missing.
    pub fn age_and_share(&self, uptime: Duration) -> Fact<(Duration, f64)> {
        let (started, cpu_time) = (*self.started.as_ref()?, *self.cpu_time.as_ref()?);
        let age = uptime.saturating_sub(started);
        let share = if age.is_zero() { 0.0 } else { cpu_time.as_secs_f64() / age.as_secs_f64() };
        Ok((age, share))
    }
}

/// The threads of the kernel.
///
/// Errors: the processes are missing, or this is a container, which shows process 1 and no kernel threads.
pub fn kernel_threads(processes: &Fact<Vec<Process>>) -> Fact<Vec<&Process>> {
    let processes = processes.as_ref()?;
    let threads: Vec<&Process> = processes.iter().filter(|it| it.is_kernel_thread).collect();
    if threads.is_empty() && processes.iter().any(|it| it.pid == INIT) {
        let why = Why::Failed("a container shows none; run fullclock on the host".to_owned());
        return Err(Missing { what: "the kernel's threads in /proc".to_owned(), why });
    }
    Ok(threads)
}

/// Parses the time a process has run on a CPU from /proc/PID/schedstat: run time and waiting time in
/// nanoseconds, and the number of times it ran.
///
/// A kernel without CONFIG_SCHED_INFO prints three zeros (fs/proc/base.c), which is no run time.
pub fn run_time(text: &str) -> Result<Duration, Expected> {
    const ACCOUNTED: Expected = Expected("an accounted run time (CONFIG_SCHED_INFO)");
    if trimmed(text) == "0 0 0" {
        return Err(ACCOUNTED);
    }
    let nanoseconds = text.split_ascii_whitespace().next().and_then(|it| it.parse().ok());
    nanoseconds.map(Duration::from_nanos).ok_or(ACCOUNTED)
}

/// Parses the time a process has run on a CPU from /proc/PID/stat: utime and stime, fields 14 and 15, in ticks of USER_HZ.
pub fn cpu_time(text: &str) -> Result<Duration, Expected> {
    let (_, rest) = text.rsplit_once(") ").unwrap_or_default();
    // Behind the name comes field 3.
    let mut fields = rest.split_ascii_whitespace().skip(14 - 3);
    time_of([fields.next(), fields.next()])
}

/// Parses the CPU that a process runs or last ran on from /proc/PID/stat: `processor`, field 39.
pub fn last_cpu(text: &str) -> Result<u32, Expected> {
    const CPU: Expected = Expected("a line with a CPU in field 39");
    let (_, rest) = text.rsplit_once(") ").ok_or(CPU)?;
    rest.split_ascii_whitespace().nth(39 - 3).and_then(|it| it.parse().ok()).ok_or(CPU)
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
    fn the_last_parenthesis_before_a_space_ends_the_name() {
        for name in ["", "a", ")", "(", "a)b", "a) S 1 2", "a )", ") ) ("] {
            let line = format!("7 ({name}) S 1 1 1 0 -1 4194560 100");
            assert_eq!(Process::parse(&line).unwrap().name, name);
        }
        assert!(Process::parse("7 (a)").is_err());
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

    #[test]
    fn the_start_is_time_since_boot() {
        let line = "9 (kipmi0) S 2 0 0 0 -1 2129984 0 0 0 0 0 1234 0 0 39 19 1 0 250 0 0";
        assert_eq!(Process::parse(line).unwrap().started, Ok(Duration::from_millis(2500)));
    }

    #[test]
    fn the_time_on_a_cpu_is_that_of_the_program_and_of_the_kernel() {
        let line = "9 (kipmi0) S 2 0 0 0 -1 2129984 0 0 0 0 3 1234 0 0 39 19 1 0 250 0 0";
        assert_eq!(cpu_time(line), Ok(Duration::from_millis(12_370)));
        assert_eq!(Process::parse(line).unwrap().cpu_time, Ok(Duration::from_millis(12_370)));
        assert!(cpu_time("9 (kipmi0) S 2 0 0 0 -1 2129984 0 0 0 0 3").is_err());
        assert!(cpu_time("").is_err());
    }

    #[test]
    fn the_share_of_a_cpu_is_that_of_the_time_since_its_start() {
        let line = "9 (kipmi0) S 2 0 0 0 -1 2129984 0 0 0 0 0 600 0 0 39 19 1 0 1000 0 0";
        let process = Process::parse(line).unwrap();
        let share = |seconds| process.age_and_share(Duration::from_secs(seconds));
        assert_eq!(share(30), Ok((Duration::from_secs(20), 0.3)));
        assert_eq!((share(10), share(9)), (Ok((Duration::ZERO, 0.0)), Ok((Duration::ZERO, 0.0))));
    }

    #[test]
    fn the_last_cpu_is_field_39() {
        let numbers: Vec<String> = (4..=52).map(|it| it.to_string()).collect();
        let numbers = numbers.join(" ");
        assert_eq!(last_cpu(&format!("9 (a) b) S {numbers}")), Ok(39));
        let running =
            |state| Process::parse(&format!("9 (a) {state} {numbers}")).unwrap().running_on;
        assert_eq!((running("R"), running("S")), (Some(39), None));
        assert!(last_cpu("9 (kipmi0) S 2 0 0 0 -1 2129984 0 0 0 0 3").is_err());
    }

    #[test]
    fn three_zeros_are_no_run_time() {
        assert_eq!(run_time("1500000000 7 3\n"), Ok(Duration::from_millis(1500)));
        assert!(run_time("0 0 0\n").is_err());
        assert!(run_time("").is_err());
    }
}
