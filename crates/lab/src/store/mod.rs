//! Results on disk: a journal while trials run, then one JSON file each.
//!
//! Every trial is appended to the journal as it ends, a line each, so that nothing is lost when the program is; a
//! journal that was never finished reads like a result that was cut short, and a later start makes one of it.

mod entry;
#[cfg(test)]
mod fixture;
pub(crate) mod folder;
mod follow;
mod history;
mod input;
mod journal;
mod like;
mod read;

pub use entry::{ArmSummary, Entry, FigureSummary};
pub use folder::recordings;
pub use follow::{End, Follower, News, running};
pub use history::{History, HistoryError, INDEX, sweep};
pub use journal::Journal;
pub use like::results_like;
pub use read::{Unreadable, read, read_arms, read_from};

/// What the name of a finished result ends with.
pub const RESULT: &str = "json";
/// What the name of a journal ends with.
pub const JOURNAL: &str = "trials";
/// What the name of a recording ends with.
const TAPE: &str = "tape";

/// Results say what a machine is and what it runs: they are their owner's.
const MODE: u32 = 0o600;
