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
