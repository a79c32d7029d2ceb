//! The files of /proc and /sys that hold settings, opened so that nothing leads out of them.
//!
//! openat2(2) with RESOLVE_BENEATH from the root of the file system, Linux 5.6; before it, every component by itself and no
//! link at all. What is mounted over a file of theirs (LXCFS) is neither, and is not written.

use super::Machine;
use crate::change::Trouble;
use crate::folders::open_below;
use rustix::fd::OwnedFd;
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use std::iter;

/// The file system that has to be mounted where a setting is written, by the begin of its path: PROC_SUPER_MAGIC,
/// CGROUP2_SUPER_MAGIC and SYSFS_MAGIC (include/uapi/linux/magic.h). The first that fits counts.
const MAGIC: [(&str, u64); 3] =
    [("/proc/", 0x9fa0), ("/sys/fs/cgroup/", 0x6367_7270), ("/sys/", 0x6265_6572)];

/// No setting is longer.
const LONGEST: usize = 1 << 16;

/// What a file holds, without white space around it.
pub(super) fn read(machine: &Machine, path: &str) -> Result<String, Trouble> {
    let refused = |error| Trouble::of_errno(path, "read", error);
    let file = open(machine, path, OFlags::RDONLY).map_err(refused)?;
    let mut text = Vec::new();
    loop {
        text.reserve(4096);
        match rustix::io::read(&file, rustix::buffer::spare_capacity(&mut text)) {
            Ok(0) => break,
            Ok(_) if text.len() > LONGEST => {
                return Err(Trouble::new(path, "is too long for a setting"));
            }
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(refused(error)),
        }
    }
    let text = String::from_utf8(text).map_err(|_| Trouble::new(path, "holds no text"))?;
    Ok(text.trim().to_owned())
}

/// Writes a value by one write(2), as the kernel takes settings.
pub(super) fn write(machine: &Machine, path: &str, value: &str) -> Result<(), Trouble> {
    let refused = |error| Trouble::of_errno(path, "written", error);
    let file = open(machine, path, OFlags::WRONLY).map_err(refused)?;
    let expected = MAGIC.iter().find(|(folder, _)| path.starts_with(folder)).map(|it| it.1);
    if !machine.is_copy && Some(magic(&file).map_err(refused)?) != expected {
        return Err(Trouble::new(path, "something else is mounted there: run it on the host"));
    }
    let mut line = format!("{value}\n");
    let length = line.len();
    if machine.is_copy {
        // A plain file keeps what is behind: a process that is killed before it cuts the file leaves empty lines there.
        let before = rustix::fs::fstat(&file).map_err(refused)?.st_size;
        line.extend(iter::repeat_n(
            '\n',
            usize::try_from(before).unwrap_or(0).saturating_sub(length),
        ));
    }
    match rustix::io::write(&file, line.as_bytes()).map_err(refused)? {
        n if n != line.len() => {
            Err(Trouble::new(path, format!("took {n} of {} bytes of {value:?}", line.len())))
        }
        _ if machine.is_copy => rustix::fs::ftruncate(&file, length as u64).map_err(refused),
        _ => Ok(()),
    }
}

fn magic(file: &OwnedFd) -> Result<u64, Errno> {
    rustix::fs::fstatfs(file)?.f_type.try_into().map_err(|_| Errno::INVAL)
}

fn open(machine: &Machine, path: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
    let (mount, rest) = path.trim_start_matches('/').split_once('/').ok_or(Errno::INVAL)?;
    let below = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mount = rustix::fs::openat(CWD, machine.at(mount), below, Mode::empty())?;
    let flags = flags | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    match open_below(&mount, rest, flags, resolve) {
        // A filter for system calls that does not know this one may answer EPERM.
        Err(Errno::NOSYS | Errno::PERM) => open_unfollowed(mount, rest, flags),
        answer => answer,
    }
}

fn open_unfollowed(mount: OwnedFd, rest: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
    let below = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let (folders, name) = rest.rsplit_once('/').unwrap_or(("", rest));
    let mut folder = mount;
    for part in folders.split('/').filter(|it| !it.is_empty()).chain([name]) {
        if part == ".." {
            return Err(Errno::XDEV);
        }
        let is_file = std::ptr::eq(part, name);
        let flags = if is_file { flags | OFlags::NOFOLLOW } else { below };
        folder = rustix::fs::openat(&folder, part, flags, Mode::empty())?;
    }
    Ok(folder)
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "tests lay out a folder that stands in for a machine"
)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn machine() -> (tempfile::TempDir, Machine) {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("sys/a/b")).unwrap();
        std::fs::create_dir_all(root.path().join("etc")).unwrap();
        std::fs::write(root.path().join("sys/a/b/c"), "a long value\n").unwrap();
        std::fs::write(root.path().join("etc/passwd"), "root\n").unwrap();
        let machine = Machine::below(root.path(), "/bin/false");
        (root, machine)
    }

    #[test]
    fn what_is_written_replaces_what_was_there() {
        let (_root, machine) = machine();
        write(&machine, "/sys/a/b/c", "short").unwrap();
        assert_eq!(read(&machine, "/sys/a/b/c").as_deref(), Ok("short"));
    }

    #[test]
    fn nothing_is_created() {
        let (root, machine) = machine();
        let why = write(&machine, "/sys/a/b/d", "1").unwrap_err().to_string();
        assert!(
            why.starts_with("/sys/a/b/d: cannot be written") && why.contains("not there"),
            "{why}"
        );
        assert!(!root.path().join("sys/a/b/d").exists());
    }

    #[test]
    fn links_lead_within_and_never_out() {
        let (root, machine) = machine();
        symlink("b", root.path().join("sys/a/inner")).unwrap();
        symlink("../../etc/passwd", root.path().join("sys/a/outer")).unwrap();
        symlink("/etc", root.path().join("sys/a/absolute")).unwrap();
        assert_eq!(read(&machine, "/sys/a/inner/c").as_deref(), Ok("a long value"));
        for path in ["/sys/a/outer", "/sys/a/absolute/passwd", "/sys/../etc/passwd"] {
            assert!(write(&machine, path, "x").is_err(), "{path}");
            let mount = rustix::fs::open(root.path().join("sys"), OFlags::PATH, Mode::empty());
            let rest = path.trim_start_matches("/sys/");
            assert!(open_unfollowed(mount.unwrap(), rest, OFlags::WRONLY).is_err(), "{path}");
        }
        let passwd = std::fs::read_to_string(root.path().join("etc/passwd")).unwrap();
        assert_eq!(passwd, "root\n");
    }
}
