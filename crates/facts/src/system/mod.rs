//! The machine and the kernel around the processors.

pub mod cgroup;
pub mod cpu_times;
pub mod distribution;
pub mod hpe;
pub mod interrupts;
pub mod ipmi;
pub mod isolation;
pub mod kernel;
pub mod kernel_config;
pub mod partition;
pub mod platform;
pub mod preemption;
pub mod process;
pub mod programs;
pub mod resctrl;
pub mod roles;
pub mod scheduler;

// Former names of these modules, which are still in use.
pub use kernel as boot_line;
pub use kernel as sysctl;
pub use programs as database;
pub use programs as tuners;
