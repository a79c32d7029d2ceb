//! A file that the user names for a result: there as a whole or not at all, and never over another by accident.
#![expect(clippy::disallowed_methods, reason = "writes the file that the user names")]

use anyhow::{Context, Result, anyhow, bail};
use engine::results_folder::folder_of;
use std::fs::{File, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Who may read the file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Readers {
    /// Its owner: it holds what a host answered.
    Owner,
    /// Whoever may read what this user writes (umask).
    Usual,
    /// Everybody (0644), whatever the umask: it is for a program of another user.
    Everybody,
}

/// Refuses a path that [`write`] would refuse, before the work whose result it is to hold.
pub(crate) fn check(path: &Path, force: bool) -> Result<()> {
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

/// Writes `text` to the disk and gives it its name. A file of that name is replaced with `force` only, and keeps neither its
/// mode nor its links. Where it fails, nothing is left behind.
pub(crate) fn write(path: &Path, text: &str, readers: Readers, force: bool) -> Result<()> {
    check(path, force)?;
    let cannot = || format!("cannot write {}", path.display());
    let folder = folder_of(path);
    let mode = match readers {
        Readers::Owner => 0o600,
        Readers::Usual => 0o666,
        Readers::Everybody => 0o644,
    };
    let mut builder = tempfile::Builder::new();
    let builder = builder.permissions(Permissions::from_mode(mode));
    let file = builder.tempfile_in(folder).map_err(|it| without_name(&it)).with_context(cannot)?;
    // The error of the named file would name a temporary file, which the user did not choose.
    if matches!(readers, Readers::Everybody) {
        file.as_file().set_permissions(Permissions::from_mode(mode)).with_context(cannot)?;
    }
    file.as_file().write_all(text.as_bytes()).with_context(cannot)?;
    file.as_file().sync_all().with_context(cannot)?;
    // The second way asks the kernel to refuse (RENAME_NOREPLACE of renameat2(2)): another may have made the file since.
    let persisted = if force { file.persist(path) } else { file.persist_noclobber(path) };
    persisted.map_err(|it| it.error).with_context(cannot)?;
    // The file is there, whole. Where its name cannot be put on the disk (some network file systems refuse, and a folder may be
    // written and not read), a crash within seconds could undo it: no reason to say that nothing was written.
    File::open(folder).and_then(|it| it.sync_all()).ok();
    Ok(())
}

/// What was wrong, without the name of a temporary file, which tempfile adds.
fn without_name(error: &std::io::Error) -> anyhow::Error {
    let text = error.to_string();
    let end = text.find(" at path \"").unwrap_or(text.len());
    anyhow!("{}", text.get(..end).unwrap_or(&text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_file_that_exists_is_replaced_with_force_only_and_is_private_then() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("db7.host");
        write(&path, "1", Readers::Owner, false).unwrap();
        assert_eq!(mode(&path), 0o600);
        let refused = write(&path, "2", Readers::Owner, false).unwrap_err().to_string();
        assert!(refused.ends_with("db7.host exists; name another file or replace it with --force"));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "1");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o666)).unwrap();
        write(&path, "3", Readers::Owner, true).unwrap();
        assert_eq!((std::fs::read_to_string(&path).unwrap().as_str(), mode(&path)), ("3", 0o600));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_for_everybody_is_readable_whatever_the_umask() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fullclock.prom");
        write(&path, "1", Readers::Owner, false).unwrap();
        write(&path, "2", Readers::Everybody, true).unwrap();
        assert_eq!((std::fs::read_to_string(&path).unwrap().as_str(), mode(&path)), ("2", 0o644));
    }

    #[test]
    fn what_is_no_regular_file_is_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        symlink("/dev/null", &link).unwrap();
        for path in [folder.path(), &link, Path::new("/dev/null")] {
            let refused = write(path, "1", Readers::Usual, true).unwrap_err().to_string();
            assert!(refused.contains("is not a regular file"), "{refused}");
        }
    }

    #[test]
    fn a_folder_that_does_not_exist_is_an_error_that_names_the_file() {
        let path = Path::new("/nowhere/x");
        let written = write(path, "1", Readers::Usual, false);
        for result in [check(path, false), check(path, true), written] {
            let error = format!("{:#}", result.unwrap_err());
            assert_eq!(error, "cannot write /nowhere/x: there is no folder /nowhere");
        }
        check(Path::new("x"), false).unwrap();
    }
}
