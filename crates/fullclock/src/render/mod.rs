//! Results as text and as JSON.

pub(crate) mod bench;
pub(crate) mod certificate;
pub(crate) mod change;
mod csv;
pub(crate) mod experiment;
pub(crate) mod history;
pub(crate) mod html;
pub(crate) mod ipmi;
pub(crate) mod json;
pub(crate) mod ledger;
mod lengths;
pub(crate) mod net;
pub(crate) mod noise;
pub(crate) mod openmetrics;
mod page;
pub(crate) mod race;
pub(crate) mod samples;
pub(crate) mod text;
pub(crate) mod tick;
mod unknowns;
