//! What a sampler is asked for.

use facts::counters::Family;

/// What to sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The families; every other one is missing because it was not collected.
    pub families: Vec<Family>,
    /// The tasks; `None` for no task at all.
    pub tasks: Option<Processes>,
    /// Whether to read control groups: those that the host is known to limit, and those of [`Wanted::groups_of`].
    pub groups: bool,
    /// The processes whose control groups are read too, by number.
    pub groups_of: Vec<u32>,
    /// Whether to visit every CPU, which wakes it: the kernel writes the time in an idle state when the state is
    /// left, and the time of a task when something else runs (kernel/sched/stats.h). Costs every CPU an
    /// interrupt and a context switch.
    pub wake: bool,
}

/// Whose tasks to sample, besides the kernel's own threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Processes {
    /// Nobody's.
    KernelThreads,
    /// Those of these processes, by number.
    Chosen(Vec<u32>),
    /// Everybody's.
    All,
}

impl Wanted {
    /// What a screen shows every second: everything that is cheap, and the kernel's threads. The registers of every
    /// core would cost each of them an interrupt.
    pub fn watch() -> Wanted {
        let is_dear = |it: &Family| matches!(it, Family::IdleSleep | Family::CoreLimits);
        let is_cheap = |it: &&Family| !is_dear(it) && !it.is_traced();
        Wanted {
            families: Family::ALL.iter().filter(is_cheap).copied().collect(),
            tasks: Some(Processes::KernelThreads),
            groups: true,
            groups_of: Vec::new(),
            wake: false,
        }
    }

    /// What the books of an interval need at both of its ends: everything, every CPU awake, and every task.
    pub fn ledger() -> Wanted {
        let is_sampled = |it: &&Family| !it.is_traced();
        Wanted {
            families: Family::ALL.iter().filter(is_sampled).copied().collect(),
            tasks: Some(Processes::All),
            groups: true,
            groups_of: Vec::new(),
            wake: true,
        }
    }

    pub(super) fn has(&self, family: Family) -> bool {
        self.families.contains(&family)
    }
}
