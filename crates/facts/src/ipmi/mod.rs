//! Questions to a management controller (BMC) and its answers, as bytes.
//!
//! Numbers and layouts are those of the IPMI specification, version 2.0, revision 1.1; each file names its sections.
//! An answer is taken as the driver returns it: completion code first, without checksum and sequence number, which
//! the driver has checked. OEM codes and records are not interpreted.

mod bootstrap;
mod dcmi;
mod event_log;
mod identity;
mod question;
mod sensor;
mod sensor_record;
mod stores;
#[cfg(test)]
mod tests;

pub use bootstrap::BootstrapAccount;
pub use dcmi::{DcmiCapabilities, ExceptionAction, PowerLimit, PowerReading};
pub use event_log::{EventLogEntry, Logged, SensorEvent};
pub use identity::{DeviceId, Guid};
pub use question::{Completion, Question, Response, Unanswered, bytes, digits, is_question};
pub use sensor::{
    Analog, AnalogFormat, Entity, Factors, Linearisation, Rate, Reading, ReadingFactors,
    ReadingType, Sensor, SensorOwner, SensorRecord, SensorType, States, Threshold, ThresholdSet,
    Thresholds, Unit, UnitModifier,
};
pub use sensor_record::{HEADER_LENGTH, Part, Portion, RecordHeader, Reservation};
pub use sensor_record::{RecordsOrigin, SensorValue};
pub use stores::{EventLogInfo, RepositoryInfo, Timestamp};
