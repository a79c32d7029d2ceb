//! A capture: one text file with everything that was asked of a host and what it answered.
//!
//! ```text
//! fullclock capture 1
//! //- /sys/devices/system/cpu/online
//! 0-3
//! //- /sys/devices/system/cpu/cpufreq/
//! policy0
//! //- /sys/class/net/eth0/device -> ../../../0000:00:03.0
//! //- /dev/cpu/0/msr 0x19a
//! !denied
//! //- ethtool eth0 pause
//! !bytes 12000000010000000000000001000000
//! ```
//!
//! A header line starts with `//- ` and names a file, a folder (with a slash behind it), a link (with
//! its target), a register, a counter that was read twice (`twice TSC, MPERF and APERF of CPU 0`), a question to a driver, or one to the management controller (`/dev/ipmi0 0x2c 0x03 dc 00 00`;
//! `redfish` is all that it said over Redfish, as JSON);
//! the lines below it are what it holds, of a question the answer's bytes. `!denied`, `!absent`, `!not-collected`,
//! `!not-here TEXT`, `!failed TEXT` and `!bytes HEX` stand for an answer that is no text. A line of a file that starts
//! with `//- `, `!` or `\` has a `\` before it; a lone `\` at the end says that the last line has no newline. Of a capture whose second
//! line promises one, a line `//- end` is the last: without it, the capture was cut short.

pub(super) mod text;

use super::absence::{self, At, Kept};
use super::{Counter, Source, check_names, cpuid_name, within_limit};
use facts::collectors::{self, Known};
use facts::ipmi::{Question, bytes as bytes_of};
use facts::links::ethtool;
use facts::power::speed_select;
use facts::redfish::{self, Redfish};
use facts::{Expected, Fact, Missing, Origin, Why, msr};
use std::collections::BTreeMap;

/// Under which name the answers of the management controller over Redfish are kept.
pub(super) const REDFISH: &str = "redfish";

pub(super) const HEADER: &str = "fullclock capture 1";
/// Behind the header: this capture was made from somebody else's data, so what it lacks may only not have been collected.
pub(super) const IMPORTED: &str = "fullclock capture 1 (imported)";
/// The same where the collector of the data is known; its name and a closing bracket follow.
pub(super) const IMPORTED_FROM: &str = "fullclock capture 1 (imported from ";

/// A host that answers from a capture.
#[derive(Clone, Debug)]
pub struct Captured {
    origin: Origin,
    /// Whether what was not asked counts as absent, as in a fixture that shows one detail.
    is_excerpt: bool,
    /// Who asked: we ourselves, or whoever collected the data that was imported.
    collector: Option<Known>,
    answers: BTreeMap<String, Answer>,
    /// Whether its last lines were lost.
    is_cut: bool,
}

/// What a host answered to one question.
pub(crate) type Answer = Result<Vec<u8>, Why>;

/// Why a text is no capture.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CaptureError {
    /// The first line is not the one every capture starts with.
    #[error("line 1 is {found:?}, expected {HEADER:?}: not a capture, or one of a later fullclock")]
    Header {
        /// The first line, cut.
        found: String,
    },
    /// A line is neither a header nor content of one.
    #[error("line {line} holds {found:?}, expected {expected}")]
    Line {
        /// Counted from 1.
        line: usize,
        /// The line, cut.
        found: String,
        /// What would have been right.
        expected: &'static str,
    },
}

impl Captured {
    /// Parses a capture file. One that was cut short has the answers before the last one that is there, and what it lacks is unknown
    /// ([`Source::incomplete`]).
    pub fn parse(text: &str) -> Result<Captured, CaptureError> {
        let (first, body) = text.split_once('\n').unwrap_or((text, ""));
        let imported_from = |line: &str| {
            let name = line.strip_prefix(IMPORTED_FROM)?.strip_suffix(')')?;
            Some((Origin::Tree, Known::imported(name)))
        };
        let (origin, collector) = match first.trim_end() {
            HEADER => (Origin::Capture, Some(OURS)),
            IMPORTED => (Origin::Tree, None),
            other => imported_from(other)
                .ok_or_else(|| CaptureError::Header { found: text::cut(other) })?,
        };
        let (body, is_cut) = text::whole(body);
        let answers = text::answers(body, 2)?;
        Ok(Captured { origin, is_excerpt: false, collector, answers, is_cut })
    }

    /// Whether a file that begins with these bytes was meant to be a capture, of whichever version.
    pub fn is_begun_by(bytes: &[u8]) -> bool {
        let any_version = HEADER.trim_end_matches(|it: char| it.is_ascii_digit());
        bytes.starts_with(any_version.as_bytes())
    }

    /// Parses an excerpt: a capture without its first line, in which whatever is not named is absent.
    pub fn excerpt(text: &str) -> Result<Captured, CaptureError> {
        Ok(Captured { is_excerpt: true, answers: text::answers(text, 1)?, ..Captured::empty() })
    }

    /// A host of which nothing is known but these answers, which somebody else collected.
    pub(super) fn of_answers(answers: BTreeMap<String, Answer>) -> Captured {
        Captured { origin: Origin::Tree, answers, ..Captured::empty() }
    }

    /// A capture in which nothing was asked: every fact of the host is missing.
    pub fn empty() -> Captured {
        Captured {
            origin: Origin::Capture,
            is_excerpt: false,
            collector: Some(OURS),
            answers: BTreeMap::new(),
            is_cut: false,
        }
    }

    fn answer(&self, name: &str) -> Fact<&[u8]> {
        match self.answers.get(name) {
            Some(Ok(bytes)) => Ok(bytes),
            Some(Err(why)) => Err(Missing { what: name.to_owned(), why: why.clone() }),
            None => Err(self.unasked(name)),
        }
    }

    /// What nobody asked when the capture was made. A register is never absent: each is asked for by itself.
    fn unasked(&self, name: &str) -> Missing {
        let path = name.trim_end_matches(" ->");
        if self.is_excerpt {
            Missing::absent(name)
        } else if path.starts_with('/') && !path.contains(' ') {
            Missing { what: name.to_owned(), ..absence::missing(path, self) }
        } else {
            Missing::not_collected(name)
        }
    }

    /// The names in the folder at `path`, where it was listed.
    fn listed(&self, path: &str) -> Option<Vec<String>> {
        let answer = self.answers.get(&format!("{path}/"))?;
        answer.as_ref().ok().map(|it| entries(it))
    }

    /// Whether any register of `cpu` was answered.
    fn has_msr_device(&self, cpu: u32) -> bool {
        let prefix = format!("/dev/cpu/{cpu}/msr ");
        self.answers.range(prefix.clone()..).next().is_some_and(|(it, _)| it.starts_with(&prefix))
    }

    /// The names that were answered below `folder`, relative to it.
    fn below<'a>(&'a self, folder: &str) -> impl Iterator<Item = &'a str> {
        let prefix = format!("{}/", folder.trim_end_matches('/'));
        self.answers
            .range(prefix.clone()..)
            .take_while(move |(name, _)| name.starts_with(&prefix))
            .filter(|(_, answer)| !matches!(answer, Err(Why::Absent | Why::NotCollected)))
            .map({
                let length = folder.trim_end_matches('/').len() + 1;
                move |(name, _)| &name[length..]
            })
    }
}

impl Source for Captured {
    fn origin(&self) -> Origin {
        self.origin
    }

    fn read(&self, path: &str) -> Fact<Vec<u8>> {
        within_limit(path, self.answer(path)?).map(<[u8]>::to_vec)
    }

    /// A folder that was not listed has the files that were read from it, so that an excerpt need not name
    /// its folders.
    fn list(&self, folder: &str) -> Fact<Vec<String>> {
        let name = format!("{}/", folder.trim_end_matches('/'));
        match self.answer(&name) {
            Ok(bytes) => check_names(folder, entries(bytes)),
            Err(Missing { why: Why::NotCollected | Why::Absent, .. })
                if !self.answers.contains_key(&name) =>
            {
                let first = |rest: &str| rest.split(['/', ' ']).next().unwrap_or(rest).to_owned();
                let mut names: Vec<String> = self.below(folder).map(first).collect();
                names.dedup();
                names.retain(|name| is_entry(name));
                if names.is_empty() {
                    Err(self.unasked(folder))
                } else {
                    check_names(folder, names)
                }
            }
            Err(Missing { why, .. }) => Err(Missing { what: folder.to_owned(), why }),
        }
    }

    fn link(&self, path: &str) -> Fact<String> {
        let bytes =
            self.answer(&link_key(path)).map_err(|it| Missing { what: path.into(), ..it })?;
        Ok(String::from_utf8_lossy(bytes).trim_end().to_owned())
    }

    fn msr(&self, cpu: u32, register: u32) -> Fact<u64> {
        let name = msr::path(cpu, register);
        let text = match self.answer(&name) {
            // A register that an excerpt leaves out beside others is one that the processor refuses.
            Err(Missing { why: Why::Absent, .. })
                if self.is_excerpt
                    && self.has_msr_device(cpu)
                    && !self.answers.contains_key(&name) =>
            {
                let refused = Why::Failed("Input/output error (os error 5)".to_owned());
                return Err(Missing { what: name, why: refused });
            }
            answer => answer.map(String::from_utf8_lossy)?,
        };
        hexadecimal(&text)
            .ok_or_else(|| Missing::malformed(name, &text, "a hexadecimal number like 0x14"))
    }

    fn ethtool(&self, interface: &str, question: ethtool::Question) -> Fact<Vec<u8>> {
        self.answer(&question.name(interface)).map(<[u8]>::to_vec)
    }

    fn speed_select(&self, question: speed_select::Question) -> Fact<Vec<u8>> {
        self.answer(&question.name()).map(<[u8]>::to_vec)
    }

    fn redfish(&self) -> Fact<Redfish> {
        match self.answers.get(REDFISH) {
            Some(Ok(bytes)) => {
                let text = String::from_utf8_lossy(bytes);
                Redfish::parse(&text).map_err(|Expected(expected)| {
                    Missing::malformed(redfish::NAME, &text, expected)
                })
            }
            Some(Err(why)) => Err(Missing { what: redfish::NAME.to_owned(), why: why.clone() }),
            // Where nothing was asked, nobody knows what was configured.
            None if self.answers.is_empty() => Err(Missing::not_collected(redfish::NAME)),
            None => {
                const WHY: &str = "no controller was configured where this was collected";
                Err(Missing::not_here(redfish::NAME, WHY))
            }
        }
    }

    fn cpuid(&self, leaf: u32, subleaf: u32) -> Fact<[u32; 4]> {
        let name = cpuid_name(leaf, subleaf);
        let text = self.answer(&name).map(String::from_utf8_lossy)?;
        let words: Vec<u32> = text.split_whitespace().map_while(hexadecimal).collect();
        words.try_into().map_err(|_| Missing::malformed(name, &text, "four hexadecimal numbers"))
    }

    fn look(&self, counters: &[Counter]) -> Vec<Fact<String>> {
        let seen = |counter: &Counter| match self.answer(&counter.name()) {
            Ok(bytes) => Ok(String::from_utf8_lossy(bytes).into_owned()),
            // An excerpt without a look is one of a host at which nobody looked.
            Err(Missing { why: Why::Absent, .. })
                if !self.answers.contains_key(&counter.name()) =>
            {
                Err(Missing::not_collected(counter.path()))
            }
            Err(Missing { why, .. }) => Err(Missing { what: counter.path(), why }),
        };
        counters.iter().map(seen).collect()
    }

    fn incomplete(&self) -> Option<&str> {
        self.is_cut.then_some("it is cut short: its last line is missing")
    }

    fn controller(&self, question: &Question<Vec<u8>>) -> Fact<Vec<u8>> {
        let name = question.path();
        let text = self.answer(&name).map(String::from_utf8_lossy)?;
        bytes_of(&text).ok_or_else(|| Missing::malformed(name, &text, "bytes like 00 dc"))
    }
}

/// Of a capture that was not imported.
const OURS: Known = Known { collector: &collectors::CAPTURE, version: None };

impl Kept for Captured {
    fn is_incomplete(&self) -> bool {
        self.is_cut
    }

    fn at(&self, path: &str) -> At {
        let has_answer = |name: &str| match self.answers.get(name) {
            None | Some(Err(Why::Absent | Why::NotCollected)) => false,
            Some(Ok(_) | Err(_)) => true,
        };
        let listed = self.listed(path);
        let has_names = listed.as_ref().is_some_and(|it| !it.is_empty());
        if has_names || self.below(path).any(|it| !it.is_empty()) {
            At::Folder { is_empty: false }
        } else if listed.is_some() {
            At::Folder { is_empty: true }
        } else if has_answer(path) || has_answer(&link_key(path)) {
            At::Other
        } else {
            At::Nothing
        }
    }

    fn collector(&self) -> Option<Known> {
        self.collector
    }

    fn is_listed_without(&self, path: &str, name: &str) -> bool {
        self.listed(path).is_some_and(|it| !it.iter().any(|it| it == name))
    }
}

/// Under which name a link's target is kept, apart from the file of the same path.
pub(crate) fn link_key(path: &str) -> String {
    format!("{path} ->")
}

/// The lines that can be names in a folder.
fn entries(bytes: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(bytes).lines().filter(|it| is_entry(it)).map(str::to_owned).collect()
}

/// Whether a folder can hold something of this name: one with a slash, and these two, would lead elsewhere.
fn is_entry(name: &str) -> bool {
    !name.contains('/') && !matches!(name, "" | "." | "..")
}

fn hexadecimal<T: TryFrom<u64>>(text: &str) -> Option<T> {
    let digits = text.trim().strip_prefix("0x")?;
    u64::from_str_radix(digits, 16).ok()?.try_into().ok()
}

#[cfg(test)]
mod tests;
