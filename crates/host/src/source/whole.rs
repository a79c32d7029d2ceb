//! Reads a file to its end, and no further than a file of its kind can be long.

use super::missing;
use facts::{Fact, Missing, limits};
use rustix::fd::BorrowedFd;
use rustix::io::Errno;
use std::mem::MaybeUninit;

/// What fits in one read: most files of sysfs and procfs.
const PAGE: usize = 4096;

/// Reads to the end. A file that is not on a disk has a `size` of 0 (procfs) or of a page (sysfs), so only one that is read to its very
/// size is known to end there.
pub(super) fn read_all(file: BorrowedFd<'_>, path: &str, size: usize) -> Fact<Vec<u8>> {
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
    let mut page = [MaybeUninit::uninit(); PAGE + 1];
    let mut bytes = Vec::new();
    if size > PAGE {
        bytes.reserve_exact(size + 1);
    }
    loop {
        match read_more(file, &mut page, &mut bytes) {
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
