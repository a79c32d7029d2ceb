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
//! its target), a register, a counter that was read twice (`twice TSC, MPERF and APERF of CPU 0`), a question to a driver, or one to the management controller (`/dev/ipmi0 0x2c 0x03 dc 00 00`);
//! the lines below it are what it holds, of a question the answer's bytes. `!denied`, `!absent`, `!not-collected`,
//! `!not-here TEXT`, `!failed TEXT` and `!bytes HEX` stand for an answer that is no text. A line of a file that starts
//! with `//- `, `!` or `\` has a `\` before it; a lone `\` at the end says that the last line has no newline.

use super::{Counter, Source, check_names, cpuid_name, within_limit};
use facts::ipmi::{Question, bytes as bytes_of};
use facts::links::ethtool;
use facts::{Fact, Missing, Origin, Why, msr};
use std::collections::BTreeMap;

pub(super) const HEADER: &str = "fullclock capture 1";
/// Behind the header: this capture was made from somebody else's data, so absence proves little.
pub(super) const IMPORTED: &str = "fullclock capture 1 (imported)";

/// A host that answers from a capture.
#[derive(Clone, Debug)]
pub struct Captured {
    origin: Origin,
    /// Whether what was not asked counts as absent, as in a fixture that shows one detail.
    is_excerpt: bool,
    answers: BTreeMap<String, Answer>,
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
    /// Parses a capture file.
    pub fn parse(text: &str) -> Result<Captured, CaptureError> {
        let (first, body) = text.split_once('\n').unwrap_or((text, ""));
        let origin = match first.trim_end() {
            HEADER => Origin::Capture,
            IMPORTED => Origin::Tree,
            other => return Err(CaptureError::Header { found: cut(other) }),
        };
        Ok(Captured { origin, is_excerpt: false, answers: answers(body, 2)? })
    }

    /// Parses an excerpt: a capture without its first line, in which whatever is not named is absent.
    pub fn excerpt(text: &str) -> Result<Captured, CaptureError> {
        Ok(Captured { origin: Origin::Capture, is_excerpt: true, answers: answers(text, 1)? })
    }

    /// A capture in which nothing was asked: every fact of the host is missing.
    pub fn empty() -> Captured {
        Captured { origin: Origin::Capture, is_excerpt: false, answers: BTreeMap::new() }
    }

    fn answer(&self, name: &str) -> Fact<&[u8]> {
        match self.answers.get(name) {
            Some(Ok(bytes)) => Ok(bytes),
            Some(Err(why)) => Err(Missing { what: name.to_owned(), why: why.clone() }),
            None => Err(self.unasked(name)),
        }
    }

    /// What nobody asked when the capture was made. In imported data a file is absent only beside others
    /// of its folder, and a register never: each is asked for by itself.
    fn unasked(&self, name: &str) -> Missing {
        let beside = || {
            if name.contains(" 0x") {
                return None;
            }
            let (folder, _) = name.trim_end_matches('/').rsplit_once('/')?;
            self.below(folder).next()
        };
        if self.is_excerpt || (self.origin == Origin::Tree && beside().is_some()) {
            Missing::absent(name)
        } else {
            Missing::not_collected(name)
        }
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

    fn controller(&self, question: &Question<Vec<u8>>) -> Fact<Vec<u8>> {
        let name = question.path();
        let text = self.answer(&name).map(String::from_utf8_lossy)?;
        bytes_of(&text).ok_or_else(|| Missing::malformed(name, &text, "bytes like 00 dc"))
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

fn cut(line: &str) -> String {
    line.chars().take(60).collect()
}

/// Parses everything below the first line; `first` is the number of the first line of `body`.
fn answers(body: &str, first: usize) -> Result<BTreeMap<String, Answer>, CaptureError> {
    let mut answers = BTreeMap::new();
    let mut open: Option<(String, Vec<&str>)> = None;
    for (number, line) in (first..).zip(body.split_inclusive('\n')) {
        let wrong = |expected| CaptureError::Line { line: number, found: cut(line), expected };
        let content = line.strip_suffix('\n').unwrap_or(line);
        if let Some(name) = content.strip_prefix("//- ") {
            if let Some((name, lines)) = open.take() {
                answers.insert(name, answer(&lines).map_err(wrong)?);
            }
            match name.split_once(" -> ") {
                Some((path, target)) => {
                    answers.insert(link_key(path.trim()), Ok(target.as_bytes().to_vec()));
                }
                None => open = Some((name.trim().to_owned(), Vec::new())),
            }
        } else if let Some((_, lines)) = &mut open {
            lines.push(line);
        } else if !content.trim().is_empty() && !content.starts_with('#') {
            return Err(wrong("a line that starts with `//- `"));
        }
    }
    if let Some((name, lines)) = open {
        let line = first + body.lines().count().saturating_sub(1);
        let wrong = |expected| CaptureError::Line { line, found: cut(&name), expected };
        answers.insert(name.clone(), answer(&lines).map_err(wrong)?);
    }
    Ok(answers)
}

/// What the lines under one header mean.
fn answer(lines: &[&str]) -> Result<Answer, &'static str> {
    if let [only] = lines
        && let Some(mark) = only.trim_end_matches('\n').strip_prefix('!')
    {
        return match mark.split_once(' ').unwrap_or((mark, "")) {
            ("absent", _) => Ok(Err(Why::Absent)),
            ("denied", _) => Ok(Err(Why::Denied)),
            ("not-collected", _) => Ok(Err(Why::NotCollected)),
            ("failed", error) => Ok(Err(Why::Failed(error.to_owned()))),
            ("hidden", hypervisor) => Ok(Err(Why::Hidden(hypervisor.to_owned()))),
            ("not-here", because) => Ok(Err(Why::NotHere(because.to_owned()))),
            ("bytes", digits) => {
                bytes(digits).map(Ok).ok_or("an even number of hexadecimal digits")
            }
            _ => {
                Err("!absent, !denied, !not-collected, !not-here TEXT, !failed TEXT or !bytes HEX")
            }
        };
    }
    let mut text = String::new();
    for line in lines {
        if line.trim_end_matches('\n') == "\\" {
            // Only ever the last line: the one before it has no newline.
            text.truncate(text.trim_end_matches('\n').len());
        } else {
            text.push_str(line.strip_prefix('\\').unwrap_or(line));
        }
    }
    Ok(Ok(text.into_bytes()))
}

fn bytes(digits: &str) -> Option<Vec<u8>> {
    let pair = |pair: &[u8]| {
        let (high, low) = (char::from(*pair.first()?), char::from(*pair.get(1)?));
        u8::try_from(high.to_digit(16)? * 16 + low.to_digit(16)?).ok()
    };
    digits.trim().as_bytes().chunks(2).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::ipmi::DeviceId;

    const CAPTURE: &str = "\
fullclock capture 1
# comments may stand before the first answer
//- /sys/devices/system/cpu/online
0-3
//- /sys/secret
!denied
//- /sys/gone
!absent
//- /sys/class/x/device -> ../pci
//- /dev/cpu/0/msr 0x19a
0x14
//- /dev/cpu_dma_latency
!bytes 00ff0a00
";

    fn capture() -> Captured {
        Captured::parse(CAPTURE).unwrap()
    }

    #[test]
    fn a_capture_answers_as_the_host_did() {
        let host = capture();
        assert_eq!(host.read("/sys/devices/system/cpu/online"), Ok(b"0-3\n".to_vec()));
        assert_eq!(host.read("/sys/secret"), Err(Missing::denied("/sys/secret")));
        assert_eq!(host.read("/sys/gone"), Err(Missing::absent("/sys/gone")));
        assert_eq!(host.link("/sys/class/x/device"), Ok("../pci".into()));
        assert_eq!(host.msr(0, 0x19a), Ok(0x14));
        assert_eq!(host.read("/dev/cpu_dma_latency"), Ok(vec![0, 255, 10, 0]));
    }

    #[test]
    fn a_controller_answers_with_the_bytes_that_were_written_down() {
        let answer = |text: &str| {
            let capture = format!("//- /dev/ipmi0 0x06 0x01\n{text}\n");
            Captured::excerpt(&capture).unwrap().controller(&DeviceId::question().verbatim())
        };
        assert_eq!(answer("00 20 01"), Ok(vec![0, 0x20, 1]));
        assert_eq!(answer("!denied"), Err(Missing::denied("/dev/ipmi0 0x06 0x01")));
        assert!(answer("hello").unwrap_err().to_string().ends_with("expected bytes like 00 dc"));
        let unasked = capture().controller(&DeviceId::question().verbatim());
        assert_eq!(unasked, Err(Missing::not_collected("/dev/ipmi0 0x06 0x01")));
    }

    #[test]
    fn a_file_of_a_capture_is_no_longer_than_its_kind() {
        let host = Captured::excerpt(&format!("//- /proc/cmdline\n{:39999}\n", "")).unwrap();
        assert!(host.read("/proc/cmdline").unwrap_err().to_string().contains("has 40000 bytes"));
    }

    #[test]
    fn what_was_never_asked_is_not_absent() {
        assert_eq!(capture().read("/sys/new"), Err(Missing::not_collected("/sys/new")));
        assert_eq!(capture().msr(1, 0x19a), Err(Missing::not_collected("/dev/cpu/1/msr 0x19a")));
    }

    #[test]
    fn imported_data_lacks_a_file_only_beside_another_and_never_a_register() {
        let text =
            "fullclock capture 1 (imported)\n//- /sys/a/b\n1\n//- /dev/cpu/0/msr 0xe2\n0x1\n";
        let host = Captured::parse(text).unwrap();
        assert_eq!(host.read("/sys/a/c"), Err(Missing::absent("/sys/a/c")));
        assert_eq!(host.read("/sys/z/c"), Err(Missing::not_collected("/sys/z/c")));
        assert_eq!(host.msr(0, 0x19a), Err(Missing::not_collected("/dev/cpu/0/msr 0x19a")));
    }

    #[test]
    fn a_name_that_leads_elsewhere_is_no_name_in_a_folder() {
        let host = Captured::excerpt("//- /sys/a/\nb1\n../b2\n..\n\nb3\n").unwrap();
        assert_eq!(host.list("/sys/a"), Ok(vec!["b1".into(), "b3".into()]));
        let host = Captured::excerpt("//- /sys/a/./b1\n//- /sys/a/../b2\n//- /sys/a/b3\n").unwrap();
        assert_eq!(host.list("/sys/a"), Ok(vec!["b3".to_owned()]));
    }

    #[test]
    fn an_excerpt_needs_no_folders_and_has_nothing_else() {
        let host = Captured::excerpt("//- /sys/a/b1/c\n1\n//- /sys/a/b2/c\n2\n").unwrap();
        assert_eq!(host.list("/sys/a"), Ok(vec!["b1".into(), "b2".into()]));
        assert_eq!(host.list("/sys/z"), Err(Missing::absent("/sys/z")));
        assert_eq!(host.read("/sys/a/b3/c"), Err(Missing::absent("/sys/a/b3/c")));
    }

    #[test]
    fn a_text_that_is_no_capture_is_refused_with_its_line() {
        let error = |text| Captured::parse(text).unwrap_err().to_string();
        assert_eq!(
            error("hello"),
            "line 1 is \"hello\", expected \"fullclock capture 1\": not a capture, or one of a later fullclock"
        );
        assert_eq!(
            error("fullclock capture 1\nhello\n"),
            "line 2 holds \"hello\\n\", expected a line that starts with `//- `"
        );
    }
}
