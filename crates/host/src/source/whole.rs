//! Reads a file to its end, and no further than a file of its kind can be long.

use super::missing;
use facts::{Fact, Missing, limits};
use rustix::fd::BorrowedFd;
use rustix::io::Errno;

/// Reads to the end in one buffer: most files of sysfs fit the first read. A file that is not on a disk has a
/// `size` of 0 (procfs) or of a page (sysfs), so only one that is read to its very size is known to end there.
pub(super) fn read_all(file: BorrowedFd<'_>, path: &str, size: usize) -> Fact<Vec<u8>> {
    const PAGE: usize = 4096;
    /// Of arm64 and POWER.
    const LARGEST_PAGE: usize = 64 << 10;
    let too_long = |length: Option<usize>, limit| {
        Missing::too_long(path, length.and_then(|it| u64::try_from(it).ok()), limit)
    };
    // Of a file on a disk the size is its length. sysfs claims a page, which may be more than the limit.
    if size > LARGEST_PAGE
        && let Some(limit) = limits::exceeded(path, size)
    {
        return Err(too_long(Some(size), limit));
    }
    let expected = if size == 0 { PAGE } else { size };
    let mut bytes = Vec::with_capacity(expected + 1);
    loop {
        if bytes.capacity() == bytes.len() {
            bytes.reserve(bytes.len());
        }
        match rustix::io::read(file, rustix::buffer::spare_capacity(&mut bytes)) {
            Ok(0) => break,
            Ok(_) => {
                if let Some(limit) = limits::exceeded(path, bytes.len()) {
                    return Err(too_long(Some(size).filter(|it| *it > limit), limit));
                }
                if bytes.len() == size {
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
