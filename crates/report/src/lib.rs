//! Results in words: as text for a terminal, HTML, Markdown, JSON, CSV, OpenMetrics, and what monitoring systems read.
//!
//! Pure: values in, text out. Nothing here reads a file, a clock or the environment, and nothing knows a command.
#![forbid(unsafe_code)]

pub mod advisories;
pub mod audit;
pub mod baseline;
pub mod bench;
pub mod brief;
pub mod certificate;
pub mod change;
mod chart;
pub mod diagnosis;
pub mod difference;
pub mod doctor;
pub mod document;
pub mod documentation;
pub mod experiment;
pub mod explain;
pub mod fleet;
pub mod harmless;
pub mod history;
pub mod ipmi;
pub mod json;
pub mod ledger;
mod lengths;
pub mod look;
mod machine;
pub mod metrics;
pub mod monitoring;
pub mod net;
pub mod noise;
pub mod openmetrics;
pub mod other_tools;
pub mod outputs;
mod page;
pub mod race;
pub mod redfish;
mod relations;
pub mod roles;
pub mod samples;
pub mod schemas;
pub mod spans;
pub mod tick;
pub mod why;
mod wording;

pub use page::Style;
