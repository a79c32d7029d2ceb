//! What one host is: plain types, and the pure parsers that build them from text.
//!
//! A fact is something read from a host, or the reason it could not be read ([`Fact`]). Nothing here
//! reads: `host` does, and hands over text. A parser takes everything it needs and gives the same
//! answer on any machine.
#![forbid(unsafe_code)]

pub mod access;
pub mod baseline;
pub mod change;
pub mod client;
mod clocks;
pub mod collectors;
pub mod counters;
pub mod cpu;
pub mod database;
pub mod elsewhere;
mod host_view;
pub mod ipmi;
pub mod limits;
pub mod links;
pub mod log;
mod missing;
pub mod msr;
pub mod netlink;
pub mod parse;
pub mod pasted;
mod per_cpu;
pub mod pmu;
pub mod power;
pub mod probe;
pub mod quantity;
pub mod redfish;
pub mod secrets;
pub mod site;
mod subject;
pub mod system;
pub mod tape;
pub mod trace;
mod unasked;
mod units;
pub mod utc;
pub mod watched;

pub use cpu::set::CpuSet;
pub use elsewhere::Elsewhere;
pub use host_view::{HostView, Origin};
pub use missing::{Fact, IfPresent, Missing, Obstacle, Why};
pub use parse::Expected;
pub use per_cpu::PerCpu;
pub use subject::{Subject, Subjects};
pub use units::{BitsPerSecond, Bytes, BytesPerSecond, Hertz, Microwatts, USER_TICK_NS};
