//! What the Data Center Manageability Interface (DCMI) adds to IPMI: the power that the board draws, and a limit on it.
//!
//! Source: DCMI specification, version 1.5, section 6, beside lib/ipmi_dcmi.c of ipmitool and libfreeipmi's templates.
//! Its commands are those of a group: each question and each answer begins with the group's number. A limit that a
//! maker keeps elsewhere (Intel's Node Manager, a chassis, a redundancy policy of the power supplies) is not told here.

mod capabilities;
mod power_limit;
mod power_reading;

pub use capabilities::DcmiCapabilities;
pub use power_limit::{ExceptionAction, PowerLimit};
pub use power_reading::PowerReading;

use super::Question;
use crate::{Expected, Microwatts};

/// The network function of group extensions (IPMI 2.0, table 5-1).
const GROUP_EXTENSION: u8 = 0x2c;

/// The number of the group (DCMI 1.5, section 6).
const DCMI: u8 = 0xdc;

/// A question of the group: what is asked with comes behind the group's number.
fn question<T>(
    name: &'static str,
    command: u8,
    asked: &[u8],
    read: fn(&[u8], &[u8]) -> Result<T, Expected>,
) -> Question<T> {
    let data = [&[DCMI], asked].concat();
    Question { name, function: GROUP_EXTENSION, command, data, read }
}

/// Watts, lowest byte first, where they can be: all bits set is what controllers without a value answer.
fn watts(bytes: [u8; 2]) -> Option<Microwatts> {
    let watts = Some(u16::from_le_bytes(bytes)).filter(|it| *it != u16::MAX)?;
    Some(Microwatts(u64::from(watts) * 1_000_000))
}
