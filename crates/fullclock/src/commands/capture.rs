//! `fullclock capture`: writes down everything that an audit and a plan ask of a host.

use crate::advised::is_of_kernel;
use crate::cli::Arguments;
use crate::output;
use anyhow::{Context, Result};
use host::Recording;
use std::path::Path;
use std::process::ExitCode;

pub(super) fn run(arguments: &Arguments, file: Option<&Path>) -> Result<ExitCode> {
    let text = output::with_progress(&arguments.output, "reading the host ...", || {
        let (source, _) = super::open_with_controller(arguments)?;
        let recording = Recording::new(&*source);
        host::view(&recording);
        let mut reads = rules::settings::reads().into_iter().collect::<Vec<_>>();
        // Of files of configuration somebody wrote every word, and no rule knows what is private in them.
        reads.retain(|it| is_of_kernel(it));
        host::controls(&recording, &reads);
        anyhow::Ok(recording.capture())
    })?;
    match file {
        None => output::print(&text)?,
        Some(file) => {
            write(file, &text)?;
            let size = text.len().div_ceil(1024);
            let name = file.display();
            output::note(
                &arguments.output,
                &format!("wrote {name} ({size} KiB): read it before you send it, it is plain text"),
            );
        }
    }
    Ok(ExitCode::SUCCESS)
}

#[expect(clippy::disallowed_methods, reason = "the file that the user asked for")]
fn write(file: &Path, text: &str) -> Result<()> {
    std::fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
}
