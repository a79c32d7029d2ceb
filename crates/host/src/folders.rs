//! Opens paths below a folder, and lists folders.

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{Dir, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use std::collections::HashSet;

/// A rename takes microseconds, as each attempt does.
const ATTEMPTS: usize = 1000;

/// Opens a path below `folder`, as `how` says, with openat2(2), which is repeated after EAGAIN.
///
/// With RESOLVE_IN_ROOT and RESOLVE_BENEATH, the kernel returns EAGAIN for a path with `..` if any file was renamed or mounted
/// during the call, because `..` may then lead out of the folder (openat2(2), ERRORS). Links of /sys contain `..`.
///
/// Errors: as of openat2(2); EAGAIN only after a thousand attempts.
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

/// A folder that is open and was listed, from which files in its folders can be opened.
///
/// Opening each of a thousand folders to read one file costs more than reading the file.
#[derive(Debug)]
pub(crate) struct Listed {
    path: String,
    pub(crate) folder: OwnedFd,
    /// The names of folders in it, not of links to folders.
    folders: HashSet<String>,
}

impl Listed {
    /// The folder at `path`, which is open, and what is in it.
    pub(crate) fn new(path: &str, folder: OwnedFd, found: &[(String, FileType)]) -> Listed {
        let folders = found.iter().filter(|(_, kind)| *kind == FileType::Directory);
        let folders = folders.map(|(name, _)| name.clone()).collect();
        Listed { path: path.trim_end_matches('/').to_owned(), folder, folders }
    }

    /// The path from this folder to what is at `path`, if that is in a folder in this one.
    pub(crate) fn way<'a>(&self, path: &'a str) -> Option<&'a str> {
        let way = path.strip_prefix(self.path.as_str())?.strip_prefix('/')?;
        let (folder, _) = way.rsplit_once('/')?;
        self.folders.contains(folder).then_some(way)
    }
}

/// The names in an open folder, sorted, each with its type as far as the file system knows it. Of a folder with more than
/// `most` names, one more than `most`.
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
