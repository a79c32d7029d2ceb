//! Whether what is written to a folder can outlive a power cut.

use rustix::fs::statfs;
use std::path::Path;

/// The type of a file system in memory (include/uapi/linux/magic.h, TMPFS_MAGIC and RAMFS_MAGIC).
const IN_MEMORY: [u32; 2] = [0x0102_1994, 0x8584_58f6];

/// What is said of a log in such a file system.
pub(crate) const NOT_DURABLE: &str = "in memory: nothing is durable";

/// Whether the file system of `path` is in memory.
pub(crate) fn is_in_memory(path: &Path) -> bool {
    statfs(path).is_ok_and(|it| IN_MEMORY.contains(&(it.f_type as u32)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_file_system_is_no_disk_and_is_not_taken_for_memory() {
        assert!(!is_in_memory(Path::new("/proc")));
        assert!(!is_in_memory(Path::new("/absent")));
    }
}
