//! What a database server says of itself while the machine is watched: the counters of its log, and what its sessions do.
//!
//! The queries are in `lab::database`; here their rows become values. No text of a statement is kept unless the user wants it.

mod activity;
mod log;
mod tag;

pub use activity::{HIDDEN, Look, SessionGroup};
pub use log::{Count, LogCounters, Syncing, Taken};
pub use tag::{is_bulk, tag};

use crate::client::MarkText;

/// The longest name of a state, a wait event or a kind of process, in bytes.
pub const LONGEST_WORD: usize = 64;
/// The longest text of a statement that is kept where the user wants it, in characters.
pub const LONGEST_STATEMENT: usize = 120;
/// The most looks that are kept between two samples: an hour of them.
pub const MOST_LOOKS: usize = 3600;
/// The most kinds of sessions of one look.
pub const MOST_GROUPS: usize = 256;

/// What was seen of a server since the sample before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerSample {
    /// What was seen, the oldest first; at most [`MOST_LOOKS`].
    pub looks: Vec<Look>,
    /// Where its main activity changed; at most [`MOST_MARKS`](crate::client::MOST_MARKS).
    pub phases: Vec<MarkText>,
}
