//! Connects to a peer and says hello.

use super::ANSWER;
use crate::clock::now;
use anyhow::Result;
use lab::lines::{Protocol, Welcome, send};
use serde::de::DeserializeOwned;
use std::io::{self, BufRead, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Why a peer does not answer as expected.
#[derive(Debug)]
pub(crate) enum Unanswered {
    /// It refuses, for this reason.
    Refused(String),
    /// It speaks another version; in words for the user.
    Differs(String),
    /// Its answer does not belong to the question.
    Strange,
    /// It closed the connection without a message.
    Closed,
    /// The connection broke, or it sent a line that is not of the protocol.
    Broken(io::Error),
}

impl From<io::Error> for Unanswered {
    fn from(why: io::Error) -> Unanswered {
        Unanswered::Broken(why)
    }
}

/// Connects over TCP. Each read and write fails after [`ANSWER`].
pub(crate) fn reach(at: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&at, ANSWER)?;
    stream.set_read_timeout(Some(ANSWER))?;
    stream.set_write_timeout(Some(ANSWER))?;
    // Each line is sent at once: its answer is waited for, and some compare clocks.
    stream.set_nodelay(true)?;
    Ok(stream)
}

pub(crate) fn answer<T: DeserializeOwned>(
    protocol: &Protocol,
    from: &mut impl BufRead,
) -> Result<T, Unanswered> {
    protocol.receive(from)?.ok_or(Unanswered::Closed)
}

/// Says hello to `who`, and waits until it admits us.
pub(crate) fn greet(
    protocol: &Protocol,
    who: &str,
    token: &str,
    from: &mut impl BufRead,
    to: &mut impl Write,
) -> Result<(), Unanswered> {
    send(to, &protocol.hello(token))?;
    match answer(protocol, from)? {
        Welcome::Hello { protocol: other, version } => {
            let differs = protocol.misunderstanding(who, other, &version);
            differs.map_or(Ok(()), |why| Err(Unanswered::Differs(why)))
        }
        Welcome::Refused { why } => Err(Unanswered::Refused(why)),
        Welcome::Joined => Err(Unanswered::Strange),
    }
}

/// Whether a connection broke because nothing came in time.
pub(crate) fn is_late(why: &io::Error) -> bool {
    matches!(why.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock)
}

/// For how long, and how often, to connect again.
#[derive(Clone, Copy)]
pub(crate) struct Patience {
    pub(crate) total: Duration,
    pub(crate) pause: Duration,
}

impl Patience {
    /// Connects, again and again until it succeeds.
    ///
    /// Errors: the time is over, or the connection is not wanted any more; with the latest failure, if there was an attempt.
    pub(crate) fn retry<T>(
        self,
        is_wanted: impl Fn() -> bool,
        mut connect: impl FnMut() -> Result<T>,
    ) -> Result<T, Option<anyhow::Error>> {
        let began = now();
        let mut failed = None;
        while began.elapsed() < self.total && is_wanted() {
            std::thread::sleep(self.pause);
            failed = match connect() {
                Ok(connection) => return Ok(connection),
                Err(why) => Some(why),
            };
        }
        Err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::bail;

    const OURS: Protocol = Protocol { of: "a test", version: 3, longest: 4096 };

    fn greeted(answer: &str) -> (Result<(), Unanswered>, String) {
        let mut said = Vec::new();
        let greeted = greet(&OURS, "node b", "secret", &mut answer.as_bytes(), &mut said);
        (greeted, String::from_utf8(said).unwrap())
    }

    #[test]
    fn hello_is_answered_by_hello_of_the_same_version() {
        let (greeted_by_own, said) = greeted("{\"hello\":{\"protocol\":3,\"version\":\"9.9\"}}\n");
        assert!(greeted_by_own.is_ok());
        assert!(
            said.starts_with("{\"hello\":{\"protocol\":3,") && said.contains("secret"),
            "{said}"
        );
        let of = |answer: &str| greeted(answer).0.unwrap_err();
        let other = of("{\"hello\":{\"protocol\":2,\"version\":\"9.9\"}}\n");
        assert!(
            matches!(other, Unanswered::Differs(why) if why.contains("node b is fullclock 9.9"))
        );
        let refused = of("{\"refused\":{\"why\":\"busy\"}}\n");
        assert!(matches!(refused, Unanswered::Refused(why) if why == "busy"));
        assert!(matches!(of(""), Unanswered::Closed));
        assert!(matches!(of("HTTP/1.1 400\r\n"), Unanswered::Broken(_)));
    }

    #[test]
    fn a_connection_is_tried_again_until_it_is_there_or_time_is_over() {
        let patience = Patience { total: Duration::from_secs(60), pause: Duration::ZERO };
        let mut n_tries = 0;
        let third = patience.retry(
            || true,
            || {
                n_tries += 1;
                if n_tries < 3 { bail!("not yet") } else { Ok(n_tries) }
            },
        );
        assert_eq!(third.unwrap(), 3);
        let refused = |patience: Patience, is_wanted| {
            let refused = patience.retry(|| is_wanted, || -> Result<()> { bail!("no") });
            refused.unwrap_err().map(|it| it.to_string())
        };
        assert_eq!(refused(patience, false), None);
        let short = Patience { total: Duration::from_millis(1), pause: Duration::from_millis(2) };
        assert_eq!(refused(short, true).as_deref(), Some("no"));
    }
}
