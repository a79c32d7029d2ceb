//! What rose from one look to the next: a processor that is throttled now, and not only since it was reset.

use super::{Processor, Redfish};
use std::time::Duration;

/// How long a processor was throttled between two looks.
#[derive(Clone, Debug, PartialEq)]
pub struct Rise {
    /// The processor.
    pub processor: String,
    /// By a power limit, in seconds; `None` where the controller does not tell.
    pub power_s: Option<f64>,
    /// By heat.
    pub heat_s: Option<f64>,
    /// Whether a count fell: it was reset in between, and tells nothing.
    pub is_reset: bool,
}

/// What a second look showed.
#[derive(Clone, Debug, PartialEq)]
pub struct Risen {
    /// The time between the looks.
    pub time: Duration,
    /// What rose, or why that is unknown.
    pub rises: Result<Vec<Rise>, String>,
}

impl Rise {
    /// Whether the controller counted for this processor in both looks.
    pub fn is_counted(&self) -> bool {
        self.power_s.is_some() || self.heat_s.is_some()
    }
}

impl Redfish {
    /// What the controller says after a second look, which asked for neither settings nor versions: those are of the first one. What either
    /// look did not learn is unknown.
    #[must_use]
    pub fn after(self, mut again: Redfish) -> Redfish {
        let mut requests = self.requests;
        requests.append(&mut again.requests);
        let mut unknown = self.unknown;
        for it in again.unknown {
            if !unknown.contains(&it) {
                unknown.push(it);
            }
        }
        let mut odd = self.odd;
        for it in again.odd {
            if !odd.contains(&it) {
                odd.push(it);
            }
        }
        Redfish { bios: self.bios, inventory: self.inventory, requests, unknown, odd, ..again }
    }
}

/// The rises of all processors that are in both looks. A count that fell was reset in between: it tells nothing.
pub fn rises(before: &Redfish, after: &Redfish) -> Vec<Rise> {
    let rise = |from: Option<f64>, to: Option<f64>| Some(to? - from?).filter(|it| *it >= 0.0);
    let fell = |from: Option<f64>, to: Option<f64>| from > to && to.is_some();
    let of = |it: &Processor| {
        let earlier = before.processors.iter().find(|other| other.source == it.source)?;
        Some(Rise {
            is_reset: fell(earlier.power_limited_s, it.power_limited_s)
                || fell(earlier.heat_limited_s, it.heat_limited_s),
            processor: it.name.clone(),
            power_s: rise(earlier.power_limited_s, it.power_limited_s),
            heat_s: rise(earlier.heat_limited_s, it.heat_limited_s),
        })
    };
    after.processors.iter().filter_map(of).collect()
}
