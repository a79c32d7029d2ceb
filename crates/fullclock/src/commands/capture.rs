//! `fullclock capture`: writes everything that an audit and a plan ask of a host to a file that only its owner can read.

use crate::cli::Arguments;
use crate::config;
use crate::new_file::{self, Readers};
use crate::output;
use crate::result::refuse_other_ending;
use anyhow::Result;
use engine::advised::is_of_kernel;
use engine::copies::refuse_nothing;
use host::{Answered, Recording};
use std::path::Path;
use std::process::ExitCode;

pub(super) fn run(arguments: &Arguments, file: Option<&Path>, force: bool) -> Result<ExitCode> {
    // Before the host is asked, which takes seconds on a large one.
    if let Some(file) = file {
        new_file::check(file, force)?;
        refuse_other_ending(file, "a capture", &["host", "txt"])?;
    }
    let config = config::of_host(arguments)?;
    let text = output::with_progress(&arguments.output, "reading the host ...", || {
        let (source, name) = super::open_with_controller(arguments, &config)?;
        let answered = Answered::new(&*source);
        let recording = Recording::new(&answered);
        host::view(&recording);
        refuse_nothing(&answered, &name)?;
        let mut reads = rules::settings::reads().into_iter().collect::<Vec<_>>();
        // Files of configuration are left out: a user wrote them, and no rule knows what is private in them.
        reads.retain(|it| is_of_kernel(it));
        host::controls(&recording, &reads);
        anyhow::Ok(recording.capture())
    })?;
    match file {
        None => output::print_verbatim(&text)?,
        Some(file) => {
            new_file::write(file, &text, Readers::Owner, force)?;
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

pub(super) const EXAMPLES: &str = "\
Examples:
  fullclock capture -o db7.host    on the host, as root for the registers too
  fullclock capture -o db7.host --force   replaces an earlier one
  ssh db7 fullclock capture | fullclock audit --host /dev/stdin";
