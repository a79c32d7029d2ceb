//! A process whose tasks are added up: who it is, and what is entered of its threads and children that ended.

use super::super::super::files::Files;
use facts::USER_TICK_NS;
use facts::counters::Name;
use facts::counters::task_stat::ProcessTimes;
use facts::counters::users::{Kind, Owner};
use facts::system::roles::{Product, Words, product_of};

/// Of the command line of a database's process so much is kept: roles are in its first words, and a product may be further behind.
const MOST_TITLE: usize = 512;

/// The ids of a product and of a role in it.
pub(super) type RoleIds = (&'static str, &'static str);

/// A process, as far as its tasks' kinds and ends need it.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) parent: u32,
    pub(super) owner: Owner,
    pub(super) name: Name,
    pub(super) product: Option<&'static Product>,
    pub(super) title: Box<[u8]>,
    pub(super) first_turn: u32,
    /// The CPU that one of its threads ran on last.
    pub(super) cpu: u32,
    /// The run time of its threads that have ended, as far as it was entered.
    pub(super) ended_ns: u64,
    /// The run time and the role of the thread that had run longest of those that have ended since the sample before.
    pub(super) longest_ended: Option<(u64, Option<RoleIds>)>,
    /// What all its threads had run when it was found.
    pub(super) found_ns: u64,
    /// The run time of its children that were waited for, as far as it was entered.
    pub(super) children_ns: u64,
    /// Descendants that ended, whose time may come to be in that of its children.
    pub(super) unclaimed: Vec<Ended>,
}

/// A process that has ended.
#[derive(Debug)]
pub(super) struct Ended {
    /// The sample in which it was found to have ended.
    pub(super) turn: u32,
    /// What was entered of it, in nanoseconds, as far as its ancestor's time is not known to hold it.
    pub(super) entered_ns: u64,
    /// That of its time after it was sampled last.
    pub(super) kind: Kind,
}

impl Process {
    /// One that ends has none any more: what was known of it stays.
    pub(super) fn set_title(&mut self, cmdline: &[u8]) {
        if cmdline.is_empty() && !self.title.is_empty() {
            return;
        }
        self.product = product_of(&Words { comm: self.name.as_str(), cmdline });
        let kept = if self.product.is_some() { cmdline.len().min(MOST_TITLE) } else { 0 };
        self.title = cmdline.get(..kept).unwrap_or_default().into();
    }

    /// The role of a thread of it, by its name.
    pub(super) fn role_of(&self, thread: &Name) -> Option<RoleIds> {
        let product = self.product?;
        let words = Words { comm: self.name.as_str(), cmdline: &self.title };
        Some((product.id, product.role_of(&words, thread.as_str()).id))
    }

    /// That of threads and children that no sample shows: all that is known of them is that they are the product's.
    pub(super) fn other_role(&self) -> Option<RoleIds> {
        self.product.map(|product| (product.id, product.other().id))
    }

    /// Of threads and children of it that ended.
    pub(super) fn ended_kind(&self, role: Option<RoleIds>) -> Kind {
        Kind { owner: self.owner, role, name: self.name, is_ended: true }
    }
}

pub(super) fn own_ns(times: &ProcessTimes) -> u64 {
    times.own_ticks.saturating_mul(USER_TICK_NS)
}

pub(super) fn children_ns(times: &ProcessTimes) -> u64 {
    times.reaped_ticks.saturating_mul(USER_TICK_NS)
}

/// `None` for a process that has ended.
pub(super) fn process_times(files: &mut Files, pid: u32) -> Option<ProcessTimes> {
    ProcessTimes::parse(files.read_once(&format!("/proc/{pid}/stat")).ok()?).ok()
}

/// Its command line, or what it wrote over that; empty for a process that has ended.
pub(super) fn title(files: &mut Files, pid: u32) -> &[u8] {
    files.read_once(&format!("/proc/{pid}/cmdline")).unwrap_or_default()
}
