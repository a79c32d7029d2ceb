//! The power limit that the management controller holds, and what the board draws.
//!
//! Source: DCMI 1.5, section 6.6; see [`crate::ipmi`] for the bytes. No file shows it: the controller is asked.

use crate::ipmi::{PowerLimit, PowerReading, Told};
use crate::{Fact, Missing};

/// What the controller says of the board's power.
#[derive(Clone, Debug, PartialEq)]
pub struct PowerCap {
    /// The limit that is in force; an answer that holds none where none is.
    pub limit: Fact<Told<Option<PowerLimit>>>,
    /// What the board draws.
    pub reading: Fact<Told<PowerReading>>,
}

impl PowerCap {
    /// Nothing is known of either, for one reason.
    pub fn none(missing: Missing) -> PowerCap {
        PowerCap { limit: Err(missing.clone()), reading: Err(missing) }
    }

    /// The limit that is known to be in force.
    pub fn in_force(&self) -> Option<&PowerLimit> {
        self.limit.as_ref().ok()?.holds.as_ref()
    }
}
