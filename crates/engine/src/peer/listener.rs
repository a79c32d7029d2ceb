//! Listens for connections, admits clients that know the token, and serves each on a thread of its own.

use super::HANDSHAKE;
use crate::clock::now;
use crate::secret;
use anyhow::{Context, Result};
use lab::lines::{Greeting, Protocol, Timed, Welcome, send};
use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// The most connections at a time: more than clients need, and few enough to do no harm. Those without a greeting are closed
/// after the handshake time.
const MOST: usize = 256;

/// The wait after a connection could not be accepted.
const PAUSE: Duration = Duration::from_millis(100);

/// Admits clients to a program that listens.
pub(crate) struct Listener {
    pub(crate) protocol: Protocol,
    /// The secret of its clients; `None` where the client has started this process itself.
    pub(crate) token: Option<String>,
    /// The name of this side in messages: `agent`, `server`.
    pub(crate) name: &'static str,
    /// The name of the other side in messages: `the race`, `the client`.
    pub(crate) client: &'static str,
    /// The answer to a first line that is JSON and no greeting.
    pub(crate) beginning: &'static str,
    /// Whether clients open more connections, which name a session instead of the token.
    pub(crate) has_streams: bool,
    /// The answer to a first line that is not JSON; `None`: the connection is closed without one.
    pub(crate) strangers: Option<&'static str>,
}

/// What a listener has admitted.
pub(crate) enum Admitted {
    /// A client that knows the token. It waits for a [`Welcome`].
    Client,
    /// One more connection of the client with this session, where there is one.
    Stream(String),
}

/// An admitted connection.
pub(crate) struct Connection<'a> {
    pub(crate) to: &'a TcpStream,
    pub(crate) from: BufReader<Timed<'a>>,
    /// When the next message has to be complete; `None`: there is no limit.
    pub(crate) until: &'a Cell<Option<Instant>>,
}

impl Listener {
    /// Listens on a thread for as long as the program runs, and serves every admitted connection; returns the address, with the
    /// port that the kernel chose where it was 0.
    ///
    /// # Errors
    ///
    /// Where the address cannot be listened at, saying which.
    pub(crate) fn listen(
        self,
        at: SocketAddr,
        serve: impl Fn(Admitted, Connection<'_>) -> Result<()> + Send + Sync + 'static,
    ) -> Result<SocketAddr> {
        listen(at, move |stream| {
            let until = Cell::new(Some(now() + HANDSHAKE));
            let mut from = BufReader::new(Timed { stream, until: &until });
            // Errors are those of a connection that is lost, which needs no answer.
            if let Ok(Some(admitted)) = self.admit(&mut from, &mut &*stream) {
                until.set(None);
                serve(admitted, Connection { to: stream, from, until: &until }).ok();
            }
        })
    }

    /// Reads the greeting. `None`: the other side is gone, or was refused and got the reason.
    pub(crate) fn admit(
        &self,
        from: &mut impl BufRead,
        to: &mut impl Write,
    ) -> io::Result<Option<Admitted>> {
        let why = match self.protocol.receive_greeting(from) {
            Ok(None) => return Ok(None),
            Ok(Some(Ok(Greeting::Join { session }))) if self.has_streams => {
                return Ok(Some(Admitted::Stream(session)));
            }
            Ok(Some(Ok(Greeting::Hello { protocol, version, token }))) => {
                match self.refusal(protocol, &version, &token) {
                    None => return Ok(Some(Admitted::Client)),
                    Some(why) => why,
                }
            }
            Ok(Some(Ok(Greeting::Join { .. }) | Err(_))) => self.beginning.to_owned(),
            Err(why) => match self.strangers {
                Some(words) if why.kind() == io::ErrorKind::InvalidData => {
                    format!("{words}: {why}")
                }
                _ => return Err(why),
            },
        };
        send(to, &Welcome::Refused { why })?;
        Ok(None)
    }

    fn refusal(&self, protocol: u32, version: &str, token: &str) -> Option<String> {
        if self.token.as_ref().is_some_and(|it| !secret::are_same(it, token)) {
            let name = self.name;
            return Some(format!(
                "the token is not the {name}'s; --token-file names a copy of the {name}'s file"
            ));
        }
        self.protocol.misunderstanding(self.client, protocol, version)
    }
}

fn listen(
    at: SocketAddr,
    serve: impl Fn(&TcpStream) + Send + Sync + 'static,
) -> Result<SocketAddr> {
    let listener = TcpListener::bind(at).with_context(|| format!("cannot listen at {at}"))?;
    let at = listener.local_addr()?;
    let (serve, n_open) = (Arc::new(serve), Arc::new(AtomicUsize::new(0)));
    Builder::new().name("listener".to_owned()).spawn(move || {
        for stream in listener.incoming() {
            let Ok(stream) = stream else {
                std::thread::sleep(PAUSE);
                continue;
            };
            let (serve, open) = (serve.clone(), Open::one_more(&n_open));
            // One too many, or no thread to be had: the connection is closed.
            if open.n <= MOST {
                let connection = Builder::new().name("connection".to_owned());
                let serve = move || {
                    let _open = open;
                    serve(&stream);
                };
                connection.spawn(serve).ok();
            }
        }
    })?;
    Ok(at)
}

/// A connection whose thread runs.
struct Open {
    n: usize,
    all: Arc<AtomicUsize>,
}

impl Open {
    fn one_more(all: &Arc<AtomicUsize>) -> Open {
        Open { n: all.fetch_add(1, Ordering::Relaxed) + 1, all: all.clone() }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.all.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listener(strangers: Option<&'static str>) -> Listener {
        Listener {
            protocol: Protocol { of: "a test", version: 3, longest: 4096 },
            token: Some("secret".to_owned()),
            name: "agent",
            client: "the race",
            beginning: "it begins with hello",
            has_streams: false,
            strangers,
        }
    }

    const JOIN: &str = "{\"join\":{\"session\":\"0123\"}}\n";

    /// Whom it lets in, and what it answers.
    fn admitted(listener: &Listener, said: &str) -> (Option<Admitted>, String) {
        let mut answer = Vec::new();
        let admitted = listener.admit(&mut said.as_bytes(), &mut answer);
        (admitted.ok().flatten(), String::from_utf8(answer).unwrap())
    }

    fn hello(protocol: u32, token: &str) -> String {
        format!(r#"{{"hello":{{"protocol":{protocol},"version":"9.9","token":"{token}"}}}}"#) + "\n"
    }

    #[test]
    fn who_knows_the_token_and_speaks_the_version_is_let_in_and_nobody_else() {
        let of = |said: &str| admitted(&listener(None), said);
        assert!(
            matches!(of(&hello(3, "secret")), (Some(Admitted::Client), text) if text.is_empty())
        );
        for (said, why) in [
            (hello(3, "guess"), "the token is not the agent's; --token-file names a copy"),
            // Our version is not told without the token.
            (hello(4, "guess"), "the token is not"),
            (hello(4, "secret"), "the race is fullclock 9.9 and speaks version 4"),
            ("\"time\"\n".to_owned(), "it begins with hello"),
            (JOIN.to_owned(), "it begins with hello"),
        ] {
            let (admitted, answer) = of(&said);
            assert!(admitted.is_none() && answer.contains(why), "{said}: {answer}");
            assert!(answer.starts_with("{\"refused\":"), "{answer}");
        }
    }

    #[test]
    fn more_connections_of_a_client_come_only_where_there_are_any() {
        let with_streams = Listener { has_streams: true, ..listener(None) };
        let (admitted, answer) = admitted(&with_streams, JOIN);
        assert!(matches!(admitted, Some(Admitted::Stream(session)) if session == "0123"));
        assert_eq!(answer, "");
    }

    #[test]
    fn strangers_are_told_what_this_is_or_nothing() {
        for said in ["GET / HTTP/1.1\r\n", "{\"hello\":", ""] {
            assert_eq!(admitted(&listener(None), said).1, "", "{said}");
        }
        let (_, answer) = admitted(&listener(Some("this is a test")), "GET / HTTP/1.1\r\n");
        assert!(answer.contains("this is a test: not the protocol of a test"), "{answer}");
    }

    #[test]
    fn who_was_started_by_its_client_asks_for_no_token() {
        let own = Listener { token: None, ..listener(None) };
        assert!(matches!(admitted(&own, &hello(3, "")).0, Some(Admitted::Client)));
    }
}
