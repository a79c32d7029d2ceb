//! The archive format the kernel unpacks as its first file system.
//!
//! This is "newc" as the kernel documents it in
//! `Documentation/driver-api/early-userspace/buffer-format.rst`. Every entry belongs to root and
//! carries no time, so the same content always gives the same bytes.

use std::collections::BTreeSet;

/// Entries are headed, and their data followed, by padding to this many bytes.
const ALIGNMENT: usize = 4;
const DIRECTORY: u32 = 0o040_755;
const REGULAR: u32 = 0o100_644;
const EXECUTABLE: u32 = 0o100_755;
const TRAILER: &str = "TRAILER!!!";

/// Grows an archive in memory, one file at a time.
#[derive(Debug, Default)]
pub(crate) struct Archive {
    bytes: Vec<u8>,
    directories: BTreeSet<String>,
    files: BTreeSet<String>,
    n_entries: u32,
}

impl Archive {
    /// Adds a directory and those above it, unless they are there.
    pub(crate) fn directory(&mut self, path: &str) {
        let path = path.trim_matches('/');
        if path.is_empty() || self.directories.contains(path) {
            return;
        }
        if let Some((parent, _)) = path.rsplit_once('/') {
            self.directory(parent);
        }
        self.directories.insert(path.to_owned());
        self.entry(path, DIRECTORY, &[]);
    }

    /// Adds a file that is only read, with the directories above it.
    pub(crate) fn file(&mut self, path: &str, content: &[u8]) {
        self.regular(path, REGULAR, content);
    }

    /// Adds a file that can be run, with the directories above it.
    pub(crate) fn executable(&mut self, path: &str, content: &[u8]) {
        self.regular(path, EXECUTABLE, content);
    }

    /// Ends the archive and gives its bytes.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.entry(TRAILER, 0, &[]);
        self.bytes
    }

    /// The first file at a path stays: programs share libraries.
    fn regular(&mut self, path: &str, mode: u32, content: &[u8]) {
        let path = path.trim_start_matches('/');
        if !self.files.insert(path.to_owned()) {
            return;
        }
        if let Some((parent, _)) = path.rsplit_once('/') {
            self.directory(parent);
        }
        self.entry(path, mode, content);
    }

    fn entry(&mut self, path: &str, mode: u32, content: &[u8]) {
        self.n_entries += 1;
        let fields = [
            self.n_entries, // inode: any number that no other entry has
            mode,
            0, // user
            0, // group
            1, // links
            0, // time of modification
            length(content.len()),
            0, // major and minor number of the device the file lies on
            0,
            0, // major and minor number of the device the file is
            0,
            length(path.len() + 1),
            0, // checksum, which this format leaves zero
        ];
        self.bytes.extend_from_slice(b"070701");
        for field in fields {
            self.bytes.extend_from_slice(format!("{field:08x}").as_bytes());
        }
        self.bytes.extend_from_slice(path.as_bytes());
        self.bytes.push(0);
        self.pad();
        self.bytes.extend_from_slice(content);
        self.pad();
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(ALIGNMENT), 0);
    }
}

/// A length as the format holds it. Nothing the bench packs comes near four gigabytes.
fn length(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entry_is_header_name_and_content_each_padded_to_four_bytes() {
        let mut archive = Archive::default();
        archive.file("a", b"hello");
        let bytes = archive.finish();
        let expected = "070701\
             00000001000081a400000000000000000000000100000000\
             0000000500000000000000000000000000000000\
             0000000200000000a\0hello\0\0\x00070701";
        assert!(bytes.starts_with(expected.as_bytes()), "{}", String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn directories_come_before_their_files_and_everything_once() {
        let mut archive = Archive::default();
        archive.file("/lib/x/one", b"");
        archive.executable("/lib/x/two", b"");
        archive.file("/lib/x/one", b"");
        let bytes = archive.finish();
        let text = String::from_utf8_lossy(&bytes);
        let names: Vec<&str> =
            text.split("070701").skip(1).map(|entry| entry[104..].trim_end_matches('\0')).collect();
        assert_eq!(names, ["lib", "lib/x", "lib/x/one", "lib/x/two", "TRAILER!!!"]);
    }
}
