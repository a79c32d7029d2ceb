//! What a management controller says over Redfish: what limits, what throttles, and how long each answer took.

mod document;
mod json;
#[cfg(test)]
mod tests;

pub use document::document;
pub(crate) use json::BmcDocument;
pub use json::json;

use facts::quantity::counted;
use facts::redfish::{Limit, Redfish, Rise};
use std::time::Duration;

/// What there is to report of one look at a controller, or of two.
pub struct Report<'a> {
    /// The address of the controller.
    pub address: &'a str,
    /// What it said at last.
    pub told: &'a Redfish,
    /// The time between the two looks, and what rose meanwhile; `None` of a single look.
    pub risen: Option<(Duration, &'a [Rise])>,
}

/// The verdict in a sentence: what limits, what throttles, or that neither is known.
fn verdict(told: &Redfish) -> String {
    let limits: Vec<String> = told.in_force().map(held).collect();
    let n_throttled = told.throttled().count();
    let n_told = told.processors.iter().filter(|it| it.throttled.is_some()).count();
    let is_whole = n_told == told.processors.len() && !told.left_out_a_processor();
    let limit = match &*limits {
        [] if told.limits.is_empty() || told.odd_limit().is_some() => {
            "Which limit on power it holds is unknown".to_owned()
        }
        [] => "It holds no limit on power".to_owned(),
        limits => format!("It holds {}", limits.join(", and ")),
    };
    let processors = match (n_throttled, n_told) {
        (_, 0) => "it does not say whether processors are throttled".to_owned(),
        (0, n) if !is_whole => {
            format!(
                "it calls none of the {} throttled that were read",
                counted(n as u64, "processor")
            )
        }
        (0, _) => "it calls no processor throttled".to_owned(),
        (n, n_told) if !is_whole => {
            format!(
                "it calls {n} of the {} throttled that were read",
                counted(n_told as u64, "processor")
            )
        }
        (n, n_told) => format!("it calls {n} of {} throttled", counted(n_told as u64, "processor")),
    };
    format!("{limit}; {processors}.")
}

/// "the board to 500 W, and 480 W are drawn".
fn held(limit: &Limit) -> String {
    let what = if limit.is_of_processor { &*limit.name } else { "the board" };
    let power = watts(limit.watts);
    match limit.drawn.or(limit.average) {
        Some(drawn) => format!("{what} to {power}, and {} are drawn", watts(Some(drawn))),
        None => format!("{what} to {power}"),
    }
}

/// "500 W"; nothing where it is unknown.
fn watts(watts: Option<f64>) -> String {
    watts.map(|it| format!("{it:.0} W")).unwrap_or_default()
}
