//! Why an exchange with a server failed, and what to do about it.

use super::Named;
use rustls::CertificateError;
use std::fmt;
use std::io::{self, ErrorKind};
use std::time::Duration;

/// An exchange that failed. Its words hold no secret: what the server told is masked.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The server, as the user wrote it.
    pub server: String,
    /// What went wrong.
    pub problem: Problem,
    /// How the user names what can be set.
    pub(super) named: Named,
}

/// What went wrong.
#[derive(Clone, Debug)]
pub enum Problem {
    /// The text is not an address.
    Address {
        /// What was expected.
        why: &'static str,
    },
    /// The certificates that decide whom to trust cannot be read.
    Certificates {
        /// Which, and why.
        why: String,
    },
    /// No connection.
    Connect {
        /// The system's words.
        why: String,
    },
    /// The server's certificate is not trusted.
    Untrusted {
        /// What is wrong with it.
        why: String,
        /// What to do, where a certificate of its issuer does not help.
        advice: Option<&'static str>,
    },
    /// The server does not speak TLS as it should.
    Tls {
        /// The library's words.
        why: String,
    },
    /// The deadline came first.
    Timeout {
        /// The deadline.
        after: Duration,
        /// Whether the answer had begun.
        is_answering: bool,
    },
    /// Status 401 or 403.
    Denied {
        /// The status.
        status: u16,
        /// What the server says.
        told: String,
        /// The option that gave what the request said who asks.
        given: Option<&'static str>,
    },
    /// Status 404.
    NotFound {
        /// What was requested, without its parameters.
        path: String,
    },
    /// Another status from 400 to 499.
    Refused {
        /// The status.
        status: u16,
        /// What the server says.
        told: String,
        /// When it wants to be asked again, in words: `in 10 s`.
        again: Option<String>,
    },
    /// A status from 500 on, or one that no GET is answered with.
    Failed {
        /// The status.
        status: u16,
        /// What the server says.
        told: String,
        /// When it wants to be asked again, in words.
        again: Option<String>,
    },
    /// The server sends on to another one, or too often.
    Redirected {
        /// Where to.
        to: String,
    },
    /// The answer is larger than the bound.
    TooLarge {
        /// The bound in bytes.
        limit: u64,
    },
    /// The answer is not JSON, or not of the expected shape.
    NotJson {
        /// How it begins.
        begins: String,
        /// What was expected, and where.
        why: String,
    },
    /// The answer ends early, or is not HTTP.
    Broken {
        /// What is wrong.
        why: String,
    },
}

impl Problem {
    /// Met at this server: its address, or what the user wrote instead of one.
    pub(super) fn of(self, server: impl fmt::Display) -> Failure {
        Failure { server: server.to_string(), problem: self, named: Named::Options("") }
    }
}

impl std::error::Error for Failure {}

impl Failure {
    /// The same with another name of the server, where its address is not for everybody who reads it.
    #[must_use]
    pub fn by(self, server: &str) -> Failure {
        Failure { server: server.to_owned(), ..self }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Failure { server, problem, named } = self;
        match problem {
            Problem::Address { why } => write!(f, "{server}: {why}"),
            Problem::Certificates { why } => write!(f, "{server}: {why}"),
            Problem::Connect { why } => write!(
                f,
                "cannot connect to {server}: {why}; check that it runs there and that no firewall is between"
            ),
            Problem::Untrusted { why, advice } => {
                write!(f, "the certificate of {server} is not trusted: {why}; ")?;
                match advice {
                    Some(advice) => f.write_str(advice),
                    None => {
                        write!(f, "give the certificate of its issuer with {} FILE", named.of("ca"))
                    }
                }
            }
            Problem::Tls { why } => write!(
                f,
                "{server} does not speak TLS with this program: {why}; a server without TLS has an address that begins with http://"
            ),
            Problem::Timeout { after, is_answering } => {
                let done = if *is_answering { "complete its answer" } else { "answer" };
                write!(f, "{server} did not {done} within {} s", after.as_secs_f64())
            }
            Problem::Denied { status, told, given } => {
                let told = after_colon(told);
                let advice = allowed(*status, *given, *named);
                write!(f, "{server} denies access ({status}{told}): {advice}")
            }
            Problem::NotFound { path } => write!(f, "{server} has no {path} (404)"),
            Problem::Refused { status, told, again } => {
                let (told, again) = (after_colon(told), asked_again(again.as_deref()));
                write!(f, "{server} refuses the request ({status}{told}){again}")
            }
            Problem::Failed { status, told, again } => {
                let (told, again) = (after_colon(told), asked_again(again.as_deref()));
                write!(f, "{server} failed ({status}{told}){again}")
            }
            Problem::Redirected { to } => write!(
                f,
                "{server} sends on to {to}, which is not followed: give the address of the server that answers"
            ),
            Problem::TooLarge { limit } => {
                write!(f, "the answer of {server} is larger than {} MiB", limit >> 20)
            }
            Problem::NotJson { begins, why } => write!(
                f,
                "{server} does not answer with the expected JSON: {why}; the answer begins with {begins:?}"
            ),
            Problem::Broken { why } => write!(f, "the answer of {server} is broken: {why}"),
        }
    }
}

/// What to do where access is denied; `given` is what said who asks.
fn allowed(status: u16, given: Option<&str>, named: Named) -> String {
    match (status, given) {
        (401, None) => format!("give a token with {} FILE", named.of("token-file")),
        (401, Some(given)) => format!("it does not accept what {} gives", named.of(given)),
        (_, None) => format!("it may require a token: {} FILE", named.of("token-file")),
        (_, Some("token-file")) => "the owner of this token may not do that".to_owned(),
        (_, Some(_)) => "this user may not do that".to_owned(),
    }
}

fn after_colon(told: &str) -> String {
    if told.is_empty() { String::new() } else { format!(": {told}") }
}

fn asked_again(again: Option<&str>) -> String {
    again.map_or_else(String::new, |it| format!(", and wants to be asked again {it}"))
}

/// What an error of the library means; `is_answering` once headers have come.
pub(super) fn of_library(error: ureq::Error, deadline: Duration, is_answering: bool) -> Problem {
    match error {
        ureq::Error::Timeout(_) => Problem::Timeout { after: deadline, is_answering },
        ureq::Error::HostNotFound => {
            Problem::Connect { why: "there is no address for its name".to_owned() }
        }
        ureq::Error::BodyExceedsLimit(limit) => Problem::TooLarge { limit },
        ureq::Error::Io(error) => of_io(&error, deadline, is_answering),
        other => Problem::Broken { why: other.to_string() },
    }
}

fn of_io(error: &io::Error, deadline: Duration, is_answering: bool) -> Problem {
    if let Some(error) = error.get_ref().and_then(|it| it.downcast_ref::<rustls::Error>()) {
        return of_tls(error);
    }
    match error.kind() {
        ErrorKind::TimedOut | ErrorKind::WouldBlock => {
            Problem::Timeout { after: deadline, is_answering }
        }
        ErrorKind::UnexpectedEof if is_answering => {
            Problem::Broken { why: "it ends early".to_owned() }
        }
        ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => {
            Problem::Broken { why: "the connection was closed without one".to_owned() }
        }
        _ if is_answering => Problem::Broken { why: error.to_string() },
        _ => Problem::Connect { why: error.to_string() },
    }
}

fn of_tls(error: &rustls::Error) -> Problem {
    const RENEW: &str = "its owner has to renew it, or the clock of this machine is wrong";
    const OTHER_NAME: &str = "use a name in the address that the certificate has";
    const NO_SERVER: &str = "its owner has to make one for the server, with CA:FALSE";
    let rustls::Error::InvalidCertificate(error) = error else {
        return Problem::Tls { why: error.to_string() };
    };
    let untrusted = |why: &str, advice| Problem::Untrusted { why: why.to_owned(), advice };
    match error {
        CertificateError::UnknownIssuer => {
            untrusted("this machine does not know who issued it", None)
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            untrusted("it has expired", Some(RENEW))
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            untrusted("it is not valid yet", Some(RENEW))
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            untrusted("it is for another name", Some(OTHER_NAME))
        }
        // The library's name of what RFC 5280, 4.2.1.9, says of CA:TRUE: it issues certificates, and is none of a server.
        CertificateError::Other(other) if other.to_string().contains("CaUsedAsEndEntity") => {
            untrusted("it is that of an authority (CA:TRUE) and not of a server", Some(NO_SERVER))
        }
        CertificateError::Other(other) => {
            untrusted(&other.to_string(), Some("compare it with what its owner says"))
        }
        other => untrusted(&other.to_string(), None),
    }
}
