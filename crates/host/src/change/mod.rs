//! The only writer of the project: it carries out the writes that settings plan, and takes them back.
//!
//! The order is that of a careful engineer: note what is there, and see the note on disk; look again, and stop where it is no
//! longer what the plan saw; write; read back; note what came of it. What a crash leaves half done, the next start undoes from
//! the journal. Undoing writes back what was recorded, never a default, and leaves alone what somebody else has changed since.
//!
//! ```text
//! let mut changer = Changer::open(machine, folder, Access::Write)?;  // one writer at a time
//! changer.recover(Force::No)?;                                       // what a crash left half done
//! let mut change = changer.begin(intent)?;                           // starts the guard, where there is one
//! for group in &plan { change.apply(group)?; }                       // a failure has undone everything already
//! change.keep()?;                                                    // dropped without it, it is undone
//! ```
//!
//! It has four layers; each uses those before it and none after it, which a test of the tree holds:
//!
//! - `journal`: a log of what is changed and undone, and its locks;
//! - `machine`: reads and writes one place of the host;
//! - `changer`: owns both and a guard; begins changes, recovers, reverts and confirms;
//! - `standing`: compares the journal with the host.

mod apply;
mod changer;
mod deadline;
mod failure;
mod fault;
pub mod guard;
mod journal;
pub mod latency;
mod machine;
mod process;
mod standing;
mod transaction;
mod undo;

pub use changer::Changer;
pub use deadline::overdue;
pub use failure::{Cause, ChangeError, Failure, JournalError, Trouble};
pub use journal::{Access, Journal};
pub use machine::{FILES, Firmware, Machine};
pub use standing::{held_requests, standing};
pub use transaction::{Guarded, Intent, Outcome, Transaction};
pub use undo::Force;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tree;
