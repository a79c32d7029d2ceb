//! What a fleet loses, counted in machines, each machine once.

use fleet::Answer;
use std::collections::HashMap;

/// What all slow machines lack together, in healthy machines: two at half their speed are one.
pub(super) struct Losses {
    /// Of all.
    pub(super) total: f64,
    /// Of those that each explanation holds and none before it.
    pub(super) explained: Vec<f64>,
}

impl Losses {
    /// A slow machine lacks what it lacks; another one that an explanation holds lacks what is typical of it, unless only some of its
    /// machines are slow.
    pub(super) fn of(answer: &Answer) -> Losses {
        let mut of_machines: HashMap<usize, (f64, Option<usize>)> =
            answer.slow.iter().map(|it| (it.machine, (it.lost, it.explained_by))).collect();
        let whole = answer.explanations.iter().enumerate().filter(|(_, it)| !it.partly);
        for (at, it) in whole {
            for machine in &it.inside {
                of_machines.entry(*machine).or_insert((it.lost, Some(at)));
            }
        }
        let mut explained = vec![0.0; answer.explanations.len()];
        let mut losses: Vec<(f64, Option<usize>)> = of_machines.into_values().collect();
        // A sum that does not depend on the order of a map.
        losses.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (lost, by) in &losses {
            if let Some(sum) = by.and_then(|it| explained.get_mut(it)) {
                *sum += lost;
            }
        }
        Losses { total: losses.iter().map(|(lost, _)| lost).sum(), explained }
    }
}
