//! One blocking HTTP client for what answers in JSON: monitoring systems and management controllers.
//!
//! Every exchange ends: by an answer, or by an error that says what to do. It has a deadline for all of it, and a bound on the bytes of the
//! answer, counted after unpacking. Redirects are followed on the same server only, so that no header with a secret goes elsewhere. A proxy is
//! never used: engines of fleets and controllers are inside, and a variable of the environment must not decide who reads the token.
//!
//! Sources: RFC 9110 and 9112 for HTTP/1.1, RFC 6750 for bearer tokens.

mod address;
mod answer;
mod credentials;
mod failure;
#[cfg(test)]
pub(crate) mod fake;
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
use ureq::http::Response;
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
    /// What stands before `token-file` and `ca` in the names of the user's options, as `prometheus-`, for advice.
    pub prefix: &'static str,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            deadline: DEADLINE,
            largest: LARGEST,
            trust: Trust::System,
            credentials: Credentials::default(),
            prefix: "",
        }
    }
}

/// A client of one server. Each exchange has a connection of its own: one that is kept may be closed by the server at the moment when the
/// next request is sent, which looks as if the server had failed.
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
            .max_idle_connections(0)
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

    /// Whether headers with a secret go over the network as they are.
    pub fn shows_secrets(&self) -> bool {
        !self.options.credentials.are_none()
            && !self.address.is_encrypted()
            && !self.address.is_loopback()
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
        let mut url = self.address.join(path, parameters);
        for _ in 0..MOST_REDIRECTS {
            let response = self.ask(&url, until)?;
            let status = response.status();
            if !status.is_redirection() {
                let answer = Answer::new(self, response);
                return if status.is_success() { Ok(answer) } else { Err(answer.refusal(&url)) };
            }
            let location = response.headers().get("location").and_then(|it| it.to_str().ok());
            let to = location.unwrap_or("an unknown place");
            url = self.address.redirected(to).ok_or_else(|| {
                self.fail(Problem::Redirected { to: shortened(&self.masked(to)) })
            })?;
        }
        Err(self.fail(Problem::Redirected { to: "one place after the other".to_owned() }))
    }

    fn ask(&self, url: &str, until: Instant) -> Result<Response<ureq::Body>, Failure> {
        let left = until.saturating_duration_since(now());
        if left.is_zero() {
            let after = self.options.deadline;
            return Err(self.fail(Problem::Timeout { after, is_answering: false }));
        }
        let request = self.agent.get(url).config().timeout_global(Some(left));
        let mut request = request.build();
        for (name, value) in self.options.credentials.headers() {
            request = request.header(name, value);
        }
        request.call().map_err(|error| self.failed(error, false))
    }

    /// What the server says, without the secrets that it was sent.
    pub fn masked(&self, text: &str) -> String {
        self.options.credentials.masked(text)
    }

    /// What went wrong with this server, in words without any secret.
    fn fail(&self, problem: Problem) -> Failure {
        Failure { prefix: self.options.prefix, ..problem.of(&self.address) }
    }

    /// What an error of the library means; `is_answering` once headers have come.
    fn failed(&self, error: ureq::Error, is_answering: bool) -> Failure {
        let deadline = self.options.deadline;
        self.fail(failure::of_library(error, deadline, is_answering))
    }
}
