//! Runs an emulator until its machine is off.
#![expect(
    clippy::disallowed_methods,
    reason = "the bench starts emulators and reads what their guests sent"
)]

use std::fmt;
use std::fs;
use std::io::Read as _;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use crate::monitor;

/// Lines of a guest's console that an error shows: a kernel's dying words fit.
const N_CONSOLE_LINES: usize = 60;

/// What an emulator boots, and the files its guest writes to.
#[derive(Debug)]
pub(crate) struct Guest {
    /// A folder of this boot's own.
    pub(crate) folder: PathBuf,
    /// The kernel's image.
    pub(crate) kernel: PathBuf,
    /// The file system.
    pub(crate) initramfs: PathBuf,
    /// The boot line.
    pub(crate) command_line: String,
}

impl Guest {
    /// Where the first serial port leads: the kernel's messages.
    pub(crate) fn console(&self) -> PathBuf {
        self.folder.join("console")
    }

    /// Where the second serial port leads: the transcript.
    pub(crate) fn results(&self) -> PathBuf {
        self.folder.join("results")
    }

    /// Where QEMU listens for questions about its machine.
    pub(crate) fn monitor(&self) -> PathBuf {
        self.folder.join("monitor")
    }

    /// Bytes of its transcript so far: none before its programs have begun.
    fn n_sent(&self) -> u64 {
        fs::metadata(self.results()).map_or(0, |it| it.len())
    }

    /// What its kernel says of a CPU that goes on and gets nowhere, once it has said so (lib/Kconfig.debug of RCU:
    /// CONFIG_RCU_CPU_STALL_TIMEOUT, 21 s; Documentation/RCU/stallwarn.rst).
    fn stall(&self) -> Option<String> {
        let console = fs::read(self.console()).unwrap_or_default();
        let console = String::from_utf8_lossy(&console);
        let is_stall = |it: &&str| it.contains("rcu: INFO: ") && it.contains("detected stall");
        console.lines().find(is_stall).map(str::to_owned)
    }

    /// What its kernel says where it dies of a breakpoint that is no longer its own (arch/x86/kernel/traps.c, `exc_int3`: "int3",
    /// which "Oops: " stands before since 6.10).
    fn stray_breakpoint(&self) -> Option<String> {
        let console = fs::read(self.console()).unwrap_or_default();
        let console = String::from_utf8_lossy(&console);
        console.lines().find(|it| it.contains("int3: 0000 [#1]")).map(str::to_owned)
    }

    /// The end of what the guest's kernel printed, for an error to show.
    pub(crate) fn last_words(&self) -> String {
        let console = fs::read(self.console()).unwrap_or_default();
        let console = String::from_utf8_lossy(&console);
        let lines: Vec<&str> = console.lines().collect();
        lines[lines.len().saturating_sub(N_CONSOLE_LINES)..].join("\n")
    }
}

/// How an emulator ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// Its exit status.
    pub(crate) status: ExitStatus,
    /// What it printed itself, on either stream.
    pub(crate) printed: String,
}

/// How long an emulator may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// Until its guest sends the first byte of its transcript; `None` is as long as any step may take.
    pub(crate) to_boot: Option<Limit>,
    /// From one step's output to the next, and from the last to the end.
    pub(crate) a_step: Duration,
}

/// How long a boot may take.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Limit {
    /// So long.
    Passed(Duration),
    /// As long as its emulator has not used so much CPU time. The clock of a guest that counts its instructions stands still while others
    /// have this machine's CPUs: how long it takes says nothing of the guest.
    Used(Duration),
}

impl Limit {
    fn of(self) -> Duration {
        match self {
            Limit::Passed(limit) | Limit::Used(limit) => limit,
        }
    }
}

/// How often a guest's transcript is looked at.
const LOOK: Duration = Duration::from_secs(1);

/// A guest that sends nothing for so long is asked where its CPUs are, again and again.
const SILENCE: Duration = Duration::from_secs(60);

/// The kernel of an emulator's guest stood still or died, where no program of the guest can have been the cause.
#[derive(Debug)]
pub(crate) enum LostKernel {
    /// It stood still before its first program: it sent nothing.
    NoBoot { program: String, within: Duration },
    /// It stood still later, in its own words or by where its CPUs are.
    Stuck { program: String, words: String },
    /// It died of a breakpoint that nobody owned, in its own words.
    StrayBreakpoint { program: String, words: String },
}

impl std::error::Error for LostKernel {}

impl fmt::Display for LostKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LostKernel::NoBoot { program, within } => {
                write!(f, "the guest of {program} did not boot in {} s", within.as_secs())
            }
            LostKernel::Stuck { program, words } => {
                write!(f, "the kernel of the guest of {program} stands still: {words}")
            }
            LostKernel::StrayBreakpoint { program, words } => {
                write!(f, "the kernel of the guest of {program} died of a breakpoint: {words}")
            }
        }
    }
}

/// Runs an emulator of `guest` until it exits, or kills it.
///
/// Errors: [`LostKernel`] if the guest's kernel reports a stall or died of a breakpoint, if the monitor shows that it is stuck
/// (which it cannot report if all of its CPUs are), or if it did not boot within `patience`; another error, with the CPU time it
/// used, if a step takes longer than `patience`. The emulator does not outlive the call.
pub(crate) fn run(mut command: Command, guest: &Guest, patience: Patience) -> Result<Ended> {
    let program = command.get_program().to_string_lossy().into_owned();
    let (mut reader, writer) = std::io::pipe().context("cannot make a pipe")?;
    let second_writer = writer.try_clone().context("cannot make a pipe")?;
    command.current_dir(&guest.folder).stdin(Stdio::null()).stdout(writer).stderr(second_writer);
    let mut child = command.spawn().with_context(|| format!("cannot run {program}"))?;
    // The command holds the pipe's writing ends, and reading ends only when all of them are gone.
    drop(command);

    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut printed = Vec::new();
        let result = reader.read_to_end(&mut printed).map(|_| printed);
        // Nobody listens once the time is up.
        drop(sender.send(result));
    });
    let (mut n_sent, mut since, mut asked) = (0, Instant::now(), Instant::now());
    let mut stall = None;
    let printed = loop {
        if let Ok(printed) = receiver.recv_timeout(LOOK) {
            break Some(printed);
        }
        let before = std::mem::replace(&mut n_sent, guest.n_sent());
        if n_sent > before {
            (since, asked) = (Instant::now(), Instant::now());
        }
        if asked.elapsed() >= SILENCE {
            stall = monitor::caught(&guest.monitor());
            asked = Instant::now();
        }
        stall = stall.or_else(|| guest.stall());
        let limit = patience.to_boot.filter(|_| n_sent == 0);
        let is_over = match limit.unwrap_or(Limit::Passed(patience.a_step)) {
            Limit::Passed(limit) => since.elapsed() >= limit,
            Limit::Used(limit) => cpu_time(child.id()) >= limit,
        };
        // One that uses nothing waits, and not for ever.
        if is_over || since.elapsed() >= patience.a_step || stall.is_some() {
            break None;
        }
    };
    let used = cpu_time(child.id());
    if printed.is_none() {
        child.kill().with_context(|| format!("cannot kill {program}"))?;
    }
    let status = child.wait().with_context(|| format!("cannot wait for {program}"))?;
    let Some(printed) = printed else {
        if let Some(words) = stall {
            bail!(LostKernel::Stuck { program, words });
        }
        if let (0, Some(limit)) = (n_sent, patience.to_boot) {
            bail!(LostKernel::NoBoot { program, within: limit.of() });
        }
        let limit = patience.a_step.as_secs();
        bail!(
            "{program} sent nothing for {limit} s, {} s of CPU time after its start",
            used.as_secs()
        );
    };
    if let Some(words) = guest.stray_breakpoint() {
        bail!(LostKernel::StrayBreakpoint { program, words });
    }
    let printed = printed.with_context(|| format!("cannot read what {program} printed"))?;
    Ok(Ended { status, printed: String::from_utf8_lossy(&printed).into_owned() })
}

/// What a process has used: much of it where its guest goes round in a circle, little where it waits; none of one that is gone.
fn cpu_time(process: u32) -> Duration {
    /// Of utime and stime, behind the name.
    const FIELDS: std::ops::Range<usize> = 11..13;
    /// Of a tick, as Linux counts for user space on every machine that emulators run on.
    const TICK: Duration = Duration::from_millis(10);
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let (_, fields) = stat.rsplit_once(')').unwrap_or_default();
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let used =
        fields.get(FIELDS).unwrap_or_default().iter().filter_map(|it| it.parse::<u32>().ok());
    TICK * used.sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    const MINUTE: Duration = Duration::from_secs(60);

    /// What a machine whose transcript goes to `folder` boots.
    fn guest(folder: &Path) -> Guest {
        Guest {
            folder: folder.to_owned(),
            kernel: PathBuf::new(),
            initramfs: PathBuf::new(),
            command_line: String::new(),
        }
    }

    #[test]
    fn both_streams_and_the_status_are_returned() {
        let patience = Patience { to_boot: None, a_step: MINUTE };
        let ended = run(shell("echo one; echo two >&2; exit 3"), &guest(Path::new("/")), patience);
        let ended = ended.unwrap();
        assert_eq!((ended.status.code(), &*ended.printed), (Some(3), "one\ntwo\n"));
    }

    #[test]
    fn an_emulator_that_never_ends_is_killed() {
        let patience = Patience { to_boot: None, a_step: Duration::ZERO };
        let error = run(shell("exec sleep 1000"), &guest(Path::new("/")), patience).unwrap_err();
        let text = "sh sent nothing for 0 s, 0 s of CPU time after its start";
        assert_eq!(error.to_string(), text);
    }

    #[test]
    fn a_guest_that_sends_nothing_has_not_booted_and_one_that_did_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let patience = Patience { to_boot: Some(Limit::Passed(Duration::ZERO)), a_step: MINUTE };
        let error = run(shell("exec sleep 1000"), &guest(folder.path()), patience).unwrap_err();
        assert_eq!(error.to_string(), "the guest of sh did not boot in 0 s");
        assert!(error.is::<LostKernel>());
        fs::write(guest(folder.path()).results(), "step").unwrap();
        let ended = run(shell("sleep 1.5; exit 4"), &guest(folder.path()), patience).unwrap();
        assert_eq!(ended.status.code(), Some(4));
    }

    #[test]
    fn a_guest_whose_clock_is_counted_may_take_as_long_as_others_have_the_cpus() {
        let folder = tempfile::tempdir().unwrap();
        let limit = Duration::from_millis(200);
        let patience = Patience { to_boot: Some(Limit::Used(limit)), a_step: MINUTE };
        let ended = run(shell("sleep 2.5; exit 6"), &guest(folder.path()), patience).unwrap();
        assert_eq!(ended.status.code(), Some(6));
        let error = run(shell("while :; do :; done"), &guest(folder.path()), patience).unwrap_err();
        assert!(error.is::<LostKernel>(), "{error:#}");
    }

    #[test]
    fn a_guest_that_goes_on_sending_may_take_as_long_as_it_does() {
        let folder = tempfile::tempdir().unwrap();
        let patience = Patience { to_boot: None, a_step: 5 * LOOK };
        let steps = "for step in 1 2 3 4 5 6 7; do sleep 1; echo $step >>results; done; exit 5";
        let ended = run(shell(steps), &guest(folder.path()), patience).unwrap();
        assert_eq!(ended.status.code(), Some(5));
    }

    #[test]
    fn a_guest_whose_kernel_says_that_it_stands_still_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let words = "[   67.0] rcu: INFO: rcu_preempt self-detected stall on CPU";
        fs::write(
            guest(folder.path()).console(),
            format!("[ 0.4] RETBleed: WARNING\n{words}\n2-..."),
        )
        .unwrap();
        let patience = Patience { to_boot: Some(Limit::Passed(MINUTE)), a_step: MINUTE };
        let error = run(shell("exec sleep 1000"), &guest(folder.path()), patience).unwrap_err();
        let text = format!("the kernel of the guest of sh stands still: {words}");
        assert_eq!((error.to_string(), error.is::<LostKernel>()), (text, true));
    }

    #[test]
    fn a_guest_whose_kernel_died_of_a_breakpoint_is_lost_and_one_that_died_otherwise_has_ended() {
        let folder = tempfile::tempdir().unwrap();
        let ends_with = |words: &str| {
            fs::write(guest(folder.path()).console(), format!("{words}\n[ 9.0] CPU: 2 PID: 0\n"))
                .unwrap();
            let patience = Patience { to_boot: Some(Limit::Passed(MINUTE)), a_step: MINUTE };
            run(shell("exit 0"), &guest(folder.path()), patience)
        };
        for words in
            ["[ 37.5] Oops: int3: 0000 [#1] SMP NOPTI", "[ 37.5] int3: 0000 [#1] PREEMPT SMP NOPTI"]
        {
            let error = ends_with(words).unwrap_err();
            let text = format!("the kernel of the guest of sh died of a breakpoint: {words}");
            assert_eq!((error.to_string(), error.is::<LostKernel>()), (text, true));
        }
        ends_with("[ 37.5] Oops: general protection fault: 0000 [#1] SMP NOPTI").unwrap();
    }

    #[test]
    fn time_that_a_process_used_is_counted_and_of_none_is_nothing() {
        let deadline = Instant::now() + MINUTE;
        while cpu_time(std::process::id()) < Duration::from_millis(50) {
            assert!(Instant::now() < deadline, "50 ms of this process in a minute");
        }
        assert_eq!(cpu_time(u32::MAX), Duration::ZERO);
    }
}
