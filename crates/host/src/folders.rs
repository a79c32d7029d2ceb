//! Folders: opens paths below one, and lists what is in one.

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{Dir, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

/// A rename takes microseconds, and so does each attempt.
const ATTEMPTS: usize = 1000;

/// openat2(2), asked again where the kernel answers that it could not tell.
///
/// With RESOLVE_IN_ROOT and RESOLVE_BENEATH it answers EAGAIN for a path with `..` while anybody on the machine renames or
/// mounts something, because it cannot tell then that `..` leads nowhere else (openat2(2), ERRORS). Links of /sys hold `..`.
///
/// Opens a path below `folder`, as `how` says.
///
/// Errors: as of openat2(2); EAGAIN only where a thousand attempts met one.
pub(crate) fn open_below(
    folder: impl AsFd,
    path: &str,
    flags: OFlags,
    how: ResolveFlags,
) -> Result<OwnedFd, Errno> {
    let open = || rustix::fs::openat2(&folder, path, flags, Mode::empty(), how);
    let mut answers = std::iter::repeat_with(open).take(ATTEMPTS);
    answers.find(|it| !matches!(it, Err(Errno::AGAIN))).unwrap_or(Err(Errno::AGAIN))
}

/// What a folder holds, and the way from there into the folders in it.
///
/// To open each of a thousand folders only to ask for one file costs more than to read the file.
///
/// A folder that was listed.
#[derive(Debug)]
pub(crate) struct Listed {
    path: String,
    pub(crate) folder: OwnedFd,
    /// What is a folder in it, and no link to one; sorted.
    folders: Vec<String>,
}

impl Listed {
    /// The folder at `path`, which is open, and what is in it.
    pub(crate) fn new(path: &str, folder: OwnedFd, found: &[(String, FileType)]) -> Listed {
        let folders = found.iter().filter(|(_, kind)| *kind == FileType::Directory);
        let folders = folders.map(|(name, _)| name.clone()).collect();
        Listed { path: path.trim_end_matches('/').to_owned(), folder, folders }
    }

    /// The way from here to `name` in the folder at `path`, where that is one of the folders in this one.
    pub(crate) fn way(&self, path: &str, name: &str) -> Option<String> {
        let folder = path.strip_prefix(self.path.as_str())?.strip_prefix('/')?;
        self.folders.binary_search_by(|it| it.as_str().cmp(folder)).ok()?;
        Some(format!("{folder}/{name}"))
    }
}

/// The names in an open folder, sorted, each with what it is as far as the file system tells. Of a folder with more than
/// `most` names it has one more than that.
pub(crate) fn entries(folder: &mut Dir, most: usize) -> Result<Vec<(String, FileType)>, Errno> {
    let mut found = Vec::new();
    for entry in folder {
        if found.len() > most {
            break;
        }
        let entry = entry?;
        let name = entry.file_name().to_string_lossy();
        if name != "." && name != ".." {
            found.push((name.into_owned(), entry.file_type()));
        }
    }
    found.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    Ok(found)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests lay out a folder")]
mod tests {
    use super::*;
    use rustix::fs::CWD;
    use std::os::unix::fs::symlink;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn a_link_upwards_is_followed_while_others_rename_files() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("a/b/c")).unwrap();
        std::fs::write(at("a/value"), "1").unwrap();
        symlink("../../../a/b/../value", at("a/b/c/link")).unwrap();
        std::fs::write(at("here"), "").unwrap();
        let root =
            rustix::fs::openat(CWD, folder.path(), OFlags::PATH | OFlags::DIRECTORY, Mode::empty())
                .unwrap();
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    std::fs::rename(at("here"), at("there")).unwrap();
                    std::fs::rename(at("there"), at("here")).unwrap();
                }
            });
            let open = || open_below(&root, "a/b/c/link", OFlags::PATH, ResolveFlags::IN_ROOT);
            let failed: Vec<Errno> = (0..20_000).filter_map(|_| open().err()).collect();
            is_over.store(true, Ordering::Relaxed);
            assert_eq!(failed, []);
        });
    }
}
