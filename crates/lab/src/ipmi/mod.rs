//! A management controller (BMC) that is asked by hand, and what waiting for its answers takes of a CPU.
//!
//! To have its device open makes the kernel look after the controller, and to ask costs CPU time where answers are polled
//! for, so nothing here runs unless somebody named it: the workload `ipmi-roundtrip`, the commands `fullclock ipmi`.

mod absence;
mod allowance;
mod asker;
mod forecast;
mod listener;
mod polling;
mod polling_loop;
mod waits;

pub use asker::Asker;
pub use forecast::{Forecast, Foretold, Heard};
pub use listener::Listener;
pub use polling::{Polling, tick};
pub use polling_loop::{Limit, PollingLoop, Taken};
pub use waits::{Question, Waits};

use crate::failure::Failure;
use facts::HostView;
use host::ipmi::Controller;
use std::path::Path;

/// What errors call whoever asks.
pub(crate) const ID: &str = "ipmi-roundtrip";

/// How long each round trip took, in nanoseconds.
#[derive(Debug, Default, PartialEq)]
pub struct Times {
    /// Those of Get Device ID.
    pub device_id: Vec<u64>,
    /// Those of one sensor record each; empty where there are none.
    pub record: Vec<u64>,
}

/// Opens the controller of this machine.
///
/// Errors: there is none to be had, and what to do, as far as `host` tells.
pub fn open(host: &HostView) -> Result<Controller, Failure> {
    Controller::open(Path::new("/")).map_err(|why| absence::unready(&why, host))
}
