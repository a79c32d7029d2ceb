//! What the program does, without a terminal: it samples, measures, changes, and runs trials, races and tests.
//!
//! Nothing here prints, parses a command line or words a result. What happens is reported by events.
#![forbid(unsafe_code)]

pub mod advised;
pub mod agent;
pub mod baseline;
pub mod bench;
pub mod change;
pub mod clock;
pub mod controller;
pub mod copies;
pub mod earlier;
mod event;
pub mod experiment;
pub mod explained;
pub mod fleet;
pub mod http;
pub mod interrupt;
pub mod ipmi;
pub mod ledger;
pub mod measure;
pub mod net;
pub mod noise;
mod peer;
pub mod race;
pub mod redfish;
pub mod results_folder;
pub mod sampling;
pub mod secret;
pub mod tick;
pub mod told;
pub mod why;

pub use event::{Event, Progress, StudyPlan, Tell};
