//! The project's chores: `cargo xtask COMMAND`.
#![forbid(unsafe_code)]

use anyhow::{Result, bail};
use std::process::ExitCode;
use xtask::{import, tree};

#[expect(clippy::disallowed_methods, reason = "the binary is where arguments are read")]
fn main() -> Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.split_first() {
        Some((name, rest)) if name == "import" => import::run(rest),
        Some((name, rest)) if name == "tree" => tree::run(rest),
        _ => bail!("usage: cargo xtask import FILE -o OUT.host | tree --cpus N DIR"),
    }
}
