//! What `fullclock watch` shows, without where it shows it: an interval's values, by column and row.
//!
//! The screen, the plain table and JSON are three ways to print the same [`Reading`].

mod cell;
mod live;
mod number;
mod pace;
mod probe;
mod reading;
mod reason;
mod replay;
mod row;
mod sampling;
mod shares;
mod shown;
mod taping;
pub(crate) mod utc;
mod view;

#[cfg(test)]
pub(crate) mod fake;

pub(crate) use cell::Cell;
pub(crate) use live::{Plan, Watched};
pub(crate) use number::number;
pub(crate) use probe::Probing;
pub(crate) use reading::{Column, Reading};
pub(crate) use reason::{reason, remedy, text};
pub(crate) use replay::Replay;
pub(crate) use row::{Machine, Row};
pub(crate) use shares::{Share, Shares};
pub(crate) use shown::{Expanded, Part, Shown, parts_add_up, see_parts, shown_columns};
pub(crate) use taping::Taping;
pub(crate) use utc::{clock_time, timestamp};
pub(crate) use view::View;

use rules::metric::Metric;

/// The metric with this id, be it of counters or of the clock probe.
pub(crate) fn find_metric(id: &str) -> Option<&'static Metric> {
    rules::metrics::find(id).or((id == probe::METRIC.id).then_some(&probe::METRIC))
}
