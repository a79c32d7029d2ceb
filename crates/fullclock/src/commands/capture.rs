//! `fullclock capture`: writes everything that an audit and a plan ask of a host to a file that only its owner can read.
#![expect(clippy::disallowed_methods, reason = "writes the file that the user names")]

use crate::cli::Arguments;
use crate::output;
use anyhow::{Context, Result, bail};
use engine::advised::is_of_kernel;
use engine::results_folder::folder_of;
use host::{Answered, Recording};
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;

pub(super) fn run(arguments: &Arguments, file: Option<&Path>, force: bool) -> Result<ExitCode> {
    // Before the host is asked, which takes seconds on a large one.
    file.map_or(Ok(()), |it| check(it, force))?;
    let text = output::with_progress(&arguments.output, "reading the host ...", || {
        let (source, name) = super::open_with_controller(arguments)?;
        let answered = Answered::new(&*source);
        let recording = Recording::new(&answered);
        host::view(&recording);
        super::refuse_nothing(&answered, &name)?;
        let mut reads = rules::settings::reads().into_iter().collect::<Vec<_>>();
        // Files of configuration are left out: a user wrote them, and no rule knows what is private in them.
        reads.retain(|it| is_of_kernel(it));
        host::controls(&recording, &reads);
        anyhow::Ok(recording.capture())
    })?;
    match file {
        None => output::print_verbatim(&text)?,
        Some(file) => {
            write(file, &text, force)?;
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

/// Refuses a path that [`write`] would refuse, before the work whose result it is to hold.
fn check(path: &Path, force: bool) -> Result<()> {
    let name = path.display();
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let folder = folder_of(path);
            if !folder.is_dir() {
                bail!("cannot write {name}: there is no folder {}", folder.display());
            }
            Ok(())
        }
        Err(error) => Err(error).with_context(|| format!("cannot look at {name}")),
        Ok(found) if !found.is_file() => {
            bail!("{name} is not a regular file; name a file that does not exist")
        }
        Ok(_) if force => Ok(()),
        Ok(_) => bail!("{name} exists; name another file or replace it with --force"),
    }
}

/// Writes `text` to the disk and gives it its name, with mode 0600. A file of that name is replaced with `force` only, and
/// keeps neither its mode nor its links. Where it fails, nothing is left behind.
fn write(path: &Path, text: &str, force: bool) -> Result<()> {
    check(path, force)?;
    let cannot = || format!("cannot write {}", path.display());
    let folder = folder_of(path);
    let mut file = tempfile::NamedTempFile::new_in(folder).with_context(cannot)?;
    file.write_all(text.as_bytes()).with_context(cannot)?;
    file.as_file().sync_all().with_context(cannot)?;
    // The second way asks the kernel to refuse (RENAME_NOREPLACE of renameat2(2)): another may have made the file since.
    let persisted = if force { file.persist(path) } else { file.persist_noclobber(path) };
    persisted.with_context(cannot)?;
    // The file is there, whole. Where its name cannot be put on the disk (some network file systems refuse, and a folder may be
    // written and not read), a crash within seconds could undo it: no reason to say that nothing was written.
    File::open(folder).and_then(|it| it.sync_all()).ok();
    Ok(())
}

pub(super) const EXAMPLES: &str = "\
Examples:
  fullclock capture -o db7.host    on the host, as root for the registers too
  fullclock capture -o db7.host --force   replaces an earlier one
  ssh db7 fullclock capture | fullclock audit --host /dev/stdin";

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_file_that_exists_is_replaced_with_force_only_and_is_private_then() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("db7.host");
        write(&path, "1", false).unwrap();
        assert_eq!(mode(&path), 0o600);
        let refused = write(&path, "2", false).unwrap_err().to_string();
        assert!(refused.ends_with("db7.host exists; name another file or replace it with --force"));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "1");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o666)).unwrap();
        write(&path, "3", true).unwrap();
        assert_eq!((std::fs::read_to_string(&path).unwrap().as_str(), mode(&path)), ("3", 0o600));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_is_no_regular_file_is_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        symlink("/dev/null", &link).unwrap();
        for path in [folder.path(), &link, Path::new("/dev/null")] {
            let refused = write(path, "1", true).unwrap_err().to_string();
            assert!(refused.contains("is not a regular file"), "{refused}");
        }
    }

    #[test]
    fn a_folder_that_does_not_exist_is_an_error_that_names_the_file() {
        let path = Path::new("/nowhere/x");
        for result in [check(path, false), check(path, true), write(path, "1", false)] {
            let error = format!("{:#}", result.unwrap_err());
            assert_eq!(error, "cannot write /nowhere/x: there is no folder /nowhere");
        }
        check(Path::new("x"), false).unwrap();
    }
}
