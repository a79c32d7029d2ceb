//! The log of events (SEL) that a controller keeps.
//!
//! Source: IPMI 2.0, sections 31 (commands) and 32 (entries).

mod entry;
mod event;
mod info;

pub use entry::{EventLogEntry, Logged};
pub use event::SensorEvent;
pub use info::EventLogInfo;

/// Function 0Ah, Storage.
const STORAGE: u8 = 0x0a;
