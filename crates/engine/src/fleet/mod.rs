//! Machines of a fleet, from a monitoring system, copies of hosts or ssh.

mod attributes;
pub mod copies;
pub mod one;
pub mod prometheus;
pub mod ssh;
mod told;

use fleet::Machine;

/// What a source told of a fleet.
#[derive(Debug, Default)]
pub struct Gathered {
    /// The machines, in the order of their names.
    pub machines: Vec<Machine>,
    /// What was named and holds no machine, and why.
    pub skipped: Vec<Skipped>,
    /// What users should know of it, each in a sentence.
    pub notes: Vec<String>,
}

/// Something that holds no machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// A path, or a host.
    pub name: String,
    /// Why.
    pub why: String,
}
