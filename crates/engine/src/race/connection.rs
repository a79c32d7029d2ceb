//! How an agent is reached: a process that is started here or by ssh, or one that listens.

use super::nodes::{Node, Place};
use crate::change::opened::program;
use crate::clock::now;
use crate::peer::ANSWER;
use crate::peer::client::reach;
use anyhow::{Context, Result, bail};
use host::probe::anchor;
use lab::lines::send;
use lab::race::protocol::{News, Order, PROTOCOL};
use lab::race::{Exchange, Offset};
use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Write};
use std::net::ToSocketAddrs;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// How often an agent is asked for the time.
const QUESTIONS: usize = 9;

/// The way from an agent.
pub(super) type Input = Box<dyn BufRead + Send>;

/// The way to an agent.
pub(super) struct Output {
    // Closed before the process is waited for, which ends with it.
    to: Box<dyn Write + Send>,
    /// The process that it is, where we started it.
    _child: Option<Started>,
}

/// The way to an agent whose clock is known.
pub(super) struct Way {
    pub(super) output: Output,
    pub(super) offset: Offset,
}

/// A process that ends with its connection.
struct Started(Child);

impl Drop for Started {
    fn drop(&mut self) {
        // Its input is closed by now, so it stops its engine, removes its server, and exits.
        let began = now();
        while began.elapsed() < ANSWER {
            match self.0.try_wait() {
                Ok(None) => std::thread::sleep(Duration::from_millis(20)),
                Ok(Some(_)) | Err(_) => return,
            }
        }
        // A process that cannot be killed has exited.
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.to.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

impl Node {
    /// Connects to its agent.
    pub(super) fn connect(&self) -> Result<(Input, Output)> {
        let quota = self.quota.map(|it| it.to_string());
        let quota = quota.iter().flat_map(|it| ["--quota", it]);
        match &self.place {
            Place::Here(group) => {
                let mut command = command(program()?.as_os_str());
                command.args(["agent", "--stdio"]);
                command.args(group.iter().flat_map(|it| ["--cgroup", it])).args(quota);
                started(command)
            }
            Place::Ssh(host) => {
                let mut command = command("ssh".as_ref());
                // It runs in the background, where no user can answer its questions.
                command.args(["-o", "BatchMode=yes", "-o", "ConnectTimeout=10"]);
                command.args(["-o", "ServerAliveInterval=5", host]);
                command.args(["fullclock", "agent", "--stdio"]).args(quota);
                started(command).with_context(|| format!("cannot start ssh {host}"))
            }
            Place::Agent(address) => {
                reached(address).with_context(|| format!("cannot reach the agent at {address}"))
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a node is a process of this program")]
fn command(program: &OsStr) -> Command {
    Command::new(program)
}

/// Starts an agent that we talk to by its input and output. Ctrl-C is for us alone: we tell it when to end.
fn started(mut command: Command) -> Result<(Input, Output)> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
    let mut child = host::counters::with_original_limit(|| command.spawn())?;
    let (to, from) = (child.stdin.take(), child.stdout.take());
    let child = Some(Started(child));
    let (to, from) = to.zip(from).context("no pipe to the agent")?;
    Ok((Box::new(BufReader::new(from)), Output { to: Box::new(to), _child: child }))
}

fn reached(address: &str) -> Result<(Input, Output)> {
    let at = address.to_socket_addrs()?.next().context("the name has no address")?;
    if !at.ip().is_loopback() {
        bail!(
            "{at} is another machine, and nothing that is said to an agent is encrypted: bring it here by \
             `ssh -N -L 7078:127.0.0.1:7078 HOST`, or let ssh:HOST start one"
        );
    }
    let stream = reach(at)?;
    let from = Box::new(BufReader::new(stream.try_clone()?));
    Ok((from, Output { to: Box::new(stream), _child: None }))
}

/// How the clock of an agent stands to ours.
pub(super) fn offset_of(input: &mut Input, output: &mut Output) -> Result<Offset> {
    let mut exchanges = Vec::with_capacity(QUESTIONS);
    for _ in 0..QUESTIONS {
        let asked_ns = anchor().raw_ns;
        send(output, &Order::Time)?;
        let Some(News::Time { ns: told_ns }) = PROTOCOL.receive(input)? else {
            bail!("the agent does not tell its time");
        };
        exchanges.push(Exchange { asked_ns, told_ns, answered_ns: anchor().raw_ns });
    }
    Offset::of(&exchanges).context("the agent's time is unknown")
}
