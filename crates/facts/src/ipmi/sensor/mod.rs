//! Sensors: what a controller's records say of them, what they read, and what that means.
//!
//! Source: IPMI 2.0, sections 35 (commands), 36.3 (values), 42 (types) and 43 (records). A record says how the byte that
//! a sensor reads becomes a value, so it has to be fetched before the first reading, and then seldom.

mod factors;
mod linearisation;
mod name;
mod owner;
mod reading;
mod record;
#[cfg(test)]
mod samples;
mod sharing;
mod states;
mod thresholds;
mod types;
mod unit;

pub use factors::{AnalogFormat, Factors, ReadingFactors};
pub use linearisation::Linearisation;
pub use owner::SensorOwner;
pub use reading::{Reading, States};
pub use record::{Analog, Entity, Sensor, SensorRecord};
pub(super) use states::state;
pub use thresholds::{Threshold, ThresholdSet, Thresholds};
pub use types::{ReadingType, SensorType};
pub use unit::{Rate, Unit, UnitModifier};

/// Function 04h, Sensor/Event.
const SENSOR: u8 = 0x04;
