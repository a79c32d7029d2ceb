//! The kernel's performance events: what one CPU counts, and what is traced on it.
//!
//! Source: perf_event_open(2). All events here belong to a CPU and not to a task, so they need root,
//! CAP_PERFMON or a low `kernel.perf_event_paranoid`. A [`Group`] counts, a [`Tracer`]
//! writes every occurrence down; neither keeps the tick alive on a tickless CPU, for only events in frequency
//! mode do (account_freq_event, kernel/events/core.c).

mod attr;
pub mod counters;
mod group;
mod pmu;
mod returns;
mod ring;
mod tracefs;
mod tracer;

pub use group::{Group, GroupTable};
pub use pmu::discover;
pub use returns::Returns;
pub use tracer::Tracer;
