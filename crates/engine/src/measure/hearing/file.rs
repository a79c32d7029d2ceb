//! Lines that are appended to a file, or written to a FIFO.
//!
//! Neither tells by poll(2) when to read on: a file is always ready, and a FIFO that its writers have left is at its end until the
//! next one comes. So both are looked at several times a second. A FIFO is opened without waiting for a writer (fifo(7)).

use super::lines::Lines;
use super::{Ear, Hearing};
use anyhow::{Context, Result, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io::{PipeReader, Read, Seek, SeekFrom};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

/// The time between two looks, in which a line gets a moment that is too late.
const PAUSE: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

impl Hearing {
    /// Listens to what is appended to the file from now on, or comes through the FIFO.
    ///
    /// Errors: it is neither and cannot be listened to; it cannot be read; there is no thread to be had.
    pub fn of_file(path: &Path, ear: &Ear) -> Result<Hearing> {
        let cannot = || format!("cannot read {}", path.display());
        let (file, is_fifo) = open(path)?;
        let mut followed = Followed { file, is_fifo };
        if !is_fifo {
            followed.file.seek(SeekFrom::End(0)).with_context(cannot)?;
        }
        let ear = ear.clone();
        let work = move |stop: PipeReader| followed.listen(&stop, &ear);
        Hearing::start(vec![Box::new(work)]).with_context(cannot)
    }
}

#[expect(clippy::disallowed_methods, reason = "reads what the user wants the numbers of")]
fn open(path: &Path) -> Result<(File, bool)> {
    let nonblocking = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or(0);
    let opened = OpenOptions::new().read(true).custom_flags(nonblocking).open(path);
    let file = opened.with_context(|| format!("cannot read {}", path.display()))?;
    let kind = file.metadata()?.file_type();
    if !kind.is_file() && !kind.is_fifo() {
        bail!("{} is neither a file nor a FIFO", path.display());
    }
    Ok((file, kind.is_fifo()))
}

struct Followed {
    file: File,
    is_fifo: bool,
}

impl Followed {
    /// Reads until `stop` is closed, and then what is there.
    fn listen(mut self, stop: &PipeReader, ear: &Ear) {
        let mut lines = Lines::default();
        loop {
            let is_last = is_closed(stop);
            self.read_on(&mut lines, ear);
            if is_last {
                ear.end(&mut lines);
                return;
            }
        }
    }

    /// Reads what there is, at most as much as the file has now: one that grows faster than it is read would never end.
    fn read_on(&mut self, lines: &mut Lines, ear: &Ear) {
        const PIECE: usize = 64 << 10;
        /// The largest pipe of an ordinary user (pipe-max-size, proc_sys_fs(5)).
        const FIFO: u64 = 1 << 20;
        let mut left = if self.is_fifo { FIFO } else { self.behind() };
        let mut piece = vec![0; PIECE];
        while left > 0 {
            // A FIFO without a writer is at its end, one whose writer is silent would block.
            let Ok(length @ 1..) = self.file.read(&mut piece) else { return };
            ear.bytes(lines, piece.get(..length).unwrap_or_default());
            left = left.saturating_sub(length as u64);
        }
    }

    /// How much of the file was not read. One that was cut is read from its beginning.
    fn behind(&mut self) -> u64 {
        let length = self.file.metadata().map_or(0, |it| it.len());
        let at = self.file.stream_position().unwrap_or(0);
        if length < at {
            self.file.rewind().ok();
            return length;
        }
        length - at
    }
}

/// Waits a moment; whether it is to stop.
fn is_closed(stop: &PipeReader) -> bool {
    let mut stop = [PollFd::new(stop, PollFlags::IN)];
    poll(&mut stop, Some(&PAUSE)).is_ok_and(|n| n > 0)
}
