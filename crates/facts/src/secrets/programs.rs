//! Words that are secrets by the option or the program in front of them.

use super::shell_words::{Word, pieces};
use super::{Place, Text, is_secret, is_switch, names};

/// Where a program takes a password, besides options whose names say so.
struct Program {
    /// How its name begins.
    name: &'static str,
    takes: Takes,
}

enum Takes {
    /// `-pSECRET`: MySQL and MariaDB, "Password Options".
    Joined(&'static str),
    /// The word after this option, or what is joined to it.
    Next(&'static str),
    /// `-u user:SECRET`: curl(1), ab(1).
    Login(&'static str),
    /// `user:SECRET@host` without a scheme: MySQL Shell, "Connecting to the Server Using URI-Like Connection Strings".
    Account,
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
    Program { name: "mysqlsh", takes: Takes::Account },
    next(SSHPASS, "-p"),
    next("mongo", "-p"),
    next("cqlsh", "-p"),
    next("charbench", "-p"),
    next("hdbsql", "-p"),
    next("vsql", "-w"),
    next("redis-", "-a"),
    next("valkey-", "-a"),
    next("memtier_benchmark", "-a"),
    next("sqlcmd", "-P"),
    next("bcp", "-P"),
    next("tsql", "-P"),
    next("ipmitool", "-P"),
    next("ldap", "-w"),
    next("curl", "--oauth2-bearer"),
    login("curl", "-u"),
    login("curl", "-U"),
    login("curl", "--user"),
    login("curl", "--proxy-user"),
    login("ab", "-A"),
    login("ab", "-P"),
    login("hey", "-a"),
    logon("sqlplus"),
    logon("sqlldr"),
    logon("rman"),
    logon("expdp"),
    logon("impdp"),
];

/// It gives the password to the command that follows its options: sshpass(1).
const SSHPASS: &str = "sshpass";

/// Servers whose names begin like those of clients, and whose options are others.
const SERVERS: &[&str] =
    &["mongod", "mongos", "mysqld", "mariadbd", "redis-server", "valkey-server"];

/// Options of one letter without a value, which may stand in front of another letter: `curl -sSu`, `ab -kA`, `ldapsearch -LLLxw`.
const FLAGS: &str = "0123468aBcCdfgGiIjJklLMnNOpqRrsSvVxZ#";

/// Where files of data, settings and sockets are, and no programs: Filesystem Hierarchy Standard.
const DATA: &[&str] = &["/var/", "/etc/", "/run/"];

/// What a logon of Oracle's tools follows: "Utilities" and "Backup and Recovery Reference".
const LOGONS: &[&str] = &["userid", "target", "catalog", "auxiliary"];

const fn joined(name: &'static str) -> Program {
    Program { name, takes: Takes::Joined("-p") }
}

const fn next(name: &'static str, option: &'static str) -> Program {
    Program { name, takes: Takes::Next(option) }
}

const fn login(name: &'static str, option: &'static str) -> Program {
    Program { name, takes: Takes::Login(option) }
}

const fn logon(name: &'static str) -> Program {
    Program { name, takes: Takes::Logon }
}

/// The program that words belong to; without a name where it is none of [`PROGRAMS`].
#[derive(Default)]
struct Current<'t> {
    name: &'t str,
    /// Whether `/nolog`, `/` or `@script` was there, after which no logon comes.
    has_logon: bool,
}

/// The secrets among these words, by their neighbours.
pub(super) fn secrets(words: &[Word<'_>], kind: Text) -> Vec<Place> {
    // Where no shell reads, the end of a line is a space like any other.
    let is_first = |it: &Word<'_>| it.is_first && kind == Text::Script;
    let whole_words: Vec<Word<'_>> =
        words.iter().map(|it| Word { is_first: is_first(it), ..it.clone() }).collect();
    let mut found = by_neighbours(&whole_words, kind);
    if kind != Text::Arguments {
        // A password with `;` in it is one word, unless a shell reads it: what either reading finds is one.
        let (numbers, pieces): (Vec<usize>, Vec<Word<'_>>) = pieces(words).into_iter().unzip();
        let in_word = |it: Place| {
            let (number, piece) = (*numbers.get(it.word)?, pieces.get(it.word)?);
            let is_to_end = it.bytes.end == piece.text.len();
            let end =
                if is_to_end { words.get(number)?.text.len() } else { it.bytes.end + piece.at };
            Some(Place { word: number, bytes: it.bytes.start + piece.at..end })
        };
        found.extend(by_neighbours(&pieces, kind).into_iter().filter_map(in_word));
    }
    found
}

fn by_neighbours(words: &[Word<'_>], kind: Text) -> Vec<Place> {
    let mut found = Vec::new();
    let mut current = Current::default();
    for (at, word) in words.iter().enumerate() {
        let next = words.get(at + 1);
        found.extend(next.filter(|it| names_next(words, at, it, kind)).map(|it| whole(at + 1, it)));
        let before = before(words, at);
        if word.is_first || ends_before(word, before, kind, &current) {
            current = Current::default();
        }
        match program_name(word.text, before) {
            Some(name) if PROGRAMS.iter().any(|it| it.is(name)) => {
                current = Current { name, has_logon: false };
            }
            _ => {
                for it in PROGRAMS.iter().filter(|it| it.is(current.name)) {
                    found.extend(it.takes.secret(words, at, kind, &current));
                }
                current.has_logon |= word.text.starts_with(['/', '@']);
            }
        }
        if ends_after(word, kind) {
            current = Current::default();
        }
    }
    found.retain(|it| {
        words.get(it.word).is_some_and(|word| is_secret(&word.text[it.bytes.clone()], kind))
    });
    found
}

/// The word in front of one, in the same command.
fn before<'t>(words: &[Word<'t>], at: usize) -> &'t str {
    let is_first = words.get(at).is_none_or(|it| it.is_first);
    let before = at.checked_sub(1).filter(|_| !is_first);
    before.and_then(|it| words.get(it)).map_or("", |it| it.text)
}

/// The word after one, in the same command.
fn following<'w, 't>(words: &'w [Word<'t>], at: usize) -> Option<&'w Word<'t>> {
    words.get(at + 1).filter(|it| !it.is_first)
}

/// Whether the options of the current program end in front of this word: at the command of sshpass, or at `x|y` of a shell.
fn ends_before(word: &Word<'_>, before: &str, kind: Text, current: &Current<'_>) -> bool {
    let takes_next = ["-p", "-f", "-d", "-P"].contains(&before);
    let is_command = !word.text.starts_with('-') && !takes_next;
    let is_plain = !word.is_quoted && !word.text.contains(['\'', '"', '`']);
    let has_pipe = kind != Text::Arguments && is_plain && word.text.contains('|');
    (current.name == SSHPASS && is_command) || has_pipe
}

/// Whether a shell takes what follows for another command.
fn ends_after(word: &Word<'_>, kind: Text) -> bool {
    if word.is_quoted {
        return false;
    }
    // Words that no shell reads have `;` at their end as any other character.
    let is_operator = ["|", "||", "|&", "&", "&&", ";"].contains(&word.text);
    is_operator || (kind != Text::Arguments && word.text.ends_with(['|', '&', ';']))
}

impl Program {
    /// `mysql` is how names of many programs begin; `hey` and `ab` are whole names.
    fn is(&self, name: &str) -> bool {
        let is_prefix = self.name.len() > 3 || self.name == "pt-";
        name == self.name || (is_prefix && name.starts_with(self.name) && !SERVERS.contains(&name))
    }
}

impl Takes {
    /// The secret at this word, or the one after it.
    fn secret(
        &self,
        words: &[Word<'_>],
        at: usize,
        kind: Text,
        current: &Current<'_>,
    ) -> Option<Place> {
        let word = words.get(at)?.text;
        let found = match self {
            Takes::Joined(option) => {
                let value = word.strip_prefix(option).filter(|it| !it.is_empty())?;
                Place { word: at, bytes: word.len() - value.len()..word.len() }
            }
            Takes::Next(option) => value(words, at, option)?,
            Takes::Login(option) => {
                let Place { word, bytes } = value(words, at, option)?;
                let login = &words.get(word)?.text[bytes.clone()];
                Place { word, bytes: bytes.start + login.find(':')? + 1..bytes.end }
            }
            Takes::Account => Place { word: at, bytes: account(word)? },
            Takes::Logon => Place { word: at, bytes: logon_in(word, before(words, at), current)? },
        };
        // In a sentence the next word may be any, and so may one with a slash.
        let is_joined = found.word == at && matches!(self, Takes::Joined(_) | Takes::Next(_));
        (kind != Text::Prose || is_joined).then_some(found)
    }
}

/// The value of an option: the next word, or what is joined to it.
fn value(words: &[Word<'_>], at: usize, option: &str) -> Option<Place> {
    let word = words.get(at)?.text;
    let rest = if option.starts_with("--") {
        let rest = word.strip_prefix(option)?;
        if rest.is_empty() { rest } else { rest.strip_prefix('=').filter(|it| !it.is_empty())? }
    } else {
        let letters = word.strip_prefix('-').filter(|it| !it.starts_with('-'))?;
        let letter = option.strip_prefix('-')?;
        letters
            .strip_prefix(letter)
            .or_else(|| letters.trim_start_matches(|it| FLAGS.contains(it)).strip_prefix(letter))?
    };
    if !rest.is_empty() {
        return Some(Place { word: at, bytes: word.len() - rest.len()..word.len() });
    }
    // Of a program that asks for its password, the next option.
    let next = following(words, at).filter(|it| !it.text.starts_with('-'))?;
    Some(whole(at + 1, next))
}

/// The password of `user:password@host`, also after `--uri=`.
fn account(word: &str) -> Option<std::ops::Range<usize>> {
    let begin = if word.starts_with("--uri=") { "--uri=".len() } else { 0 };
    let end = word.rfind('@')?;
    let colon = begin + word.get(begin..end)?.find(':')?;
    let is_user = |it: char| !it.is_whitespace() && !"/=({\"'".contains(it);
    (colon > begin && word[begin..colon].chars().all(is_user)).then(|| colon + 1..end)
}

/// The password of `user/password@database`, also after `userid=`.
fn logon_in(word: &str, before: &str, current: &Current<'_>) -> Option<std::ops::Range<usize>> {
    let is_key = |it: &str| LOGONS.iter().any(|key| it.eq_ignore_ascii_case(key));
    let begin = match word.split_once('=') {
        Some((key, _)) if is_key(key) => key.len() + 1,
        // `control=data/x.ctl`; and a password may have one.
        Some((key, _)) if !key.contains('/') => return None,
        // The first word is the logon, and one after TARGET of RMAN.
        _ if is_key(before) => 0,
        _ if current.has_logon || current.name.starts_with("rman") => return None,
        _ => 0,
    };
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
    // In SQL, a line ends nothing.
    let before = at.checked_sub(1).and_then(|it| words.get(it)).map_or("", |it| it.text);
    if word.eq_ignore_ascii_case("by") && before.eq_ignore_ascii_case("identified") {
        return true;
    }
    if !names::is_secret(word) {
        return false;
    }
    match word.starts_with('-') {
        // A password has more than one character; `-pass 1` of ffmpeg(1) is a number.
        true => {
            let is_option = next.text.starts_with('-') || is_switch(next.text);
            kind != Text::Prose && !is_option && !next.is_first && next.text.len() > 1
        }
        false => next.is_quoted,
    }
}

fn whole(at: usize, word: &Word<'_>) -> Place {
    Place { word: at, bytes: 0..word.text.len() }
}

/// The name of a program in a path, without what shells write around it. `None` of an option, an assignment, and a path that
/// is the value of an option or holds data.
fn program_name<'t>(word: &'t str, before: &str) -> Option<&'t str> {
    let is_around = |it: char| !it.is_ascii_alphanumeric() && !"-_./".contains(it);
    let word = word.trim_matches(is_around);
    let word = word.rsplit(['(', '`', '|', ';', '&']).next().unwrap_or(word);
    if word.starts_with('-') || word.contains('=') || DATA.iter().any(|it| word.starts_with(it)) {
        return None;
    }
    let (folder, name) = word.rsplit_once('/').unwrap_or(("", word));
    let is_value = before.starts_with('-') && before != "--";
    let is_program = folder.is_empty() || folder.ends_with("bin") || !is_value;
    is_program.then(|| name.trim_matches(|it| is_around(it) || it == '.'))
}
