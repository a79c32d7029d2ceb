//! Where a user's server is: a PostgreSQL URI or keyword string, a `mysql://` URI, or the path of a MariaDB socket.
//!
//! PostgreSQL documentation, "Connection Strings" (libpq). A password in it goes to the client by its environment, and
//! never into a result, a message or the client's command line.

use super::engine::Engine;

/// A server that runs already.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Dsn {
    /// Which database it is.
    pub engine: Engine,
    /// The text as it was given, with the password.
    pub given: String,
    /// The text without the password.
    pub public: String,
    /// The password, where there was one.
    pub password: Option<String>,
    /// The options of MariaDB's client for it.
    pub options: Vec<String>,
}

/// What may be shown and kept of a `--dsn`.
pub fn without_password(text: &str) -> String {
    Dsn::parse(text).map_or_else(|_| "(not readable)".to_owned(), |dsn| dsn.public)
}

/// Whether a text is a connection string. The error repeats nothing of it.
pub(crate) fn is_dsn(text: &str) -> Result<(), &'static str> {
    Dsn::parse(text).map(drop)
}

impl Dsn {
    /// Reads one. The error repeats nothing of the text, which may hold a password.
    pub(super) fn parse(text: &str) -> Result<Dsn, &'static str> {
        let text = text.trim();
        if text.chars().any(char::is_control) {
            return Err("it holds a control character");
        }
        match text.split_once("://") {
            Some(("postgres" | "postgresql", _)) => postgresql_uri(text),
            Some(("mysql" | "mariadb", rest)) => mariadb_uri(text, rest),
            _ if text.starts_with('/') => {
                let options = vec![format!("--socket={text}")];
                Ok(Dsn {
                    engine: Engine::Mariadb,
                    given: text.to_owned(),
                    public: text.to_owned(),
                    password: None,
                    options,
                })
            }
            _ if text.contains('=') => postgresql_keywords(text),
            _ => Err(
                "expected postgresql://USER@HOST/DATABASE, 'host=... dbname=...', mysql://USER@HOST/DATABASE or \
                      the path of a MariaDB socket",
            ),
        }
    }
}

const AT: &str =
    "it has more than one @, or one after a slash: write those that belong to a name as %40";
const PERCENT: &str = "a % in it is not followed by two hexadecimal digits of UTF-8";
const KEYWORDS: &str = "expected words like host=db1 dbname='my db'";
const SSL_PASSWORD: &str = "sslpassword cannot be passed on: use a key without one";

/// A URI in its parts: what is before the `@`, the hosts, and the rest from the first `/` or `?` on.
struct Parts<'a> {
    user: Option<&'a str>,
    password: Option<String>,
    hosts: &'a str,
    rest: &'a str,
}

fn parts(after_scheme: &str) -> Result<Parts<'_>, &'static str> {
    let end = after_scheme.find(['/', '?']).unwrap_or(after_scheme.len());
    let (authority, rest) = after_scheme.split_at_checked(end).ok_or(PERCENT)?;
    // An @ further on would be that of a password with a slash in it, which would pass for a host and its port.
    if authority.matches('@').count() > 1 || rest.contains('@') {
        return Err(AT);
    }
    let Some((login, hosts)) = authority.split_once('@') else {
        return Ok(Parts { user: None, password: None, hosts: authority, rest });
    };
    let (user, password) = match login.split_once(':') {
        Some((user, password)) => (user, Some(decoded(password)?)),
        None => (login, None),
    };
    Ok(Parts { user: Some(user), password, hosts, rest })
}

fn postgresql_uri(text: &str) -> Result<Dsn, &'static str> {
    let (scheme, rest) = text.split_once("://").ok_or(KEYWORDS)?;
    let parts = parts(rest)?;
    let mut password = parts.password;
    let (path, query) = parts.rest.split_once('?').unwrap_or((parts.rest, ""));
    let mut kept = Vec::new();
    for parameter in query.split('&').filter(|it| !it.is_empty()) {
        let (key, value) = parameter.split_once('=').ok_or("a parameter in it has no value")?;
        match &*decoded(key)? {
            "password" => password = Some(decoded(value)?),
            "sslpassword" => return Err(SSL_PASSWORD),
            _ => kept.push(parameter),
        }
    }
    let login = parts.user.map(|it| format!("{it}@")).unwrap_or_default();
    let question = if kept.is_empty() { "" } else { "?" };
    let public = format!("{scheme}://{login}{}{path}{question}{}", parts.hosts, kept.join("&"));
    Ok(Dsn {
        engine: Engine::Postgresql,
        given: text.to_owned(),
        public,
        password,
        options: Vec::new(),
    })
}

fn mariadb_uri(text: &str, rest: &str) -> Result<Dsn, &'static str> {
    let parts = parts(rest)?;
    let (path, query) = parts.rest.split_once('?').unwrap_or((parts.rest, ""));
    let mut options = Vec::new();
    if let Some(user) = parts.user.filter(|it| !it.is_empty()) {
        options.push(format!("--user={}", decoded(user)?));
    }
    // An IPv6 address stands in brackets, and its colons are no port.
    let (host, port) = match parts.hosts.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (parts.hosts, None),
    };
    if !host.is_empty() {
        options.push(format!("--host={}", decoded(host.trim_matches(['[', ']']))?));
    }
    if let Some(port) = port {
        let port: u16 = port.parse().map_err(|_| "its port is not a number from 0 to 65535")?;
        options.push(format!("--port={port}"));
    }
    for parameter in query.split('&').filter(|it| !it.is_empty()) {
        let (key, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        match key {
            "socket" => options.push(format!("--socket={}", decoded(value)?)),
            _ => {
                return Err(
                    "of parameters after a ?, only socket=PATH is known; give others in ~/.my.cnf",
                );
            }
        }
    }
    let database = decoded(path.trim_start_matches('/'))?;
    if !database.is_empty() {
        options.push(format!("--database={database}"));
    }
    let scheme = text.split_once("://").map_or("mysql", |(scheme, _)| scheme);
    let login = parts.user.map(|it| format!("{it}@")).unwrap_or_default();
    let public = format!("{scheme}://{login}{}{}", parts.hosts, parts.rest);
    Ok(Dsn {
        engine: Engine::Mariadb,
        given: text.to_owned(),
        public,
        password: parts.password,
        options,
    })
}

fn postgresql_keywords(text: &str) -> Result<Dsn, &'static str> {
    let mut rest = text.chars().peekable();
    let mut password = None;
    let mut kept = Vec::new();
    loop {
        while rest.next_if(|it| it.is_whitespace()).is_some() {}
        if rest.peek().is_none() {
            break;
        }
        let mut key = String::new();
        while let Some(it) = rest.next_if(|it| *it != '=' && !it.is_whitespace()) {
            key.push(it);
        }
        while rest.next_if(|it| it.is_whitespace()).is_some() {}
        rest.next_if_eq(&'=').ok_or(KEYWORDS)?;
        while rest.next_if(|it| it.is_whitespace()).is_some() {}
        let value = keyword_value(&mut rest)?;
        match &*key {
            "" => return Err(KEYWORDS),
            "password" => password = Some(value),
            "sslpassword" => return Err(SSL_PASSWORD),
            _ => kept.push(format!("{key}='{}'", value.replace('\\', "\\\\").replace('\'', "\\'"))),
        }
    }
    let (given, public) = (text.to_owned(), kept.join(" "));
    Ok(Dsn { engine: Engine::Postgresql, given, public, password, options: Vec::new() })
}

/// A value up to the next space, or in quotes; a backslash takes the character after it as it is.
fn keyword_value(
    rest: &mut std::iter::Peekable<std::str::Chars<'_>>,
) -> Result<String, &'static str> {
    let is_quoted = rest.next_if_eq(&'\'').is_some();
    let mut value = String::new();
    loop {
        match rest.next() {
            Some('\\') => value.push(rest.next().ok_or(KEYWORDS)?),
            Some('\'') if is_quoted => return Ok(value),
            Some(it) if !is_quoted && it.is_whitespace() => return Ok(value),
            Some(it) => value.push(it),
            None if is_quoted => return Err("a quote in it is not closed"),
            None => return Ok(value),
        }
    }
}

/// The text that a percent-encoded one stands for.
fn decoded(text: &str) -> Result<String, &'static str> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || {
            rest.next()
                .and_then(|it| char::from(it).to_digit(16))
                .and_then(|it| u8::try_from(it).ok())
        };
        let (high, low) = (digit().ok_or(PERCENT)?, digit().ok_or(PERCENT)?);
        bytes.push(high << 4 | low);
    }
    String::from_utf8(bytes).ok().filter(|it| !it.contains('\0')).ok_or(PERCENT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        match Dsn::parse(text) {
            Ok(dsn) => {
                let (engine, password) = (dsn.engine.id(), dsn.password.unwrap_or_default());
                format!("{engine}|{}|{password}|{}", dsn.public, dsn.options.join(" "))
            }
            Err(why) => why.to_owned(),
        }
    }

    #[test]
    fn a_uri_loses_its_password_and_nothing_else() {
        for (text, expected) in [
            ("postgresql://", "postgresql|postgresql://||"),
            (
                "postgres://me:s%40cret@h1:5432,h2/db?a=b",
                "postgresql|postgres://me@h1:5432,h2/db?a=b|s@cret|",
            ),
            (
                "postgresql:///db?host=/run&password=x%26y",
                "postgresql|postgresql:///db?host=/run|x&y|",
            ),
            ("postgresql:///db?p%61ssword=x", "postgresql|postgresql:///db|x|"),
            (
                "mysql://me:pw@db1:3307/test",
                "mariadb|mysql://me@db1:3307/test|pw|--user=me --host=db1 --port=3307 --database=test",
            ),
            (
                "mariadb://root@/?socket=/run/s",
                "mariadb|mariadb://root@/?socket=/run/s||--user=root --socket=/run/s",
            ),
            ("mysql://[::1]", "mariadb|mysql://[::1]||--host=::1"),
            (
                "/run/mysqld/mysqld.sock",
                "mariadb|/run/mysqld/mysqld.sock||--socket=/run/mysqld/mysqld.sock",
            ),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn keywords_lose_their_password_and_keep_their_spaces() {
        for (text, expected) in [
            ("host=db1 password=secret dbname=x", "postgresql|host='db1' dbname='x'|secret|"),
            ("host = db1 password = 'it\\'s \\\\ me'", "postgresql|host='db1'|it's \\ me|"),
            ("dbname='my db' user=a\\ b", "postgresql|dbname='my db' user='a b'||"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_refused_without_being_shown() {
        for text in [
            "postgresql://me:pa/secret@host/db",
            "postgresql://me:pa@secret@host/db",
            "postgresql://me:%zz@secret/db",
            "host=h password='secret",
            "password=secret host",
            "=secret",
            "secret",
            "",
            "mysql://h:secret",
            "mysql://h/?password=secret",
            "host=h sslpassword=secret",
            "postgresql:///?sslpassword=secret",
            "host=h password=sec\nret",
        ] {
            assert!(
                !shown(text).contains("secret") && !shown(text).contains('|'),
                "{text}: {}",
                shown(text)
            );
            assert_eq!(without_password(text), "(not readable)", "{text}");
        }
        assert_eq!(without_password("host=h password=secret"), "host='h'");
    }
}
