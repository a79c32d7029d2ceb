//! What only who may come in knows: an agent's token, and a server's.

use crate::results_folder::results_folder;
use anyhow::{Context, Result, bail};
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// As many as nobody can guess.
const BYTES: usize = 32;

/// The file of a token: the one chosen, else the one of this name beside the results.
pub(crate) fn path(chosen: Option<&Path>, name: &str) -> Result<PathBuf> {
    chosen.map_or_else(|| Ok(results_folder(None)?.join(name)), |it| Ok(it.to_owned()))
}

/// The token in that file.
#[expect(clippy::disallowed_methods, reason = "a file that the user named is no fact of a host")]
pub(crate) fn read(path: &Path) -> Result<String> {
    let mut text = String::new();
    let read = File::open(path).and_then(|it| it.take(4096).read_to_string(&mut text));
    read.with_context(|| format!("cannot read the token in {}", path.display()))?;
    match text.trim() {
        "" => bail!(
            "{} is empty; remove it, and whoever needs the token makes another",
            path.display()
        ),
        token => Ok(token.to_owned()),
    }
}

/// The token in that file, which others can neither have written nor read; makes one where there is none.
#[expect(clippy::disallowed_methods, reason = "keeps its own secret where the user wants it")]
pub(crate) fn read_or_make(path: &Path) -> Result<String> {
    let named = || format!("cannot keep a token in {}", path.display());
    if let Some(folder) = path.parent().filter(|it| !it.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).with_context(named)?;
    }
    if !path.exists() {
        return make(path).with_context(named);
    }
    host::ownership::refuse_others_files(path)?;
    let mode = path.metadata().with_context(named)?.mode() & 0o777;
    if mode & 0o077 != 0 {
        let path = path.display();
        bail!("others can read the token in {path} (mode {mode:o}): chmod 600 it");
    }
    read(path)
}

/// A new token in a file that is there at once with all of it, or not at all.
fn make(path: &Path) -> Result<String> {
    let token = random()?;
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
    // Its mode is 0600 from the beginning.
    let mut file = NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
    writeln!(file, "{token}")?;
    file.as_file().sync_all()?;
    match file.persist_noclobber(path) {
        Ok(_) => Ok(token),
        // Somebody else was quicker.
        Err(error) if error.error.kind() == ErrorKind::AlreadyExists => read(path),
        Err(error) => Err(error.into()),
    }
}

/// What nobody can guess.
pub(crate) fn random() -> Result<String> {
    let mut bytes = [0_u8; BYTES];
    let n = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    if n < BYTES {
        bail!("the kernel gave {n} of {BYTES} random bytes");
    }
    Ok(bytes.iter().map(|it| format!("{it:02x}")).collect())
}

/// Whether both are the same, in a time that does not tell how much of them is.
pub(crate) fn are_same(one: &str, other: &str) -> bool {
    let differing = one.bytes().zip(other.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
    one.len() == other.len() && differing == 0
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "spoils the files that are asked about")]

    use super::*;
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_token_is_made_once_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state/agent.token");
        let token = read_or_make(&path).unwrap();
        assert_eq!((token.len(), read_or_make(&path).unwrap()), (2 * BYTES, token.clone()));
        assert_eq!(read(&path).unwrap(), token);
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_ne!(random().unwrap(), random().unwrap());
    }

    #[test]
    fn a_token_that_others_could_have_written_is_refused_and_so_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent.token");
        read_or_make(&path).unwrap();
        set_permissions(&path, Permissions::from_mode(0o666)).unwrap();
        assert!(read_or_make(&path).unwrap_err().to_string().contains("others can write it"));
        set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        assert!(read_or_make(&path).unwrap_err().to_string().contains("others can read"));
        set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        std::fs::write(&path, "\n").unwrap();
        assert!(read_or_make(&path).unwrap_err().to_string().contains("is empty"));
    }

    #[test]
    fn tokens_are_the_same_or_not() {
        assert!(are_same("abc", "abc") && are_same("", ""));
        assert!(!are_same("abc", "abd") && !are_same("abc", "ab") && !are_same("", "a"));
    }
}
