//! What the management controller answered, as text and as JSON.

mod latency;
pub(crate) mod sensors;

pub(crate) use latency::{Condition, Latency, json as latency_json, text as latency_text};
