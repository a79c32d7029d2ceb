//! The file behind a journal: what is appended is there whole, or not at all.

use super::folder::{Folder, io};
use crate::change::JournalError;
use crate::change::fault;
use rustix::fd::OwnedFd;
use rustix::fs::AtFlags;
use rustix::io::Errno;
use std::path::PathBuf;

/// A file that is opened for appending.
#[derive(Debug)]
pub(super) struct LogFile {
    file: OwnedFd,
    path: PathBuf,
    /// How long the file is, a line that a crash cut included.
    length: usize,
    n_syncs: u64,
    /// What it was refused before: nobody knows what is on disk then.
    broken: Option<Errno>,
    /// What the disk is to answer instead of writing through, in tests, and after how many times that it does.
    #[cfg(test)]
    pub(super) refusal: Option<Errno>,
    #[cfg(test)]
    pub(super) syncs_until_refusal: u64,
}

impl LogFile {
    pub(super) fn new(file: OwnedFd, path: PathBuf, length: usize) -> LogFile {
        LogFile {
            file,
            path,
            length,
            n_syncs: 0,
            broken: None,
            #[cfg(test)]
            refusal: None,
            #[cfg(test)]
            syncs_until_refusal: 0,
        }
    }

    pub(super) fn n_syncs(&self) -> u64 {
        self.n_syncs
    }

    /// Whether it is still the file of that name in a folder, and has this length: then no process has appended to it.
    pub(super) fn is_still(&self, folder: &Folder, name: &str, length: usize) -> bool {
        let named = rustix::fs::statat(&folder.file, name, AtFlags::SYMLINK_NOFOLLOW);
        match (named, rustix::fs::fstat(&self.file)) {
            (Ok(named), Ok(this)) => {
                let is_same = (named.st_dev, named.st_ino) == (this.st_dev, this.st_ino);
                is_same && u64::try_from(this.st_size).is_ok_and(|it| it == length as u64)
            }
            _ => false,
        }
    }

    /// Appends lines behind the first `whole` bytes, and drops what is behind those.
    pub(super) fn append(
        &mut self,
        whole: usize,
        lines: &[u8],
        is_durable: bool,
    ) -> Result<(), JournalError> {
        if let Some(error) = self.broken {
            return Err(io(&self.path, "written any more", error));
        }
        if self.length != whole {
            self.cut(whole).map_err(|error| io(&self.path, "cut", error))?;
        }
        fault::point();
        if let Err(error) = self.write(lines) {
            // What was written of the lines would be in the way of the next.
            if let Err(error) = self.cut(whole) {
                self.broken = Some(error);
            }
            return Err(io(&self.path, "written", error));
        }
        self.length = whole + lines.len();
        fault::point();
        if is_durable {
            if let Err(error) = self.sync() {
                // The kernel may have forgotten what it could not write, and would call the next attempt a success.
                self.broken = Some(error);
                let _stays_dropped = self.cut(whole);
                return Err(io(&self.path, "written to disk", error));
            }
            fault::point();
        }
        Ok(())
    }

    fn cut(&mut self, length: usize) -> Result<(), Errno> {
        rustix::fs::ftruncate(&self.file, length as u64)?;
        self.length = length;
        Ok(())
    }

    fn write(&self, mut bytes: &[u8]) -> Result<(), Errno> {
        while !bytes.is_empty() {
            match rustix::io::write(&self.file, bytes) {
                Ok(0) => return Err(Errno::NOSPC),
                Ok(n) => bytes = bytes.get(n..).unwrap_or_default(),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<(), Errno> {
        #[cfg(test)]
        if let Some(error) = self.refusal.filter(|_| self.n_syncs >= self.syncs_until_refusal) {
            return Err(error);
        }
        self.n_syncs += 1;
        rustix::fs::fdatasync(&self.file)
    }
}

/// Everything a file holds.
pub(super) fn read_all(file: &OwnedFd) -> Result<Vec<u8>, Errno> {
    let size = rustix::fs::fstat(file)?.st_size;
    let mut text = Vec::with_capacity(usize::try_from(size).unwrap_or(0) + 1);
    loop {
        text.reserve(4096);
        match rustix::io::read(file, rustix::buffer::spare_capacity(&mut text)) {
            Ok(0) => return Ok(text),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
}
