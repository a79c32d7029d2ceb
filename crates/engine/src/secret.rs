//! Secrets: the tokens of agents and servers, and passwords in a command, which no result, report or journal may keep.

use crate::results_folder::results_folder;
use anyhow::{Context, Result, bail};
use facts::secrets;
use host::trusted_file::{self, Access};
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// The length of a token: enough that it cannot be guessed.
const BYTES: usize = 32;

/// The file of a token: the one chosen, else the one of this name in the folder of results.
pub fn path(chosen: Option<&Path>, name: &str) -> Result<PathBuf> {
    chosen.map_or_else(|| Ok(results_folder(None)?.join(name)), |it| Ok(it.to_owned()))
}

/// The largest file of a token.
const LARGEST: u64 = 4096;

/// The token in that file.
///
/// Errors: there is none; users other than root and the caller can write it.
pub fn read(path: &Path) -> Result<String> {
    let file = trusted_file::open(path, Access::Read)?;
    let file = file.with_context(|| {
        format!("cannot read the token in {}: there is no such file", path.display())
    })?;
    token_of(file, path)
}

/// The token in that file, which others can neither have written nor read; makes one where there is none.
pub fn read_or_make(path: &Path) -> Result<String> {
    let named = || format!("cannot keep a token in {}", path.display());
    if let Some(file) = trusted_file::open(path, Access::Read)? {
        return private(file, path);
    }
    if let Some(folder) = path.parent().filter(|it| !it.as_os_str().is_empty()) {
        host::state_folder::create(folder).with_context(named)?;
    }
    make(path).with_context(named)?;
    // What was made may be another process's by now, and so may the folder that was absent.
    let file = trusted_file::open(path, Access::Read)?.with_context(named)?;
    private(file, path)
}

/// The token in an opened file that only its owner can read.
fn private(file: File, path: &Path) -> Result<String> {
    let mode = file.metadata()?.mode() & 0o777;
    if mode & 0o077 != 0 {
        let path = path.display();
        bail!("others can read the token in {path} (mode {mode:o}): chmod 600 it");
    }
    token_of(file, path)
}

fn token_of(file: File, path: &Path) -> Result<String> {
    let mut text = String::new();
    let read = file.take(LARGEST).read_to_string(&mut text);
    read.with_context(|| format!("cannot read the token in {}", path.display()))?;
    match text.trim() {
        "" => bail!(
            "{} is empty; remove it, and the program that needs the token makes another",
            path.display()
        ),
        token => Ok(token.to_owned()),
    }
}

/// A new token in a file that appears with all of it, or not at all. One that exists stays.
fn make(path: &Path) -> Result<()> {
    let token = random()?;
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
    // Its mode is 0600 from the beginning.
    let mut file = NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
    writeln!(file, "{token}")?;
    file.as_file().sync_all()?;
    match file.persist_noclobber(path) {
        Err(error) if error.error.kind() != ErrorKind::AlreadyExists => Err(error.into()),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// A token that cannot be guessed.
pub fn random() -> Result<String> {
    let mut bytes = [0_u8; BYTES];
    let n = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    if n < BYTES {
        bail!("the kernel gave {n} of {BYTES} random bytes");
    }
    Ok(bytes.iter().map(|it| format!("{it:02x}")).collect())
}

/// Whether both are the same, in a time that does not tell how much of them is.
pub fn are_same(one: &str, other: &str) -> bool {
    let differing = one.bytes().zip(other.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
    one.len() == other.len() && differing == 0
}

/// Refuses the words of a command, given as this option, where they hold a secret. The error shows them without it, and says
/// where to give it instead.
pub fn refuse_secrets(option: &str, words: &[String]) -> Result<()> {
    if !secrets::are_in(words) {
        return Ok(());
    }
    let shown = secrets::masked_words(words).join(" ");
    bail!(
        "{option} {shown}: it holds a password or token (***), which results, reports and the journal of changes would show; \
         leave it out, and give it in ~/.pgpass or the file that PGPASSFILE names, in an option file of MySQL or MariaDB \
         (~/.my.cnf, --defaults-extra-file), in an environment variable set before fullclock is started, or in a script that \
         only you can read"
    )
}

/// Refuses a command line in one text, as [`refuse_secrets`] does.
pub fn refuse_secrets_in(option: &str, text: &str) -> Result<()> {
    // A text with an open quote is no command: what runs it says so.
    let words = shlex::split(text).unwrap_or_else(|| vec![text.to_owned()]);
    refuse_secrets(option, &words)
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
    fn a_folder_that_a_token_needs_is_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        read_or_make(&state.join("serve.token")).unwrap();
        assert_eq!(state.metadata().unwrap().mode() & 0o777, 0o700);
    }

    #[test]
    fn no_token_is_made_in_a_folder_that_others_can_write() {
        let folder = tempfile::tempdir().unwrap();
        set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
        let error = read_or_make(&folder.path().join("agent.token")).unwrap_err();
        assert!(error.to_string().contains("others can write it"), "{error}");
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    }

    #[test]
    fn tokens_are_the_same_or_not() {
        assert!(are_same("abc", "abc") && are_same("", ""));
        assert!(!are_same("abc", "abd") && !are_same("abc", "ab") && !are_same("", "a"));
    }

    fn refusal(text: &str) -> String {
        refuse_secrets_in("--prove", text)
            .map_or_else(|error| error.to_string(), |()| String::new())
    }

    #[test]
    fn a_password_is_refused_wherever_it_stands_and_not_repeated() {
        for text in [
            "plsql-loop --dsn postgres://me:secret@db1/x",
            "plsql-loop --dsn=postgres://me:secret@db1/x",
            "plsql-loop --dsn 'host=db1 password=secret'",
            "plsql-loop --dsn mysql://me:secret@db1",
            "plsql-loop --dsn 'postgresql:///db?p%61ssword=secret'",
            "pgbench postgres://me:secret@db1/x",
            "command -- sh -c 'PGPASSWORD=secret pgbench'",
            "mysqlslap -uroot -psecret",
            "sysbench --mysql-password secret run",
            "pgbench 'postgres://me:secret@db1/x",
        ] {
            let error = refusal(text);
            assert!(
                error.starts_with("--prove ") && error.contains("PGPASSFILE"),
                "{text}: {error}"
            );
            assert!(!error.contains("secret"), "{error}");
        }
        assert_eq!(refusal("plsql-loop --dsn postgres://me@db1:5432/x --rows 3"), "");
        assert_eq!(refusal("./query --a=b"), "");
    }
}
