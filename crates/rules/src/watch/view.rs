//! What is made of each interval.

use super::probe;
use crate::metric::Metric;
use crate::metrics::METRICS;

/// What is made of two samples, and so what they have to hold.
#[derive(Clone)]
pub struct View {
    /// The metrics, each once, in the order of [`METRICS`].
    pub metrics: Vec<&'static Metric>,
    /// Whether the clock is probed where no counter shows it.
    pub clock_probe: bool,
    /// The process that observes, whose own time is a line of the ledger; `None` where no ledger is made.
    pub ledger: Option<u32>,
}

impl View {
    /// Every metric, and a ledger by the process `observer`.
    pub fn everything(observer: u32) -> View {
        View { metrics: METRICS.to_vec(), clock_probe: true, ledger: Some(observer) }
    }

    /// Every metric that `is_wanted`, and no ledger.
    pub fn of_metrics(is_wanted: impl Fn(&Metric) -> bool) -> View {
        View {
            metrics: METRICS.iter().copied().filter(|it| is_wanted(it)).collect(),
            clock_probe: is_wanted(&probe::METRIC),
            ledger: None,
        }
    }
}
