//! Probes: what can be learnt about a CPU by running on it, with no privilege and no counter.
//!
//! [`clock`] times chains of dependent instructions, [`spin`] watches a CPU's time line for gaps. Both work on the
//! CPU that the calling thread is pinned to ([`pinned`]), and both keep that CPU busy while they last. [`Loads`] times
//! dependent loads, and chooses a CPU itself.

mod affinity;
mod arch;
mod caches;
mod clock;
mod interrupts;
mod loads;
mod rusage;
mod spin;

pub(crate) use affinity::{affinity_of, set_affinity_of};
pub use affinity::{allowed, keep_off, pin_task, pinned, pinned_to};
pub use caches::{Caches, caches};
pub use clock::{Windows, anchor, clock};
pub use interrupts::{Timers, called};
pub use loads::Loads;
pub use rusage::ended_child_cpu_ns;
pub use spin::{Watch, spin, spin_on};
