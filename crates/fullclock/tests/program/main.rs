//! The built program, as its users meet it: one module for each command or promise.
//!
//! Tests run side by side. Those in a module called `alone` compare times or rates and need the CPUs for themselves, or look at what others take away:
//! `--skip alone::` leaves them out, and `alone::` runs only them.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "runs the program and others, looks at files, and says what was skipped; helpers of tests"
)]

mod advisories;
mod baseline;
mod bench;
mod bmc;
mod bundles;
mod certificate;
mod change;
mod command_line;
mod compare;
mod config;
mod cut_short;
mod database;
mod doctor;
mod endings;
mod experiment;
mod firmware;
mod fleet;
mod guard;
mod history;
mod killed;
mod ledger;
mod limits;
mod look;
mod mcp;
mod metrics;
mod monitoring;
mod net;
mod noise;
mod proof;
mod race;
mod secrets;
mod serve;
mod server;
mod support;
mod terminal;
mod watch;
mod wire;
