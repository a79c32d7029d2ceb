//! Headers that say who asks, from a file: a secret is never on a command line, in a log or in an error.

use anyhow::{Context, Result, bail};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use facts::secrets::MASK;
use host::trusted_file::{self, Access};
use std::fmt;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use ureq::http::{HeaderName, HeaderValue};

/// The largest file of them. Tokens of Kubernetes have 1 KiB.
pub(super) const LARGEST: usize = 64 << 10;

/// The shortest secret that is masked in what a server says: a shorter one is a part of ordinary words.
const SHORTEST: usize = 4;

/// Headers that the client sets itself.
const OWN: [&str; 6] =
    ["accept-encoding", "connection", "content-length", "host", "te", "transfer-encoding"];

/// The option that names the file of a token.
const TOKEN_FILE: &str = "token-file";

/// The longest password: controllers take some tens of characters.
const LONGEST_PASSWORD: usize = 1024;

/// Headers that are sent with every request. Their values do not show in its `Debug`.
#[derive(Clone, Default)]
pub struct Credentials {
    headers: Vec<(HeaderName, HeaderValue)>,
    /// The option that gave them.
    option: Option<&'static str>,
}

impl Credentials {
    /// Those in a file: a bearer token alone, or lines `Name: value`.
    ///
    /// Errors: there is no such file; users other than root and the caller can write it; it holds neither. No error repeats its content.
    pub fn read(path: &Path) -> Result<Credentials> {
        let of_token = |token: &str| ("authorization", format!("Bearer {token}"));
        of_file(path, Readers::Any, |it| Credentials::parse(it, of_token))
    }

    /// The same, but that a token alone is that of a session of Redfish (DSP0266, "Redfish session login authentication").
    ///
    /// Errors: those of [`Credentials::read`], and other users can read the file.
    pub fn session(path: &Path) -> Result<Credentials> {
        let of_token = |token: &str| ("x-auth-token", token.to_owned());
        of_file(path, Readers::Owner, |it| Credentials::parse(it, of_token))
    }

    /// A user and the password in a file, which is its only line (RFC 7617).
    ///
    /// Errors: those of [`Credentials::session`]; the name holds a colon, the file no password or more than one line.
    pub fn basic(user: &str, path: &Path) -> Result<Credentials> {
        if user.is_empty() || user.contains([':', '\0', '\r', '\n']) {
            bail!("--user {user:?}: expected a name without a colon");
        }
        of_file(path, Readers::Owner, |text| {
            let password = text.trim_end_matches(['\r', '\n']);
            if password.is_empty() || password.len() > LONGEST_PASSWORD || password.contains('\n') {
                bail!("expected one line, the password");
            }
            let option = Some("password-file");
            Ok(Credentials { option, ..Credentials::account(user, password)? })
        })
    }

    /// A user and a password that no file holds (RFC 7617).
    ///
    /// Error: they cannot stand in a header.
    pub(crate) fn account(user: &str, password: &str) -> Result<Credentials> {
        let pair = BASE64_STANDARD.encode(format!("{user}:{password}"));
        let headers = vec![header("authorization", &format!("Basic {pair}"), 1)?];
        Ok(Credentials { headers, option: None })
    }

    /// `of_token` makes a header of a token alone.
    fn parse(text: &str, of_token: impl Fn(&str) -> (&'static str, String)) -> Result<Credentials> {
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|it| !it.is_empty()).collect();
        let headers = match &*lines {
            [] => bail!("it is empty: expected a token, or lines like `X-Scope-OrgID: fleet`"),
            [token] if is_token(token) => {
                let (name, value) = of_token(token);
                vec![header(name, &value, 1)?]
            }
            lines => {
                let headers = lines.iter().enumerate().map(|(at, line)| of_line(line, at + 1));
                headers.collect::<Result<_>>()?
            }
        };
        Ok(Credentials { headers, option: Some(TOKEN_FILE) })
    }

    pub(super) fn are_none(&self) -> bool {
        self.headers.is_empty()
    }

    pub(super) fn headers(&self) -> &[(HeaderName, HeaderValue)] {
        &self.headers
    }

    /// The option that gave them.
    pub(super) fn option(&self) -> Option<&'static str> {
        self.option
    }

    /// The text with every secret of these replaced, as a server may repeat what it was sent.
    pub(super) fn masked(&self, text: &str) -> String {
        let mut shown = text.to_owned();
        for secret in self.headers.iter().filter_map(|(_, it)| it.to_str().ok()).flat_map(parts) {
            if secret.len() >= SHORTEST {
                shown = shown.replace(&secret, MASK);
            }
        }
        shown
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.headers.iter().map(|(name, _)| name)).finish()
    }
}

/// Who may read a file of credentials.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Readers {
    /// Whoever can: a collector's token is often a group's.
    Any,
    /// Its owner alone: who has it can restart the machine.
    Owner,
}

/// What `parse` makes of the text of a file that only root and the caller can write.
fn of_file(
    path: &Path,
    readers: Readers,
    parse: impl Fn(&str) -> Result<Credentials>,
) -> Result<Credentials> {
    let name = path.display();
    let file = trusted_file::open(path, Access::Read)?
        .with_context(|| format!("cannot read {name}: there is no such file"))?;
    let mode = file.metadata().with_context(|| name.to_string())?.mode() & 0o777;
    if readers == Readers::Owner && mode & 0o077 != 0 {
        bail!("{name}: others can read it (mode {mode:o}): chmod 600 it");
    }
    let mut bytes = Vec::new();
    let read = file.take(LARGEST as u64 + 1).read_to_end(&mut bytes);
    read.with_context(|| format!("cannot read {name}"))?;
    if bytes.len() > LARGEST {
        bail!("{name}: it has more than {LARGEST} bytes");
    }
    let text = std::str::from_utf8(&bytes).ok().filter(|it| !it.contains('\0'));
    text.context("it is not a text file").and_then(parse).with_context(|| name.to_string())
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
    use std::fs::Permissions;
    use std::io::Write as _;
    use std::os::unix::fs::PermissionsExt as _;

    fn parsed(text: &str) -> Result<Credentials> {
        Credentials::parse(text, |token| ("authorization", format!("Bearer {token}")))
    }

    fn of(text: &str) -> String {
        let shown = |(name, value): &(HeaderName, HeaderValue)| {
            format!("{name}={}", value.to_str().unwrap())
        };
        match parsed(text) {
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
    fn a_password_is_the_only_line_of_a_file_that_its_owner_alone_can_read() {
        let folder = tempfile::tempdir().unwrap();
        let written = |text: &str, mode| {
            let path = folder.path().join("password");
            let mut file = tempfile::NamedTempFile::new_in(folder.path()).unwrap();
            file.write_all(text.as_bytes()).unwrap();
            file.as_file().set_permissions(Permissions::from_mode(mode)).unwrap();
            file.persist(&path).unwrap();
            path
        };
        let path = written("s:cret w\n", 0o600);
        let them = Credentials::basic("me", &path).unwrap();
        assert_eq!(them.headers()[0].1.to_str().unwrap(), "Basic bWU6czpjcmV0IHc=");
        assert_eq!(them.masked("you sent s:cret w"), "you sent ***");
        let failed = |it: Result<Credentials>| format!("{:#}", it.unwrap_err());
        assert!(failed(Credentials::basic("m:e", &path)).contains("a name without a colon"));
        assert!(
            failed(Credentials::basic("me", &folder.path().join("x"))).contains("no such file")
        );
        for (text, mode, why) in [
            ("s3cret", 0o640, "others can read it (mode 640): chmod 600 it"),
            ("s3cret", 0o622, "others can write it"),
            ("s3cret\nmore", 0o600, "expected one line, the password"),
            ("\n", 0o600, "expected one line, the password"),
        ] {
            let path = written(text, mode);
            let said = failed(Credentials::basic("me", &path));
            assert!(said.contains(why) && !said.contains("s3cret"), "{said}");
            let said =
                Credentials::session(&path).map_or_else(|it| format!("{it:#}"), |_| String::new());
            assert!(!said.contains("s3cret"), "{said}");
        }
        let token = Credentials::session(&written("abc.def\n", 0o400)).unwrap();
        assert_eq!(format!("{token:?}"), "[\"x-auth-token\"]");
    }

    #[test]
    fn a_secret_shows_nowhere() {
        let them = parsed("Authorization: Basic bWU6c2VjcmV0\nX-T: hidden").unwrap();
        let told = "no user for Basic bWU6c2VjcmV0 (secret), header hidden";
        assert_eq!(them.masked(told), "no user for *** (***), header ***");
        assert_eq!(format!("{them:?}"), "[\"authorization\", \"x-t\"]");
    }
}
