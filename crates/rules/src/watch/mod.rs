//! What `fullclock watch` shows, without where it shows it: an interval's values, by column and row.
//!
//! The screen, the plain table and JSON are three ways to print the same [`Reading`].

mod cell;
#[cfg(any(test, feature = "fake"))]
pub mod fake;
mod number;
mod probe;
mod reading;
mod reason;
mod row;
mod shares;
mod shown;
mod view;

pub use cell::{Cell, Column, parts_add_up};
pub use number::number;
pub use probe::{METRIC as PROBE, Probing, due};
pub use reading::Reading;
pub use reason::{reason, remedy, text};
pub use row::{Machine, Row};
pub use shares::{Share, Shares};
pub use shown::{Expanded, Part, Shown, see_parts, shown_columns};
pub use view::View;

use crate::metric::Metric;

/// The metric with this id, be it of counters or of the clock probe.
pub fn find_metric(id: &str) -> Option<&'static Metric> {
    crate::metrics::find(id).or((id == PROBE.id).then_some(&PROBE))
}
