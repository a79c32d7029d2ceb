//! What became of a plan.

use crate::plan::Plan;
use facts::change::{Target, Undone, Write};
use std::time::Duration;

/// What became of a plan.
pub struct Applied {
    /// What was to be done.
    pub plan: Plan,
    /// The id of the change; `None` where there was nothing to do, or nothing was done.
    pub id: Option<String>,
    /// How many writes were made.
    pub n_writes: usize,
    /// What the kernel refused, which it may, and its words.
    pub not_taken: Vec<(Target, String)>,
    /// Why nothing is changed, where something went wrong.
    pub error: Option<String>,
    /// What was undone then.
    pub undone: Vec<Undone>,
    /// The files that make it last.
    pub files: Vec<Write>,
    /// How long it waits to be confirmed.
    pub confirm_within: Option<Duration>,
}

impl Applied {
    /// Whether files that make it last were written, and are still there.
    pub fn lasts(&self) -> bool {
        self.error.is_none() && !self.files.is_empty()
    }

    /// Whether something of it was refused or went wrong.
    pub fn is_refused(&self) -> bool {
        self.error.is_some() || !self.plan.refused.is_empty()
    }

    /// A plan of which nothing was done.
    pub fn nothing(plan: Plan) -> Applied {
        Applied {
            plan,
            id: None,
            n_writes: 0,
            not_taken: Vec::new(),
            error: None,
            undone: Vec::new(),
            files: Vec::new(),
            confirm_within: None,
        }
    }
}
