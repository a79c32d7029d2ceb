//! How processes and roles are recognised. Titles and names are foreign text of any length and content: they are compared, never
//! trusted, and only their beginnings are looked at.

use super::Words;

/// The longest name of a task in bytes, without the NUL (TASK_COMM_LEN).
const LONGEST_NAME: usize = 15;

/// How much of a title is looked at. PostgreSQL's holds a cluster's name, a user, a database (63 bytes each) and a host's name (255).
const LONGEST_TITLE: usize = 512;

/// How much of a command line is searched for a main class. One string has at most 128 KiB (MAX_ARG_STRLEN in
/// include/uapi/linux/binfmts.h), and the longest one of a store is its class path.
const LONGEST_COMMAND: usize = 256 << 10;

/// The name of the process of every Java program.
pub(super) const JAVA: &str = "java";

/// How a process of a product is recognised.
#[derive(Debug, PartialEq, Eq)]
pub enum ProcessSign {
    /// It has this name.
    Comm(&'static str),
    /// Its name is this beginning, four letters or digits, and an underscore: `ora_lgwr_ORCL`.
    Oracle(&'static str),
    /// It is of Oracle 23ai, whose beginning is as short as `db_`: the same, and its name is also the whole command line.
    OracleAlone(&'static str),
    /// Its name is this beginning, a number, and an underscore: `oracle_4711_ORC`.
    OracleSession(&'static str),
    /// It runs Java with this main class.
    MainClass(&'static str),
    /// It runs Java.
    Java,
}

impl ProcessSign {
    pub(super) fn fits(&self, words: &Words<'_>, main_class: Option<&[u8]>) -> bool {
        let comm = words.comm;
        match self {
            ProcessSign::Comm(name) => comm == *name,
            ProcessSign::Oracle(start) => oracle_name(comm, start).is_some(),
            ProcessSign::OracleAlone(start) => {
                let title = words.title();
                let rest = words.cmdline.get(title.len()..).unwrap_or_default();
                let is_alone = rest.iter().take(LONGEST_TITLE).all(|byte| *byte == 0);
                oracle_name(comm, start).is_some() && title.starts_with(comm.as_bytes()) && is_alone
            }
            ProcessSign::OracleSession(start) => {
                let pid = comm.strip_prefix(start).and_then(|it| it.split_once('_'));
                pid.is_some_and(|(pid, _)| is_number(pid.as_bytes()))
            }
            ProcessSign::MainClass(class) => main_class == Some(class.as_bytes()),
            ProcessSign::Java => comm == JAVA,
        }
    }
}

/// How a task of a role is recognised.
#[derive(Debug, PartialEq, Eq)]
pub enum Sign {
    /// The title of its process begins with these words.
    Title(&'static str),
    /// The title of its PostgreSQL process begins with these words and names no client.
    Postgres(&'static str),
    /// The title of its PostgreSQL process begins with these words and names a client: `[local]` or `host(port)`.
    PostgresClient(&'static str),
    /// Its PostgreSQL process has no title, but the command line of the server. One that ends has neither any more.
    PostgresUntitled,
    /// The four characters of its name of an Oracle process; `#` stands for a digit, `?` for a letter or digit.
    Oracle(&'static str),
    /// Its name.
    Name(&'static str),
    /// How its name begins.
    Start(&'static str),
    /// Its name is this and a number.
    Numbered(&'static str),
    /// How its name in Java begins, of which the JVM passes on 15 bytes.
    Java(&'static str),
    /// Its name is that of its process: it has set none.
    Unnamed,
}

impl Sign {
    pub(super) fn fits(&self, words: &Words<'_>, thread: &str) -> bool {
        match self {
            Sign::Title(start) => follows(words.title(), start).is_some(),
            Sign::Postgres(start) => {
                let mut rests = postgres_titles(words).filter_map(|it| follows(it, start));
                rests.any(|rest| !has_client(rest))
            }
            Sign::PostgresClient(start) => {
                let mut rests = postgres_titles(words).filter_map(|it| follows(it, start));
                rests.any(has_client)
            }
            Sign::PostgresUntitled => {
                !words.title().is_empty() && !words.title().starts_with(POSTGRES)
            }
            Sign::Oracle(pattern) => {
                let names = ORACLE_STARTS.iter().filter_map(|it| oracle_name(thread, it));
                names.into_iter().any(|name| is_of_pattern(name, pattern))
            }
            Sign::Name(name) => thread == *name,
            Sign::Start(start) => thread.starts_with(start),
            Sign::Numbered(start) => {
                thread.strip_prefix(start).is_some_and(|rest| is_number(rest.as_bytes()))
            }
            Sign::Java(start) => is_java_name(thread.as_bytes(), start.as_bytes()),
            Sign::Unnamed => thread == words.comm,
        }
    }
}

/// How a title of PostgreSQL begins (PROGRAM_NAME_PREFIX in src/backend/utils/misc/ps_status.c).
const POSTGRES: &[u8] = b"postgres: ";

/// What may be the title of a PostgreSQL process: what follows its beginning, and what follows each further `: `. The first may be
/// that of the name of the cluster (`init_ps_display`), which may itself hold one, and another that of `bgworker: ` (up to 10).
fn postgres_titles<'a>(words: &Words<'a>) -> impl Iterator<Item = &'a [u8]> + use<'a> {
    const SEPARATOR: &[u8] = b": ";
    let title = words.title();
    let title = title.get(..LONGEST_TITLE).unwrap_or(title);
    let next = |title: &&'a [u8]| {
        let at = title.windows(SEPARATOR.len()).position(|it| it == SEPARATOR)?;
        title.get(at + SEPARATOR.len()..)
    };
    std::iter::successors(title.strip_prefix(POSTGRES), next)
}

/// What follows these words, where a text begins with them.
fn follows<'a>(text: &'a [u8], words: &str) -> Option<&'a [u8]> {
    let rest = text.strip_prefix(words.as_bytes())?;
    let is_whole = words.is_empty() || rest.first().is_none_or(|byte| *byte == b' ');
    is_whole.then_some(rest)
}

/// Whether a title names a client, as BackendInitialize of PostgreSQL does: `[local]`, or a host and `(port)`.
fn has_client(title: &[u8]) -> bool {
    let is_host = |word: &[u8]| {
        let inner = word.strip_suffix(b")").and_then(|it| it.rsplit(|byte| *byte == b'(').next());
        inner.is_some_and(|port| port.len() + "()".len() < word.len() && is_number(port))
    };
    title.split(|byte| *byte == b' ').any(|word| word == b"[local]" || is_host(word))
}

/// How names of Oracle processes begin (oracle.rs).
const ORACLE_STARTS: &[&str] = &["ora_", "db_", "asm_", "mdb_", "apx_"];

/// The four characters that say what an Oracle process does.
fn oracle_name<'a>(comm: &'a str, start: &str) -> Option<&'a [u8]> {
    let (name, rest) = comm.as_bytes().strip_prefix(start.as_bytes())?.split_first_chunk::<4>()?;
    let is_name = name.iter().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit());
    (is_name && rest.first() == Some(&b'_')).then_some(name)
}

fn is_of_pattern(name: &[u8], pattern: &str) -> bool {
    let is = |(byte, expected): (&u8, u8)| match expected {
        b'#' => byte.is_ascii_digit(),
        b'?' => byte.is_ascii_alphanumeric(),
        expected => *byte == expected,
    };
    name.len() == pattern.len() && name.iter().zip(pattern.bytes()).all(is)
}

fn is_number(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_digit)
}

/// Whether a thread's name is the one in Java that begins so, as far as it was passed on: its first 15 bytes
/// (`os::set_native_thread_name` in src/hotspot/os/linux/os_linux.cpp), or, by JDK-8368124, its beginning and its end with `..`
/// between them. The end is a number behind the name.
fn is_java_name(thread: &[u8], start: &[u8]) -> bool {
    let cut = start.get(..LONGEST_NAME).unwrap_or(start);
    if thread.starts_with(cut) {
        return true;
    }
    let Some(at) = thread.windows(2).position(|it| it == b"..") else { return false };
    let (head, tail) = (thread.get(..at).unwrap_or_default(), thread.get(at + 2..));
    !head.is_empty()
        && start.starts_with(head)
        && start.ends_with(unnumbered(tail.unwrap_or_default()))
}

/// A name without the digits at its end.
fn unnumbered(name: &[u8]) -> &[u8] {
    let n_kept = name.iter().rposition(|byte| !byte.is_ascii_digit()).map_or(0, |at| at + 1);
    name.get(..n_kept).unwrap_or_default()
}

/// The main class of a Java command line, without its module: the first word that is neither an option nor an option's value, or
/// the value of `-m` (src/java.base/share/native/libjli/java.c, `ParseArguments`). `None` for `-jar`, and where there is none.
pub(super) fn main_class(cmdline: &[u8]) -> Option<&[u8]> {
    let cmdline = cmdline.get(..LONGEST_COMMAND).unwrap_or(cmdline);
    let mut words = cmdline.split(|byte| *byte == 0).skip(1);
    while let Some(word) = words.next() {
        if matches!(word, b"-m" | b"--module") {
            return words.next()?.rsplit(|byte| *byte == b'/').next();
        }
        if word == b"-jar" {
            return None;
        }
        if WITH_VALUE.contains(&word) {
            words.next();
        } else if !word.starts_with(b"-") && !word.starts_with(b"@") {
            return Some(word).filter(|it| !it.is_empty());
        }
    }
    None
}

/// Options of the `java` command whose value is the next word (`IsClassPathOption`, `IsModuleOption` of the same file).
const WITH_VALUE: &[&[u8]] = &[
    b"-cp",
    b"-classpath",
    b"--class-path",
    b"-p",
    b"--module-path",
    b"--upgrade-module-path",
    b"--add-modules",
    b"--limit-modules",
    b"--enable-native-access",
    b"--add-exports",
    b"--add-opens",
    b"--add-reads",
    b"--patch-module",
    b"--source",
];
