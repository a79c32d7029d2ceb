//! What `fullclock watch` shows, without where it shows it: an interval's values, by column and row.
//!
//! The screen, the plain table and JSON are three ways to print the same [`Reading`].

mod cell;
mod cell_text;
mod client;
mod clocks;
#[cfg(any(test, feature = "fake"))]
pub mod fake;
mod probe;
mod reading;
mod row;
mod shares;
mod shown;

pub use cell::{Cell, Column, parts_add_up};
pub use cell_text::{number, reason, remedy, text};
pub use client::ClientValue;
pub use clocks::KnownClocks;
pub use probe::{METRIC as PROBE, Probing, due};
pub use reading::{Reading, View};
pub use row::{Machine, Row};
pub use shares::{Share, Shares};
pub use shown::{Expanded, Part, Shown, see_parts, shown_columns};

use crate::metric::Metric;

/// The metric with this id, be it of counters or of the clock probe.
pub fn find_metric(id: &str) -> Option<&'static Metric> {
    crate::metrics::find(id).or((id == PROBE.id).then_some(&PROBE))
}
