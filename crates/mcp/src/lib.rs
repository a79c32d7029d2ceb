//! Answers questions about this machine over the Model Context Protocol, on standard input and output.
//!
//! ```text
//!   a line of JSON on standard input                               rmcp
//!         |   the name of a tool, and its arguments
//!         v
//!   TOOLS: a list, each with the schema of its arguments           tools
//!         |   on a thread of its own: engine, then report
//!         v
//!   a text of bounded length, harmless and without passwords       answer
//!         |
//!         v
//!   a line of JSON on standard output                              server
//! ```
//!
//! No tool writes: neither to the host nor a result, not even an index. Nothing here prints but the protocol. Asynchronous code is in
//! `server` only: it waits for the client, threads do the work.
//!
//! Source: the specification of the protocol, <https://modelcontextprotocol.io/specification/2025-11-25>.
#![forbid(unsafe_code)]

mod answer;
mod server;
mod tools;

use anyhow::Result;
use engine::interrupt::Interrupt;
use rules::config::Config;
use std::path::PathBuf;

/// What the tools read besides the host.
pub struct Options {
    /// The folder of results.
    pub results: PathBuf,
    /// What the site has decided about findings, and its thresholds; for this machine.
    pub config: Config,
}

/// Answers until the client closes standard input or the user interrupts.
///
/// Errors: it cannot start, or the client does not begin as the protocol says.
pub fn serve(options: Options, interrupt: Interrupt) -> Result<()> {
    server::run(options, interrupt)
}
