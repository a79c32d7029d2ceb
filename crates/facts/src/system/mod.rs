//! The machine and the kernel around the processors.

pub mod boot_line;
pub mod dmi;
pub mod ipmi;
pub mod kernel;
pub mod platform;
pub mod process;
