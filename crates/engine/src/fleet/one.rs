//! One machine: that of a file, or the one that this program runs on.

use super::Gathered;
use super::copies::{gather, of_source};
use anyhow::{Result, bail};
use fleet::{Machine, Words};
use host::WithController;
use std::path::Path;

/// The machine of a capture, an audit, a result, or a copy of a host.
///
/// Errors: there is no such file, or it holds no machine, or several.
pub fn machine(path: &Path) -> Result<Machine> {
    let Gathered { machines, .. } = gather(&[path.to_owned()], &mut |_, _| {})?;
    let path = path.display();
    match &machines[..] {
        [only] => Ok(only.clone()),
        [first, second, ..] => bail!(
            "{path} holds {} machines, {} and {} among them: name one of its files",
            machines.len(),
            first.name,
            second.name
        ),
        [] => bail!("{path} holds no machine"),
    }
}

/// The machine that this program runs on, as a capture of it would tell.
///
/// Errors: nothing of it can be read.
pub fn this_machine() -> Result<Machine> {
    let told = of_source(&WithController::this_machine(), "this machine")?;
    Ok(told.machine(&mut Words::default()))
}
