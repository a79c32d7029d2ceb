//! Reads a tape, sample by sample: it never holds more than two.

use super::frames::{Found, Frames};
use super::unpacked;
use crate::Captured;
use facts::tape::frame::{Head, Kind};
use facts::tape::{Decoder, FIRST_LINE, Label, Sample, Undecoded, Version};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// A tape that is being read: an iterator of samples, and of what is in the place of some.
///
/// An error of the iterator is damage to be told of; the samples behind it follow.
pub struct Reader<R> {
    frames: Frames<R>,
    host: Captured,
    /// Without its capture; `None` where damage has taken it.
    label: Option<Label>,
    decoder: Decoder,
    /// The number of the next sample.
    next: u32,
    /// A number above those of all samples that the tape is known to have had.
    end: u32,
    /// A sample behind damage that had to be told of first.
    waiting: Option<Sample>,
    is_over: bool,
}

/// Why a file is no tape that can be read.
#[derive(Debug, thiserror::Error)]
pub enum OpenTapeError {
    /// The operating system's refusal.
    #[error("{path} cannot be read: {error}")]
    Unreadable {
        /// As the user wrote it.
        path: String,
        /// The operating system's words.
        error: io::Error,
    },
    /// Its first line is something else.
    #[error("{path} is no recording made by `fullclock watch --record`: it begins with {found:?}")]
    NotATape {
        /// As the user wrote it.
        path: String,
        /// The first bytes, as far as they are text.
        found: String,
    },
    /// Nothing but the beginning of the first line, or not even that.
    #[error("{path} is empty or cut short in its first line: there is no sample in it")]
    Empty {
        /// As the user wrote it.
        path: String,
    },
    /// Its first line has another number.
    #[error(
        "{path} was recorded by another version of fullclock: it begins with {found:?}; this version reads {}",
        first_lines()
    )]
    OtherVersion {
        /// As the user wrote it.
        path: String,
        /// The first line.
        found: String,
    },
}

/// What is in the place of samples. Samples are counted from 1.
#[derive(Debug, thiserror::Error)]
pub enum Damage {
    /// There is a gap in the numbers.
    #[error("{} missing: damaged, or never written", those(*first, *last))]
    Lost {
        /// The first that is missing.
        first: u32,
        /// The last that is missing.
        last: u32,
    },
    /// The tape ends within a sample.
    #[error(
        "the recording ends within a sample, which is lost: it was cut, or is still being made"
    )]
    Cut,
    /// The tape goes on with what was never a sample.
    #[error("the last {bytes} bytes of the recording are no samples")]
    Rubbish {
        /// How many there are.
        bytes: u64,
    },
    /// A frame is what was written, and was never a sample.
    #[error("sample {number} makes no sense: {why}")]
    Malformed {
        /// Which one.
        number: u32,
        /// What is wrong with it.
        why: Undecoded,
    },
    /// A frame has the number of one that was before it.
    #[error("sample {number} comes where sample {expected} should: two recordings in one file?")]
    OutOfOrder {
        /// Which one.
        number: u32,
        /// Which one was expected.
        expected: u32,
    },
    /// The file cannot be read any further.
    #[error("the recording cannot be read any further: {0}")]
    Io(#[from] io::Error),
}

impl Reader<File> {
    /// Opens the tape in a file.
    #[expect(
        clippy::disallowed_methods,
        reason = "a file that the user named is no fact of a host"
    )]
    pub fn open(path: &Path) -> Result<Reader<File>, OpenTapeError> {
        let name = path.display().to_string();
        match File::open(path) {
            Ok(file) => Reader::new(&name, file),
            Err(error) => Err(OpenTapeError::Unreadable { path: name, error }),
        }
    }
}

impl<R: Read> Reader<R> {
    /// Reads a tape from `input`, which messages call `name`.
    pub fn new(name: &str, input: R) -> Result<Reader<R>, OpenTapeError> {
        let mut frames = Frames::new(input);
        let unreadable = |error| OpenTapeError::Unreadable { path: name.to_owned(), error };
        let version = version(name, &frames.line(FIRST_LINE.len() + 8).map_err(unreadable)?)?;
        let labelled = match frames.next().map_err(unreadable)? {
            Found::Frame(Head { kind: Kind::Label, .. }, payload) => labelled(payload),
            Found::Damaged(Head { kind: Kind::Label, .. }) => None,
            _ => {
                frames.again();
                None
            }
        };
        let (host, label) = labelled.unzip();
        Ok(Reader {
            frames,
            host: host.unwrap_or_else(Captured::empty),
            label,
            decoder: Decoder::new(version),
            next: 0,
            end: 0,
            waiting: None,
            is_over: false,
        })
    }

    /// The host that was sampled.
    pub fn host(&self) -> &Captured {
        &self.host
    }

    /// Whether the host is on the tape. Where damage has taken it, every fact of it is missing.
    pub fn has_host(&self) -> bool {
        self.label.is_some()
    }

    /// The process that recorded, whose run time is what measuring took; `None` where damage has taken its number.
    pub fn observer(&self) -> Option<u32> {
        self.label.as_ref().map(|it| it.observer)
    }

    /// The version of the fullclock that recorded; `None` where damage has taken it.
    pub fn version(&self) -> Option<&str> {
        self.label.as_ref().map(|it| it.version.as_str())
    }

    /// How many parts of a sample so far were of a kind that only a later fullclock knows: they were left out.
    pub fn unknown_parts(&self) -> usize {
        self.decoder.unknown_parts()
    }

    /// What is at the next frame; `None` where it is nothing to tell of.
    fn step(&mut self) -> Result<Option<Sample>, Damage> {
        match self.frames.next()? {
            Found::Frame(head, payload) if head.kind != Kind::Label => {
                if head.number < self.next {
                    let expected = self.next.saturating_add(1);
                    return Err(Damage::OutOfOrder { number: one_more(head), expected });
                }
                self.end = self.end.max(one_more(head));
                match self.decoder.sample(&head, payload) {
                    Ok(sample) => self.continue_with(head, sample).map(Some),
                    Err(Undecoded::Orphan) => Ok(None),
                    Err(why) => Err(Damage::Malformed { number: one_more(head), why }),
                }
            }
            Found::Frame(..) => Ok(None),
            Found::Damaged(head) => {
                self.end = self.end.max(one_more(head));
                Ok(None)
            }
            Found::Cut => self.finish().and(Err(Damage::Cut)),
            Found::End(0) => self.finish().and(Ok(None)),
            Found::End(bytes) => self.finish().and(Err(Damage::Rubbish { bytes })),
        }
    }

    /// The sample, or the gap before it, which goes first.
    fn continue_with(&mut self, head: Head, sample: Sample) -> Result<Sample, Damage> {
        let (first, last) = (self.next.saturating_add(1), head.number);
        self.next = one_more(head);
        if first > last {
            return Ok(sample);
        }
        self.waiting = Some(sample);
        Err(Damage::Lost { first, last })
    }

    fn finish(&mut self) -> Result<(), Damage> {
        self.is_over = true;
        let (first, last) = (self.next.saturating_add(1), self.end);
        if first > last { Ok(()) } else { Err(Damage::Lost { first, last }) }
    }
}

/// The number of a sample as people count, and the number of the next one as tapes do.
fn one_more(head: Head) -> u32 {
    head.number.saturating_add(1)
}

fn those(first: u32, last: u32) -> String {
    if first == last {
        format!("sample {first} is")
    } else {
        format!("samples {first} to {last} are")
    }
}

impl<R: Read> Iterator for Reader<R> {
    type Item = Result<Sample, Damage>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(sample) = self.waiting.take() {
            return Some(Ok(sample));
        }
        while !self.is_over {
            match self.step() {
                Ok(Some(sample)) => return Some(Ok(sample)),
                Ok(None) => {}
                Err(damage) => {
                    self.is_over |= matches!(damage, Damage::Io(_));
                    return Some(Err(damage));
                }
            }
        }
        None
    }
}

/// The version of a tape whose first line, or the beginning of it, is `line`.
fn version(name: &str, line: &[u8]) -> Result<Version, OpenTapeError> {
    let lines = || Version::ALL.into_iter().map(|it| (it, it.first_line().as_bytes()));
    if let Some((version, _)) = lines().find(|(_, first_line)| *first_line == line) {
        return Ok(version);
    }
    let path = name.to_owned();
    let found = String::from_utf8_lossy(line).trim_end().to_owned();
    Err(if lines().any(|(_, first_line)| first_line.starts_with(line)) {
        OpenTapeError::Empty { path }
    } else if line.starts_with(b"fullclock tape ") && line.ends_with(b"\n") {
        OpenTapeError::OtherVersion { path, found }
    } else {
        OpenTapeError::NotATape { path, found }
    })
}

fn first_lines() -> String {
    let lines = Version::ALL.map(|it| format!("{:?}", it.first_line().trim_end()));
    lines.join(" and ")
}

/// The host on a label, and the rest of the label.
fn labelled(payload: &[u8]) -> Option<(Captured, Label)> {
    let mut label = Label::parse(payload).ok()?;
    let host = Captured::parse(&unpacked(&std::mem::take(&mut label.capture)).ok()?).ok()?;
    Some((host, label))
}
