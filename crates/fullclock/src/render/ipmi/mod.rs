//! What the management controller answered, as text and as JSON.

mod latency;
pub(crate) mod power;
pub(crate) mod sensors;
mod tune;

pub(crate) use latency::{Condition, Latency, json as latency_json, text as latency_text};
pub(crate) use tune::{Model, json as tune_json, text as tune_text};
