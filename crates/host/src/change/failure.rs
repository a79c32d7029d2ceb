//! What can go wrong with a change, in words that say what to do next.

use crate::ownership::Distrusted;
use facts::change::{Target, Undone};
use rustix::io::Errno;
use std::fmt;
use std::path::PathBuf;
use thiserror::Error;

/// Why a place could not be read or written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{place}: {why}")]
pub struct Trouble {
    /// The target, or a file or program behind it.
    pub place: String,
    /// What was met, and what to do about it.
    pub why: String,
    /// Whether what holds the value is not there, or not any more.
    pub is_gone: bool,
}

impl Trouble {
    pub(super) fn new(place: impl fmt::Display, why: impl Into<String>) -> Trouble {
        Trouble { place: place.to_string(), why: why.into(), is_gone: false }
    }

    /// What an error of the system means where a setting is read or written.
    pub(super) fn of_errno(place: impl fmt::Display, doing: &str, error: Errno) -> Trouble {
        // ENOTSUPP is the kernel's own and meant for no program; some settings answer it all the same (include/linux/errno.h).
        if error.raw_os_error() == 524 {
            return Trouble::new(
                place,
                format!("cannot be {doing}: the kernel does not support it here"),
            );
        }
        let text = std::io::Error::from(error);
        let advice = match error {
            Errno::INVAL => "the kernel does not take that value here",
            Errno::BUSY => {
                "another setting holds it; with energy_performance_preference it is the governor performance"
            }
            Errno::PERM | Errno::ACCESS => "run it as root, outside of a container",
            Errno::ROFS => "it is mounted for reading only, as in a container: run it on the host",
            Errno::NOENT | Errno::NODEV | Errno::NXIO => {
                "it is not there, or not any more; its CPU may be offline"
            }
            Errno::IO => "the kernel or the device behind it refuses; see the kernel's log",
            Errno::AGAIN => "the driver behind it is off",
            Errno::SRCH => "the task has ended",
            Errno::LOOP | Errno::XDEV => "a link leads elsewhere, and is not followed",
            Errno::NOSPC | Errno::DQUOT => "make room there",
            _ => return Trouble::new(place, format!("cannot be {doing}: {text}")),
        };
        let trouble = Trouble::new(place, format!("cannot be {doing}: {text}; {advice}"));
        let is_gone = matches!(error, Errno::NOENT | Errno::NODEV | Errno::NXIO | Errno::SRCH);
        if is_gone { trouble.gone() } else { trouble }
    }

    pub(super) fn gone(self) -> Trouble {
        Trouble { is_gone: true, ..self }
    }
}

/// A group that was not applied. Everything that its transaction had done is undone, as far as `undone` says.
#[derive(Debug)]
pub struct Failure {
    /// The id of the setting.
    pub setting: String,
    /// What was met first.
    pub cause: Cause,
    /// What undoing did, in the order it was done.
    pub undone: Vec<Undone>,
    /// Why what was undone could not be noted in the journal, which the next start does.
    pub journal: Option<JournalError>,
}

/// What stopped a plan.
#[derive(Debug, Error)]
pub enum Cause {
    /// The place does not hold what the plan saw: somebody else has changed it meanwhile. It was not written.
    #[error("{target} holds {}, and the plan saw {}: somebody else has changed it; plan again", shown(.found.as_deref()), shown(.expected.as_deref()))]
    Changed {
        /// The place that was to be written.
        target: Target,
        /// What the plan saw.
        expected: Option<String>,
        /// What it holds; `None` where it could not be read or is not there.
        found: Option<String>,
    },
    /// An earlier group failed, and everything is undone.
    #[error("an earlier setting failed, and everything is undone already")]
    Over,
    /// A place could not be read or written.
    #[error(transparent)]
    Trouble(#[from] Trouble),
    /// The write was taken, and the place reads back something else.
    #[error("{target} was given {} and reads back {}: it did not stick", shown(.wrote.as_deref()), shown(.found.as_deref()))]
    DidNotStick {
        /// The place that was written.
        target: Target,
        /// What was written.
        wrote: Option<String>,
        /// What it holds after the write; `None` where it could not be read or is not there.
        found: Option<String>,
    },
    /// A CPU did not answer in time after the first write.
    #[error(
        "CPU {cpu} has not answered within {seconds} s of the first write ({target}): no other was made"
    )]
    Silent {
        /// Which.
        cpu: u32,
        /// Where was written.
        target: Target,
        /// How long it was waited for.
        seconds: u64,
    },
    /// The journal could not be written: a place is never written without its old value on disk.
    #[error("nothing of this setting was written: {0}")]
    NotJournaled(JournalError),
    /// The host may no longer be written by this process.
    #[error("the writes of this setting were stopped: {0}")]
    Stopped(JournalError),
    /// The outcome could not be journaled.
    #[error("{0}: so everything was undone")]
    OutcomeNotJournaled(JournalError),
}

/// Why a journal cannot be used.
#[derive(Debug, Error)]
pub enum JournalError {
    /// Another process is changing the host.
    #[error("{folder}: {holder} is changing this host; wait until it is done")]
    Locked {
        /// Where the lock is.
        folder: PathBuf,
        /// The process, as far as is known.
        holder: String,
    },
    /// A study holds the lock for the length of a trial.
    #[error("{folder}: {holder} runs a trial of a study; wait until the trial is over")]
    InTrial {
        /// Where the lock is.
        folder: PathBuf,
        /// The process, as far as is known.
        holder: String,
    },
    /// A study has reserved the host.
    #[error(
        "{folder}: {holder} runs a study on this host, and no other change may be made until it ends; `fullclock revert` and \
         `fullclock confirm` work between its trials"
    )]
    Reserved {
        /// Where the lock is.
        folder: PathBuf,
        /// The process, as far as is known.
        holder: String,
    },
    /// A guard was due and did not get the lock that this process held.
    #[error(
        "{folder}: this process held the lock for too long while another change was due to be reverted; the guard of that change \
         went ahead, and nothing more is written: run the command again"
    )]
    Overridden {
        /// Where the lock is.
        folder: PathBuf,
    },
    /// Others than root and the caller could change what is in it, or what it is.
    #[error(transparent)]
    NotTrusted(#[from] Distrusted),
    /// A line that was whole once is so no longer.
    #[error("{path}, line {line}: {why}; {REMEDY}")]
    Damaged {
        /// The journal.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
    /// A later fullclock wrote it.
    #[error(
        "{path} is of version {found}, and this fullclock knows version {known}: use the fullclock that wrote it"
    )]
    Newer {
        /// The journal.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The version that is known here.
        known: u32,
    },
    /// An input or output error of the operating system.
    #[error("{path} cannot be {doing}: {why}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was tried: `opened`.
        doing: &'static str,
        /// Its words, and what to do about it.
        why: String,
    },
    /// No change of that id is in it.
    #[error("no change {id} is in the journal; `fullclock status` lists those that are")]
    NoSuchChange {
        /// What was asked for.
        id: String,
    },
}

/// Why a change cannot be begun, reverted or confirmed.
#[derive(Debug, Error)]
pub enum ChangeError {
    /// The journal cannot be read, written or trusted.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The machine does not tell which boot it is in, or the guard does not start.
    #[error(transparent)]
    Trouble(#[from] Trouble),
    /// It is undone, and the journal does not say so.
    #[error("change {id} is undone, but the journal cannot record that: {error}")]
    NotRecorded {
        /// Which; of several, the last.
        id: String,
        /// What undoing did, that of other changes included.
        undone: Vec<Undone>,
        /// Why it is not recorded.
        error: JournalError,
    },
    /// Of several changes this one is not undone, nor are those that were to be undone after it.
    #[error("change {id} is not undone: {error}")]
    NotUndone {
        /// The number of the change.
        id: String,
        /// The error that keeps it from being undone.
        error: Box<ChangeError>,
        /// What came of those before it: [`ChangeError::NotRecorded`], or what undoing did.
        before: Box<Result<Vec<Undone>, ChangeError>>,
    },
    /// It could not be kept, and everything is undone, as far as `undone` says.
    #[error("change {id} is not kept: {error}")]
    NotKept {
        /// The number of the change.
        id: String,
        /// What undoing did.
        undone: Vec<Undone>,
        /// Why it is not kept.
        error: Box<ChangeError>,
        /// Why what was undone is not recorded.
        journal: Option<JournalError>,
    },
    /// It is not one that this can be done to.
    #[error("change {id} {why}")]
    NotNow {
        /// The number of the change.
        id: String,
        /// Its state, in words: `has been reverted already`.
        why: String,
    },
}

/// What to do about a damaged journal.
const REMEDY: &str = "its other lines are whole and say what was there before; write that back by hand, then move the file away";

/// A value as people are told it.
pub(super) fn shown(value: Option<&str>) -> String {
    match value {
        Some(text) if text.len() > 60 || text.contains('\n') => format!("{} bytes", text.len()),
        Some(text) => format!("{text:?}"),
        None => "nothing".to_owned(),
    }
}

impl Failure {
    /// Whether everything is as it was before the transaction.
    pub fn is_clean(&self) -> bool {
        self.undone.iter().all(|it| it.fate.is_clean())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.setting, self.cause)
    }
}

impl std::error::Error for Failure {}
