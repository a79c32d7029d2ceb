//! Settings of the firmware, which only the management controller reads and writes. This crate knows no network: whoever has a way to the
//! controller lends it to the machine.

use super::Machine;
use crate::change::Trouble;
use facts::change::{FirmwarePlace, Held};
use std::fmt;
use std::time::Duration;

/// A way to the settings of the firmware. Words of errors and answers hold no secret.
pub trait Firmware: fmt::Debug + Send + Sync {
    /// What settings hold, and what they hold after the next restart.
    ///
    /// Errors: why that cannot be told.
    fn read(&self, place: &FirmwarePlace) -> Result<Held, String>;

    /// Requests values for the next restart, once, and only while they hold what was read last; what the controller answered. `is_back`
    /// where a change is taken back: then others may wait as well.
    ///
    /// Errors: why they are not requested, or why that is unknown.
    fn request(&self, place: &FirmwarePlace, values: &str, is_back: bool)
    -> Result<String, String>;
}

/// How often a controller is asked whether it has taken a request, and how long apart.
pub(super) const LOOKS: u32 = 4;
pub(super) const BETWEEN_LOOKS: Duration = Duration::from_millis(500);

/// What to do where no way to the controller was given.
const NO_WAY: &str =
    "only the management controller can tell: name it with --redfish URL and its account";

/// What settings hold, now and after the next restart.
pub(super) fn held(machine: &Machine, place: &FirmwarePlace) -> Result<Held, Trouble> {
    let way = way(machine, place)?;
    way.read(place).map_err(|why| Trouble::new(place, why))
}

/// Requests values; what the controller answered.
pub(super) fn write(
    machine: &Machine,
    place: &FirmwarePlace,
    values: &str,
    is_back: bool,
) -> Result<String, Trouble> {
    let way = way(machine, place)?;
    way.request(place, values, is_back).map_err(|why| Trouble::new(place, why))
}

fn way<'a>(machine: &'a Machine, place: &FirmwarePlace) -> Result<&'a dyn Firmware, Trouble> {
    if let Some(why) = place.refusal() {
        return Err(Trouble::new(place, why));
    }
    machine.firmware.as_deref().ok_or_else(|| Trouble::new(place, NO_WAY))
}
