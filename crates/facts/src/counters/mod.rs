//! Counters: one instant's raw counts of a host, never a rate.
//!
//! Most of what a kernel counts is a table with a row for each CPU, so that is what [`Table`] is, one for
//! each [`Family`]. Tasks and control groups come and go, and have types of their own. A metric or a ledger
//! is made of two of these and the time between them.

pub mod cpuacct;
mod family;
mod groups;
pub mod interrupts;
mod moment;
pub mod pressure;
mod refill;
mod scan;
pub mod schedstat;
#[cfg(test)]
mod shown;
pub mod softirqs;
pub mod stat;
mod table;
pub mod task_stat;
mod tasks;
pub mod timer_list;

pub use family::Family;
pub use groups::{Group, Groups};
pub use moment::Moment;
pub use scan::number;
pub use table::Table;
pub use tasks::{Name, Task, Tasks};

use crate::{CpuSet, Fact, Missing};

/// Everything that was counted at one instant.
///
/// A sampler fills the same value again and again, so that a sample allocates nothing once its tables have
/// their size.
#[derive(Clone, Debug, PartialEq)]
pub struct Counters {
    /// When the sample was begun.
    pub at: Moment,
    /// The CPUs that were online.
    pub online: CpuSet,
    /// One table for each family, in the order of [`Family::ALL`].
    families: [Fact<Table>; Family::ALL.len()],
    /// Tasks: kernel threads, and the processes that were asked for or all of them.
    pub tasks: Fact<Tasks>,
    /// Control groups of the processes that were asked for, and those with a quota.
    pub groups: Fact<Groups>,
}

impl Counters {
    /// Counters of which nothing has been read: every family is missing because it was not collected.
    pub fn unread() -> Counters {
        let unread = |what: &str| Missing::not_collected(what.to_owned());
        Counters {
            at: Moment::default(),
            online: CpuSet::default(),
            families: std::array::from_fn(|number| Err(unread(Family::ALL[number].source()))),
            tasks: Err(unread("/proc/PID/schedstat")),
            groups: Err(unread("cpu.stat of control groups")),
        }
    }

    /// The table of one family, or the reason there is none.
    pub fn table(&self, family: Family) -> Result<&Table, &Missing> {
        self.families[family as usize].as_ref()
    }

    /// Where the counts of a family come from, as messages call it: by the table's own word where its source is
    /// not the first choice.
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
