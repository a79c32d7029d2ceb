//! What the processors are and how they are driven.

pub mod cpufreq;
pub mod cpuinfo;
pub mod set;
pub mod topology;
