//! The kernel's log: its lines in every form ([`When`]), the table of messages ([`kinds`]), and what a log says of a host.
//!
//! A message that is printed once at boot and one that comes a thousand times an hour look the same line by line: lines of one
//! kind are counted, with the first and the last time.

mod kinds;
mod line;
mod pattern;
mod told;

pub use kinds::{Kind, Weight, Wording, kinds};
pub use line::When;

use crate::Missing;
use line::Line;
use std::fmt::Write as _;

/// What a host's logs say: the messages of the table that are in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelLog {
    /// One for each kind, in the order of the logs and of the first time.
    pub messages: Vec<Logged>,
    /// The first of its logs that could not be read.
    pub missing: Option<Missing>,
}

/// The messages of one kind in one log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logged {
    /// The file.
    pub source: String,
    /// What they are.
    pub messages: Messages,
}

/// Messages of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Messages {
    /// Which.
    pub kind: &'static Kind,
    /// How many lines, with those that syslogd counted.
    pub count: u64,
    /// The first.
    pub first: Message,
    /// The last.
    pub last: Message,
    /// The one with the largest amount; the last where none has any.
    pub worst: Message,
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// When.
    pub when: When,
    /// What it says, without the time, cut to a readable length. Addresses in memory are left out.
    pub text: String,
    /// The kernels in whose sources this wording was found; empty for all, or where it was not looked up.
    pub kernels: &'static str,
    /// The events that it counts (`total events = `), its nanoseconds, or the Gb/s that a card is capable of.
    pub amount: Option<u64>,
}

/// Characters of a message that are kept: the longest of the table have some 250.
const LONGEST: usize = 300;

impl KernelLog {
    /// What logs say together, each with its path. The same message is in several of them, in some with another time: of each kind
    /// those of the log that has most of them count, of equal ones the first.
    pub fn of<'a>(logs: impl IntoIterator<Item = (&'a str, &'a str)>) -> KernelLog {
        let mut messages: Vec<Logged> = Vec::new();
        for (source, text) in logs {
            for found in messages_of(text) {
                let logged = Logged { source: source.to_owned(), messages: found };
                let known = messages.iter().position(|it| it.messages.kind == logged.messages.kind);
                match known {
                    Some(at) if messages[at].messages.count < logged.messages.count => {
                        messages[at] = logged;
                    }
                    Some(_) => {}
                    None => messages.push(logged),
                }
            }
        }
        KernelLog { messages, missing: None }
    }
}

/// The boot error record table (BERT) holds what stopped the machine before this boot; the lines after it are its records
/// (drivers/acpi/apei/bert.c).
const BOOT_BEFORE: &str = "BERT: Error records from previous boot";
const RECORD: &str = "[Hardware Error]";

/// The messages of the table in a text, by kind, in the order of the first. Those before the last boot are left out.
pub fn messages_of(text: &str) -> Vec<Messages> {
    const BOOT: &str = "Linux version ";
    let mut found: Vec<Messages> = Vec::new();
    // The kind of the line before, for what syslogd counts.
    let mut before: Option<usize> = None;
    let mut is_of_boot_before = false;
    for raw in text.lines() {
        if raw.starts_with(' ') && raw.contains('=') {
            // A line of a record's dictionary in /dev/kmsg.
            continue;
        }
        is_of_boot_before &= raw.contains(RECORD);
        if is_of_boot_before || !pattern::may_hold(raw) {
            before = None;
            continue;
        }
        match Line::parse(raw) {
            Line::Foreign => before = None,
            Line::Message(_, message) if message.starts_with(BOOT_BEFORE) => {
                is_of_boot_before = true;
                before = None;
            }
            Line::Repeated(n) => {
                if let Some(at) = before {
                    found[at].count = found[at].count.saturating_add(n);
                }
            }
            Line::Message(_, message) if message.starts_with(BOOT) => {
                found.clear();
                before = None;
            }
            Line::Message(when, message) => before = count(&mut found, when, &message),
        }
    }
    found
}

/// Counts a message; the place of its kind in `found`, `None` where the table does not know it.
fn count(found: &mut Vec<Messages>, when: When, message: &str) -> Option<usize> {
    // rsyslog: "message repeated 3 times: [ text]".
    let (message, n) = repeated(message).unwrap_or((message, 1));
    // As an excerpt keeps it, so that it is found there again.
    let text = readable(message);
    let pattern::Found { kind, kernels, amount } = pattern::find(&text)?;
    let message = Message { when, text, kernels, amount };
    let at = found.iter().position(|it| it.kind == kind);
    let Some(at) = at else {
        let (last, worst) = (message.clone(), message.clone());
        found.push(Messages { kind, count: n, first: message, last, worst });
        return Some(found.len() - 1);
    };
    let known = &mut found[at];
    known.count = known.count.saturating_add(n);
    if message.amount >= known.worst.amount {
        known.worst = message.clone();
    }
    known.last = message;
    Some(at)
}

/// The text of `message repeated N times: [ text]`, and N.
fn repeated(message: &str) -> Option<(&str, u64)> {
    let (n, text) = message.strip_prefix("message repeated ")?.split_once(" times: [")?;
    let text = text.trim().trim_end_matches(']');
    let text = text.rsplit_once("] ").filter(|_| text.starts_with('[')).map_or(text, |it| it.1);
    Some((text, n.parse().ok()?))
}

/// The message up to a readable length, with `0x...` for addresses in memory, which an attacker would like to know.
fn readable(message: &str) -> String {
    const SHORTEST_ADDRESS: usize = 12;
    let mut shown = String::with_capacity(message.len().min(LONGEST));
    let mut rest = message;
    while let Some((before, behind)) = rest.split_once("0x") {
        let n_digits = behind.bytes().take_while(u8::is_ascii_hexdigit).count();
        shown.push_str(before);
        let digits = if n_digits < SHORTEST_ADDRESS { &behind[..n_digits] } else { "..." };
        shown.extend(["0x", digits]);
        rest = &behind[n_digits..];
    }
    shown.push_str(rest);
    match shown.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &shown[..end]),
        None => shown,
    }
}

/// The part of a log that a capture keeps: of each kind the first, the worst and the last line without the host's name, and how
/// many there were. It says the same as the whole log ([`messages_of`]).
pub fn excerpt(text: &str) -> String {
    let mut excerpt = String::new();
    for Messages { count, first, last, worst, .. } in messages_of(text) {
        let mut kept = vec![&first];
        if count > 1 {
            kept.extend([&worst, &last].into_iter().filter(|it| **it != first));
            kept.dedup();
        }
        // As written, the worst is the last of its amount: never behind the last line.
        let n_left = count.saturating_sub(kept.len() as u64);
        for (at, message) in kept.into_iter().enumerate() {
            excerpt.push_str(&written(message));
            excerpt.push('\n');
            if at == 0 && n_left > 0 {
                #[expect(clippy::let_underscore_must_use, reason = "a String takes everything")]
                let _ = writeln!(excerpt, "last message repeated {n_left} times");
            }
        }
    }
    excerpt
}

/// A message as a line of a log.
fn written(Message { when, text, .. }: &Message) -> String {
    let seconds = when
        .since_boot
        .map_or_else(String::new, |it| format!("[{}.{:06}] ", it.as_secs(), it.subsec_micros()));
    match &when.wall {
        Some(wall) if stands_alone(wall) => format!("{wall} <host> kernel: {seconds}{text}"),
        Some(wall) => format!("[{wall}] {seconds}{text}"),
        None => format!("{seconds}{text}"),
    }
}

/// Whether a time is one that stands before the host's name, and none that `dmesg` writes.
fn stands_alone(wall: &str) -> bool {
    let line = format!("{wall} <host> kernel: x");
    matches!(Line::parse(&line), Line::Message(_, text) if text == "x")
}

#[cfg(test)]
mod tests;
