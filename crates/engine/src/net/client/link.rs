//! The connections of a client: one that controls the test, and streams for the data.

use crate::net::PORT;
use crate::peer::client::{Unanswered, answer, greet, is_late, reach};
use anyhow::{Context, Result, anyhow, bail};
use lab::lines::{Greeting, Welcome, send};
use lab::net::protocol::{Judgement, News, Order, PROTOCOL, Part, Report, Task};
use lab::net::{LONGEST, SILENCE};
use std::io::{self, BufReader};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

/// How long an answer may take before which the server reads all of its machine: before a test it finds out what an interrupt costs,
/// too, and after it it audits and makes a ledger. That is a second, and on machines with hundreds of CPUs or a slow controller many.
const READING: Duration = Duration::from_secs(60);

/// How long to wait for the last message of a server that was lost.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// A connection to a server that serves this client.
pub(super) struct Link {
    pub(super) at: SocketAddr,
    to: TcpStream,
    from: BufReader<TcpStream>,
    /// Whether it said hello, so that it is a server of ours.
    is_known: bool,
}

impl Link {
    /// Says hello to the server of that name.
    ///
    /// Errors: no `fullclock net server` can be reached there, or it serves another client or refuses the token.
    pub(super) fn connect(host: &str, token: &str) -> Result<Link> {
        let at = address(host)?;
        let to = reached(at)?;
        let mut link = Link { at, from: BufReader::new(to.try_clone()?), to, is_known: false };
        let who = format!("the server at {at}");
        let greeted = greet(&PROTOCOL, &who, token, &mut link.from, &mut link.to);
        greeted.map_err(|why| link.unanswered(why))?;
        link.is_known = true;
        Ok(link)
    }

    /// Makes the server ready for a task; the session for its data, and the version of the server's perftest.
    pub(super) fn prepare(&mut self, task: Task) -> Result<(String, Option<String>)> {
        self.to.set_read_timeout(Some(READING))?;
        send(&mut self.to, &Order::Prepare(task))?;
        match self.answer()? {
            News::Ready { session, perftest } => Ok((session, perftest)),
            news => Err(self.unexpected(news)),
        }
    }

    /// So many streams for the data of a session.
    pub(super) fn streams(&self, session: &str, n_streams: u32) -> Result<Vec<TcpStream>> {
        let joined = |number: u32| -> Result<TcpStream> {
            let mut stream = reached(self.at)?;
            send(&mut stream, &Greeting::Join { session: session.to_owned() })?;
            // Nothing follows the answer before data are requested, so nothing is read ahead here.
            match PROTOCOL.receive(&mut BufReader::new(&stream))? {
                Some(Welcome::Joined) => Ok(stream),
                _ => bail!("stream {} of {n_streams} was not let in", number + 1),
            }
        };
        (0..n_streams).map(joined).collect()
    }

    /// Lets the server begin with its part of a message size.
    pub(super) fn measure(&mut self, part: Part) -> Result<()> {
        // It answers when it is over.
        self.to.set_read_timeout(Some(LONGEST + 2 * SILENCE))?;
        send(&mut self.to, &Order::Measure(part)).context("the server is gone")
    }

    /// Where the server's program of perftest waits.
    pub(super) fn listening(&mut self) -> Result<u16> {
        match self.answer()? {
            News::Listening { port } => Ok(port),
            news => Err(self.unexpected(news)),
        }
    }

    /// What the server found.
    pub(super) fn report(&mut self) -> Result<Report> {
        match self.answer()? {
            News::Measured(report) => Ok(report),
            news => Err(self.unexpected(news)),
        }
    }

    /// Why the server ended, where it said so.
    pub(super) fn last_words(&mut self) -> Option<String> {
        self.to.set_read_timeout(Some(LAST_WORDS)).ok()?;
        match PROTOCOL.receive(&mut self.from).ok()?? {
            News::Failed { why } | News::Refused { why } => Some(why),
            _ => None,
        }
    }

    /// Lets the server judge those of its CPUs.
    pub(super) fn judge(&mut self, cpus: String) -> Result<Judgement> {
        self.to.set_read_timeout(Some(READING))?;
        send(&mut self.to, &Order::Judge { cpus })?;
        match self.answer()? {
            News::Judged(judgement) => Ok(*judgement),
            news => Err(self.unexpected(news)),
        }
    }

    fn answer(&mut self) -> Result<News> {
        answer(&PROTOCOL, &mut self.from).map_err(|why| self.unanswered(why))
    }

    fn unexpected(&self, news: News) -> anyhow::Error {
        match news {
            News::Refused { why } => self.unanswered(Unanswered::Refused(why)),
            News::Failed { why } => anyhow!("the server at {} failed: {why}", self.at),
            _ => self.unanswered(Unanswered::Strange),
        }
    }

    fn unanswered(&self, why: Unanswered) -> anyhow::Error {
        let at = self.at;
        match why {
            Unanswered::Refused(why) => anyhow!("the server at {at} refuses: {why}"),
            Unanswered::Differs(why) => anyhow!(why),
            Unanswered::Strange => {
                anyhow!("the server at {at} answers something else than it was asked")
            }
            Unanswered::Closed => {
                anyhow!("the server at {at} closed the connection without a message: it ended")
            }
            Unanswered::Broken(why) if is_late(&why) => silent(at, self.is_known),
            Unanswered::Broken(why) if why.kind() == io::ErrorKind::InvalidData => {
                anyhow!("what listens at {at} is no `fullclock net server`: {why}")
            }
            Unanswered::Broken(why) => {
                anyhow::Error::new(why).context(format!("the server at {at} is lost"))
            }
        }
    }
}

fn silent(at: SocketAddr, is_known: bool) -> anyhow::Error {
    if is_known {
        anyhow!(
            "the server at {at} takes too long to answer: look there at what it does, and whether its machine is overloaded"
        )
    } else {
        anyhow!("what listens at {at} says nothing: is it `fullclock net server`?")
    }
}

/// The address that the user means: `db2`, `db2:7079`, `10.0.0.2`, `[fe80::1]:7079`, `::1`.
fn address(host: &str) -> Result<SocketAddr> {
    let with_port = host.to_socket_addrs();
    let found = with_port.or_else(|_| (host.trim_matches(['[', ']']), PORT).to_socket_addrs());
    let mut found = found.with_context(|| format!("{host:?}: host not found"))?;
    found.next().with_context(|| format!("{host:?} has no address"))
}

fn reached(at: SocketAddr) -> Result<TcpStream> {
    reach(at).map_err(|why| unreached(at, &why))
}

fn unreached(at: SocketAddr, why: &io::Error) -> anyhow::Error {
    match why.kind() {
        io::ErrorKind::ConnectionRefused => anyhow!(
            "nothing listens at {at}: start `fullclock net server --listen {at}` there, or name its port"
        ),
        _ if is_late(why) => anyhow!(
            "{at} does not answer: it is down, or a firewall drops what comes to TCP port {}",
            at.port()
        ),
        _ => anyhow!("cannot reach {at}: {why}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_the_port_of_servers_unless_it_names_one() {
        let of = |host: &str| address(host).unwrap().to_string();
        assert_eq!(of("127.0.0.1"), "127.0.0.1:7079");
        assert_eq!(of("127.0.0.1:80"), "127.0.0.1:80");
        assert_eq!(
            (of("::1"), of("[::1]"), of("[::1]:80")),
            ("[::1]:7079".to_owned(), "[::1]:7079".to_owned(), "[::1]:80".to_owned())
        );
        assert!(address("").is_err() && address("a b").is_err());
    }

    #[test]
    fn whoever_cannot_be_reached_is_told_what_to_do() {
        let at = "192.0.2.7:7079".parse().unwrap();
        let of = |kind: io::ErrorKind| unreached(at, &kind.into()).to_string();
        assert!(of(io::ErrorKind::ConnectionRefused).contains("start `fullclock net server"));
        assert!(
            of(io::ErrorKind::TimedOut).contains("a firewall drops what comes to TCP port 7079")
        );
        assert!(of(io::ErrorKind::HostUnreachable).contains("cannot reach 192.0.2.7:7079"));
    }

    #[test]
    fn a_server_that_said_hello_is_slow_and_not_taken_for_something_else() {
        let of = |is_known| silent("192.0.2.7:7079".parse().unwrap(), is_known).to_string();
        assert!(of(true).contains("the server at 192.0.2.7:7079 takes too long to answer"));
        assert!(of(false).contains("is it `fullclock net server`?"));
    }
}
