//! The options of `fullclock compare`.

use clap::Args;
use std::path::PathBuf;

/// What is compared.
#[derive(Args, Debug)]
pub(crate) struct CompareArguments {
    /// Results that `fullclock bench` kept: the first is A, the others are compared with it
    #[arg(value_name = "RESULT", required = true)]
    pub(crate) results: Vec<PathBuf>,
}

pub(super) const EXAMPLES: &str = "\
Examples:
  fullclock compare before.json after.json       two moments, or two machines
  fullclock compare db1.json db2.json db3.json   each with the first
  fullclock compare ab.json                      the arms of one `fullclock bench --vs`";
