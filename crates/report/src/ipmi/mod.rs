//! What the management controller answered, as documents, as JSON and as CSV.

mod latency;
pub mod power;
pub mod sensors;
mod tune;

pub(super) use latency::LatencyDocument;
pub use latency::{document as latency_document, json as latency_json};
pub(super) use tune::TuneDocument;
pub use tune::{document as tune_document, json as tune_json};
