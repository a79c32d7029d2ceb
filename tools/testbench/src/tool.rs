//! Runs the programs the bench is built from, and says what they said when they fail.
#![expect(
    clippy::disallowed_methods,
    reason = "the bench is driven by other programs; nothing here reads the audited host"
)]

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

/// What a program printed on its standard output, once it has ended well. `folder` is where it runs.
pub(crate) fn output<A: AsRef<OsStr>>(
    folder: &Path,
    program: &str,
    arguments: impl IntoIterator<Item = A>,
) -> Result<String> {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).env("LC_ALL", "C").stdin(Stdio::null());
    let output = command.output().with_context(|| format!("cannot run {program}"))?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        bail!("{command:?} ended with {}:\n{stdout}{stderr}", output.status);
    }
    Ok(stdout.into_owned())
}
