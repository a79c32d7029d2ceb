//! The machine and the kernel around the processors.

pub mod boot_line;
pub mod cgroup;
pub mod clocksource;
pub mod cpu_times;
pub mod database;
pub mod dmi;
pub mod interrupts;
pub mod ipmi;
pub mod isolation;
pub mod kernel;
pub mod kernel_config;
pub mod platform;
pub mod preemption;
pub mod process;
pub mod sysctl;
pub mod tuners;
pub mod vulnerabilities;
