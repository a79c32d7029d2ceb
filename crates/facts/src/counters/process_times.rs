//! What a process and the children it has waited for ran: /proc/PID/stat.
//!
//! Source: do_task_stat in fs/proc/array.c (`whole`): the times of a process are those of all its threads, ended ones among
//! them, scaled to what the scheduler counted; those of its children are added when they are waited for, with
//! those of their own children.

use super::scan::Scan;
use crate::{Expected, USER_TICK_NS};

/// The times of one process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessTimes {
    /// The number of its parent.
    pub parent: u32,
    /// What its threads have run, in nanoseconds, in steps of 10 ms.
    pub own_ns: u64,
    /// What the children that it has waited for had run, and theirs, in nanoseconds, in steps of 10 ms for each of two counts.
    pub children_ns: u64,
}

impl ProcessTimes {
    /// Parses /proc/PID/stat.
    pub fn parse(text: &[u8]) -> Result<ProcessTimes, Expected> {
        const STAT: Expected = Expected("a line like `1 (init) S 0 ...` of 17 fields or more");
        let close = text.iter().rposition(|it| *it == b')').ok_or(STAT)?;
        // After the name come the state and, from field 4 on, numbers, some of them negative.
        let rest = text.get(close + 1..).unwrap_or_default();
        let mut fields = rest.split(u8::is_ascii_whitespace).filter(|it| !it.is_empty());
        let mut skip = |n| fields.nth(n).and_then(|it| Scan(it).number()).ok_or(STAT);
        let parent = skip(4 - 3)?;
        let [user, system] = [skip(14 - 5)?, skip(0)?];
        // The children's are signed in the kernel's format, and never negative.
        let [children_user, children_system] = [skip(0)?, skip(0)?];
        let ns = |a: u64, b: u64| a.saturating_add(b).saturating_mul(USER_TICK_NS);
        Ok(ProcessTimes {
            parent: parent.try_into().map_err(|_| STAT)?,
            own_ns: ns(user, system),
            children_ns: ns(children_user, children_system),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_process_and_of_the_children_it_waited_for() {
        let line = b"7 (a) b) S 3 1 1 0 -1 4194560 0 0 0 0 5 6 70 80 20 0 1 0 250 0 0\n";
        let times = ProcessTimes { parent: 3, own_ns: 110_000_000, children_ns: 1_500_000_000 };
        assert_eq!(ProcessTimes::parse(line), Ok(times));
        for end in 0..line.len() - b"80 20 0 1 0 250 0 0\n".len() {
            assert!(ProcessTimes::parse(&line[..end]).is_err(), "{end}");
        }
    }
}
