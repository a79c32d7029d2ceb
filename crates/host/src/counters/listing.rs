//! The numbers in a folder of /proc, listed again and again: processes, or the tasks of one.

use crate::Live;
use facts::{Fact, Missing};
use rustix::fd::OwnedFd;
use rustix::fs::{RawDir, SeekFrom, seek};
use std::mem::MaybeUninit;

/// A folder that stays open.
#[derive(Debug)]
pub(super) struct Listing {
    path: String,
    folder: Option<OwnedFd>,
}

impl Listing {
    pub(super) fn of(path: String) -> Listing {
        Listing { path, folder: None }
    }

    /// The names in it that are numbers, ascending, into `numbers`.
    pub(super) fn numbers(&mut self, live: &Live, numbers: &mut Vec<u32>) -> Fact<()> {
        numbers.clear();
        let failed = |error| crate::source::live::missing(&self.path, error);
        let folder = match &self.folder {
            Some(folder) => {
                seek(folder, SeekFrom::Start(0)).map_err(failed)?;
                folder
            }
            None => self.folder.insert(live.folder(&self.path)?),
        };
        let failed = |error| crate::source::live::missing(&self.path, error);
        let mut buffer = [MaybeUninit::uninit(); 1 << 14];
        let mut entries = RawDir::new(folder, &mut buffer);
        while let Some(entry) = entries.next() {
            let entry = entry.map_err(failed)?;
            numbers.extend(number(entry.file_name().to_bytes()));
        }
        numbers.sort_unstable();
        Ok(())
    }
}

fn number(name: &[u8]) -> Option<u32> {
    let number = std::str::from_utf8(name).ok()?.parse().ok()?;
    name.first().is_some_and(u8::is_ascii_digit).then_some(number)
}

/// The number of the task that was made last, from /proc/loadavg: while it stays, there is no further task.
///
/// Source: proc_loadavg(5).
pub(super) fn last_made(loadavg: &[u8]) -> Fact<u64> {
    let word = loadavg.trim_ascii_end().rsplit(|it| *it == b' ').next().unwrap_or_default();
    facts::counters::number(word).map_err(|expected| {
        Missing::malformed("/proc/loadavg", &String::from_utf8_lossy(loadavg), expected.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_are_tasks() {
        let names: [&[u8]; 5] = [b"12", b"self", b"+12", b"", b"99999999999"];
        assert_eq!(names.map(number), [Some(12), None, None, None, None]);
    }

    #[test]
    fn the_last_word_of_loadavg_is_the_last_task() {
        assert_eq!(last_made(b"0.00 0.01 0.05 1/123 4567\n"), Ok(4567));
        assert!(last_made(b"").is_err());
    }
}
