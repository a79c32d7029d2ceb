//! Names of options, variables and keywords whose value is a secret.

use std::borrow::Cow;

/// What such a name ends with, written without `-`, `_` and `.`.
const ENDINGS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "secretkey",
    "accountkey",
    "storagekey",
];

/// Whole names. `REDISCLI_AUTH`: redis-cli(1); `SSHPASS`: sshpass(1); `requirepass`, `masterauth`: redis.conf; `--authenticate`:
/// memtier_benchmark(1).
const WHOLE: &[&str] = &[
    "pass",
    "pwd",
    "pw",
    "rediscliauth",
    "sshpass",
    "requirepass",
    "masterauth",
    "authenticate",
    "authorization",
];

/// Beginnings of names that count or deny: `--max-token`, `--no-password`.
const COUNTS: &[&str] = &["no", "skip", "max", "min", "num", "n"];

/// Names that end like a variable of a password. `PWD` and `OLDPWD` are folders: environ(7).
const OTHERS: &[&str] = &["PWD", "OLDPWD", "BYPASS", "COMPASS"];

/// Parts of names of switches: `MYSQL_ALLOW_EMPTY_PASSWORD`, `MARIADB_RANDOM_ROOT_PASSWORD` and `MYSQL_ONETIME_PASSWORD` of
/// the images on Docker Hub.
const SWITCHES: &[&str] = &["allowempty", "randomroot", "onetime"];

/// Longer than any name is, in bytes.
const LONGEST: usize = 200;

/// Whether the value of what has this name is a secret. Its dashes may be left on.
pub(super) fn is_secret(name: &str) -> bool {
    if name.len() > LONGEST {
        return false;
    }
    let decoded = decoded(name);
    let name = decoded.trim_start_matches('-');
    if !name.chars().all(|it| it.is_ascii_alphanumeric() || "-_.".contains(it)) {
        return false;
    }
    let lower = name.to_ascii_lowercase();
    let mut parts = lower.split(['-', '_', '.']);
    if parts.next().is_some_and(|first| COUNTS.contains(&first)) {
        return false;
    }
    let last = lower.rsplit(['-', '_', '.']).next().unwrap_or_default();
    let has_parts = last.len() < lower.len();
    let joined = lower.replace(['-', '_', '.'], "");
    if SWITCHES.iter().any(|it| joined.contains(it)) {
        return false;
    }
    ENDINGS.iter().any(|it| joined.ends_with(it))
        || (WHOLE.contains(&&*joined) && name != "PWD")
        || (has_parts && ["pass", "pwd", "pw"].contains(&last))
        || is_variable(name)
}

/// A name in a URI may be percent-encoded: RFC 3986, 2.1. What is not ASCII becomes `?`, which no name has.
fn decoded(name: &str) -> Cow<'_, str> {
    let Some((front, rest)) = name.split_once('%') else { return name.into() };
    let byte = rest.get(..2).and_then(|it| u8::from_str_radix(it, 16).ok());
    let sign = byte.filter(u8::is_ascii).map_or('?', char::from);
    let rest = byte.and_then(|_| rest.get(2..)).unwrap_or(rest);
    format!("{front}{sign}{}", decoded(rest)).into()
}

/// `DBPASS`, `MYSQLPWD`: a variable's name, all of it in capitals.
fn is_variable(name: &str) -> bool {
    let is_capital = !name.chars().any(|it| it.is_ascii_lowercase());
    is_capital
        && (name.ends_with("PASS") || name.ends_with("PWD"))
        && !OTHERS.iter().any(|it| name == *it || (it.len() > 3 && name.ends_with(it)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_that_of_a_secret_by_its_end() {
        for name in [
            "password",
            "--password",
            "PGPASSWORD",
            "MYSQL_PWD",
            "REDISCLI_AUTH",
            "SSHPASS",
            "DBPASS",
            "--mysql-password",
            "sslpassword",
            "MONGO_INITDB_ROOT_PASSWORD",
            "Pwd",
            "API_TOKEN",
            "clientSecret",
            "AWS_SECRET_ACCESS_KEY",
            "p%61ssword",
            "--api-key",
            "--http-passwd",
            "-passphrase",
            "db.pass",
            "--pw",
            "DB_PW",
            "AZURE_STORAGE_KEY",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in [
            "PWD",
            "OLDPWD",
            "PGPASSFILE",
            "--password-file",
            "--token-file",
            "--no-password",
            "--max-token",
            "bypass",
            "GPU_BYPASS",
            "user",
            "--passes",
            "",
            "-",
            "--tokens",
            "cpus",
            "MYSQL_ALLOW_EMPTY_PASSWORD",
            "MARIADB_RANDOM_ROOT_PASSWORD",
        ] {
            assert!(!is_secret(name), "{name}");
        }
    }
}
