//! What a race and the agent of a node tell each other: one JSON object a line, in both directions.
//!
//! ```text
//!   race                                agent
//!   hello: protocol, token      ->
//!                               <-      hello: machine      or refused: why
//!   time                        ->
//!                               <-      time                some times
//!   prepare: task               ->
//!                               <-      ready               or failed: why
//!   begin: moment               ->
//!                               <-      interval, recorded, one after the other
//!   kept: up to which           ->
//!   end                         ->
//!                               <-      ended               or failed: why
//! ```
//!
//! A race asks for the time every other second, also later, so that each side knows that the other is there. Where the
//! connection was lost, a race says hello again, and `resume` in place of `prepare`: the agent sends what was not heard, or
//! refuses where it knows no such race. On what is no line of this protocol the connection ends.

use super::runner::Task;
use crate::record::Fingerprint;
use crate::trial::Trial;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, Read, Write};

/// The version of what is said here. Others are refused.
pub const PROTOCOL: u32 = 1;

/// The longest line, in bytes: a trial's ledger and metrics have some tens of kilobytes.
const LONGEST: u64 = 4 << 20;

/// That of a greeting.
const LONGEST_GREETING: u64 = 1024;

/// What a race tells an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Order {
    /// The first thing that is said.
    Hello {
        /// [`PROTOCOL`].
        protocol: u32,
        /// The version of fullclock, for the message of who refuses.
        version: String,
        /// What only who may use the agent knows.
        token: String,
    },
    /// What does your clock say?
    Time,
    /// Make ready.
    Prepare(Box<Task>),
    /// Go on with a race that was begun.
    Resume {
        /// The race's id.
        race: String,
        /// The number of the last interval that is kept.
        after: u32,
        /// How many bytes of the recording are.
        recorded: u64,
    },
    /// Begin.
    Begin {
        /// At this moment of the agent's CLOCK_MONOTONIC_RAW, in nanoseconds.
        at_ns: u64,
    },
    /// Intervals up to this number are kept, and need not be remembered.
    Kept {
        /// Counted from 1.
        up_to: u32,
    },
    /// The race is over.
    End,
}

/// What an agent tells a race.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum News {
    /// The first thing that is said.
    Hello {
        /// [`PROTOCOL`].
        protocol: u32,
        /// The version of fullclock.
        version: String,
        /// The node's host.
        machine: Fingerprint,
    },
    /// The agent does not do what it was told.
    Refused {
        /// In words.
        why: String,
    },
    /// What the clock says.
    Time {
        /// CLOCK_MONOTONIC_RAW, in nanoseconds.
        ns: u64,
    },
    /// The engine may be started.
    Ready(Ready),
    /// An interval is over. Its trial is of no arm and no block yet.
    Interval(Box<Trial>),
    /// The recording of the node's machine has grown. Nothing of it is told before the race begins.
    Recorded {
        /// How long it was.
        at: u64,
        /// What has come, in base64 (RFC 4648, section 4).
        bytes: String,
    },
    /// The engine has stopped, and every commit was in its log.
    Ended,
    /// It could not be made ready, or ended too early.
    Failed {
        /// In words.
        why: String,
    },
}

/// An engine that may be started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ready {
    /// What it says of itself.
    pub about: Vec<(String, String)>,
    /// The CPUs that it is kept on, as the kernel writes lists.
    pub cpus: Option<String>,
}

/// The next thing that is said; `None` where nothing is any more.
///
/// Errors: the connection is lost; what came is no line of this protocol.
pub fn receive<T: DeserializeOwned>(from: &mut impl BufRead) -> io::Result<Option<T>> {
    receive_up_to(LONGEST, from)
}

/// The same from a stranger, who may say hello and nothing longer.
pub fn receive_greeting<T: DeserializeOwned>(from: &mut impl BufRead) -> io::Result<Option<T>> {
    receive_up_to(LONGEST_GREETING, from)
}

fn receive_up_to<T: DeserializeOwned>(
    longest: u64,
    from: &mut impl BufRead,
) -> io::Result<Option<T>> {
    let invalid = |why: String| io::Error::new(io::ErrorKind::InvalidData, why);
    let mut line = Vec::new();
    from.by_ref().take(longest).read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Ok(None);
    }
    if line.last() != Some(&b'\n') {
        let is_long = line.len() as u64 == longest;
        let why = if is_long { "a line that is too long" } else { "a line without an end" };
        return Err(invalid(format!("{why}, which is not the protocol of a race")));
    }
    let told = serde_json::from_slice(&line);
    told.map(Some).map_err(|why| invalid(format!("not the protocol of a race: {why}")))
}

/// Says it.
pub fn send(to: &mut impl Write, said: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(said)?;
    line.push(b'\n');
    to.write_all(&line)?;
    to.flush()
}

/// Why two versions do not understand each other; `None` where they do. `who` is the other side.
pub fn misunderstanding(who: &str, protocol: u32, version: &str) -> Option<String> {
    (protocol != PROTOCOL).then(|| {
        let own = env!("CARGO_PKG_VERSION");
        format!(
            "{who} is fullclock {version} and speaks version {protocol} of the protocol of races, this is fullclock {own} and \
             speaks version {PROTOCOL}: use one version of fullclock on all nodes"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::Known;
    use std::io::Cursor;

    fn received(text: &[u8]) -> Result<Option<Order>, String> {
        receive(&mut Cursor::new(text)).map_err(|it| it.to_string())
    }

    #[test]
    fn what_is_said_is_what_is_heard() {
        let trial = Trial::failed(0, 1, Known::Value(7), &crate::failure::Failure::Stopped);
        let said = [News::Ended, News::Interval(Box::new(trial)), News::Time { ns: u64::MAX }];
        let mut line = Vec::new();
        said.iter().for_each(|it| send(&mut line, it).unwrap());
        let mut from = Cursor::new(line);
        let heard: Vec<News> = std::iter::from_fn(|| receive(&mut from).unwrap()).collect();
        assert_eq!(heard, said);
    }

    #[test]
    fn what_is_no_order_is_refused_and_so_is_a_line_without_an_end() {
        assert_eq!(received(b""), Ok(None));
        assert_eq!(received(b"\"time\"\n"), Ok(Some(Order::Time)));
        for text in [
            "GET / HTTP/1.1\r\n",
            "{\"dance\":{}}\n",
            "\"time\"",
            "{\"kept\":{\"up_to\":-1}}\n",
            "\n",
        ] {
            assert!(
                received(text.as_bytes()).unwrap_err().contains("protocol of a race"),
                "{text}"
            );
        }
        let endless = vec![b'['; LONGEST as usize + 10];
        assert!(received(&endless).unwrap_err().contains("too long"));
        let greeting: io::Result<Option<Order>> = receive_greeting(&mut Cursor::new(&endless));
        assert!(greeting.unwrap_err().to_string().contains("too long"));
    }

    #[test]
    fn another_version_is_told_which_is_which() {
        assert_eq!(misunderstanding("node b", PROTOCOL, "9.9"), None);
        let why = misunderstanding("node b", PROTOCOL + 1, "9.9").unwrap();
        assert!(why.contains("node b is fullclock 9.9"), "{why}");
    }
}
