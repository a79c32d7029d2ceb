//! The connection to one node: made, lost, and made again.

use super::nodes::{Node, Place};
use anyhow::{Context, Result, anyhow, bail};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use engine::change::opened::program;
use engine::clock::now;
use host::probe::anchor;
use lab::lines::send;
use lab::race::protocol::{News, Order, PROTOCOL, Ready};
use lab::race::{Exchange, Offset, Task};
use lab::record::Fingerprint;
use lab::trial::{Mark, Trial};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long an agent may take to answer.
const ANSWER: Duration = Duration::from_secs(10);

/// How long a lost connection is tried again.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often.
const PAUSE: Duration = Duration::from_secs(1);

/// How often the time is asked for.
const QUESTIONS: usize = 9;

/// What a node tells the race.
pub(super) enum Told {
    /// It could begin.
    Ready(Box<Standing>),
    /// An interval is over.
    Interval(Box<Trial>),
    /// The recording of its machine goes on.
    Recorded(Piece),
    /// It has ended: as it should, or why not.
    Ended(Result<()>),
    /// Something that has to be said.
    Note(String),
}

/// A piece of a recording.
pub(super) struct Piece {
    /// Whether a tape begins with it: the first one, or one of a node that began anew.
    pub(super) is_first: bool,
    pub(super) bytes: Vec<u8>,
}

/// What is known of a node before it begins.
pub(super) struct Standing {
    pub(super) machine: Fingerprint,
    pub(super) engine: Ready,
    pub(super) offset: Offset,
}

/// A node, as the race sees it.
pub(super) struct Link {
    node: Node,
    task: Task,
    token: String,
    /// Held by the node of this machine that gets ready: what an interrupt costs is measured on a CPU that no other occupies.
    turn: Arc<Mutex<()>>,
    out: Mutex<Option<Out>>,
    /// When the race begins, by our clock; none before that is known.
    begin_ns: Mutex<Option<u64>>,
    is_over: AtomicBool,
    /// The last interval that was heard of, as the race numbers them.
    latest: AtomicU32,
    /// The intervals that an agent counts begin behind that one: one that was started anew counts from 1.
    base: AtomicU32,
    /// How many bytes of its recording were heard of.
    recorded: AtomicU64,
    /// The node began anew, and the next interval is to say so.
    is_restarted: AtomicBool,
}

/// The way to an agent whose clock is known.
struct Out {
    way: Way,
    offset: Offset,
}

/// The way to an agent.
struct Way {
    // Closed before the process is waited for, which ends with it.
    to: Box<dyn Write + Send>,
    /// The process that it is, where we started it.
    _child: Option<Started>,
}

/// The way from an agent.
type In = Box<dyn BufRead + Send>;

/// A process that ends with its connection.
struct Started(Child);

impl Drop for Started {
    fn drop(&mut self) {
        // Its input is closed by now: it stops its engine, removes its server, and ends.
        let began = now();
        while began.elapsed() < ANSWER {
            match self.0.try_wait() {
                Ok(None) => std::thread::sleep(Duration::from_millis(20)),
                Ok(Some(_)) | Err(_) => return,
            }
        }
        // What cannot be killed has ended.
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

impl Link {
    pub(super) fn new(node: Node, task: Task, token: &str, turn: Arc<Mutex<()>>) -> Link {
        Link {
            task,
            // Nobody else asks for it.
            token: if let Place::Agent(_) = node.place { token.to_owned() } else { String::new() },
            is_restarted: AtomicBool::new(false),
            turn,
            out: Mutex::new(None),
            begin_ns: Mutex::new(None),
            is_over: AtomicBool::new(false),
            latest: AtomicU32::new(0),
            base: AtomicU32::new(0),
            recorded: AtomicU64::new(0),
            node,
        }
    }

    /// Shows the agent that the race is there, and asks for a sign of its own.
    pub(super) fn beat(&self) {
        self.order(|_| Order::Time);
    }

    /// Begins at that moment of our CLOCK_MONOTONIC_RAW.
    pub(super) fn begin(&self, begin_ns: u64) {
        *lock(&self.begin_ns) = Some(begin_ns);
        self.order_to_begin();
    }

    /// Nothing where it is not yet known when.
    fn order_to_begin(&self) {
        let begin_ns = *lock(&self.begin_ns);
        if let Some(begin_ns) = begin_ns {
            self.order(|out| Order::Begin { at_ns: out.offset.there(begin_ns) });
        }
    }

    /// Intervals up to this one are kept.
    pub(super) fn keep(&self, up_to: u32) {
        let base = self.base.load(Ordering::Relaxed);
        self.order(|_| Order::Kept { up_to: up_to.saturating_sub(base) });
    }

    /// The race is over.
    pub(super) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.order(|_| Order::End);
    }

    /// Where the connection is lost, whoever reads notices.
    fn order(&self, order: impl FnOnce(&Out) -> Order) {
        if let Some(out) = &mut *lock(&self.out) {
            let order = order(out);
            send(&mut out.way.to, &order).ok();
        }
    }

    /// Tells what the node does until it has ended, or is lost for good.
    pub(super) fn follow(&self, tell: &(usize, Sender<(usize, Told)>)) {
        let (number, events) = tell;
        // Who does not listen any more has ended.
        let tell = |told| events.send((*number, told)).is_ok();
        let ended = self.followed(&tell);
        self.hang_up();
        tell(Told::Ended(ended));
    }

    fn followed(&self, tell: &dyn Fn(Told) -> bool) -> Result<()> {
        let (mut input, standing) = self.prepared()?;
        tell(Told::Ready(Box::new(standing)));
        loop {
            if self.is_over.load(Ordering::Relaxed) {
                // The order came before there was anybody to give it to.
                self.end();
            }
            let lost = match self.heard(&mut input, tell) {
                Ok(()) => return Ok(()),
                Err(Heard::Failed(why)) => bail!(why),
                Err(Heard::Lost(why)) => why,
            };
            self.hang_up();
            if self.is_over.load(Ordering::Relaxed) || lock(&self.begin_ns).is_none() {
                bail!(lost);
            }
            tell(Told::Note(format!("{lost}; trying again for {} s", PATIENCE.as_secs())));
            input = self.again(&lost)?;
            tell(Told::Note("connected again".to_owned()));
        }
    }

    /// Closes the way to the agent, and waits for its end where we started it.
    fn hang_up(&self) {
        let out = lock(&self.out).take();
        // Behind the lock: whoever gives orders does not wait.
        drop(out);
    }

    /// Hears intervals until the end.
    fn heard(&self, input: &mut In, tell: &dyn Fn(Told) -> bool) -> Result<(), Heard> {
        loop {
            match PROTOCOL.receive(input) {
                Ok(Some(News::Interval(mut trial))) => {
                    let base = self.base.load(Ordering::Relaxed);
                    trial.number = trial.number.saturating_add(base);
                    if self.is_restarted.swap(false, Ordering::Relaxed) {
                        trial.marks.push(Mark::Restarted);
                    }
                    self.latest.store(trial.number, Ordering::Relaxed);
                    tell(Told::Interval(trial));
                }
                Ok(Some(News::Recorded { at, bytes })) => {
                    tell(Told::Recorded(self.piece(at, &bytes)?));
                }
                Ok(Some(News::Ended)) => return Ok(()),
                Ok(Some(News::Failed { why } | News::Refused { why })) => {
                    return Err(Heard::Failed(why));
                }
                Ok(Some(_)) => {}
                Ok(None) => return Err(Heard::Lost("the agent is gone".to_owned())),
                Err(why) => return Err(Heard::Lost(format!("the connection is lost: {why}"))),
            }
        }
    }

    /// The next piece of the recording.
    fn piece(&self, at: u64, text: &str) -> Result<Piece, Heard> {
        let next = self.recorded.load(Ordering::Relaxed);
        let bytes = BASE64_STANDARD.decode(text).ok().filter(|_| at == next);
        let lost = || Heard::Lost(format!("the agent's recording does not go on at byte {next}"));
        let bytes = bytes.ok_or_else(lost)?;
        self.recorded.store(next.saturating_add(bytes.len() as u64), Ordering::Relaxed);
        Ok(Piece { is_first: at == 0, bytes })
    }

    /// A first connection, with an engine that is ready.
    fn prepared(&self) -> Result<(In, Standing)> {
        let (mut input, machine) = self.connected()?;
        let engine = self.made_ready(&mut input)?;
        let out = lock(&self.out);
        let offset = out.as_ref().context("the connection is lost")?.offset;
        Ok((input, Standing { machine, engine, offset }))
    }

    /// Connects again, and goes on where the race is known, or begins anew where the agent is another one.
    fn again(&self, lost: &str) -> Result<In> {
        let began = now();
        let mut why = anyhow!("the race is over");
        while began.elapsed() < PATIENCE && !self.is_over.load(Ordering::Relaxed) {
            std::thread::sleep(PAUSE);
            match self.gone_on() {
                Ok(input) => return Ok(input),
                Err(error) => why = error,
            }
            self.hang_up();
        }
        Err(why.context(format!("{lost}, and no other could be made")))
    }

    fn gone_on(&self) -> Result<In> {
        let (mut input, _) = self.connected()?;
        let latest = self.latest.load(Ordering::Relaxed);
        let after = latest.saturating_sub(self.base.load(Ordering::Relaxed));
        let recorded = self.recorded.load(Ordering::Relaxed);
        self.order(|_| Order::Resume { race: self.task.race.clone(), after, recorded });
        match answer(&mut input)? {
            News::Refused { .. } => {
                self.base.store(latest, Ordering::Relaxed);
                self.recorded.store(0, Ordering::Relaxed);
                self.is_restarted.store(true, Ordering::Relaxed);
                self.made_ready(&mut input)?;
            }
            News::Ready(_) => {}
            News::Failed { why } => bail!(why),
            _ => bail!("what answers is no agent"),
        }
        // It may not have heard that before. What has begun already goes on.
        self.order_to_begin();
        Ok(input)
    }

    /// A connection over which both have said hello, and whose clocks are known.
    fn connected(&self) -> Result<(In, Fingerprint)> {
        let (mut input, mut way) = self.node.place.connect()?;
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let token = self.token.clone();
        send(&mut way.to, &Order::Hello { protocol: PROTOCOL.version, version, token })
            .context("the agent has ended")?;
        let who = format!("node {}", self.node.name);
        let machine = match answer(&mut input)? {
            News::Hello { protocol, version, machine } => PROTOCOL
                .misunderstanding(&who, protocol, &version)
                .map_or(Ok(machine), |it| Err(anyhow!(it))),
            News::Refused { why } => Err(anyhow!("the agent refuses: {why}")),
            _ => Err(anyhow!("what answers is no agent")),
        }?;
        let offset = offset(&mut input, &mut way.to)?;
        *lock(&self.out) = Some(Out { way, offset });
        Ok((input, machine))
    }

    fn made_ready(&self, input: &mut In) -> Result<Ready> {
        let _turn = matches!(self.node.place, Place::Here(_)).then(|| lock(&self.turn));
        self.order(|_| Order::Prepare(Box::new(self.task.clone())));
        match answer(input)? {
            News::Ready(ready) => Ok(ready),
            News::Failed { why } | News::Refused { why } => Err(anyhow!(why)),
            _ => Err(anyhow!("what answers is no agent")),
        }
    }
}

/// The next thing that an agent says that is not the time.
fn answer(input: &mut In) -> Result<News> {
    loop {
        match PROTOCOL.receive(input)? {
            Some(News::Time { .. }) => {}
            Some(news) => return Ok(news),
            None => bail!("the agent ended without a word"),
        }
    }
}

/// Why nothing more is heard.
enum Heard {
    /// The node said so.
    Failed(String),
    /// Nobody knows.
    Lost(String),
}

fn offset(input: &mut In, to: &mut Box<dyn Write + Send>) -> Result<Offset> {
    let mut exchanges = Vec::with_capacity(QUESTIONS);
    for _ in 0..QUESTIONS {
        let asked_ns = anchor().raw_ns;
        send(to, &Order::Time)?;
        let Some(News::Time { ns: told_ns }) = PROTOCOL.receive(input)? else {
            bail!("the agent does not tell its time");
        };
        exchanges.push(Exchange { asked_ns, told_ns, answered_ns: anchor().raw_ns });
    }
    Offset::of(&exchanges).context("the agent's time cannot be told")
}

impl Place {
    fn connect(&self) -> Result<(In, Way)> {
        match self {
            Place::Here(group) => {
                let mut command = command(program()?.as_os_str());
                command.args(["agent", "--stdio"]);
                command.args(group.iter().flat_map(|it| ["--cgroup", it]));
                started(command)
            }
            Place::Ssh(host) => {
                let mut command = command("ssh".as_ref());
                // In the background, nobody could answer its questions.
                command.args(["-o", "BatchMode=yes", "-o", "ConnectTimeout=10"]);
                command.args([
                    "-o",
                    "ServerAliveInterval=5",
                    host,
                    "fullclock",
                    "agent",
                    "--stdio",
                ]);
                started(command).with_context(|| format!("cannot start ssh {host}"))
            }
            Place::Agent(address) => {
                reached(address).with_context(|| format!("cannot reach the agent at {address}"))
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a node is a process of this program")]
fn command(program: &std::ffi::OsStr) -> Command {
    Command::new(program)
}

/// Starts an agent that we talk to by its input and output. Ctrl-C is for us alone: we tell it when to end.
fn started(mut command: Command) -> Result<(In, Way)> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
    let mut child = host::counters::with_original_limit(|| command.spawn())?;
    let (to, from) = (child.stdin.take(), child.stdout.take());
    let child = Some(Started(child));
    let (to, from) = to.zip(from).context("no pipe to the agent")?;
    Ok((Box::new(BufReader::new(from)), Way { to: Box::new(to), _child: child }))
}

fn reached(address: &str) -> Result<(In, Way)> {
    let at = address.to_socket_addrs()?.next().context("the name has no address")?;
    if !at.ip().is_loopback() {
        bail!(
            "{at} is another machine, and nothing that is said to an agent is encrypted: bring it here by \
             `ssh -N -L 7078:127.0.0.1:7078 HOST`, or let ssh:HOST start one"
        );
    }
    let stream = TcpStream::connect_timeout(&at, ANSWER)?;
    // It is asked for the time far more often.
    stream.set_read_timeout(Some(ANSWER))?;
    // Each line is to be there at once: clocks are compared by them.
    stream.set_nodelay(true)?;
    let from = Box::new(BufReader::new(stream.try_clone()?));
    Ok((from, Way { to: Box::new(stream), _child: None }))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
