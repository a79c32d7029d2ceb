//! Takes out of a capture what names its host: addresses, serial numbers, identifiers and host names.
//!
//! A value becomes a mark such as `<mac1>`, the same wherever it comes up, so that paths that were asked
//! still lead to their answers and a reader still sees what belongs together. Everything else stays, above
//! all what only looks alike: PCI addresses, versions, CPU lists, masks and register values.
//!
//! It cannot know names that are not the host's own: a database server's peers, users, volume groups.

mod needed;
mod values;

use needed::{needed, parts};
use std::collections::BTreeMap;
use std::ops::Range;
use values::{Content, is_word_byte, named_value, shape};

/// Shorter host names identify nobody, and are words of their own in too many texts.
const SHORTEST_NAME: usize = 3;

/// Host names that are no secret, and names of programs that a finding may rest on.
const COMMON_NAMES: [&str; 11] = [
    "localhost",
    "linux",
    "debian",
    "ubuntu",
    "kernel",
    "postgres",
    "mysql",
    "mysqld",
    "mariadbd",
    "oracle",
    "mongod",
];

/// What a value is, and so which mark it gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Guid,
    Host,
    Id,
    Ip,
    Mac,
    Secret,
    Serial,
    Server,
    Uuid,
}

impl Kind {
    const ALL: [Kind; 9] = [
        Kind::Guid,
        Kind::Host,
        Kind::Id,
        Kind::Ip,
        Kind::Mac,
        Kind::Secret,
        Kind::Serial,
        Kind::Server,
        Kind::Uuid,
    ];

    fn word(self) -> &'static str {
        match self {
            Kind::Guid => "guid",
            Kind::Host => "host",
            Kind::Id => "id",
            Kind::Ip => "ip",
            Kind::Mac => "mac",
            Kind::Secret => "secret",
            Kind::Serial => "serial",
            Kind::Server => "server",
            Kind::Uuid => "uuid",
        }
    }
}

/// So often a text is gone through: what is left beside a mark may stand for itself then.
const MOST_ROUNDS: usize = 4;

/// A part of a text that has to go.
type Match = (Kind, Range<usize>);

/// Replaces what names one host, and remembers which mark stands for what.
#[derive(Debug, Default)]
pub(crate) struct Redactor {
    /// The host's names, the longest first.
    host_names: Vec<String>,
    /// The kernel's release, which may look like an address (2.6.32.71).
    release: String,
    seen: BTreeMap<Kind, BTreeMap<String, usize>>,
}

impl Redactor {
    /// For the host called `host_name` with the kernel `release`; empty where they are not known.
    ///
    /// A host that has the name of a file that was asked for, as `is_taken` says, keeps its name: replaced,
    /// the capture would no longer answer.
    pub(crate) fn new(host_name: &str, release: &str, is_taken: impl Fn(&str) -> bool) -> Redactor {
        let short = host_name.split('.').next().unwrap_or_default();
        let is_telling = |name: &&str| {
            let is_common = COMMON_NAMES.iter().any(|it| it.eq_ignore_ascii_case(name));
            let is_number = name.bytes().all(|it| it.is_ascii_digit());
            name.len() >= SHORTEST_NAME && !is_common && !is_number && !is_taken(name)
        };
        let mut host_names: Vec<String> =
            [host_name, short].into_iter().filter(is_telling).map(str::to_owned).collect();
        host_names.dedup();
        Redactor { host_names, release: release.to_owned(), seen: BTreeMap::new() }
    }

    /// What was answered to the question `name`, redacted.
    pub(crate) fn answer(&mut self, name: &str, bytes: &[u8]) -> Vec<u8> {
        let content = Content::of(name);
        if let Content::Whole(kind) = content {
            let text = String::from_utf8_lossy(bytes);
            let value = text.trim_matches(|it: char| it.is_whitespace() || it == '\0');
            if value.is_empty() || value.starts_with('<') {
                return bytes.to_vec();
            }
            return format!("{}\n", self.mark(kind, value)).into_bytes();
        }
        let bytes = needed(name, bytes);
        let mut redacted = Vec::with_capacity(bytes.len());
        for chunk in parts(name, &bytes).into_iter().flat_map(<[u8]>::utf8_chunks) {
            redacted.extend(self.replace(chunk.valid(), content).into_bytes());
            redacted.extend(chunk.invalid());
        }
        redacted
    }

    /// Any text, redacted: the name of a question, a link's target, an error.
    pub(crate) fn text(&mut self, text: &str) -> String {
        self.replace(text, Content::Text)
    }

    fn replace(&mut self, text: &str, content: Content) -> String {
        let mut redacted = text.to_owned();
        for _ in 0..MOST_ROUNDS {
            match self.replace_once(&redacted, content) {
                Some(again) => redacted = again,
                None => break,
            }
        }
        redacted
    }

    /// `None` where there is nothing to replace.
    fn replace_once(&mut self, text: &str, content: Content) -> Option<String> {
        let mut redacted = String::new();
        let (mut copied, mut at) = (0, 0);
        while at < text.len() {
            match self.find(text.as_bytes(), at, content) {
                Found::Value((kind, range)) => {
                    let value = text.get(range.clone()).unwrap_or_default();
                    redacted.push_str(text.get(copied..range.start).unwrap_or_default());
                    redacted.push_str(&self.mark(kind, value));
                    (copied, at) = (range.end, range.end);
                }
                Found::Kept(length) => at += length,
                Found::Nothing => at += 1,
            }
        }
        redacted.push_str(text.get(copied..).unwrap_or_default());
        (copied > 0).then_some(redacted)
    }

    /// What stands at `at`.
    fn find(&self, text: &[u8], at: usize, content: Content) -> Found {
        let byte = text[at];
        let is_start = at == 0 || !is_word_byte(text[at - 1]);
        if byte == b'<' {
            return mark_at(&text[at..]).map_or(Found::Nothing, Found::Kept);
        }
        // Most bytes are blanks, or inside of a word.
        if !byte.is_ascii_hexdigit() && !(is_start && (is_word_byte(byte) || byte == b':')) {
            return Found::Nothing;
        }
        if is_start && is_word_byte(byte) {
            let rest = &text[at..];
            if !self.release.is_empty() && rest.starts_with(self.release.as_bytes()) {
                return Found::Kept(self.release.len());
            }
            if let Some(length) = server(&text[..at], rest) {
                return Found::Value((Kind::Server, at..at + length));
            }
            let own = self.host_names.iter().find_map(|name| own_name(rest, name.as_bytes()));
            if let Some(length) = own {
                return Found::Value((Kind::Host, at..at + length));
            }
            // CONFIG_USB_SERIAL=m is no serial number.
            let is_whole = at == 0 || text[at - 1] != b'_';
            if is_whole && let Some(found) = named_value(text, at) {
                return Found::Value(found);
            }
        }
        match shape(text, at, is_start) {
            Some((Kind::Ip, range)) if content == Content::Version => Found::Kept(range.len()),
            Some(found) => Found::Value(found),
            None => Found::Nothing,
        }
    }

    /// The mark of a value; the host's own names share one.
    fn mark(&mut self, kind: Kind, value: &str) -> String {
        let word = kind.word();
        if kind == Kind::Host {
            return format!("<{word}>");
        }
        let seen = self.seen.entry(kind).or_default();
        let next = seen.len() + 1;
        let number = *seen.entry(value.to_ascii_lowercase()).or_insert(next);
        format!("<{word}{number}>")
    }
}

/// What stands at a place of a text.
enum Found {
    Nothing,
    /// So many bytes that stay, whatever they look like.
    Kept(usize),
    Value(Match),
}

/// The length of the mark that `rest` starts with.
fn mark_at(rest: &[u8]) -> Option<usize> {
    let inside = rest.strip_prefix(b"<")?;
    let number = Kind::ALL.iter().find_map(|kind| inside.strip_prefix(kind.word().as_bytes()))?;
    let n_digits = number.iter().take_while(|it| it.is_ascii_digit()).count();
    (number.get(n_digits) == Some(&b'>')).then(|| rest.len() - number.len() + n_digits + 1)
}

/// How many bytes of `rest` are a URL's server, with user, password and port.
fn server(before: &[u8], rest: &[u8]) -> Option<usize> {
    let ends = |it: &u8| it.is_ascii_whitespace() || b"/\"'<".contains(it);
    before.ends_with(b"://").then(|| rest.iter().take_while(|it| !ends(it)).count())
}

/// How many bytes of `rest` are the host's name, with the domain behind it.
fn own_name(rest: &[u8], name: &[u8]) -> Option<usize> {
    let is_name = rest.get(..name.len())?.eq_ignore_ascii_case(name);
    let is_end = rest.get(name.len()).is_none_or(|it| !is_word_byte(*it));
    if !is_name || !is_end {
        return None;
    }
    let mut length = name.len();
    while rest.get(length) == Some(&b'.') {
        let label = rest[length + 1..].iter();
        match label.take_while(|it| is_word_byte(**it) || **it == b'-').count() {
            0 => break,
            n_bytes => length += 1 + n_bytes,
        }
    }
    Some(length)
}

#[cfg(test)]
mod tests;
