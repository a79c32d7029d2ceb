//! A stock Debian kernel in an emulator, to prove findings on.
//!
//! A [`Boot`] describes one sick (or sound) machine; [`Bench::run`] starts it, runs a list of
//! shell [`Step`]s in it with the programs under test at hand, and returns a [`Transcript`].
//! QEMU plays machines with P-states, C-states, isolated CPUs and a BMC; Bochs plays machines
//! whose model-specific registers hold chosen values.
//!
//! Nothing here needs KVM or a network. What software emulation cannot show is time: a guest's
//! clock says nothing about the speed of a real CPU.

#![forbid(unsafe_code)]

mod acpi;
mod apt;
mod bench;
mod bmc;
mod bochs;
mod boot;
mod cache;
mod cpio;
mod emulator;
pub mod guide;
mod initramfs;
mod kernel;
pub mod machines;
mod monitor;
pub mod packages;
mod program;
mod qemu;
pub mod times;
mod transcript;

pub use bench::Bench;
pub use bmc::Pace;
pub use bochs::{Bochs, Msr};
pub use boot::{Boot, Disk, Emulator, Init, Step};
pub use kernel::Flavour;
pub use qemu::{Bmc, Clock, Forward, GUEST_ADDRESS, Qemu};
pub use transcript::{StepOutput, Transcript};
