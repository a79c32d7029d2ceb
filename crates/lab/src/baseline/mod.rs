//! The speed of a machine from boot to boot: what is kept of each, and what may be said of a difference.
//!
//! ```text
//!   history.jsonl: a line for each baseline, and for each new state of the machine    file, history
//!         |   entries, and what could not be read
//!         v
//!   boots: the baselines of one boot with the same settings                           boots
//!         v
//!   periods: boots between two changes                                                periods
//!         |   of settings, or of speed alone
//!         v
//!   changes: each with its settings, and a verdict on each part                       changes
//!         v
//!   standing.json: what made the machine slower, for audits and metrics               standing
//! ```
//!
//! The boot is what chance decides anew: memory lies elsewhere, and firmware sets the machine up again. So a boot is one run, as
//! [`verdict`](crate::verdict) means it, however many trials it has.

mod boots;
mod changes;
mod file;
#[cfg(test)]
pub(crate) mod fixture;
mod history;
mod machines;
mod oddity;
mod periods;
mod record;
mod since;
mod standing;

pub use boots::{Boot, boots};
pub use changes::{Change, Judged, changes, comparisons, count_of};
pub use file::{HISTORY, Store, StoreError};
pub use history::{Damage, Entry, History, Moment};
pub use oddity::Oddity;
pub use periods::{Period, periods};
pub use record::{Measured, Record, rounded};
pub use since::Since;
pub use standing::standing;
