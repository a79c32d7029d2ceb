//! Machines by ssh: a capture of each host, taken there and judged here.
//!
//! ssh asks nobody (`BatchMode`), and a host whose key is unknown is not connected to. Nothing is left on a host: where this program is
//! copied there, the shell that runs it removes it when it ends, for whatever reason.
//! Sources: ssh(1), ssh_config(5), sudo(8) for `-n`, sh(1p) for `trap`.

use super::copies::of_source;
use super::told::Told;
use super::{Gathered, Skipped};
use crate::change::opened::program;
use crate::clock::now;
use crate::http::shortened;
use crate::interrupt::Interrupt;
use anyhow::{Context, Result, bail};
use fleet::Words;
use host::{Captured, trusted_file};
use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;

/// Hosts that are asked at the same time.
const AT_ONCE: usize = 16;

/// How long one host may take: a capture of 512 CPUs as root takes some seconds, and a copy of the program as long as 10 MiB do.
pub const DEADLINE: Duration = Duration::from_secs(120);

/// The largest file of hosts.
const LARGEST_FILE: usize = 16 << 20;

/// The largest capture: that of 4,096 CPUs has some 100 MiB.
const LARGEST: u64 = 256 << 20;

/// What is kept of what a host complains of.
const COMPLAINT: u64 = 64 << 10;

/// How often a running ssh is looked at.
const BEAT: Duration = Duration::from_millis(20);

/// How long what ssh wrote may take to be read once it has ended: 256 MiB from a pipe take less than a second.
const REST: Duration = Duration::from_secs(10);

/// Held while a process is started.
static STARTING: Mutex<()> = Mutex::new(());

/// Whom to ask, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// As ssh takes them, from [`hosts`].
    pub hosts: Vec<String>,
    /// Whether captures are taken by `sudo -n`.
    pub sudo: bool,
    /// Whether this program is copied to each host, and removed afterwards.
    pub copy: bool,
    /// For each host.
    pub deadline: Duration,
}

/// The hosts in a file: one a line, with or without a user; `#` begins a comment. A host that is named twice is asked once.
///
/// Errors: there is no such file, users other than root and the caller can write it, or a line is no host.
pub fn hosts(file: &Path) -> Result<Vec<String>> {
    let named = || file.display().to_string();
    let bytes = trusted_file::read(file, LARGEST_FILE)?
        .with_context(|| format!("cannot read {}: there is no such file", named()))?;
    let text =
        String::from_utf8(bytes).with_context(|| format!("{}: it is not a text", named()))?;
    let mut known = BTreeSet::new();
    let mut hosts = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let host = line.split('#').next().unwrap_or_default().trim();
        if host.is_empty() {
            continue;
        }
        if !is_host(host) {
            let line = at + 1;
            bail!(
                "{}, line {line}: {host:?} is not a host: expected HOST or USER@HOST; a port or a key belongs into ~/.ssh/config",
                named()
            );
        }
        if known.insert(host) {
            hosts.push(host.to_owned());
        }
    }
    if hosts.is_empty() {
        bail!("{} names no host", named());
    }
    Ok(hosts)
}

/// Whether ssh takes it as a host, and no shell as anything else.
fn is_host(text: &str) -> bool {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "._-:%[]@".contains(it);
    let parts: Vec<&str> = text.split('@').collect();
    parts.len() <= 2
        && parts.iter().all(|it| !it.is_empty() && !it.starts_with('-'))
        && text.chars().all(is_plain)
}

/// The machines of these hosts. `progress` is told how many of them have answered or failed.
///
/// Errors: this program cannot be copied, or no host could be captured.
pub fn gather(
    options: &Options,
    interrupt: &Interrupt,
    progress: &mut dyn FnMut(usize),
) -> Result<Gathered> {
    let binary = options.copy.then(program).transpose()?;
    let n_bytes = binary.as_deref().map(n_bytes_of).transpose()?;
    let way = Way {
        ssh: vec![OsString::from("ssh")],
        binary,
        script: script(options.sudo, n_bytes),
        deadline: options.deadline,
        rest: REST,
    };
    way.gather(&options.hosts, interrupt.flag(), progress)
}

#[expect(clippy::disallowed_methods, reason = "the file of this program is no fact of a host")]
fn n_bytes_of(program: &Path) -> Result<u64> {
    let file = File::open(program).and_then(|it| it.metadata());
    Ok(file.context("cannot read this program")?.len())
}

/// What the shell of a host runs: its program, or a copy of this one, which has so many bytes. One that was cut on its way is not run.
fn script(sudo: bool, n_bytes: Option<u64>) -> String {
    let sudo = if sudo { "sudo -n " } else { "" };
    let Some(n_bytes) = n_bytes else { return format!("{sudo}fullclock capture") };
    // The end of the connection ends `cat`, or the capture as it writes; the trap comes after either. The login shell may be any: to all of
    // them, what is between single quotes is one word.
    format!(
        "exec sh -c 'umask 077; d=$(mktemp -d \"${{TMPDIR:-/tmp}}/fullclock.XXXXXXXX\") || exit; \
         trap \"rm -rf \\\"$d\\\"\" EXIT; trap \"exit 1\" HUP INT PIPE TERM; \
         cat >\"$d/fullclock\" && [ \"$(wc -c <\"$d/fullclock\")\" -eq {n_bytes} ] && chmod 700 \"$d/fullclock\" && {sudo}\"$d/fullclock\" capture </dev/null'"
    )
}

/// How hosts are reached.
struct Way {
    /// The program, and what comes before its options.
    ssh: Vec<OsString>,
    /// What is copied.
    binary: Option<PathBuf>,
    script: String,
    deadline: Duration,
    /// Patience with what was written, after the end.
    rest: Duration,
}

impl Way {
    fn gather(
        &self,
        hosts: &[String],
        is_over: &AtomicBool,
        progress: &mut dyn FnMut(usize),
    ) -> Result<Gathered> {
        let next = AtomicUsize::new(0);
        let judging = Mutex::new(());
        let (sender, receiver) = mpsc::channel();
        let mut gathered = Gathered::default();
        let mut words = Words::default();
        std::thread::scope(|scope| {
            for _ in 0..AT_ONCE.min(hosts.len()) {
                let (sender, next, judging) = (sender.clone(), &next, &judging);
                scope.spawn(move || {
                    while let Some(host) = hosts.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let told = self.told(host, is_over, judging).map_err(|error| Skipped {
                            name: host.clone(),
                            why: format!("{error:#}"),
                        });
                        // Who receives waits until the last one has been sent.
                        sender.send(told).ok();
                    }
                });
            }
            drop(sender);
            for (at, told) in receiver.into_iter().enumerate() {
                progress(at + 1);
                match told {
                    Ok(told) => gathered.machines.push(told.machine(&mut words)),
                    Err(skipped) => gathered.skipped.push(skipped),
                }
            }
        });
        if let ([], [first, ..]) = (&*gathered.machines, &*gathered.skipped) {
            bail!("no host could be captured; {}: {}", first.name, first.why);
        }
        gathered.machines.sort_by(|a, b| a.name.cmp(&b.name));
        gathered.skipped.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(gathered)
    }

    fn told(&self, host: &str, is_over: &AtomicBool, judging: &Mutex<()>) -> Result<Told> {
        if is_over.load(Ordering::Relaxed) {
            bail!("stopped before it was asked");
        }
        let capture = self.capture(host, is_over)?;
        // Hosts are waited for at the same time, and judged one after the other.
        let _turn = judging.lock().unwrap_or_else(PoisonError::into_inner);
        let captured = Captured::parse(&capture).context("what it answers is no capture")?;
        of_source(&captured, host)
    }

    fn capture(&self, host: &str, is_over: &AtomicBool) -> Result<String> {
        let mut child = self.start(host)?;
        let out = reading(child.stdout.take(), LARGEST);
        let err = reading(child.stderr.take(), COMPLAINT);
        let status = end(&mut child, self.deadline, is_over)?;
        if !status.success() {
            bail!(complaint(status, &err.recv_timeout(self.rest).unwrap_or_default(), host));
        }
        let Ok(out) = out.recv_timeout(self.rest) else {
            bail!(
                "ssh has ended, and a process that it started keeps its output open: is ControlPersist or a ProxyCommand set in ~/.ssh/config?"
            );
        };
        if out.len() as u64 >= LARGEST {
            bail!("it answers with {} MiB or more, which is no capture", LARGEST >> 20);
        }
        let text = String::from_utf8(out).context("what it answers is no text")?;
        // A shell that greets everyone does so here, too.
        let begin = text.find("fullclock capture ").filter(|it| is_line(&text, *it));
        begin
            .map(|it| text[it..].to_owned())
            .with_context(|| format!("what it answers is no capture, but {:?}", shortened(&text)))
    }

    #[expect(clippy::disallowed_methods, reason = "ssh is what reaches the hosts")]
    fn start(&self, host: &str) -> Result<Child> {
        let (program, before) = self.ssh.split_first().context("no program reaches hosts")?;
        let mut command = Command::new(program);
        command.args(before);
        for option in [
            "BatchMode=yes",
            "StrictHostKeyChecking=yes",
            "ConnectTimeout=10",
            "ServerAliveInterval=5",
            "ServerAliveCountMax=3",
            // A connection that stays for others would keep our pipes open.
            "ControlMaster=no",
            "ClearAllForwardings=yes",
            "ForwardAgent=no",
            "PermitLocalCommand=no",
        ] {
            command.args(["-o", option]);
        }
        command.args(["-T", "-x", "--", host, &self.script]);
        let stdin = match &self.binary {
            Some(path) => Stdio::from(File::open(path).context("cannot read this program")?),
            None => Stdio::null(),
        };
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Ctrl-C is for us alone: we end what runs.
        command.process_group(0);
        // The limit of open files is that of the whole process, and comes and goes with each start.
        let _turn = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
        let child = host::counters::with_original_limit(|| command.spawn());
        child.context("cannot start ssh (package openssh-client)")
    }
}

/// Waits for a process and ends it, with those that it started, where it is not over in time.
fn end(child: &mut Child, deadline: Duration, is_over: &AtomicBool) -> Result<ExitStatus> {
    let began = now();
    let why = loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if is_over.load(Ordering::Relaxed) {
            break "stopped before it had answered".to_owned();
        }
        if began.elapsed() >= deadline {
            break format!("it did not answer within {} s", deadline.as_secs_f64());
        }
        std::thread::sleep(BEAT);
    };
    if let Some(group) = Pid::from_raw(i32::try_from(child.id()).unwrap_or(0)) {
        // It may have ended in this moment.
        kill_process_group(group, Signal::KILL).ok();
    }
    child.wait()?;
    bail!(why)
}

/// Reads a pipe on a thread of its own, and gives what came when it is closed. A process that outlives ssh may keep it open, and is not waited
/// for.
fn reading(pipe: Option<impl Read + Send + 'static>, most: u64) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        // Who waited may have given up.
        sender.send(read(pipe, most)).ok();
    });
    receiver
}

/// As much of a pipe as fits; the rest is read, so that its writer ends, and forgotten.
fn read(pipe: Option<impl Read>, most: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        // What came before an error is all there is.
        pipe.by_ref().take(most).read_to_end(&mut bytes).ok();
        std::io::copy(&mut pipe, &mut std::io::sink()).ok();
    }
    bytes
}

fn is_line(text: &str, at: usize) -> bool {
    at == 0 || text[..at].ends_with('\n')
}

/// Why a host did not answer, and what to do.
fn complaint(status: ExitStatus, told: &[u8], host: &str) -> String {
    let told = String::from_utf8_lossy(told);
    let last = told.lines().map(str::trim).rfind(|it| !it.is_empty()).unwrap_or_default();
    let last = shortened(last);
    let advice = if told.contains("Host key verification failed") {
        format!("; connect once by hand, and compare the key: ssh {host}")
    } else if status.code() == Some(127) || told.contains("command not found") {
        "; install fullclock there, or let --copy bring it".to_owned()
    } else if told.contains("sudo:") {
        "; sudo has to allow what runs there (`fullclock capture`, or with --copy any program) without a password".to_owned()
    } else {
        String::new()
    };
    match status.code() {
        Some(255) => format!("ssh: {last}{advice}"),
        Some(code) => format!("exit code {code}: {last}{advice}"),
        None => format!("ssh was ended by a signal: {last}{advice}"),
    }
}

#[cfg(test)]
mod tests;
