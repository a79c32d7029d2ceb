//! The file that Prometheus' node exporter reads, or the terminal.

use crate::output;
use crate::output::OutputArguments;
use anyhow::{Context, Result, bail};
use engine::results_folder::folder_of;
use std::fs::Permissions;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use tempfile::Builder;

/// Where the readings are written for Prometheus.
pub(super) enum Exposed {
    Nowhere,
    Terminal,
    File(PathBuf),
}

impl Exposed {
    /// Errors: two formats are wanted on one output, or the file has no folder.
    pub(super) fn begin(wanted: Option<&Path>, output: &OutputArguments) -> Result<Exposed> {
        match wanted {
            None => Ok(Exposed::Nowhere),
            Some(path) if path == Path::new("-") && output.json => {
                bail!(
                    "--metrics - and --json are two formats on one output: leave one out, or name a file"
                )
            }
            Some(path) if path == Path::new("-") => Ok(Exposed::Terminal),
            Some(path) if path.is_dir() => bail!(
                "{} is a folder: name a file in it, such as {}",
                path.display(),
                path.join("bmc.prom").display()
            ),
            Some(path) if !folder_of(path).is_dir() => {
                bail!(
                    "{}: there is no such folder to write --metrics to",
                    folder_of(path).display()
                )
            }
            Some(path) => Ok(Exposed::File(path.to_owned())),
        }
    }

    /// Whether it takes standard output.
    pub(super) fn is_terminal(&self) -> bool {
        matches!(self, Exposed::Terminal)
    }

    /// Writes a round's. Whoever reads a file meets either all of it or all of the one before.
    pub(super) fn write(&self, text: &str) -> Result<()> {
        match self {
            Exposed::Nowhere => Ok(()),
            Exposed::Terminal => output::print(text),
            Exposed::File(path) => {
                replace(path, text).with_context(|| format!("cannot write {}", path.display()))
            }
        }
    }
}

fn replace(path: &Path, text: &str) -> Result<()> {
    // The collector takes what ends in .prom, which this does not, and runs as another user.
    let mut file =
        Builder::new().prefix(".fullclock-").suffix(".new").tempfile_in(folder_of(path))?;
    file.write_all(text.as_bytes())?;
    file.as_file().set_permissions(Permissions::from_mode(0o644))?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "a test looks at its own files")]

    use super::*;
    use crate::commands::Invocation;
    use clap::Parser as _;

    fn begun(words: &[&str], path: &Path) -> Result<Exposed> {
        let words = [&["fullclock"], words, &["ipmi", "sensors"]].concat();
        let invocation = Invocation::try_parse_from(words).unwrap();
        Exposed::begin(Some(path), &invocation.arguments.output)
    }

    fn why(words: &[&str], path: &Path) -> String {
        begun(words, path).err().map_or_else(|| "none".to_owned(), |it| it.to_string())
    }

    #[test]
    fn a_file_is_replaced_as_a_whole_and_others_may_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bmc.prom");
        let exposed = begun(&[], &path).unwrap();
        for text in ["a 1\n", "a 2\n"] {
            exposed.write(text).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o644);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_cannot_be_written_is_said_before_anything_is_asked() {
        let folder = tempfile::tempdir().unwrap();
        assert!(why(&[], folder.path()).contains("name a file in it, such as"));
        assert!(why(&[], &folder.path().join("a/b")).contains("there is no such folder"));
        assert!(why(&["--json"], Path::new("-")).contains("two formats on one output"));
        assert_eq!(why(&[], Path::new("-")), "none");
        assert_eq!(why(&["--json"], &folder.path().join("b")), "none");
    }
}
