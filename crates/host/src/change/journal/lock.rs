//! One writer at a time: flock(2) on a file of the state folder. The kernel takes the lock from a process that ends, however
//! it ends.

use super::folder::{Folder, io};
use crate::change::JournalError;
use rustix::fd::OwnedFd;
use rustix::fs::{FlockOperation, OFlags};
use rustix::io::Errno;

const NAME: &str = "lock";

/// The folder is locked as long as this is there.
#[derive(Debug)]
pub(super) struct Lock(OwnedFd);

impl Drop for Lock {
    fn drop(&mut self) {
        // A child that another thread has just forked holds the file, too, until it is another program: closing frees no lock.
        let _held_by_nobody = rustix::fs::flock(&self.0, FlockOperation::Unlock);
    }
}

pub(super) fn lock(folder: &Folder, waits: bool) -> Result<Lock, JournalError> {
    let path = folder.path.join(NAME);
    let file = folder.open_file(NAME, OFlags::RDWR | OFlags::CREATE)?;
    let how = if waits {
        FlockOperation::LockExclusive
    } else {
        FlockOperation::NonBlockingLockExclusive
    };
    loop {
        match rustix::fs::flock(&file, how) {
            Ok(()) => break,
            Err(Errno::INTR) => {}
            Err(Errno::WOULDBLOCK) => {
                let holder = holder(&file);
                return Err(JournalError::Locked { folder: folder.path.clone(), holder });
            }
            Err(error) => return Err(io(&path, "locked", error)),
        }
    }
    let this = format!("{:<10}\n", rustix::process::getpid().as_raw_pid());
    // Of one length, so that it replaces what was there. Where it cannot be written, nobody knows who holds the lock.
    let _unnamed = rustix::io::pwrite(&file, this.as_bytes(), 0);
    Ok(Lock(file))
}

fn holder(file: &OwnedFd) -> String {
    let mut text = [0; 11];
    let n = rustix::io::pread(file, &mut text, 0).unwrap_or(0);
    let text = String::from_utf8_lossy(text.get(..n).unwrap_or_default()).trim().to_owned();
    match text.parse::<u32>() {
        Ok(pid) => format!("process {pid}"),
        Err(_) => "another process".to_owned(),
    }
}
