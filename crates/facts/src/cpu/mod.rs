//! What the processors are and how they are driven.

pub mod cooling;
pub mod cpufreq;
pub mod cpuidle;
pub mod cpuinfo;
pub mod energy_bias;
pub mod idle_limits;
pub mod mobile;
pub mod pstate;
pub mod set;
pub mod throttling;
pub mod topology;
pub mod turbo;
