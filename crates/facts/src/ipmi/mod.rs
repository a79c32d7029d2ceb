//! Questions to a management controller (BMC) and its answers, as bytes.
//!
//! Numbers and layouts are those of the IPMI specification, version 2.0, revision 1.1; sections are named where they
//! are used. An answer is taken as it comes from the driver: completion code first, without checksum and sequence
//! number, which the driver has checked. What a controller means by codes and records of its maker's own is not known
//! here.

mod completion;
mod device_id;
mod question;
mod sensor_record;

pub use completion::Completion;
pub use device_id::DeviceId;
pub use question::{Question, Unanswered};
pub use sensor_record::{HEADER_LENGTH, Part, Portion, RecordHeader, Reservation};
