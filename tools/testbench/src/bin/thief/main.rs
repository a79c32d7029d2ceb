//! Steals a known share of a CPU, to see whether the ledger finds it.
//!
//! Each theft ends with one line of JSON that says what was truly taken, by the thief's own clocks and counters.
//! It shares no code with the program it tests, so that one mistake cannot be in both.
#![forbid(unsafe_code)]
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test tool that works on the machine itself"
)]

use anyhow::Result;
use clap::Parser as _;

mod cli;
mod clock;
mod group;
mod process;
mod spinner;
mod taken;
mod thefts;

fn main() -> Result<()> {
    let arguments = cli::Arguments::parse();
    let orders = process::Orders::listen()?;
    let taken = thefts::commit(&arguments, &orders)?;
    println!("{}", serde_json::to_string(&taken)?);
    Ok(())
}
