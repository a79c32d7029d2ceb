//! What the scheduler has counted of a thread of this process (Documentation/scheduler/sched-stats.rst), read again and again
//! from one open file.
#![expect(
    clippy::disallowed_methods,
    reason = "the engine's own threads are read, about its own work"
)]

use crate::commit::Ran;
use facts::counters::task_stat::Scheduled;
use facts::{Fact, Missing};
use std::fs::File;
use std::os::unix::fs::FileExt as _;

/// An open /proc/self/task/TID/schedstat.
pub(super) struct Schedstat {
    file: File,
    path: String,
}

impl Schedstat {
    /// That of a thread of this process.
    pub(super) fn of(tid: u32) -> Fact<Schedstat> {
        let path = format!("/proc/self/task/{tid}/schedstat");
        let file = File::open(&path).map_err(|_| Missing::absent(path.as_str()))?;
        Ok(Schedstat { file, path })
    }

    /// Its counts.
    pub(super) fn read(&self) -> Fact<Ran> {
        // Three numbers of at most twenty digits.
        let mut text = [0; 64];
        let n_bytes =
            self.file.read_at(&mut text, 0).map_err(|_| Missing::absent(self.path.as_str()))?;
        let text = text.get(..n_bytes).unwrap_or_default();
        let malformed = |expected| {
            Missing::malformed(self.path.as_str(), &String::from_utf8_lossy(text), expected)
        };
        let scheduled = Scheduled::parse(text).map_err(|it| malformed(it.0))?;
        // A thread has been given a CPU before anybody knows its number; its time there is counted at the next tick.
        if scheduled.slices == 0 {
            return Err(malformed("an accounted run time (CONFIG_SCHED_INFO)"));
        }
        Ok(scheduled.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_calling_thread_has_run() {
        let own = u32::try_from(rustix::thread::gettid().as_raw_nonzero().get()).unwrap();
        let schedstat = Schedstat::of(own).unwrap();
        let (first, second) = (schedstat.read().unwrap(), schedstat.read().unwrap());
        assert!(second.since(first).is_some());
    }

    #[test]
    fn a_thread_that_is_not_there_is_missing() {
        let why = Schedstat::of(u32::MAX).err().unwrap().to_string();
        assert_eq!(why, "/proc/self/task/4294967295/schedstat does not exist");
    }
}
