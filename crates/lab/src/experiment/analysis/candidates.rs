//! Which combinations of settings can be chosen.
//!
//! Of a full factorial those that were run. Where one factor is moved at a time, those too: what two changes do together was
//! never seen, and is no sum where they interact. A fraction sees its effects as means over all other factors; any
//! combination can be chosen of it, and need not have been run.

use super::study::Study;
use crate::experiment::Kind;
use std::collections::BTreeSet;

/// Combinations of settings; the levels of conditions are 0.
pub(super) struct Candidates {
    /// Places in the list of combinations, and the levels; the first levels in front.
    pub(super) run: Vec<(usize, Vec<usize>)>,
    /// Those of which a trial failed, of any workload, under any condition.
    failing: BTreeSet<Vec<usize>>,
}

impl Candidates {
    pub(super) fn of(study: &Study<'_>) -> Candidates {
        let mut seen = BTreeSet::new();
        let levels = |arm: usize| settings(study, &study.experiment.arms[arm].levels);
        let arms = (0..study.design().workloads.len().min(1)).flat_map(|it| study.grid.arms(it));
        let run = arms.map(|arm| levels(*arm)).enumerate().filter(|it| seen.insert(it.1.clone()));
        let failed = study.record.trials.iter().filter(|it| it.failed.is_some());
        let run = run.collect();
        Candidates { run, failing: failed.map(|it| levels(it.arm)).collect() }
    }

    /// Whether these settings were run together.
    pub(super) fn was_run(&self, levels: &[usize]) -> bool {
        self.run.iter().any(|it| it.1 == levels)
    }

    /// Whether no trial with them failed.
    pub(super) fn is_sound(&self, levels: &[usize]) -> bool {
        !self.failing.contains(levels)
    }
}

/// The same levels with those of conditions at 0.
fn settings(study: &Study<'_>, levels: &[usize]) -> Vec<usize> {
    let factors = study.design().factors.iter();
    let level = |(it, factor): (&usize, &crate::experiment::Factor)| match factor.kind() {
        Kind::Setting => *it,
        Kind::Place | Kind::Load => 0,
    };
    levels.iter().zip(factors).map(level).collect()
}
