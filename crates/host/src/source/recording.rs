//! A source that remembers what was asked of another, and writes it down as a capture.

use super::captured::{Answer, link_key};
use super::{Source, cpuid_name};
use facts::{Fact, Missing, Origin, Why, msr};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Asks `inner` and remembers every answer, refusals included.
pub struct Recording<'a> {
    inner: &'a dyn Source,
    answers: RefCell<BTreeMap<String, Answer>>,
}

impl<'a> Recording<'a> {
    /// Starts with nothing asked.
    pub fn new(inner: &'a dyn Source) -> Recording<'a> {
        Recording { inner, answers: RefCell::default() }
    }

    /// The capture of everything asked so far, in the order of the names.
    pub fn capture(&self) -> String {
        let mut text = String::from("fullclock capture 1\n");
        for (name, answer) in self.answers.borrow().iter() {
            write_answer(&mut text, name, answer);
        }
        text
    }

    fn remember<T>(&self, name: String, fact: &Fact<T>, bytes: impl Fn(&T) -> Vec<u8>) {
        let answer = match fact {
            Ok(value) => Ok(bytes(value)),
            Err(Missing { why: Why::Malformed { found, .. }, .. }) => {
                Ok(found.clone().into_bytes())
            }
            Err(missing) => Err(missing.why.clone()),
        };
        self.answers.borrow_mut().insert(name, answer);
    }
}

impl Source for Recording<'_> {
    fn origin(&self) -> Origin {
        self.inner.origin()
    }

    fn read(&self, path: &str) -> Fact<Vec<u8>> {
        let fact = self.inner.read(path);
        self.remember(path.to_owned(), &fact, Clone::clone);
        fact
    }

    fn list(&self, folder: &str) -> Fact<Vec<String>> {
        let fact = self.inner.list(folder);
        let name = format!("{}/", folder.trim_end_matches('/'));
        self.remember(name, &fact, |names| {
            names.iter().flat_map(|it| [it, "\n"]).collect::<String>().into()
        });
        fact
    }

    fn link(&self, path: &str) -> Fact<String> {
        let fact = self.inner.link(path);
        self.remember(link_key(path), &fact, |target| target.clone().into_bytes());
        fact
    }

    fn msr(&self, cpu: u32, register: u32) -> Fact<u64> {
        let fact = self.inner.msr(cpu, register);
        self.remember(msr::path(cpu, register), &fact, |value| format!("{value:#x}\n").into());
        fact
    }

    fn cpuid(&self, leaf: u32, subleaf: u32) -> Fact<[u32; 4]> {
        let fact = self.inner.cpuid(leaf, subleaf);
        self.remember(cpuid_name(leaf, subleaf), &fact, |[eax, ebx, ecx, edx]| {
            format!("{eax:#x} {ebx:#x} {ecx:#x} {edx:#x}\n").into()
        });
        fact
    }

    fn other_roots(&self) -> &[String] {
        self.inner.other_roots()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Captured;

    const EXCERPT: &str = "\
//- /a
//- /awkward
\\//- not a header
\\!denied
\\\\ and no newline
\\
//- /bytes
!bytes 00ff
//- /denied
!denied
//- /dev/cpu/3/msr 0x19a
0x14
//- /folder/
x
y
//- /link -> ../target
//- cpuid 0x6 0x0
0x1 0x2 0x3 0x4
";

    #[test]
    fn a_capture_of_a_capture_is_the_same_text() {
        let host = Captured::excerpt(EXCERPT).unwrap();
        let recording = Recording::new(&host);
        assert_eq!(
            recording.read("/awkward"),
            Ok(b"//- not a header\n!denied\n\\ and no newline".to_vec())
        );
        assert_eq!(recording.read("/a"), Ok(Vec::new()));
        assert!(recording.read("/denied").is_err());
        assert!(recording.read("/bytes").is_ok());
        assert!(recording.list("/folder").is_ok());
        assert!(recording.link("/link").is_ok());
        assert!(recording.msr(3, 0x19a).is_ok());
        assert!(recording.cpuid(6, 0).is_ok());
        assert_eq!(recording.capture(), format!("fullclock capture 1\n{EXCERPT}"));
    }
}
