//! Answers of a host, and the one way to write them down as a capture.

use super::captured::text::{END, PROMISE};
use super::captured::{Answer, Captured, HEADER, IMPORTED, IMPORTED_FROM, link_key};
use crate::redact::Redactor;
use facts::ipmi::is_question;
use facts::{Origin, Why, msr};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What a host answered, by the name of the question.
#[derive(Clone, Debug, Default)]
pub struct Answers(BTreeMap<String, Answer>);

/// What a capture must not tell, and what it must not lose, of the host it is of.
#[derive(Clone, Debug, Default)]
pub struct Identity {
    /// The host's name, with or without its domain; empty where it is not known.
    pub host_name: String,
    /// The kernel's release, which stays; empty where it is not known.
    pub release: String,
}

impl Answers {
    /// The file at `path` holds `bytes`.
    pub fn file(&mut self, path: &str, bytes: impl Into<Vec<u8>>) {
        self.insert(path.to_owned(), Ok(bytes.into()));
    }

    /// The link at `path` points to `target`.
    pub fn link(&mut self, path: &str, target: &str) {
        self.insert(link_key(path), Ok(target.as_bytes().to_vec()));
    }

    /// The file at `path`, or the folder with a slash at its end, does not exist.
    pub fn absent(&mut self, path: &str) {
        self.insert(path.to_owned(), Err(Why::Absent));
    }

    /// `register` of `cpu` holds `value`.
    pub fn msr(&mut self, cpu: u32, register: u32, value: u64) {
        self.insert(msr::path(cpu, register), Ok(format!("{value:#x}\n").into_bytes()));
    }

    /// The file at `path` holds `bytes` from byte `offset` on, whatever else is known of it.
    pub(crate) fn merge(&mut self, path: &str, offset: usize, bytes: &[u8]) {
        let known = self.0.entry(path.to_owned()).or_insert_with(|| Ok(Vec::new()));
        let (Ok(known), false) = (known, bytes.is_empty()) else { return };
        let end = offset + bytes.len();
        known.resize(known.len().max(end), 0);
        known[offset..end].copy_from_slice(bytes);
    }

    pub(crate) fn insert(&mut self, name: String, answer: Answer) {
        self.0.insert(name, answer);
    }

    /// A host that gives these answers and no others. Everything else was not collected.
    pub fn host(self) -> Captured {
        Captured::of_answers(self.0)
    }

    /// The capture of all answers, redacted, in the order of their names. With the origin `Tree` it says
    /// that it was made from somebody else's data. What has a name that cannot be written is left out.
    pub fn capture(&self, origin: Origin, identity: &Identity) -> String {
        self.written(if origin == Origin::Tree { IMPORTED } else { HEADER }, identity)
    }

    /// The same of data that `collector` collected, a name of [`facts::collectors`].
    pub fn imported_from(&self, collector: &str, identity: &Identity) -> String {
        self.written(&format!("{IMPORTED_FROM}{collector})"), identity)
    }

    fn written(&self, header: &str, identity: &Identity) -> String {
        let is_taken = |word: &str| self.0.keys().any(|name| name.split('/').any(|it| it == word));
        let mut redactor = Redactor::new(&identity.host_name, &identity.release, is_taken);
        let redacted: BTreeMap<String, Answer> = self
            .0
            .iter()
            .filter(|(name, answer)| can_be_written(name, answer))
            .map(|(name, answer)| redacted(&mut redactor, name, answer))
            .collect();
        let mut text = format!("{header}\n{PROMISE}\n");
        for (name, answer) in &redacted {
            write_answer(&mut text, name, answer);
        }
        text + END
    }
}

/// Whether a name, or a link's target, stands on one line and reads back as it is. In a stranger's archive a
/// file may be called anything, `a\n//- /sys/b` included.
pub(super) fn is_plain(name: &str) -> bool {
    name.trim() == name && !name.contains(char::is_control) && !name.contains(" -> ")
}

fn can_be_written(name: &str, answer: &Answer) -> bool {
    let is_link = name.ends_with(" ->");
    let target = answer.as_deref().unwrap_or_default();
    is_plain(name) && (!is_link || std::str::from_utf8(target).is_ok_and(is_plain))
}

fn redacted(redactor: &mut Redactor, name: &str, answer: &Answer) -> (String, Answer) {
    // A controller is not asked for its number (GUID) or its place by a reader, and bytes that only look like an
    // address, or like the host's name, are figures.
    let called = if is_question(name) { name.to_owned() } else { redactor.text(name) };
    (called, redact(redactor, name, answer))
}

fn redact(redactor: &mut Redactor, name: &str, answer: &Answer) -> Answer {
    match answer {
        Ok(bytes) if is_question(name) => Ok(bytes.clone()),
        Ok(bytes) => Ok(redactor.answer(name, bytes)),
        Err(Why::NotHere(because)) => Err(Why::NotHere(redactor.text(because))),
        Err(Why::Hidden(hypervisor)) => Err(Why::Hidden(redactor.text(hypervisor))),
        Err(Why::Failed(error)) => Err(Why::Failed(redactor.text(error))),
        Err(Why::Malformed { found, expected }) => {
            Err(Why::Malformed { found: redactor.text(found), expected: expected.clone() })
        }
        Err(why @ (Why::Absent | Why::Denied | Why::NotCollected)) => Err(why.clone()),
    }
}

/// Writing to a `String` cannot fail, so the results of `write!` are ignored here.
fn write_answer(text: &mut String, name: &str, answer: &Answer) {
    let mark = |text: &mut String, mark: &str| {
        text.extend(["//- ", name, "\n!", mark, "\n"]);
    };
    match answer {
        Ok(target) if name.ends_with(" ->") => {
            text.extend(["//- ", name, " ", &String::from_utf8_lossy(target), "\n"]);
        }
        Ok(bytes) => match std::str::from_utf8(bytes) {
            Ok(content) if !content.contains(['\0', '\r']) => {
                text.extend(["//- ", name, "\n"]);
                write_content(text, content);
            }
            _ => {
                let mut digits = String::from("bytes ");
                for byte in bytes {
                    #[expect(clippy::let_underscore_must_use, reason = "a String takes everything")]
                    let _ = write!(digits, "{byte:02x}");
                }
                mark(text, &digits);
            }
        },
        Err(Why::Absent) => mark(text, "absent"),
        Err(Why::Denied) => mark(text, "denied"),
        Err(Why::NotCollected) => mark(text, "not-collected"),
        Err(Why::Hidden(hypervisor)) => mark(text, &format!("hidden {hypervisor}")),
        Err(Why::NotHere(because)) => mark(text, &format!("not-here {because}")),
        Err(Why::Failed(error)) => mark(text, &format!("failed {error}")),
        Err(Why::Malformed { found, .. }) => mark(text, &format!("failed {found:?}")),
    }
}

fn write_content(text: &mut String, content: &str) {
    for line in content.split_inclusive('\n') {
        if line.starts_with("//- ") || line.starts_with(['!', '\\']) {
            text.push('\\');
        }
        text.push_str(line);
    }
    if !content.is_empty() && !content.ends_with('\n') {
        text.push_str("\n\\\n");
    }
}
