//! Who answers questions about a host.

mod absence;
pub(crate) mod answered;
pub(crate) mod answers;
pub(crate) mod archive;
pub(crate) mod cached;
pub(crate) mod captured;
pub(crate) mod controller;
mod copy;
mod driver;
mod isst;
mod kernel_log;
pub(crate) mod live;
mod look;
pub(crate) mod open;
pub(crate) mod recording;
mod whole;

pub use look::Counter;

use facts::ipmi::{Completion, Question, Response, Unanswered};
use facts::links::ethtool;
use facts::power::speed_select;
use facts::redfish::{self, Redfish};
use facts::{Expected, Fact, Missing, Origin, Why, limits};
use rustix::io::Errno;

/// One host, asked question by question.
///
/// Every answer is a value or the reason there is none; a source never guesses and never panics.
pub trait Source {
    /// Where its answers come from.
    fn origin(&self) -> Origin;

    /// The source that answers what this one does not ask or change itself; `None` where there is no other. A question that not every
    /// source knows goes there, so that none is lost behind one that wraps another.
    fn inner(&self) -> Option<&dyn Source> {
        None
    }

    /// The bytes of the file at an absolute path.
    fn read(&self, path: &str) -> Fact<Vec<u8>>;

    /// At most `length` bytes of a file from byte `offset` on; fewer where it ends before, or where the rest may not be
    /// read. For files that are registers, each of which may do something when it is read.
    fn part(&self, path: &str, offset: usize, length: usize) -> Fact<Vec<u8>> {
        match self.inner() {
            Some(inner) => inner.part(path, offset, length),
            None => {
                self.read(path).map(|bytes| bytes.into_iter().skip(offset).take(length).collect())
            }
        }
    }

    /// The names in the folder at an absolute path, sorted.
    fn list(&self, folder: &str) -> Fact<Vec<String>>;

    /// The names of the folders in the folder at an absolute path, sorted; not of links to folders.
    fn folders(&self, folder: &str) -> Fact<Vec<String>> {
        if let Some(inner) = self.inner() {
            return inner.folders(folder);
        }
        let mut names = self.list(folder)?;
        names.retain(|name| self.list(&format!("{folder}/{name}")).is_ok());
        Ok(names)
    }

    /// Where the symbolic link at an absolute path points.
    fn link(&self, path: &str) -> Fact<String>;

    /// A model-specific register of one CPU.
    fn msr(&self, cpu: u32, register: u32) -> Fact<u64>;

    /// EAX, EBX, ECX and EDX of a CPUID leaf.
    fn cpuid(&self, leaf: u32, subleaf: u32) -> Fact<[u32; 4]>;

    /// What the management controller answers to a question: its completion code, and what comes behind that.
    ///
    /// The one question that costs somebody else time: few sources ask.
    fn controller(&self, question: &Question<Vec<u8>>) -> Fact<Vec<u8>>;

    /// What the management controller says over Redfish. Only where a configuration names the controller is it asked: to answer takes it
    /// seconds.
    fn redfish(&self) -> Fact<Redfish> {
        const WHY: &str = "no configuration names the controller (redfish.url)";
        self.inner().map_or_else(|| Err(Missing::not_here(redfish::NAME, WHY)), Source::redfish)
    }

    /// What the driver of a network interface answers, as `facts::links::ethtool::binary` reads it. A copy of a host has
    /// no drivers.
    fn ethtool(&self, interface: &str, question: ethtool::Question) -> Fact<Vec<u8>> {
        match self.inner() {
            Some(inner) => inner.ethtool(interface, question),
            None => Err(Missing::not_collected(question.name(interface))),
        }
    }

    /// What the driver of Intel Speed Select answers, as `facts::power::speed_select` reads it. A copy of a host has no drivers.
    fn speed_select(&self, question: speed_select::Question) -> Fact<Vec<u8>> {
        match self.inner() {
            Some(inner) => inner.speed_select(question),
            None => Err(Missing::not_collected(question.name())),
        }
    }

    /// Counters read twice, [`LOOK`](facts::cpu::delivered::LOOK) apart, both readings of each a line. Few sources look, because it takes so
    /// long; a copy of a host has no second reading.
    fn look(&self, counters: &[Counter]) -> Vec<Fact<String>> {
        match self.inner() {
            Some(inner) => inner.look(counters),
            None => counters.iter().map(|it| Err(Missing::not_collected(it.path()))).collect(),
        }
    }

    /// What a copy lost a part of itself by, in words without its name: what it lacks is unknown. `None` of one that is whole, and of a
    /// running machine.
    fn incomplete(&self) -> Option<&str> {
        self.inner().and_then(Source::incomplete)
    }

    /// The paths of the hosts in the same folder or archive, as [`crate::open_root`] takes them: this one first.
    fn roots(&self) -> &[String] {
        self.inner().map_or(&[], Source::roots)
    }
}

impl dyn Source + '_ {
    /// The text of a file. Bytes that are no UTF-8 become U+FFFD, so that a parser can refuse them by name.
    /// NUL bytes at the end are left out: sysfs claims files of a page, and tar fills a page up with them.
    pub fn text(&self, path: &str) -> Fact<String> {
        self.read(path).map(|mut bytes| {
            let n_padding = bytes.iter().rev().take_while(|it| **it == 0).count();
            bytes.truncate(bytes.len() - n_padding);
            match String::from_utf8(bytes) {
                Ok(text) => text,
                Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
            }
        })
    }

    /// What `parse` makes of the text of a file, or a reason that names the path and the text.
    pub fn parsed<T>(&self, path: &str, parse: impl Fn(&str) -> Result<T, Expected>) -> Fact<T> {
        let text = self.text(path)?;
        parse(&text).map_err(|Expected(expected)| Missing::malformed(path, &text, expected))
    }

    /// What the management controller says, with the bytes that say so; `of` sets apart what is no refusal.
    ///
    /// A controller that does not know the command is one that has no such thing.
    pub fn response<T, U>(
        &self,
        question: &Question<T>,
        of: impl FnOnce(Result<T, Unanswered>) -> Result<U, Unanswered>,
    ) -> Fact<Response<U>> {
        const UNKNOWN: [Completion; 2] = [Completion::INVALID_COMMAND, Completion(0xc2)];
        let answer = self.controller(&question.verbatim())?;
        let missing = |why| Missing { what: question.path(), why };
        match of(question.parse(&answer)) {
            Ok(holds) => Ok(Response::new(question, answer, holds)),
            Err(Unanswered::Refused(code)) if UNKNOWN.contains(&code) => {
                Err(missing(Why::NotHere(format!("{}: {code}", question.name))))
            }
            Err(Unanswered::Refused(code)) => {
                Err(missing(Why::Failed(format!("{}: {code}", question.name))))
            }
            Err(Unanswered::Malformed { found, expected }) => {
                Err(missing(Why::Malformed { found, expected: expected.into() }))
            }
        }
    }

    /// The kernel's random id of this boot, a new one each time (random(4); Documentation/admin-guide/sysctl/kernel.rst, random).
    pub fn boot_id(&self) -> Fact<String> {
        self.parsed("/proc/sys/kernel/random/boot_id", facts::parse::line)
    }

    /// Why a folder that its parent's listing does not name is not there.
    pub fn without_folder(&self, path: &str) -> Missing {
        self.list(path).err().unwrap_or_else(|| match self.incomplete() {
            Some(_) => Missing::not_collected(path),
            None => Missing::absent(path),
        })
    }

    /// The names in `folder` that are `prefix` and a number, with the number, in order of the numbers.
    pub fn numbered(&self, folder: &str, prefix: &str) -> Fact<Vec<u32>> {
        let number = |name: &String| name.strip_prefix(prefix)?.parse().ok();
        let mut numbers: Vec<u32> = self.list(folder)?.iter().filter_map(number).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }
}

/// The content of a file, or a reason where it is longer than files at `path` can be: what is asked for decides, and
/// not where a link leads.
fn within_limit<T: AsRef<[u8]>>(path: &str, content: T) -> Fact<T> {
    let length = content.as_ref().len();
    match limits::exceeded(path, length) {
        Some(limit) => Err(Missing::too_long(path, u64::try_from(length).ok(), limit)),
        None => Ok(content),
    }
}

/// The names in the folder at `path`, or a reason where they are more than it can hold.
fn check_names<T>(path: &str, names: Vec<T>) -> Fact<Vec<T>> {
    let limit = limits::most_names(path);
    if names.len() > limit { Err(Missing::too_many(path, "entries", limit)) } else { Ok(names) }
}

/// Of a copy that holds a file or a folder where a link was asked for.
fn not_a_link(path: &str) -> Missing {
    Missing::malformed(path, "no symbolic link", "a symbolic link")
}

/// How messages and captures name a CPUID leaf.
fn cpuid_name(leaf: u32, subleaf: u32) -> String {
    format!("cpuid {leaf:#x} {subleaf:#x}")
}

/// What an error number says about a fact.
pub(crate) fn missing(what: &str, error: Errno) -> Missing {
    let why = match error {
        Errno::NOENT | Errno::NOTDIR | Errno::NXIO | Errno::NODEV => Why::Absent,
        Errno::ACCESS | Errno::PERM => Why::Denied,
        // ELOOP is also what a copy's link to outside of itself gives.
        other => Why::Failed(std::io::Error::from(other).to_string()),
    };
    Missing { what: what.to_owned(), why }
}
