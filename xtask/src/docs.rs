//! `cargo xtask docs`: renews the pages that are made from the program's own lists.

use std::process::ExitCode;

use anyhow::{Context as _, Result, ensure};

use crate::cargo::workspace;

/// Writes `docs/checks.md`.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    ensure!(arguments.is_empty(), "'cargo xtask docs' takes no arguments");
    let page = workspace().join("docs/checks.md");
    std::fs::write(&page, rules::documentation::page())
        .with_context(|| format!("cannot write {}", page.display()))?;
    Ok(ExitCode::SUCCESS)
}
