//! What is read again and again: counters and perf events of the machine at hand, and of copies of a host.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "lays out a copy of a host, and says what was skipped; helpers of tests"
)]

mod counters;
mod exits;
mod perf;
mod users;
