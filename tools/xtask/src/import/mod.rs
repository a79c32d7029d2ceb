//! `cargo xtask import FILE -o OUT.host`: makes a capture of data that other projects collected.
//!
//! Such data holds what its collector asked, not what an audit asks, so the capture says where it was
//! imported from, and what is missing counts as not collected unless that collector takes it. It is redacted like any other.

mod dmidecode;
mod members;
mod pepc;
mod stats_collect;

use anyhow::{Context as _, Result, bail};
use host::{Answers, Identity};
use members::Members;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A format of other people's data.
struct Format {
    name: &'static str,
    /// What only its archives hold: part of a member's path.
    mark: &'static str,
    import: fn(&Members) -> Result<(Answers, Identity)>,
}

/// Every format, the most telling mark first.
const FORMATS: &[Format] = &[
    Format { name: "pepc", mark: "/sys/inlinefiles.txt", import: pepc::import },
    Format { name: "stats-collect", mark: "/stats/sysinfo/", import: stats_collect::import },
    Format { name: "stats-collect", mark: "/interrupts.raw.txt", import: stats_collect::import },
];

/// Runs the command with the arguments behind its name.
pub fn run(arguments: &[String]) -> Result<ExitCode> {
    let [input, option, output] = arguments else { bail!("usage: {USAGE}") };
    if option != "-o" {
        bail!("usage: {USAGE}");
    }
    let text = capture_of(Path::new(input))?;
    write(&PathBuf::from(output), &text)?;
    Ok(ExitCode::SUCCESS)
}

const USAGE: &str = "cargo xtask import FILE -o OUT.host";

/// The capture that an archive of one of the formats becomes.
pub fn capture_of(archive: &Path) -> Result<String> {
    let members = Members::read(archive)?;
    let Some(format) = FORMATS.iter().find(|it| members.names().any(|name| name.contains(it.mark)))
    else {
        let known: Vec<&str> = FORMATS.iter().map(|it| it.name).collect();
        bail!("{} is none of the formats {}", archive.display(), known.join(", "));
    };
    let (answers, identity) = (format.import)(&members)
        .with_context(|| format!("{} as {}", archive.display(), format.name))?;
    Ok(answers.imported_from(format.name, &identity))
}

#[expect(clippy::disallowed_methods, reason = "the file that the user requested")]
fn write(file: &Path, text: &str) -> Result<()> {
    std::fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
}
