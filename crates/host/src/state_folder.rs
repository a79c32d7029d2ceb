//! Folders that this program keeps its own files in: journal, results, tokens, sensor records.

use crate::trusted_file::named;
use rustix::fd::OwnedFd;
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

/// What is in them says what a machine is, what it runs and who may ask it: they are for their owner alone.
const MODE: u32 = 0o700;

/// Creates the folder, and those on the way to it that are absent, for their owner alone. One that exists is left as it is.
pub fn create(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(MODE).create(path)
}

/// What is in the place of a file.
#[derive(Debug)]
pub enum Place {
    /// A regular file, to be read.
    File(File),
    /// Nothing.
    Nothing,
    /// What is no file, in words: `a pipe`. It was not opened, which would wait for a pipe's writer and start a watchdog.
    Other(&'static str),
}

/// What is in the place of a file that this program keeps.
///
/// Errors: those of the operating system.
pub fn open(path: &Path) -> io::Result<Place> {
    let kind =
        |file: &OwnedFd| rustix::fs::fstat(file).map(|it| FileType::from_raw_mode(it.st_mode));
    let found = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty());
    let found = match found {
        Err(Errno::NOENT) => return Ok(Place::Nothing),
        found => kind(&found?)?,
    };
    if found != FileType::RegularFile {
        return Ok(Place::Other(named(found)));
    }
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty())?;
    // Another one may have taken its name since it was looked at.
    Ok(match kind(&file)? {
        FileType::RegularFile => Place::File(File::from(file)),
        other => Place::Other(named(other)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::CWD;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn a_folder_and_those_above_it_are_created_for_their_owner_alone() {
        let outer = tempfile::tempdir().unwrap();
        let path = outer.path().join("state/results");
        create(&path).unwrap();
        for created in [&path, path.parent().unwrap()] {
            assert_eq!(created.metadata().unwrap().mode() & 0o7777, 0o700);
        }
        create(&path).unwrap();
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "writes to a folder of the test")]
    fn what_is_no_file_is_named_and_not_opened() {
        let outer = tempfile::tempdir().unwrap();
        let at = |name: &str| outer.path().join(name);
        let name = |path: &Path| match open(path).unwrap() {
            Place::File(_) => "a file",
            Place::Nothing => "nothing",
            Place::Other(kind) => kind,
        };
        let mode = Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(CWD, at("pipe"), FileType::Fifo, mode, 0).unwrap();
        std::fs::write(at("file"), "x").unwrap();
        std::os::unix::fs::symlink(at("file"), at("link")).unwrap();
        for (path, expected) in [
            (at("pipe"), "a pipe"),
            (at("file"), "a file"),
            (at("link"), "a file"),
            (at("absent"), "nothing"),
            (outer.path().to_owned(), "a folder"),
            (std::path::PathBuf::from("/dev/zero"), "a device"),
        ] {
            assert_eq!(name(&path), expected, "{}", path.display());
        }
        assert!(open(&at("file/x")).is_err());
    }
}
