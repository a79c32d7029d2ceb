//! What a management controller says over Redfish: what limits, what throttles, and how long each answer took.

mod document;
mod json;
#[cfg(test)]
mod tests;

pub use document::document;
pub(crate) use json::BmcDocument;
pub use json::json;

use facts::quantity::counted;
use facts::redfish::{A_PROCESSOR, Limit, Redfish, Risen, THE_MACHINE};

/// What there is to report of one look at a controller, or of two.
pub struct Report<'a> {
    /// The address of the controller.
    pub address: &'a str,
    /// What it said at last.
    pub told: &'a Redfish,
    /// What a second look showed, where there was one.
    pub second: Option<&'a Risen>,
}

/// The verdict in a sentence: what limits, what throttles, or that neither is known.
fn verdict(told: &Redfish) -> String {
    let limits: Vec<String> = told.in_force().map(held).collect();
    let limit = match &*limits {
        [] if told.limits.is_empty() || told.odd_limit().is_some() => {
            "Which limit on power it holds is unknown".to_owned()
        }
        [] => "It holds no limit on power".to_owned(),
        limits => format!("It holds {}", limits.join(", and ")),
    };
    format!("{limit}; {}.", throttled(told))
}

/// "it calls 1 of 2 processors throttled": of all that the controller lists, read or not.
fn throttled(told: &Redfish) -> String {
    let (n_throttled, n_judged) = (told.throttled().count(), told.n_judged());
    let all = told.n_processors();
    if n_judged == 0 {
        // What was not asked, or not answered, is nothing that it does not say.
        return match told.why_unknown(&[A_PROCESSOR, THE_MACHINE]) {
            Some(why) => format!("whether processors are throttled is unknown ({why})"),
            None => "it does not say whether processors are throttled".to_owned(),
        };
    }
    let of_all = counted(all as u64, "processor");
    let rest = match all.saturating_sub(n_judged) {
        0 if told.left_out_a_processor() => "; of others it is unknown".to_owned(),
        0 => String::new(),
        n => format!("; of {n} it is unknown"),
    };
    match (n_throttled, &*rest) {
        (0, "") => "it calls no processor throttled".to_owned(),
        (0, _) => format!("it calls {n_judged} of {of_all} not throttled{rest}"),
        (n, _) => format!("it calls {n} of {of_all} throttled{rest}"),
    }
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
