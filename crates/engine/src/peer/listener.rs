//! Connections that others open to this machine, each on a thread of its own, and what lets them in.

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

/// More than whoever has business here needs. Strangers are gone as soon as they have not said who they are; as many as
/// this at a time do no harm.
const MOST: usize = 256;

/// Where no connection can be had, the next one may.
const PAUSE: Duration = Duration::from_millis(100);

/// What everyone who connects has to pass.
pub(crate) struct Listener {
    pub(crate) protocol: Protocol,
    /// What a client has to know; `None` where it has started this process itself.
    pub(crate) token: Option<String>,
    /// What listens: `agent`, `server`.
    pub(crate) name: &'static str,
    /// Who may come: `the race`, `the client`.
    pub(crate) client: &'static str,
    /// What those are told whose first line is not hello.
    pub(crate) beginning: &'static str,
    /// Whether a client brings more connections, which name its session instead of the token.
    pub(crate) has_streams: bool,
    /// What those are told who do not speak the protocol at all; nothing where it is `None`.
    pub(crate) strangers: Option<&'static str>,
}

/// Whom a listener has let in.
pub(crate) enum Admitted {
    /// A client that knows the token. It waits for [`Welcome`].
    Client,
    /// More of the client with that session, where there is one.
    Stream(String),
}

/// A connection that was let in.
pub(crate) struct Connection<'a> {
    pub(crate) to: &'a TcpStream,
    pub(crate) from: BufReader<Timed<'a>>,
    /// Until when something has to come; none where there is no hurry.
    pub(crate) until: &'a Cell<Option<Instant>>,
}

impl Listener {
    /// Listens, on a thread, for as long as the program lives, and serves everyone whom it lets in; the address, its port chosen
    /// by the kernel where it was 0.
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
            // Whoever is not there any more needs no answer.
            if let Ok(Some(admitted)) = self.admit(&mut from, &mut &*stream) {
                until.set(None);
                serve(admitted, Connection { to: stream, from, until: &until }).ok();
            }
        })
    }

    /// Hears who it is; `None` where it has gone, or was refused and told why.
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

/// A connection whose thread lives.
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
            // Versions are nothing that strangers are told.
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
