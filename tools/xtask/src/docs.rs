//! `cargo xtask docs`: renews the pages that are made from the program's own lists.

use std::process::ExitCode;

use anyhow::{Context as _, Result, ensure};

use crate::cargo::workspace;

/// Writes the pages of `docs/`.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    ensure!(arguments.is_empty(), "'cargo xtask docs' takes no arguments");
    for page in rules::documentation::PAGES {
        write(page.file, &page.text(rules::documentation::entries()))?;
    }
    let page = lab::workloads::PAGE;
    write(page.file, &page.text(lab::workloads::entries()))?;
    Ok(ExitCode::SUCCESS)
}

fn write(file: &str, text: &str) -> Result<()> {
    let path = workspace().join("docs").join(file);
    std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
}
