//! A change of a host, before anything is written: what, where, from which value to which.
//!
//! A setting plans writes, a journal records them, and one module of `host` alone carries them out.

mod controls;
mod recorded;
mod standing;
mod target;
mod value;

pub use controls::{Control, Controls, WRITABLE, is_writable, matched};
pub use recorded::{
    ChangeLines, ChangeState, Recorded, RecordedGroup, RevertOutcome, Undone, WriteOutcome,
};
pub use standing::{ChangeStanding, Guarding, Overdue, Standing, Written, WrittenPlace};
pub use target::{REGISTERS, Target, WritableRegister};
pub use value::{cpus_of, is_same};

use serde::{Deserialize, Serialize};

/// One planned change of one place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Write {
    /// Where.
    pub target: Target,
    /// What it holds, as read when the plan was made; `None` where a file is not there yet.
    pub from: Option<String>,
    /// What it is to hold; `None` where a file is to be gone, and of what is only [`Aim::Forgotten`].
    pub to: Option<String>,
    /// What is expected of it.
    pub aim: Aim,
}

/// What is expected of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aim {
    /// It reads back what was written; anything else is a failure of the whole plan.
    Sticks,
    /// The kernel may refuse it, place by place, for reasons that it shows nobody beforehand (interrupts that it manages,
    /// threads that it binds): a refusal is reported, and the plan goes on.
    IfTaken,
    /// A later write of its group makes the kernel forget it (a governor takes its tunables along): nothing is written here,
    /// and undoing the group, backwards, writes back what was there.
    Forgotten,
}

/// The writes of one setting. They are journaled together, made in order, and undone in the opposite order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// The id of the setting.
    pub setting: String,
    /// What was asked of it, as the user would write it: `performance`, `off@4-7`.
    pub value: String,
    /// Whether the first write is to be made and seen to stick, and its CPU to answer, before any other.
    pub canary: bool,
    /// In the order to make them.
    pub writes: Vec<Write>,
}

impl Write {
    /// A write of a text that has to stick.
    pub fn of(target: Target, from: impl Into<String>, to: impl Into<String>) -> Write {
        Write { target, from: Some(from.into()), to: Some(to.into()), aim: Aim::Sticks }
    }

    /// The same, where the kernel may refuse.
    #[must_use]
    pub fn if_taken(mut self) -> Write {
        self.aim = Aim::IfTaken;
        self
    }

    /// What a later write of the group makes the kernel forget: to be written back when the group is undone.
    pub fn forgotten(target: Target, from: impl Into<String>) -> Write {
        Write { target, from: Some(from.into()), to: None, aim: Aim::Forgotten }
    }

    /// Whether the place holds already what it is to hold.
    pub fn is_idle(&self) -> bool {
        match (&self.from, &self.to) {
            (Some(from), Some(to)) => is_same(from, to),
            (from, to) => from == to,
        }
    }
}
