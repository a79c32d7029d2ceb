//! `cargo xtask docs`: renews the pages that are made from the program's own lists.

use std::process::ExitCode;

use anyhow::{Context as _, Result, ensure};

use crate::cargo::workspace;

/// Writes the pages of `docs/`.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    ensure!(arguments.is_empty(), "'cargo xtask docs' takes no arguments");
    for page in rules::documentation::PAGES {
        let path = workspace().join("docs").join(page.file);
        std::fs::write(&path, page.text())
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}
