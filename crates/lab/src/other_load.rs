//! What the hypervisor and other tasks took of the trials themselves, as far as they say: the ledger of a trial is of the second
//! before it, too.

use crate::doubt::LoadOf;
use crate::record::Arm;
use crate::trial::{Outcome, Trial, TrialContext};
use crate::workloads::find;
use std::collections::BTreeMap;

/// The losses to other tasks.
const BY_TASKS: [&str; 2] = ["other-tasks", "kernel-threads"];

/// What others took of the CPUs, and of how much time.
#[derive(Clone, Copy, Default)]
pub(crate) struct Taken {
    /// By the hypervisor.
    pub(crate) stolen_ns: f64,
    /// By other tasks and kernel threads.
    pub(crate) by_tasks_ns: f64,
    /// Of so much time.
    pub(crate) of_ns: f64,
}

impl Taken {
    /// Of the trials alone where all of them say how long they were kept from their CPU, else of the windows of their ledgers.
    pub(crate) fn of(arm: &Arm, trials: &[&Trial]) -> Taken {
        let windows = || {
            trials.iter().filter_map(|it| Some((*it, Taken::of_window(it.surroundings.value()?))))
        };
        let of_trials: Option<Taken> =
            windows().map(|(trial, window)| window.within(arm, trial)).sum();
        of_trials.unwrap_or_else(|| windows().map(|it| it.1).sum())
    }

    fn of_window(around: &TrialContext) -> Taken {
        let window_ns = around.window_ns as f64;
        let by = |losses: &[&str]| {
            let lines = around.ledger.iter().filter(|it| losses.contains(&it.loss));
            window_ns * lines.filter_map(|it| it.share.value().copied()).sum::<f64>()
        };
        Taken { stolen_ns: by(&["stolen"]), by_tasks_ns: by(&BY_TASKS), of_ns: window_ns }
    }

    /// What of it was taken from the trial itself: at most the time for which it was kept from its CPU, by either in proportion.
    fn within(self, arm: &Arm, trial: &Trial) -> Option<Taken> {
        let of_ns = *trial.outcome.elapsed_ns.value()? as f64;
        let most_ns = kept_from_cpu(arm, trial)? * of_ns;
        let part = (most_ns / (self.stolen_ns + self.by_tasks_ns).max(1.0)).min(1.0);
        Some(Taken {
            stolen_ns: part * self.stolen_ns,
            by_tasks_ns: part * self.by_tasks_ns,
            of_ns,
        })
    }
}

/// Who took most of what others took, over the windows of all trials, by name; none that took less than `least`.
pub(crate) fn busiest(trials: &[&Trial], least: f64) -> Vec<LoadOf> {
    const MOST: usize = 3;
    let mut sums: BTreeMap<String, f64> = BTreeMap::new();
    let mut of_ns = 0.0;
    for around in trials.iter().filter_map(|it| it.surroundings.value()) {
        let window_ns = around.window_ns as f64;
        of_ns += window_ns;
        let lines = around.ledger.iter().filter(|it| BY_TASKS.contains(&it.loss));
        for line in lines.filter(|it| !it.part.is_empty()) {
            if let Some(share) = line.share.value() {
                *sums.entry(line.part.to_owned()).or_default() += window_ns * share;
            }
        }
    }
    let share = |(name, ns): (String, f64)| LoadOf { name, share: ns / of_ns.max(1.0) };
    let mut found: Vec<LoadOf> =
        sums.into_iter().map(share).filter(|it| it.share >= least).collect();
    found.sort_by(|a, b| b.share.total_cmp(&a.share));
    found.truncate(MOST);
    found
}

impl std::iter::Sum for Taken {
    fn sum<I: Iterator<Item = Taken>>(each: I) -> Taken {
        each.fold(Taken::default(), |sum, it| Taken {
            stolen_ns: sum.stolen_ns + it.stolen_ns,
            by_tasks_ns: sum.by_tasks_ns + it.by_tasks_ns,
            of_ns: sum.of_ns + it.of_ns,
        })
    }
}

/// The share of a trial of this arm for which its task was kept from the CPU: others took at most so much.
///
/// `None` where only the ledger tells: of tasks that sleep, of several, which wait for the slowest, and of another program's. A guest
/// whose kernel lacks CONFIG_PARAVIRT_TIME_ACCOUNTING counts stolen time as the task's own.
fn kept_from_cpu(arm: &Arm, trial: &Trial) -> Option<f64> {
    let workload = find(&arm.workload)?;
    let Outcome { elapsed_ns, cpu_ns, tasks, .. } = &trial.outcome;
    let (elapsed_ns, cpu_ns) = (*elapsed_ns.value()?, *cpu_ns.value()?);
    let is_known = workload.never_sleeps() && *tasks == 1 && elapsed_ns > 0;
    is_known.then(|| elapsed_ns.saturating_sub(cpu_ns) as f64 / elapsed_ns as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixture::moment;
    use crate::known::Known;
    use crate::trial::Share;

    fn kept(workload: &str, cpu_ns: u64, tasks: u32) -> Option<f64> {
        let mut trial = Trial::of_one_task(0, 1, 0.003);
        trial.outcome.cpu_ns = Known::Value(cpu_ns);
        trial.outcome.tasks = tasks;
        kept_from_cpu(&Arm::of("A", workload), &trial)
    }

    #[test]
    fn a_task_that_never_sleeps_is_kept_from_the_cpu_for_what_it_took_longer() {
        assert_eq!(kept("cpu-loop", 3_000_000, 1), Some(0.0));
        assert_eq!(kept("memory", 1_500_000, 1), Some(0.5));
        // The CPU's clock may be ahead by what reading it takes.
        assert_eq!(kept("cpu-loop", 3_000_001, 1), Some(0.0));
    }

    #[test]
    fn sleep_and_waiting_for_others_are_no_load() {
        assert_eq!(
            [kept("cpu-loop", 6_000_000, 2), kept("wakeup", 1, 1), kept("made up", 1, 1)],
            [None; 3]
        );
    }

    /// A steady record of one arm whose ledgers have a quarter of their windows stolen and one taken by kernel threads.
    fn taken(workload: &str, window_ns: u64, on_cpu: f64) -> [f64; 2] {
        let line = |loss: &str| Share {
            loss: loss.to_owned(),
            part: String::new(),
            share: Known::Value(0.25),
        };
        let mut record = moment(1.0, 2.5e9, 0.003);
        workload.clone_into(&mut record.arms[0].workload);
        for trial in &mut record.trials {
            let elapsed_ns = *trial.outcome.elapsed_ns.value().unwrap() as f64;
            trial.outcome.cpu_ns = Known::Value((on_cpu * elapsed_ns) as u64);
            trial.surroundings = Known::Value(TrialContext {
                window_ns,
                ledger: vec![line("stolen"), line("kernel-threads"), line("useful")].into(),
                ..TrialContext::default()
            });
        }
        let trials: Vec<&Trial> = record.trials.iter().collect();
        let Taken { stolen_ns, by_tasks_ns, of_ns } = Taken::of(&record.arms[0], &trials);
        [stolen_ns, by_tasks_ns].map(|it| (1e3 * it / of_ns).round() / 1e3)
    }

    #[test]
    fn what_others_took_is_a_share_of_the_trials_where_they_know_it_and_else_of_their_windows() {
        let second = 1_000_000_000;
        // Half of the window was taken, and nothing of the trials.
        assert_eq!(taken("cpu-loop", 2 * second, 1.0), [0.0, 0.0]);
        assert_eq!(taken("cpu-loop", 2 * second, 0.9), [0.05, 0.05]);
        // Trials that waited for half of their time, of which the ledger explains no more than a fifth.
        assert_eq!(taken("cpu-loop", second * 2 / 5, 0.5), [0.1, 0.1]);
        assert_eq!(taken("wakeup", 2 * second, 0.0), [0.25, 0.25]);
    }
}
