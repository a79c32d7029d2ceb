//! Whose files are: what root obeys, nobody else may write.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a file is not to be obeyed.
#[derive(Debug, Error)]
#[error("{path}: {why}")]
pub struct Distrusted {
    /// The file, or the folder on the way to it.
    pub path: PathBuf,
    /// Why, and what to do about it.
    pub why: String,
}

/// Whether this process may change a host.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Refuses a file that others than root and the caller can write or replace: it, or a folder on the way to it, belongs to
/// somebody else or is writable by others. A folder where only owners may replace their files (sticky, as /tmp) will do.
pub fn refuse_others_files(path: &Path) -> Result<(), Distrusted> {
    let failed =
        |error: std::io::Error| Distrusted { path: path.to_owned(), why: error.to_string() };
    let real = path.canonicalize().map_err(failed)?;
    for place in real.ancestors() {
        let distrusted = |why: String| Distrusted { path: place.to_owned(), why };
        let meta = place.metadata().map_err(|error| distrusted(error.to_string()))?;
        let own = rustix::process::geteuid().as_raw();
        if meta.uid() != 0 && meta.uid() != own {
            return Err(distrusted(format!(
                "belongs to user {}, who could change it: chown it to root",
                meta.uid()
            )));
        }
        let is_sticky = meta.is_dir() && meta.mode() & 0o1000 != 0;
        if meta.mode() & 0o022 != 0 && !is_sticky {
            let mode = meta.mode() & 0o7777;
            return Err(distrusted(format!("others can write it (mode {mode:o}): chmod go-w it")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "makes the files that are asked about")]

    use super::*;
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn what_others_can_write_is_refused_and_so_is_what_lies_in_such_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("night.toml");
        std::fs::write(&file, "").unwrap();
        let chmod =
            |path: &Path, mode| set_permissions(path, Permissions::from_mode(mode)).unwrap();
        chmod(&file, 0o644);
        assert!(refuse_others_files(&file).is_ok());
        chmod(&file, 0o664);
        let error = refuse_others_files(&file).unwrap_err().to_string();
        assert!(error.ends_with("others can write it (mode 664): chmod go-w it"), "{error}");
        chmod(&file, 0o644);
        chmod(folder.path(), 0o777);
        assert_eq!(refuse_others_files(&file).unwrap_err().path, folder.path());
        chmod(folder.path(), 0o1777);
        assert!(refuse_others_files(&file).is_ok());
    }

    #[test]
    fn a_file_that_is_not_there_is_refused_by_name() {
        let error = refuse_others_files(Path::new("/nowhere/x.toml")).unwrap_err();
        assert!(error.to_string().starts_with("/nowhere/x.toml: No such file"));
    }
}
