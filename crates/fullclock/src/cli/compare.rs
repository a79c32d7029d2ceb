//! The options of `fullclock compare`.

use clap::Args;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub(crate) struct CompareArguments {
    /// Results that `fullclock bench` kept: the first is A, the others are compared with it. Each is a file, or an id
    /// that `fullclock history` shows, or as much of its beginning as no other has
    #[arg(value_name = "RESULT", required = true)]
    pub(crate) compared: Vec<PathBuf>,
    /// The folder of the results that ids are of [default: /var/lib/fullclock as root, or ~/.local/state/fullclock]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) results: Option<PathBuf>,
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  fullclock compare before.json after.json       two moments, or two machines
  fullclock compare db1.json db2.json db3.json   each with the first
  fullclock compare ab.json                      what one --vs measured
  fullclock compare 20261120T1543 20261121       of the history, by their ids";
