//! The kernel's performance events: what one CPU counts, and what is traced on it.
//!
//! Source: perf_event_open(2). All events here belong to a CPU and not to a task, so they need root,
//! CAP_PERFMON or a low `kernel.perf_event_paranoid`. A [`Group`] counts; it never samples, so it does not
//! keep the tick alive on a tickless CPU (check_tick_dependency of kernel/time/tick-sched.c minds only events
//! in frequency mode).

mod attr;
pub mod counters;
mod group;
mod pmu;
mod refusal;
pub mod tracefs;

pub use group::Group;
pub use pmu::discover;
