//! Changes of a host: plans, what came of them, what is applied.

mod json;
mod places;
mod plan;
mod standing;
mod text;

pub use json::{applied_json, drift_json, plan_json, status_json, undone_json};
pub(super) use json::{state as state_word, write as write_json};
pub(super) use places::{Places, join};
pub(super) use plan::shown;
pub use plan::{files, plan};
pub use standing::{drift, moment, status};
pub(super) use standing::{next_boot, state};
pub use text::{applied, undone};

use facts::change::{Target, Undone, Write};
use rules::plan::Plan;
use std::time::Duration;

/// What came of a plan.
pub struct Applied<'a> {
    /// What was to be done.
    pub plan: &'a Plan,
    /// The id of the change; `None` where there was nothing to do, or nothing was done.
    pub id: Option<String>,
    /// How many writes were made.
    pub n_writes: usize,
    /// What the kernel refused, which it may, and its words.
    pub not_taken: Vec<(Target, String)>,
    /// Why nothing is changed, where something went wrong.
    pub error: Option<String>,
    /// What was taken back then.
    pub undone: Vec<Undone>,
    /// The files that make it last.
    pub files: Vec<Write>,
    /// How long it waits to be confirmed.
    pub confirm_within: Option<Duration>,
}

impl<'a> Applied<'a> {
    /// Whether files that make it last were written, and are there still.
    fn lasts(&self) -> bool {
        self.error.is_none() && !self.files.is_empty()
    }

    /// A plan of which nothing was done.
    pub fn nothing(plan: &'a Plan) -> Applied<'a> {
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
