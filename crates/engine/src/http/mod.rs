//! One blocking HTTP client for what answers in JSON: monitoring systems and management controllers. What changes something goes to
//! controllers alone, and never twice.
//!
//! Every exchange ends: by an answer, or by an error that says what to do. It has a deadline for all of it, and a bound on the bytes of the
//! answer, counted after unpacking. Redirects are followed on the same server only, so that no header with a secret goes elsewhere. A proxy is
//! never used: engines of fleets and controllers are inside, and a variable of the environment must not decide who reads the token.
//!
//! Sources: RFC 9110 and 9112 for HTTP/1.1, RFC 5789 for PATCH, RFC 6750 for bearer tokens.

mod address;
mod answer;
mod credentials;
mod failure;
#[cfg(test)]
pub(crate) mod fake;
pub(crate) mod pieces;
#[cfg(test)]
mod tests;
mod tls;

pub use address::Address;
pub use answer::Answer;
pub(crate) use answer::shortened;
pub use credentials::Credentials;
pub use failure::{Failure, Problem};
pub use tls::{Fingerprint, Trust};

use crate::clock::now;
use std::time::{Duration, Instant};
use ureq::Agent;
use ureq::http::{Response, StatusCode};
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{Connector, TcpConnector};

/// How long an exchange may take: redirects, the connection, TLS, the headers and the body together.
pub const DEADLINE: Duration = Duration::from_secs(30);

/// The largest answer, in bytes after unpacking.
pub const LARGEST: u64 = 1 << 30;

/// How often a server may send on to another path of its own.
const MOST_REDIRECTS: usize = 5;

/// Headers of an answer; Go's servers allow 1 MiB, and nothing that is asked here has 1 KiB.
const LARGEST_HEADERS: usize = 64 << 10;

/// How to talk to one server.
#[derive(Clone, Debug)]
pub struct Options {
    /// For the whole of each exchange, redirects included.
    pub deadline: Duration,
    /// The largest answer, in bytes after unpacking.
    pub largest: u64,
    /// Whose certificates are trusted.
    pub trust: Trust,
    /// Headers that say who asks.
    pub credentials: Credentials,
    /// How the user names what can be set, for advice.
    pub named: Named,
    /// Whether one connection serves one exchange after the other: a controller takes up to a second for TLS.
    pub reuses: bool,
}

/// Where the user sets `token-file`, `ca` and the like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// By options of the command line, whose names begin with this: `prometheus-`.
    Options(&'static str),
    /// In this table of the configuration.
    Configuration(&'static str),
}

impl Named {
    /// What a user has to look for: `--prometheus-token-file`, `redfish.token-file`.
    pub fn of(self, name: &str) -> String {
        match self {
            Named::Options(prefix) => format!("--{prefix}{name}"),
            Named::Configuration(table) => format!("{table}.{name}"),
        }
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            deadline: DEADLINE,
            largest: LARGEST,
            trust: Trust::System,
            credentials: Credentials::default(),
            named: Named::Options(""),
            reuses: false,
        }
    }
}

/// A client of one server. Unless [`Options::reuses`] says otherwise, each exchange has a connection of its own: one that is kept may be
/// closed by the server at the moment when the next request is sent, which looks as if the server had failed. A clone of it has the same
/// connections.
#[derive(Clone)]
pub struct Client {
    agent: Agent,
    address: Address,
    options: Options,
}

impl Client {
    /// Connects to nothing yet.
    ///
    /// Errors: the certificates that it should trust cannot be read.
    pub fn new(address: Address, options: Options) -> Result<Client, Failure> {
        let tls = match address.is_encrypted() {
            true => Some(tls::config(&options.trust).map_err(|it| it.of(&address))?),
            false => None,
        };
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_idle_connections(usize::from(options.reuses))
            .max_redirects(0)
            .max_redirects_will_error(false)
            .max_response_header_size(LARGEST_HEADERS)
            .proxy(None)
            .user_agent(concat!("fullclock/", env!("CARGO_PKG_VERSION")))
            .accept("application/json")
            .build();
        let connector = TcpConnector::default().chain(tls::Tls::new(tls));
        let agent = Agent::with_parts(config, connector, DefaultResolver::default());
        Ok(Client { agent, address, options })
    }

    /// The server.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// How the user names what can be set.
    pub fn named(&self) -> Named {
        self.options.named
    }

    /// The fingerprint of the server's certificate, if an exchange failed because the certificate is not trusted, and the user gave no
    /// fingerprint: the user compares it with what the server's owner says. Only the handshake is sent.
    pub fn unknown_certificate(&self, failure: &Failure) -> Option<Fingerprint> {
        let is_untrusted = |it: &Failure| matches!(it.problem, Problem::Untrusted { .. });
        if !is_untrusted(failure) || matches!(self.options.trust, Trust::Pinned(_)) {
            return None;
        }
        let trust = Trust::Pinned(Fingerprint::NONE);
        let options = Options { deadline: self.options.deadline, trust, ..Options::default() };
        let failure = Client::new(self.address.clone(), options).ok()?.get("/", &[]).err()?;
        match failure.problem {
            Problem::Untrusted { why, .. } => Fingerprint::parse(why.rsplit(' ').next()?),
            _ => None,
        }
    }

    /// Whether headers with a secret go over the network as they are.
    pub fn shows_secrets(&self) -> bool {
        !self.options.credentials.are_none()
            && !self.address.is_encrypted()
            && !self.address.is_loopback()
    }

    /// How long an exchange may take.
    pub fn deadline(&self) -> Duration {
        self.options.deadline
    }

    /// When what is asked from this moment on has to be answered.
    pub fn until(&self) -> Instant {
        now() + self.options.deadline
    }

    /// The answer to a GET of `path` below the address, with these parameters.
    ///
    /// Errors: none came in time, or it is a status other than 2xx.
    pub fn get(&self, path: &str, parameters: &[(&str, &str)]) -> Result<Answer<'_>, Failure> {
        self.get_until(self.until(), path, parameters)
    }

    /// The same of several questions that have one deadline together, from [`Client::until`]: it holds for redirects and for the answer,
    /// too.
    ///
    /// Errors: as those of [`Client::get`].
    pub fn get_until(
        &self,
        until: Instant,
        path: &str,
        parameters: &[(&str, &str)],
    ) -> Result<Answer<'_>, Failure> {
        let deadline = self.options.deadline;
        let asked = Asked { method: Method::Get, headers: &[], until, deadline };
        self.follow(self.address.join(path, parameters), &asked)
    }

    /// The answer to a GET of `path`, which may end with a query, with these headers. All of it has to be over at `until`; an error calls that
    /// `deadline`, the time that was given to all requests. Status 304 is an answer: what the header `If-None-Match` names has not changed.
    ///
    /// Errors: those of [`Client::get`].
    pub fn get_with(
        &self,
        path: &str,
        headers: &[(&'static str, &str)],
        until: Instant,
        deadline: Duration,
    ) -> Result<Answer<'_>, Failure> {
        let asked = Asked { method: Method::Get, headers, until, deadline };
        self.follow(self.address.join(path, &[]), &asked)
    }

    /// The answer to a request that changes what is at `path`. It is sent once: neither a redirect is followed nor a broken connection tried
    /// again, after which it is unknown whether it was taken.
    ///
    /// Errors: those of [`Client::get`].
    pub fn change(
        &self,
        path: &str,
        method: Method<'_>,
        headers: &[(&'static str, &str)],
    ) -> Result<Answer<'_>, Failure> {
        let deadline = self.options.deadline;
        let asked = Asked { method, headers, until: self.until(), deadline };
        self.follow(self.address.join(path, &[]), &asked)
    }

    /// Sends a request, and one that reads again where a redirect on the same server leads.
    fn follow(&self, mut url: String, asked: &Asked<'_>) -> Result<Answer<'_>, Failure> {
        let reads = matches!(asked.method, Method::Get);
        for _ in 0..MOST_REDIRECTS {
            let response = self.ask(&url, asked)?;
            let status = response.status();
            let is_unmodified = reads && status == StatusCode::NOT_MODIFIED;
            if is_unmodified || !status.is_redirection() {
                let is_answer = status.is_success() || is_unmodified;
                let answer = Answer::new(self, response, asked.deadline);
                return if is_answer { Ok(answer) } else { Err(answer.refusal(&url)) };
            }
            let location = response.headers().get("location").and_then(|it| it.to_str().ok());
            let to = location.unwrap_or("an unknown place");
            url = self.address.redirected(to).filter(|_| reads).ok_or_else(|| {
                self.fail(Problem::Redirected { to: shortened(&self.masked(to)) })
            })?;
        }
        Err(self.fail(Problem::Redirected { to: "one place after the other".to_owned() }))
    }

    fn ask(&self, url: &str, asked: &Asked<'_>) -> Result<Response<ureq::Body>, Failure> {
        let left = asked.until.saturating_duration_since(now());
        if left.is_zero() {
            let after = asked.deadline;
            return Err(self.fail(Problem::Timeout { after, is_answering: false }));
        }
        let own = self.options.credentials.headers().iter();
        let own = own.map(|(name, value)| (name.as_str(), value.as_bytes()));
        let headers =
            own.chain(asked.headers.iter().map(|(name, value)| (*name, value.as_bytes())));
        let answered = match asked.method {
            Method::Get | Method::Delete => {
                let request = match asked.method {
                    Method::Get => self.agent.get(url),
                    _ => self.agent.delete(url),
                };
                let request = headers.fold(request, |it, (name, value)| it.header(name, value));
                request.config().timeout_global(Some(left)).build().call()
            }
            Method::Patch(body) => {
                let request = self.agent.patch(url).header("content-type", "application/json");
                let request = headers.fold(request, |it, (name, value)| it.header(name, value));
                request.config().timeout_global(Some(left)).build().send(body)
            }
        };
        answered.map_err(|error| self.failed(error, asked.deadline, false))
    }

    /// What the server says, without the secrets that it was sent.
    pub fn masked(&self, text: &str) -> String {
        self.options.credentials.masked(text)
    }

    /// What went wrong with this server, in words without any secret.
    fn fail(&self, problem: Problem) -> Failure {
        Failure { named: self.options.named, ..problem.of(&self.address) }
    }

    /// What an error of the library means; `is_answering` once headers have come.
    fn failed(&self, error: ureq::Error, deadline: Duration, is_answering: bool) -> Failure {
        self.fail(failure::of_library(error, deadline, is_answering))
    }
}

/// What is done with a resource.
#[derive(Clone, Copy, Debug)]
pub enum Method<'a> {
    /// It is read.
    Get,
    /// Properties of it are changed as this JSON says.
    Patch(&'a str),
    /// It is removed.
    Delete,
}

/// What one exchange has beyond the address and the credentials.
struct Asked<'a> {
    method: Method<'a>,
    headers: &'a [(&'static str, &'a str)],
    /// When all of it has to be over.
    until: Instant,
    /// The time that whoever asks allowed, for an error.
    deadline: Duration,
}
