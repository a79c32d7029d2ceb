//! The host behind the facts: the only crate that reads one, and in [`change`] the only one that writes one.
//!
//! A [`Source`] answers questions about files, folders, links, registers and the management controller; [`view`] asks them all and
//! makes a [`facts::HostView`] of the answers, [`view_of`] those that somebody looks at. `rules` never sees a source, so that a verdict depends on
//! nothing but facts.

mod access;
pub mod addresses;
pub mod change;
mod clock;
pub mod counters;
pub mod descendants;
mod folders;
pub mod ipmi;
pub mod ownership;
pub mod pasted;
pub mod perf;
pub mod probe;
pub mod process;
pub mod quota_group;
mod readers;
mod redact;
pub mod server;
mod source;
pub mod state_folder;
pub mod tape;
pub mod trusted_file;
pub mod writers;

pub use access::access;
pub use clock::thread_cpu_ns;
pub use readers::{
    Watch, baseline_in, bmc_device, bmc_firmware, controls, processes, quota_of, serving, view,
    view_of,
};
pub use source::answered::Answered;
pub use source::answers::{Answers, Identity};
pub use source::archive::{Archive, ArchiveError};
pub use source::cached::CachedSource;
pub use source::captured::{CaptureError, Captured};
pub use source::controller::WithController;
pub use source::live::Live;
pub use source::open::{OpenError, open_root};
pub use source::recording::Recording;
pub use source::{Counter, Source};
