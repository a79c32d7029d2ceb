//! Questions to a management controller (BMC) and its answers, as bytes.
//!
//! Numbers and layouts are those of the IPMI specification, version 2.0, revision 1.1; sections are named where they
//! are used. An answer is taken as it comes from the driver: completion code first, without checksum and sequence
//! number, which the driver has checked. What a controller means by codes and records of its maker's own is not known
//! here.

mod completion;
mod dcmi;
mod device_id;
mod event_log;
mod guid;
mod measured;
mod question;
mod repository_info;
mod sensor;
mod sensor_record;
#[cfg(test)]
mod tests;
mod timestamp;
mod told;

pub use completion::Completion;
pub use dcmi::{DcmiCapabilities, ExceptionAction, PowerLimit, PowerReading};
pub use device_id::DeviceId;
pub use event_log::{EventLogEntry, EventLogInfo, Logged, SensorEvent};
pub use guid::Guid;
pub use measured::{RecordsOrigin, SensorValue};
pub use question::{Question, Unanswered, is_question};
pub use repository_info::RepositoryInfo;
pub use sensor::{
    Analog, AnalogFormat, Entity, Factors, Linearisation, Rate, Reading, ReadingFactors,
    ReadingType, Sensor, SensorOwner, SensorRecord, SensorType, States, Threshold, ThresholdSet,
    Thresholds, Unit, UnitModifier,
};
pub use sensor_record::{HEADER_LENGTH, Part, Portion, RecordHeader, Reservation};
pub use timestamp::Timestamp;
pub use told::{Told, bytes, digits};
