//! What to think of a host: pure functions from facts to findings.
//!
//! Nothing here reads a file, a clock or the environment, and nothing knows how a fact was obtained.
#![forbid(unsafe_code)]

pub mod advice;
pub mod advisory;
pub mod audit;
mod boot_line;
pub mod ceiling;
pub mod check;
pub mod checks;
mod clock;
pub mod commands;
pub mod config;
pub mod cost;
pub mod curve;
pub mod diagnosis;
pub mod documentation;
pub mod finding;
pub mod host_labels;
pub mod hypervisors;
pub mod interval;
mod kernel_threads;
pub mod ledger;
pub mod looks;
pub mod loss;
pub mod loss_scale;
pub mod losses;
mod makers;
pub mod means;
pub mod metric;
pub mod metrics;
pub mod noise;
mod package_limits;
pub mod party;
pub mod pasted;
pub mod persist;
pub mod phases;
pub mod plan;
mod plr;
pub mod power_cap;
pub mod prochot;
pub mod profile;
pub mod segment;
pub mod setting;
pub mod settings;
pub mod severity;
pub mod spans;
pub mod spin;
pub mod terms;
pub mod tick;
pub mod totals;
pub mod watch;
mod work;
pub mod writers;

mod amd_limits;
pub mod boot_edit;
#[cfg(test)]
mod fixture;
