//! Sensors: their records, their readings, and what the readings mean.
//!
//! Source: IPMI 2.0, sections 35 (commands), 36.3 (values), 42 (types) and 43 (records). A record says how a raw
//! reading becomes a value: it must be read before the first reading, and seldom after that.
//!
//! The crate ipmi-rs-core 0.6.0 does not replace this module: it ignores the linearisation, misreads a negative M and
//! one's complement, does not decode names in 6-bit ASCII, BCD plus and UTF-16, and panics on some malformed records.

mod factors;
mod names;
mod reading;
mod record;
#[cfg(test)]
mod samples;
mod states;
mod types;
mod unit;

pub use factors::{AnalogFormat, Factors, Linearisation, ReadingFactors};
pub use reading::{Reading, States, Threshold, ThresholdSet, Thresholds};
pub use record::{Analog, Entity, Sensor, SensorRecord};
pub(super) use states::state;
pub use types::{ReadingType, SensorOwner, SensorType};
pub use unit::{Rate, Unit, UnitModifier};

/// Function 04h, Sensor/Event.
const SENSOR: u8 = 0x04;
