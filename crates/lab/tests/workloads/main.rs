//! Workloads and trials on the machine at hand, with real servers and full disks; a published study against the
//! model of the kernel's driver; and rules about the tree.
//!
//! Tests run side by side. Those in a module called `alone` compare times or rates and need the CPUs for themselves:
//! `--skip alone::` leaves them out, and `alone::` runs only them.
#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "starts servers, mounts a file system, reads the source tree, and says what was skipped; helpers of tests"
)]

mod blocks;
mod commit_quota;
mod databases;
mod full_disk;
mod kipmid;
mod natives;
mod tidy;
