//! Where a server is: the part of its URL that all requests share.

use super::failure::{Failure, Problem};
use std::fmt;
use std::fmt::Write as _;
use std::net::IpAddr;
use ureq::http::Uri;

/// `http://HOST[:PORT][/PATH]`, or the same with https.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    is_encrypted: bool,
    /// HOST, or HOST:PORT.
    authority: String,
    host: String,
    /// Empty, or `/PATH` without a slash at its end.
    path: String,
}

impl Address {
    /// Parses what a user writes.
    ///
    /// Errors: it is no such URL, or it holds a user name or password, which the error does not repeat.
    pub fn parse(text: &str) -> Result<Address, Failure> {
        let named = if text.trim().is_empty() { "\"\"" } else { text };
        let refused = |why: &'static str| Problem::Address { why }.of(named);
        if has_user(text) {
            let why = "it holds a user name or a password, which process lists and logs show: leave it out, and write them \
                       as the header of a request (the scheme Basic, RFC 7617) to a file that only you can read, which --token-file names";
            return Err(Problem::Address { why }.of("the URL"));
        }
        let (is_encrypted, rest) =
            match (text.strip_prefix("http://"), text.strip_prefix("https://")) {
                (Some(rest), _) => (false, rest),
                (_, Some(rest)) => (true, rest),
                _ => return Err(refused("expected http://HOST:PORT or https://HOST:PORT")),
            };
        if rest.contains(['?', '#']) {
            return Err(refused("leave out what follows ? or #: the requests have their own"));
        }
        let uri: Uri = text.parse().map_err(|_| refused("it is not a URL"))?;
        let (Some(authority), Some(host)) = (uri.authority(), uri.host()) else {
            return Err(refused("it names no host"));
        };
        // A port that is too large, or none behind a colon, is no port to the parser.
        let has_port = authority.as_str().len() > host.len();
        if host.is_empty() || has_port != authority.port_u16().is_some() {
            return Err(refused("expected a host, and a port below 65536"));
        }
        let path = uri.path().trim_end_matches('/');
        Ok(Address {
            is_encrypted,
            authority: authority.as_str().to_owned(),
            host: host.trim_matches(['[', ']']).to_owned(),
            path: path.to_owned(),
        })
    }

    /// The same without these last names of its path, where it ends with them.
    #[must_use]
    pub fn without_end(mut self, end: &str) -> Address {
        if let Some(path) = self.path.strip_suffix(end) {
            self.path = path.to_owned();
        }
        self
    }

    /// Whether it is https.
    pub fn is_encrypted(&self) -> bool {
        self.is_encrypted
    }

    /// Whether it is this machine, by its loopback address.
    pub fn is_loopback(&self) -> bool {
        let address = self.host.parse::<IpAddr>();
        self.host == "localhost" || address.is_ok_and(|it| it.is_loopback())
    }

    fn scheme(&self) -> &'static str {
        if self.is_encrypted { "https" } else { "http" }
    }

    /// The URL of `path`, which begins with a slash, with these parameters.
    pub(super) fn join(&self, path: &str, parameters: &[(&str, &str)]) -> String {
        let mut url = format!("{self}{path}");
        for (at, (name, value)) in parameters.iter().enumerate() {
            url.push(if at == 0 { '?' } else { '&' });
            url.push_str(name);
            url.push('=');
            escape(value, &mut url);
        }
        url
    }

    /// The URL that a server sends on to; `None` where that is another server, or no URL.
    pub(super) fn redirected(&self, to: &str) -> Option<String> {
        let own = format!("{}://{}", self.scheme(), self.authority);
        if to.starts_with('/') && !to.starts_with("//") {
            return Some(format!("{own}{to}"));
        }
        let rest = to.strip_prefix(&own)?;
        (rest.is_empty() || rest.starts_with(['/', '?'])).then(|| to.to_owned())
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", self.scheme(), self.authority, self.path)
    }
}

/// Whether a URL has something before an `@` in its authority.
fn has_user(text: &str) -> bool {
    let after_scheme = text.split_once("://").map_or(text, |(_, rest)| rest);
    let authority = after_scheme.split(['/', '?', '#']).next().unwrap_or_default();
    authority.contains('@')
}

/// Everything but the unreserved characters of RFC 3986, 2.3, as %XX.
fn escape(text: &str, url: &mut String) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            url.push(char::from(byte));
        } else {
            // A String takes everything.
            write!(url, "%{byte:02X}").ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> String {
        Address::parse(text).map_or_else(|it| it.to_string(), |it| it.to_string())
    }

    #[test]
    fn an_address_is_a_url_without_its_last_slash_and_parameters_are_escaped() {
        assert_eq!(of("http://prom:9090/"), "http://prom:9090");
        assert_eq!(of("https://[::1]:9009/prometheus/"), "https://[::1]:9009/prometheus");
        let address = Address::parse("http://prom:9090/x").unwrap();
        let url = address.join("/api", &[("query", "a{b=\"c d\"}"), ("t", "1")]);
        assert_eq!(url, "http://prom:9090/x/api?query=a%7Bb%3D%22c%20d%22%7D&t=1");
        let shorter = Address::parse("http://a/p/api/v1").unwrap().without_end("/api/v1");
        assert_eq!(shorter.to_string(), "http://a/p");
    }

    #[test]
    fn what_is_no_address_says_what_was_expected() {
        for (text, why) in [
            ("prom:9090", "expected http://HOST:PORT"),
            ("", "\"\": expected http://HOST:PORT"),
            ("ftp://prom", "expected http://HOST:PORT"),
            ("http://", "it is not a URL"),
            ("http://prom:99999", "a port below 65536"),
            ("http://prom/graph?g0.expr=up", "leave out what follows ?"),
            ("http://prom/a b", "it is not a URL"),
        ] {
            let said = of(text);
            assert!(said.contains(why) && said.contains(text), "{text}: {said}");
        }
    }

    #[test]
    fn a_password_in_a_url_is_refused_and_not_repeated() {
        for text in ["http://me:secret@prom:9090", "https://secret@prom/x", "me:secret@prom"] {
            let said = of(text);
            assert!(said.contains("--token-file") && !said.contains("secret"), "{said}");
        }
    }

    #[test]
    fn only_a_path_of_the_same_server_is_a_redirection_that_is_followed() {
        let address = Address::parse("https://prom:9090/x").unwrap();
        let to = |it: &str| address.redirected(it);
        assert_eq!(to("/y?a=1").unwrap(), "https://prom:9090/y?a=1");
        assert_eq!(to("https://prom:9090/y").unwrap(), "https://prom:9090/y");
        for elsewhere in [
            "http://prom:9090/y",
            "//evil/y",
            "https://prom:90901/y",
            "https://prom:9090.evil/",
            "y",
        ] {
            assert_eq!(to(elsewhere), None, "{elsewhere}");
        }
    }

    #[test]
    fn this_machine_is_known_by_its_address() {
        let is = |it: &str| Address::parse(it).unwrap().is_loopback();
        assert!(is("http://127.0.0.1:9090") && is("http://[::1]") && is("http://localhost:1"));
        assert!(!is("http://prom:9090") && !is("http://127.0.0.1.evil"));
    }
}
