//! What somebody wants to see of each interval, and what has to be sampled for it.

use super::probe;
use facts::counters::Family;
use host::counters::{Processes, Wanted};
use rules::metric::Metric;
use rules::metrics::METRICS;

/// What is made of two samples, and so what they have to hold.
#[derive(Clone)]
pub(crate) struct View {
    /// The metrics, each once, in the order of [`METRICS`].
    pub(crate) metrics: Vec<&'static Metric>,
    /// Whether the clock is probed where no counter shows it.
    pub(crate) clock_probe: bool,
    /// Whether the ledger is made.
    pub(crate) ledger: bool,
}

impl View {
    pub(crate) fn everything() -> View {
        View { metrics: METRICS.to_vec(), clock_probe: true, ledger: true }
    }

    /// Every metric that `is_wanted`, and no ledger.
    pub(crate) fn of_metrics(is_wanted: impl Fn(&Metric) -> bool) -> View {
        View {
            metrics: METRICS.iter().copied().filter(|it| is_wanted(it)).collect(),
            clock_probe: is_wanted(&probe::METRIC),
            ledger: false,
        }
    }

    /// What a sampler has to be asked for. A trace is none of it: that is opened by those who say so.
    pub(super) fn wanted(&self) -> Wanted {
        let own = std::process::id();
        if self.ledger {
            // What this program takes itself is in the books.
            let tasks = Some(Processes::Chosen(vec![own]));
            return Wanted { tasks, groups_of: vec![own], ..Wanted::watch() };
        }
        let probe = self.clock_probe.then_some(&probe::METRIC);
        let has = |family: &&Family| {
            self.metrics.iter().copied().chain(probe).any(|it| it.families.contains(*family))
        };
        Wanted {
            families: Family::ALL
                .iter()
                .filter(has)
                .filter(|it| !it.is_traced())
                .copied()
                .collect(),
            tasks: self.metrics.iter().any(|it| it.tasks).then_some(Processes::KernelThreads),
            groups: false,
            groups_of: Vec::new(),
            wake: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(ids: &[&str]) -> Wanted {
        View::of_metrics(|it| ids.contains(&it.id)).wanted()
    }

    #[test]
    fn only_what_the_metrics_are_made_of_is_sampled() {
        let wanted = view(&["busy", "interrupts"]);
        assert_eq!(wanted.families, [Family::CpuTimes, Family::Interrupts]);
        assert_eq!((wanted.tasks, wanted.groups), (None, false));
        assert_eq!(view(&["kernel-threads"]).tasks, Some(Processes::KernelThreads));
    }

    #[test]
    fn the_clock_probe_needs_to_know_which_cpus_are_busy() {
        assert!(view(&["clock-probe"]).families.contains(&Family::CpuTimes));
    }

    #[test]
    fn a_trace_is_never_sampled() {
        assert_eq!(view(&["tick-stops"]).families, []);
    }

    #[test]
    fn the_ledger_wants_everything_that_is_cheap_and_its_own_tasks() {
        let wanted = View::everything().wanted();
        assert_eq!(wanted.families, Wanted::watch().families);
        assert_eq!(wanted.groups_of, [std::process::id()]);
    }
}
