//! openat2(2), asked again where the kernel answers that it could not tell.
//!
//! With RESOLVE_IN_ROOT and RESOLVE_BENEATH it answers EAGAIN for a path with `..` while anybody on the machine renames or
//! mounts something, because it cannot tell then that `..` leads nowhere else (openat2(2), ERRORS). Links of /sys hold `..`.

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

/// A rename takes microseconds, and so does each attempt.
const ATTEMPTS: usize = 1000;

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
