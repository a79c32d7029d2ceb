//! Questions to the management controller (BMC), through the driver's device.
//!
//! Few things open a device: a workload or a command that was asked for by name, through [`Controller::open`], and
//! [`crate::WithController`], through which an audit and a capture put two or three questions for one reader, once. To
//! have it open makes the kernel look after the controller's interface; to ask costs a kernel thread CPU time where the
//! interface does not interrupt: so whoever views a host again and again (`serve`, `watch`, `race`, a plan) does it
//! through [`crate::Live`], which leaves the controller alone. A question does not change the controller, but for
//! [`facts::ipmi::Reservation`], which takes another reader's away.
//!
//! Own code, since the crate `ipmi-rs` brings encryption for controllers on the network that cannot be left out, and
//! after an answer that came too late takes each for the next question's.

mod carrier;
mod controller;
mod device;
mod event_log;
mod failure;
#[cfg(test)]
pub(crate) mod fake;
mod kept;
mod records;
mod sensors;
mod stamp;

pub use carrier::{Arrived, Asked, Carrier, Kind};
pub use controller::{Controller, Patience};
pub use event_log::EventLog;
pub use failure::Failure;
pub use records::{Record, SensorRecords};
pub use sensors::Sensors;
