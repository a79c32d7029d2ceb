//! `fullclock serve`, asked by programs and by a browser.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "runs the binary and a browser, and talks to both; helpers of tests"
)]

mod browser;
#[path = "../support/chromium.rs"]
mod chromium;
mod requests;
mod server;
#[path = "../support/mod.rs"]
mod support;
