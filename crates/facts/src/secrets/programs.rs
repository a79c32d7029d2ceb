//! Words that are secrets by the option or the program in front of them.

use super::words::Word;
use super::{Place, Text, is_secret, names};

/// Where a program takes a password, besides options whose names say so.
struct Program {
    /// How its name begins.
    name: &'static str,
    takes: Takes,
}

enum Takes {
    /// `-pSECRET`: MySQL and MariaDB, "Password Options"; sshpass(1).
    Joined(&'static str),
    /// The word after this option.
    Next(&'static str),
    /// `-u user:SECRET`: curl(1), ab(1).
    Login(&'static str),
    /// `user/SECRET@database`: Oracle, "SQL*Plus User's Guide", CONNECT.
    Logon,
}

const PROGRAMS: &[Program] = &[
    joined("mysql"),
    joined("mariadb"),
    joined("mydumper"),
    joined("myloader"),
    joined("mytop"),
    joined("xtrabackup"),
    joined("innobackupex"),
    joined("pt-"),
    joined("sshpass"),
    next("sshpass", "-p"),
    next("mongo", "-p"),
    next("cqlsh", "-p"),
    next("charbench", "-p"),
    next("redis-", "-a"),
    next("valkey-", "-a"),
    next("memtier_benchmark", "-a"),
    next("sqlcmd", "-P"),
    next("bcp", "-P"),
    next("tsql", "-P"),
    next("ipmitool", "-P"),
    next("ldap", "-w"),
    Program { name: "curl", takes: Takes::Login("-u") },
    Program { name: "curl", takes: Takes::Login("--user") },
    Program { name: "ab", takes: Takes::Login("-A") },
    Program { name: "sqlplus", takes: Takes::Logon },
    Program { name: "sqlldr", takes: Takes::Logon },
    Program { name: "rman", takes: Takes::Logon },
    Program { name: "expdp", takes: Takes::Logon },
    Program { name: "impdp", takes: Takes::Logon },
    Program { name: "sql", takes: Takes::Logon },
];

const fn joined(name: &'static str) -> Program {
    Program { name, takes: Takes::Joined("-p") }
}

const fn next(name: &'static str, option: &'static str) -> Program {
    Program { name, takes: Takes::Next(option) }
}

/// The secrets among these words, by their neighbours.
pub(super) fn secrets(words: &[Word<'_>], kind: Text) -> Vec<Place> {
    let mut found = Vec::new();
    let mut program = "";
    for (at, word) in words.iter().enumerate() {
        let name = program_name(word.text);
        if PROGRAMS.iter().any(|it| it.is(name)) {
            program = name;
        }
        let next = words.get(at + 1);
        found.extend(next.filter(|it| names_next(words, at, it, kind)).map(|it| whole(at + 1, it)));
        for it in PROGRAMS.iter().filter(|it| it.is(program) && program != name) {
            found.extend(it.takes.secret(words, at, kind));
        }
    }
    found.retain(|it| {
        words.get(it.word).is_some_and(|word| is_secret(&word.text[it.bytes.clone()], kind))
    });
    found
}

impl Program {
    /// `mysql` is how names of many programs begin; `sql` and `ab` are whole names.
    fn is(&self, name: &str) -> bool {
        name == self.name
            || (self.name.len() > 3 && name.starts_with(self.name))
            || (self.name == "pt-" && name.starts_with("pt-"))
    }
}

impl Takes {
    /// The secret at this word, or the one after it.
    fn secret(&self, words: &[Word<'_>], at: usize, kind: Text) -> Option<Place> {
        let word = words.get(at)?.text;
        if let Takes::Joined(option) = self {
            let value = word.strip_prefix(option).filter(|it| !it.is_empty())?;
            return Some(Place { word: at, bytes: word.len() - value.len()..word.len() });
        }
        if kind == Text::Prose {
            return None;
        }
        match self {
            Takes::Joined(_) => None,
            Takes::Next(option) => {
                let next = words.get(at + 1).filter(|_| word == *option)?;
                Some(whole(at + 1, next))
            }
            Takes::Login(option) => {
                let (at, login) = match word.strip_prefix(option)? {
                    "" => (at + 1, words.get(at + 1)?.text),
                    login => (at, login),
                };
                let password = login.split_once(':')?.1;
                let end = words.get(at)?.text.len();
                Some(Place { word: at, bytes: end - password.len()..end })
            }
            Takes::Logon => logon(word).map(|bytes| Place { word: at, bytes }),
        }
    }
}

/// The password of `user/password@database`, also after `userid=`.
fn logon(word: &str) -> Option<std::ops::Range<usize>> {
    let begin = word.find('=').map_or(0, |it| it + 1);
    let slash = word[begin..].find('/')? + begin;
    let user = &word[begin..slash];
    let is_user =
        !user.is_empty() && user.chars().all(|it| it.is_alphanumeric() || "_$#\"".contains(it));
    let end = word[slash..].rfind('@').map_or(word.len(), |it| it + slash);
    (is_user && end > slash + 1).then(|| slash + 1..end)
}

/// Whether a word gives the next one as a secret: `--password SECRET`, `PASSWORD 'SECRET'` and `IDENTIFIED BY SECRET` of SQL.
fn names_next(words: &[Word<'_>], at: usize, next: &Word<'_>, kind: Text) -> bool {
    let Some(word) = words.get(at).map(|it| it.text) else { return false };
    let before = at.checked_sub(1).and_then(|it| words.get(it)).map_or("", |it| it.text);
    if word.eq_ignore_ascii_case("by") && before.eq_ignore_ascii_case("identified") {
        return true;
    }
    if !names::is_secret(word) {
        return false;
    }
    match word.starts_with('-') {
        // A password has more than one character; `-pass 1` of ffmpeg(1) is a number.
        true => kind != Text::Prose && !next.text.starts_with('-') && next.text.len() > 1,
        false => next.is_quoted,
    }
}

fn whole(at: usize, word: &Word<'_>) -> Place {
    Place { word: at, bytes: 0..word.text.len() }
}

/// The name of a program in a path, without what shells write around it.
fn program_name(word: &str) -> &str {
    let name = word.rsplit('/').next().unwrap_or(word);
    name.trim_matches(|it: char| !it.is_ascii_alphanumeric() && !"-_".contains(it))
}
