//! Reads a file to its end, and no further than a file of its kind can be long.

use super::missing;
use facts::{Fact, Missing, limits};
use rustix::fd::BorrowedFd;
use rustix::io::Errno;
use std::mem::MaybeUninit;

/// What fits in one read: most files of sysfs and procfs.
const PAGE: usize = 4096;

/// How it shows that a file was read to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// By a length that is this one, or by a read that gives nothing. A file that is not on a disk has a size of 0 (procfs) or of a page
    /// (sysfs).
    Size(usize),
    /// By a read that gives less than a page, too.
    ShortRead,
}

impl End {
    /// Of a file of the running kernel. What it makes in one piece is given in one read, if that has room for it: attributes of sysfs,
    /// values of /proc/sys, and a process's `stat` (fs/seq_file.c, single_open; fs/kernfs/file.c; kernel/sysctl.c, which gives nothing
    /// from a position behind 0). A list such as /proc/interrupts may be given in any pieces, and so may what is mounted in /sys/fs and
    /// /sys/kernel.
    pub(super) fn of_kernel(path: &str) -> End {
        const PIECES: [&str; 5] =
            ["/sys/devices/", "/sys/class/", "/sys/bus/", "/sys/module/", "/proc/sys/"];
        let is_of_process = || {
            let rest = path.strip_prefix("/proc/").and_then(|it| it.strip_suffix("/stat"));
            rest.is_some_and(|it| it.bytes().all(|it| it.is_ascii_digit()))
        };
        let is_piece = PIECES.iter().any(|it| path.starts_with(it)) || is_of_process();
        if is_piece { End::ShortRead } else { End::Size(0) }
    }
}

/// Reads to the end.
pub(super) fn read_all(file: BorrowedFd<'_>, path: &str, end: End) -> Fact<Vec<u8>> {
    /// Of arm64 and POWER.
    const LARGEST_PAGE: usize = 64 << 10;
    let size = if let End::Size(size) = end { size } else { 0 };
    let too_long = |length: Option<usize>, limit| {
        Missing::too_long(path, length.and_then(|it| u64::try_from(it).ok()), limit)
    };
    // Of a file on a disk the size is its length. sysfs claims a page, which may be more than the limit.
    if size > LARGEST_PAGE
        && let Some(limit) = limits::exceeded(path, size)
    {
        return Err(too_long(Some(size), limit));
    }
    let mut page = [MaybeUninit::uninit(); PAGE + 1];
    let mut bytes = Vec::new();
    if size > PAGE {
        bytes.reserve_exact(size + 1);
    }
    loop {
        match read_more(file, &mut page, &mut bytes) {
            Ok(0) => break,
            Ok(n_read) => {
                if let Some(limit) = limits::exceeded(path, bytes.len()) {
                    return Err(too_long(Some(size).filter(|it| *it > limit), limit));
                }
                if bytes.len() == size || (end == End::ShortRead && n_read < PAGE) {
                    break;
                }
            }
            Err(Errno::INTR) => {}
            Err(error) => return Err(missing(path, error)),
        }
    }
    bytes.shrink_to_fit();
    Ok(bytes)
}

/// Reads once, and returns how much. A short file takes no more memory than it has bytes: an audit reads thousands of them.
fn read_more(
    file: BorrowedFd<'_>,
    page: &mut [MaybeUninit<u8>],
    bytes: &mut Vec<u8>,
) -> Result<usize, Errno> {
    if bytes.capacity() <= PAGE {
        let (read, _) = rustix::io::read(file, page)?;
        bytes.reserve_exact(read.len());
        bytes.extend_from_slice(read);
        return Ok(read.len());
    }
    if bytes.capacity() == bytes.len() {
        bytes.reserve(bytes.len());
    }
    rustix::io::read(file, rustix::buffer::spare_capacity(bytes))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests compare with the files of this machine")]
mod tests {
    use super::*;
    use crate::{Live, Source as _};
    use rustix::fd::AsFd as _;

    #[test]
    fn what_the_kernel_gives_in_one_piece_ends_with_a_short_read_and_a_list_does_not() {
        for path in
            ["/sys/devices/system/cpu/online", "/proc/sys/kernel/osrelease", "/proc/4711/stat"]
        {
            assert_eq!(End::of_kernel(path), End::ShortRead, "{path}");
        }
        for path in [
            "/proc/stat",
            "/proc/interrupts",
            "/proc/cpuinfo",
            "/proc/self/stat",
            "/proc/4711/cgroup",
            "/sys/fs/cgroup/cgroup.procs",
            "/sys/kernel/debug/sched/debug",
        ] {
            assert_eq!(End::of_kernel(path), End::Size(0), "{path}");
        }
    }

    #[test]
    fn a_file_that_ends_with_a_short_read_is_read_once_and_to_its_end() {
        let (reader, mut writer) = std::io::pipe().unwrap();
        for _ in 0..2 {
            std::io::Write::write_all(&mut writer, &[b'x'; PAGE]).unwrap();
        }
        std::io::Write::write_all(&mut writer, b"end").unwrap();
        let read = |end| read_all(reader.as_fd(), "/sys/devices/x", end).map(|it| it.len());
        // A read has room for a page and a byte; with the writer still there, one more read would wait for ever.
        assert_eq!(read(End::ShortRead), Ok(2 * PAGE + 3));
        drop(writer);
        assert_eq!(read(End::Size(0)), Ok(0));
    }

    #[test]
    fn files_of_this_machine_are_read_whole() {
        let live = Live::this_machine();
        for path in
            ["/sys/devices/system/cpu/online", "/proc/sys/kernel/osrelease", "/proc/cpuinfo"]
        {
            let Ok(content) = std::fs::read(path) else { continue };
            let read = live.read(path).unwrap();
            assert_eq!(read.len() / 100, content.len() / 100, "{path}");
        }
    }
}
