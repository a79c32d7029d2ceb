//! Protocols of one JSON object a line: how two programs of ours greet each other, and how lines are read and written.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::cell::Cell;
use std::io::{self, BufRead, Read, Write};
use std::net::TcpStream;
use std::time::Instant;

/// The longest greeting, in bytes.
const LONGEST_GREETING: u64 = 1024;

/// A protocol and its limits.
#[derive(Clone, Copy, Debug)]
pub struct Protocol {
    /// What it serves, as in `the protocol of a race`.
    pub of: &'static str,
    /// Its version. Others are refused.
    pub version: u32,
    /// The longest line, in bytes.
    pub longest: u64,
}

/// The first line of a client, the same in every protocol and every version of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Greeting {
    /// It gives orders.
    Hello {
        /// The version of its protocol.
        protocol: u32,
        /// The version of fullclock, for the message of the side that refuses.
        version: String,
        /// The secret that clients know.
        token: String,
    },
    /// It carries data of a client that is served.
    Join {
        /// The client's session.
        session: String,
    },
}

/// The answer to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Welcome {
    /// The client may give orders.
    Hello {
        /// The version of the protocol.
        protocol: u32,
        /// The version of fullclock.
        version: String,
    },
    /// This connection is one of the session.
    Joined,
    /// The client is refused.
    Refused {
        /// In words.
        why: String,
    },
}

#[derive(Deserialize)]
#[serde(untagged)]
enum First {
    Greeting(Greeting),
    Other(Value),
}

impl Protocol {
    /// The greeting of a client.
    pub fn hello(&self, token: &str) -> Greeting {
        let (protocol, version) = (self.version, env!("CARGO_PKG_VERSION").to_owned());
        Greeting::Hello { protocol, version, token: token.to_owned() }
    }

    /// The answer to a client that is admitted.
    pub fn welcome(&self) -> Welcome {
        let (protocol, version) = (self.version, env!("CARGO_PKG_VERSION").to_owned());
        Welcome::Hello { protocol, version }
    }

    /// The next message; `None` at the end.
    ///
    /// Errors: the connection is lost; what came is no line of this protocol.
    pub fn receive<T: DeserializeOwned>(&self, from: &mut impl BufRead) -> io::Result<Option<T>> {
        self.receive_up_to(self.longest, from)
    }

    /// The first line of a side that has not authenticated yet, which is short; `Err` within is JSON of another kind.
    pub fn receive_greeting(
        &self,
        from: &mut impl BufRead,
    ) -> io::Result<Option<Result<Greeting, Value>>> {
        let first = self.receive_up_to(LONGEST_GREETING, from)?;
        Ok(first.map(|it| match it {
            First::Greeting(greeting) => Ok(greeting),
            First::Other(value) => Err(value),
        }))
    }

    fn receive_up_to<T: DeserializeOwned>(
        &self,
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
            return Err(invalid(format!("{why}, which is not the protocol of {}", self.of)));
        }
        let told = serde_json::from_slice(&line);
        told.map(Some).map_err(|why| invalid(format!("not the protocol of {}: {why}", self.of)))
    }

    /// Why two versions do not understand each other; `None` where they do. `who` is the other side, `program` its
    /// version of fullclock.
    pub fn misunderstanding(&self, who: &str, version: u32, program: &str) -> Option<String> {
        let Protocol { of, version: own, .. } = self;
        (version != *own).then(|| {
            format!(
                "{who} is fullclock {program} and speaks version {version} of the protocol of {of}, this is fullclock {} and \
                 speaks version {own}: use one version of fullclock on both sides",
                env!("CARGO_PKG_VERSION")
            )
        })
    }
}

/// Sends a message as one line of JSON.
pub fn send(to: &mut impl Write, said: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(said)?;
    line.push(b'\n');
    to.write_all(&line)?;
    to.flush()
}

/// Reads a connection, until a time limit.
#[derive(Debug)]
pub struct Timed<'a> {
    /// The connection.
    pub stream: &'a TcpStream,
    /// The limit; `None`: there is none.
    pub until: &'a Cell<Option<Instant>>,
}

impl Read for Timed<'_> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the time of a client without a token is limited"
    )]
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = self.until.get().map(|it| it.saturating_duration_since(Instant::now()));
        if left.is_some_and(|it| it.is_zero()) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(left)?;
        self.stream.read(into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    const OURS: Protocol = Protocol { of: "a test", version: 3, longest: 4096 };

    fn received(text: &[u8]) -> Result<Option<u32>, String> {
        OURS.receive(&mut Cursor::new(text)).map_err(|it| it.to_string())
    }

    #[test]
    fn what_is_said_is_what_is_heard_line_by_line() {
        let mut lines = Vec::new();
        [7, 8].iter().for_each(|it| send(&mut lines, it).unwrap());
        let mut from = Cursor::new(lines);
        let heard: Vec<u32> = std::iter::from_fn(|| OURS.receive(&mut from).unwrap()).collect();
        assert_eq!((heard, received(b"")), (vec![7, 8], Ok(None)));
    }

    #[test]
    fn what_is_no_line_is_refused_and_so_is_one_without_an_end() {
        for text in ["GET / HTTP/1.1\r\n", "7", "-1\n", "\n"] {
            let refused = received(text.as_bytes()).unwrap_err();
            assert!(refused.contains("protocol of a test"), "{text}: {refused}");
        }
        let endless = vec![b'['; 5000];
        assert!(received(&endless).unwrap_err().contains("too long"));
        let greeting = OURS.receive_greeting(&mut Cursor::new(&endless));
        assert!(greeting.unwrap_err().to_string().contains("too long"));
    }

    #[test]
    fn a_greeting_is_told_from_other_lines() {
        let greeted = |text: &str| OURS.receive_greeting(&mut text.as_bytes());
        let mut line = Vec::new();
        send(&mut line, &OURS.hello("secret")).unwrap();
        let hello = OURS.receive_greeting(&mut &*line).unwrap();
        assert_eq!(hello, Some(Ok(OURS.hello("secret"))));
        assert_eq!(greeted("\"time\"\n").unwrap(), Some(Err(Value::from("time"))));
        assert_eq!(greeted("").unwrap(), None);
        assert!(greeted("GET / HTTP/1.1\r\n").is_err());
    }

    #[test]
    fn another_version_is_told_which_is_which() {
        assert_eq!(OURS.misunderstanding("node b", 3, "9.9"), None);
        let why = OURS.misunderstanding("node b", 4, "9.9").unwrap();
        assert!(why.contains("node b is fullclock 9.9 and speaks version 4"), "{why}");
    }

    #[test]
    fn whoever_is_given_no_more_time_is_not_listened_to() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        #[expect(clippy::disallowed_methods, reason = "a moment that is over")]
        let until = Cell::new(Some(Instant::now()));
        let read = Timed { stream: &stream, until: &until }.read(&mut [0]);
        assert_eq!(read.unwrap_err().kind(), io::ErrorKind::TimedOut);
    }
}
