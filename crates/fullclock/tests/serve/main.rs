//! `fullclock serve`, asked by programs and by a browser.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "runs the binary and a browser, talks to both and prints what it measured; helpers of tests"
)]

mod browser;
#[path = "../support/chromium.rs"]
mod chromium;
mod load;
mod requests;
mod server;
mod sign_in;
#[path = "../support/mod.rs"]
mod support;
