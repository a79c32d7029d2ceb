//! Headers that say who asks, from a file: a secret is never on a command line, in a log or in an error.

use anyhow::{Context, Result, bail};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use facts::secrets::MASK;
use host::trusted_file;
use std::fmt;
use std::path::Path;
use ureq::http::{HeaderName, HeaderValue};

/// The largest file of them. Tokens of Kubernetes have 1 KiB.
pub(super) const LARGEST: usize = 64 << 10;

/// The shortest secret that is masked in what a server says: a shorter one is a part of ordinary words.
const SHORTEST: usize = 4;

/// Headers that the client sets itself.
const OWN: [&str; 6] =
    ["accept-encoding", "connection", "content-length", "host", "te", "transfer-encoding"];

/// Headers that are sent with every request. Their values do not show in its `Debug`.
#[derive(Clone, Default)]
pub struct Credentials(Vec<(HeaderName, HeaderValue)>);

impl Credentials {
    /// Those in a file: a bearer token alone, or lines `Name: value`.
    ///
    /// Errors: there is no such file; users other than root and the caller can write it; it holds neither. No error repeats its content.
    pub fn read(path: &Path) -> Result<Credentials> {
        let bytes = trusted_file::read(path, LARGEST)?
            .with_context(|| format!("cannot read {}: there is no such file", path.display()))?;
        let text = std::str::from_utf8(&bytes).ok().filter(|it| !it.contains('\0'));
        text.context("it is not a text file")
            .and_then(Credentials::parse)
            .with_context(|| path.display().to_string())
    }

    fn parse(text: &str) -> Result<Credentials> {
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|it| !it.is_empty()).collect();
        match &*lines {
            [] => bail!("it is empty: expected a token, or lines like `X-Scope-OrgID: fleet`"),
            [token] if is_token(token) => {
                Ok(Credentials(vec![header("authorization", &format!("Bearer {token}"), 1)?]))
            }
            lines => {
                let headers = lines.iter().enumerate().map(|(at, line)| of_line(line, at + 1));
                Ok(Credentials(headers.collect::<Result<_>>()?))
            }
        }
    }

    pub(super) fn are_none(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn headers(&self) -> &[(HeaderName, HeaderValue)] {
        &self.0
    }

    /// The text with every secret of these replaced, as a server may repeat what it was sent.
    pub(super) fn masked(&self, text: &str) -> String {
        let mut shown = text.to_owned();
        for secret in self.0.iter().filter_map(|(_, it)| it.to_str().ok()).flat_map(parts) {
            if secret.len() >= SHORTEST {
                shown = shown.replace(&secret, MASK);
            }
        }
        shown
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

/// The parts of a value that give it away: all of it, without its scheme, and what Basic encodes (RFC 7617).
fn parts(value: &str) -> Vec<String> {
    let mut parts = vec![value.to_owned()];
    if let Some((scheme, rest)) = value.split_once(' ') {
        parts.push(rest.to_owned());
        let decoded = BASE64_STANDARD.decode(rest).ok().and_then(|it| String::from_utf8(it).ok());
        if let Some(pair) = decoded.filter(|_| scheme.eq_ignore_ascii_case("basic")) {
            parts.extend(pair.split_once(':').map(|(_, password)| password.to_owned()));
            parts.push(pair);
        }
    }
    // The longest first: what is masked is not found again.
    parts.sort_by_key(|it| std::cmp::Reverse(it.len()));
    parts
}

/// `b64token` of RFC 6750, 2.1.
fn is_token(text: &str) -> bool {
    text.bytes().all(|it| it.is_ascii_alphanumeric() || b"-._~+/=".contains(&it))
}

fn of_line(line: &str, number: usize) -> Result<(HeaderName, HeaderValue)> {
    match line.split_once(": ") {
        Some((name, value)) => header(name, value.trim(), number),
        None => bail!(
            "line {number} is neither a token nor `Name: value`; of a user and a password it is `Authorization: Basic BASE64`"
        ),
    }
}

fn header(name: &str, value: &str, number: usize) -> Result<(HeaderName, HeaderValue)> {
    let wrong = || format!("line {number} is not a header of HTTP");
    let name: HeaderName = name.parse().with_context(wrong)?;
    let mut value: HeaderValue = value.parse().with_context(wrong)?;
    if OWN.contains(&name.as_str()) {
        bail!("line {number}: {name} is set by the program");
    }
    value.set_sensitive(true);
    Ok((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> String {
        let shown = |(name, value): &(HeaderName, HeaderValue)| {
            format!("{name}={}", value.to_str().unwrap())
        };
        match Credentials::parse(text) {
            Ok(them) => them.headers().iter().map(shown).collect::<Vec<_>>().join(" | "),
            Err(error) => format!("{error:#}"),
        }
    }

    #[test]
    fn a_file_holds_a_token_or_lines_of_headers() {
        assert_eq!(of("ey.J-_~+/=\n"), "authorization=Bearer ey.J-_~+/=");
        assert_eq!(
            of("Authorization: Basic bWU6c2VjcmV0\r\n\nX-Scope-OrgID: a|b\n"),
            "authorization=Basic bWU6c2VjcmV0 | x-scope-orgid=a|b"
        );
    }

    #[test]
    fn what_is_neither_is_refused_without_being_repeated() {
        for (text, why) in [
            ("", "it is empty"),
            ("me:secret", "line 1 is neither"),
            ("secret\nsecret2", "line 1 is neither"),
            ("Host: secret", "host is set by the program"),
            ("se cret: x", "line 1 is not a header"),
            ("X: a\u{1}secret", "line 1 is not a header"),
        ] {
            let said = of(text);
            assert!(said.contains(why) && !said.contains("secret"), "{text}: {said}");
        }
    }

    #[test]
    fn a_secret_shows_nowhere() {
        let them = Credentials::parse("Authorization: Basic bWU6c2VjcmV0\nX-T: hidden").unwrap();
        let told = "no user for Basic bWU6c2VjcmV0 (secret), header hidden";
        assert_eq!(them.masked(told), "no user for *** (***), header ***");
        assert_eq!(format!("{them:?}"), "[\"authorization\", \"x-t\"]");
    }
}
