//! What the processors are and how they are driven.

pub mod cpufreq;
pub mod cpuidle;
pub mod cpuinfo;
pub mod delivered;
pub mod energy_bias;
pub mod idle_limits;
pub mod model_names;
pub mod set;
pub mod thermal_zone;
pub mod throttling;
pub mod topology;

// Former names of these modules, which are still in use.
pub use cpufreq as pstate;
pub use model_names as mobile;
pub use model_names as turbo;
pub use throttling as cooling;
