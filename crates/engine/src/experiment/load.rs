//! The condition `load=all-cores`: the process that keeps CPUs busy.
//!
//! The loops run in a process of their own, so that their cycles are not taken for the work's. It ends with its standard
//! input, which the kernel closes however this program ends, and it is in a process group of its own, so that Ctrl-C does not
//! take the load from the trial that is still running. What else runs on those CPUs takes its part of them from the loops.
#![expect(clippy::disallowed_methods, reason = "starts the process that keeps CPUs busy")]

use anyhow::{Context, Result};
use facts::CpuSet;
use lab::failure::Failure;
use std::hint::black_box;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::{Builder, Scope};
use std::time::Duration;

/// Busy CPUs, until it is dropped.
pub struct Busy(Child);

impl Busy {
    /// Returns when all of them are busy.
    ///
    /// Errors: one of them is online and cannot be.
    pub fn start(cpus: &CpuSet) -> Result<Busy, Failure> {
        let failed = |error| Failure::system("load=all-cores: cannot make CPUs busy")(error);
        let mut command = Command::new(std::env::current_exe().map_err(failed)?);
        command.arg("occupy-cpus").arg(cpus.to_string()).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut busy = Busy(command.spawn().map_err(failed)?);
        let mut line = String::new();
        if let Some(answer) = &mut busy.0.stdout {
            BufReader::new(answer).read_line(&mut line).map_err(failed)?;
        }
        let unready =
            |why: &str| Failure::Unready(format!("load=all-cores on {}: {why}", cpus.named()));
        match line.trim_end() {
            READY => Ok(busy),
            "" => Err(unready("it ended before it began")),
            why => Err(unready(why)),
        }
    }

    /// Whether the load was there all the time.
    ///
    /// Errors: it ended, as where the kernel was out of memory.
    pub fn held(&mut self) -> Result<(), Failure> {
        let ended = self.0.try_wait().map_err(Failure::system("cannot ask for the load"))?;
        ended.map_or(Ok(()), |status| {
            let program = "load=all-cores ended within the trial; it".to_owned();
            Err(Failure::Program { program, how: status.to_string(), said: String::new() })
        })
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        // It may have ended already.
        let _ended = self.0.kill().is_err();
        let _reaped = self.0.wait().is_err();
    }
}

const READY: &str = "busy";

/// A loop that has not begun by then has to wait for a real-time task that does not let go of its CPU.
const PATIENCE: Duration = Duration::from_secs(5);

/// A loop on each CPU until standard input ends; says on standard output that they run, or why not. The process that
/// [`Busy::start`] starts.
pub fn occupy(cpus: &CpuSet) -> Result<()> {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let begun = spinning(scope, cpus, &is_over, is_online);
        let mut out = std::io::stdout();
        let text = begun.as_ref().map_or_else(String::as_str, |()| READY);
        let told = writeln!(out, "{text}").and_then(|()| out.flush());
        let ended = match begun {
            Ok(()) => std::io::stdin().read_to_end(&mut Vec::new()).map(drop),
            Err(_) => Ok(()),
        };
        is_over.store(true, Ordering::Relaxed);
        told.and(ended).context("nobody waits for the load")
    })
}

/// Starts a loop on each, and returns when all of them run; why not, where one does not. A CPU that went offline needs none.
fn spinning<'scope>(
    scope: &'scope Scope<'scope, '_>,
    cpus: &CpuSet,
    is_over: &'scope AtomicBool,
    is_online: impl Fn(u32) -> bool,
) -> Result<(), String> {
    let (sender, answers) = mpsc::channel();
    for cpu in cpus.iter() {
        let sender = sender.clone();
        let turn = move || {
            // Nobody listens any more where another one could not begin: it is over then.
            let tell = |answer| sender.send((cpu, answer)).is_ok();
            let spin = || tell(Ok(())) && spin_until(is_over);
            host::probe::pinned(cpu, spin).unwrap_or_else(|why| tell(Err(why.to_string())))
        };
        let started = Builder::new().name("load".to_owned()).spawn_scoped(scope, turn);
        started.map_err(|error| format!("CPU {cpu}: {}", host::process::thread_refusal(&error)))?;
    }
    let (mut n_spinning, mut refused) = (0, Vec::new());
    for _ in cpus.iter() {
        match answers.recv_timeout(PATIENCE) {
            Ok((_, Ok(()))) => n_spinning += 1,
            Ok((cpu, Err(why))) if is_online(cpu) => refused.push(why),
            Ok(_) => {}
            Err(_) => refused.push("a loop did not get its CPU within 5 s".to_owned()),
        }
    }
    match refused.first() {
        Some(why) => {
            Err(format!("{} of {} could not be made busy: {why}", refused.len(), cpus.len()))
        }
        None if n_spinning == 0 => Err("none of them is online".to_owned()),
        None => Ok(()),
    }
}

fn spin_until(is_over: &AtomicBool) -> bool {
    let mut sum = 1_u64;
    while !is_over.load(Ordering::Relaxed) {
        sum = black_box(sum.wrapping_mul(3));
    }
    true
}

/// By Documentation/admin-guide/cputopology.rst. Where that cannot be read, every CPU has to be busy.
fn is_online(cpu: u32) -> bool {
    let text = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    CpuSet::parse_list(text.trim()).map_or(true, |it| it.is_empty() || it.contains(cpu))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(cpus: &CpuSet, is_online: bool) -> Result<(), String> {
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let outcome = spinning(scope, cpus, &is_over, |_| is_online);
            is_over.store(true, Ordering::Relaxed);
            outcome
        })
    }

    #[test]
    fn every_loop_has_its_cpu_before_the_load_is_there() {
        let cpu = host::probe::allowed().unwrap().last().unwrap();
        let absent: CpuSet = [8191].into_iter().collect();
        let both: CpuSet = [cpu, 8191].into_iter().collect();
        assert_eq!(outcome(&[cpu].into_iter().collect(), true), Ok(()));
        let error = outcome(&both, true).unwrap_err();
        assert!(error.starts_with("1 of 2 could not be made busy: CPU 8191"), "{error}");
        assert_eq!(outcome(&both, false), Ok(()));
        assert_eq!(outcome(&absent, false), Err("none of them is online".to_owned()));
        assert!(is_online(cpu) && !is_online(8191));
    }

    #[test]
    fn a_load_that_ended_within_a_trial_is_a_failure_of_it() {
        let mut command = Command::new("cat");
        let mut busy = Busy(command.stdin(Stdio::piped()).spawn().unwrap());
        assert!(busy.held().is_ok());
        busy.0.kill().unwrap();
        busy.0.wait().unwrap();
        let error = busy.held().unwrap_err().to_string();
        assert!(error.starts_with("load=all-cores ended within the trial"), "{error}");
        assert!(error.contains("signal: 9"), "{error}");
    }
}
