//! The metrics, one file each, in the order of columns.

mod busy;

use crate::metric::Metric;

/// Every metric.
pub const METRICS: &[&Metric] = &[&busy::METRIC];

/// The metric with this id.
pub fn find(id: &str) -> Option<&'static Metric> {
    METRICS.iter().copied().find(|metric| metric.id == id)
}
