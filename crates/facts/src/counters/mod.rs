//! Counters: the raw counts of a host at one instant, never rates.
//!
//! Most kernel counters are a table with a row per CPU: a [`Table`], one per [`Family`]. Tasks and control groups
//! come and go, and have their own types. A metric or a ledger is computed from two instants and the time between
//! them.

pub mod cpuacct;
pub mod exits;
mod family;
pub mod interrupts;
pub mod pressure;
mod scan;
pub mod schedstat;
pub mod softirqs;
pub mod stat;
mod table;
pub mod task_stat;
pub mod timer_list;
pub mod users;

pub use family::Family;
pub use scan::number;
pub use table::Table;
#[cfg(test)]
use table::shown;
pub use task_stat::{Name, Task, Tasks};
use users::UserTimes;

use crate::{CpuSet, Fact, Missing};

/// Everything that was counted at one instant. A sampler reuses one value: a sample allocates nothing once the tables
/// have their size.
#[derive(Clone, Debug, PartialEq)]
pub struct Counters {
    /// When the sample began.
    pub at: Moment,
    /// The CPUs that were online.
    pub online: CpuSet,
    /// One table for each family, in the order of [`Family::ALL`].
    families: [Fact<Table>; Family::ALL.len()],
    /// Tasks: kernel threads and the requested processes, or all tasks.
    pub tasks: Fact<Tasks>,
    /// What users' tasks have run since the sample before, where they are added up. It is the one part that is a difference:
    /// most of these tasks are gone at the end of any long time.
    pub users: Fact<UserTimes>,
    /// The control groups of the requested processes, and those with a quota.
    pub groups: Fact<Groups>,
}

impl Counters {
    /// Counters before the first reading: every family is missing because it was not collected.
    pub fn unread() -> Counters {
        let unread = |what: &str| Missing::not_collected(what.to_owned());
        Counters {
            at: Moment::default(),
            online: CpuSet::default(),
            families: std::array::from_fn(|number| Err(unread(Family::ALL[number].source()))),
            tasks: Err(unread("/proc/PID/schedstat")),
            users: Err(UserTimes::uncollected()),
            groups: Err(unread("cpu.stat of control groups")),
        }
    }

    /// The same tables at boot, when nothing was counted. Tasks and control groups are missing: those of boot are unknown.
    #[must_use]
    pub fn at_boot(&self) -> Counters {
        let blank = |fact: &Fact<Table>| fact.as_ref().map(Table::zeroed).map_err(Missing::clone);
        Counters {
            online: self.online.clone(),
            families: std::array::from_fn(|number| blank(&self.families[number])),
            ..Counters::unread()
        }
    }

    /// The table of one family, or the reason there is none.
    pub fn table(&self, family: Family) -> Result<&Table, &Missing> {
        self.families[family as usize].as_ref()
    }

    /// The source of a family's counts, as messages call it: the table's own source, if it is not the family's first
    /// choice.
    pub fn source(&self, family: Family) -> &str {
        self.table(family).ok().and_then(Table::source).unwrap_or(family.source())
    }

    /// The table of one family, to be filled or replaced.
    pub fn table_mut(&mut self, family: Family) -> &mut Fact<Table> {
        &mut self.families[family as usize]
    }

    /// Every family with its table, in the order of [`Family::ALL`].
    pub fn tables(&self) -> impl Iterator<Item = (Family, &Fact<Table>)> {
        Family::ALL.iter().copied().zip(&self.families)
    }
}

/// The control groups of one instant, with what their CPU quotas took: cpu.stat.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Groups {
    /// `CLOCK_MONOTONIC_RAW` in nanoseconds, when reading began.
    pub read_at: u64,
    /// The groups, each once, by path.
    pub list: Vec<Group>,
}

/// `cpu.stat` of one control group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// Its path below the root of control groups: `/system.slice/postgresql.service`.
    pub path: String,
    /// Periods in which a quota was enforced.
    pub periods: u64,
    /// Periods in which the group used up its quota.
    pub throttled_periods: u64,
    /// How long its run queues were throttled, summed over all CPUs, in nanoseconds.
    pub throttled_ns: u64,
}

/// One instant by three clocks, which disagree when something is wrong (clock_gettime(2)). All in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// `CLOCK_MONOTONIC_RAW` measures intervals. It is never set or slewed, and stops while the machine is suspended.
    pub raw_ns: u64,
    /// `CLOCK_BOOTTIME` runs while the machine is suspended, so that a suspension shows.
    pub boot_ns: u64,
    /// `CLOCK_REALTIME` is for display only: it jumps when the clock is set.
    pub real_ns: u64,
}
