//! What the management controller answered, as text and as JSON.

mod latency;
pub mod power;
pub mod sensors;
mod tune;

pub(super) use latency::LatencyDocument;
pub use latency::{json as latency_json, text as latency_text};
pub(super) use tune::TuneDocument;
pub use tune::{json as tune_json, text as tune_text};
