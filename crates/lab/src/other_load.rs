//! What the hypervisor and other tasks took of the trials themselves, as far as they say: the ledger of a trial is of the second
//! before it, too.

use crate::doubt::LoadOf;
use crate::record::Arm;
use crate::trial::{Outcome, Trial, TrialContext};
use crate::workloads::find;
use std::collections::BTreeMap;

/// The loss to the hypervisor.
const STOLEN: &str = "stolen";

/// The losses to other tasks.
const BY_TASKS: [&str; 2] = ["other-tasks", "kernel-threads"];

/// What others took of the CPUs, and of how much time. A part is never more than the whole: both are of the same time and the same CPUs.
#[derive(Clone, Default)]
pub(crate) struct Taken {
    /// By the hypervisor.
    stolen_ns: f64,
    /// By other tasks and kernel threads, by name; what has no name is under the empty one.
    by_tasks_ns: BTreeMap<String, f64>,
    /// Of so much time.
    of_ns: f64,
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
        let mut taken = Taken { of_ns: window_ns, ..Taken::default() };
        for line in around.ledger.iter() {
            let Some(share) = line.share.value() else { continue };
            if line.loss == STOLEN {
                taken.stolen_ns += window_ns * share;
            } else if BY_TASKS.contains(&line.loss) {
                *taken.by_tasks_ns.entry(line.part.to_owned()).or_default() += window_ns * share;
            }
        }
        taken.at_most(window_ns)
    }

    /// What of it was taken from the trial itself: at most the time for which it was kept from its CPU, by each in proportion.
    fn within(self, arm: &Arm, trial: &Trial) -> Option<Taken> {
        let of_ns = *trial.outcome.elapsed_ns.value()? as f64;
        let most_ns = kept_from_cpu(arm, trial)? * of_ns;
        Some(Taken { of_ns, ..self.at_most(most_ns) })
    }

    /// Scaled down, each in proportion, so that all of it is at most `most_ns`.
    fn at_most(mut self, most_ns: f64) -> Taken {
        let part = (most_ns / (self.stolen_ns + self.all_tasks_ns()).max(1.0)).min(1.0);
        self.stolen_ns *= part;
        self.by_tasks_ns.values_mut().for_each(|it| *it *= part);
        self
    }

    fn all_tasks_ns(&self) -> f64 {
        self.by_tasks_ns.values().sum()
    }

    /// The share of the time that the hypervisor took.
    pub(crate) fn stolen(&self) -> f64 {
        self.stolen_ns / self.of_ns.max(1.0)
    }

    /// The share of the time that other tasks and kernel threads took.
    pub(crate) fn by_tasks(&self) -> f64 {
        self.all_tasks_ns() / self.of_ns.max(1.0)
    }

    /// Who took most of that, by name; none that took less than `least`.
    pub(crate) fn busiest(&self, least: f64) -> Vec<LoadOf> {
        const MOST: usize = 3;
        let named = self.by_tasks_ns.iter().filter(|(name, _)| !name.is_empty());
        let load = |(name, ns): (&String, &f64)| LoadOf {
            name: name.clone(),
            share: ns / self.of_ns.max(1.0),
        };
        let mut found: Vec<LoadOf> = named.map(load).filter(|it| it.share >= least).collect();
        found.sort_by(|a, b| b.share.total_cmp(&a.share));
        found.truncate(MOST);
        found
    }
}

impl std::iter::Sum for Taken {
    fn sum<I: Iterator<Item = Taken>>(each: I) -> Taken {
        each.fold(Taken::default(), |mut sum, it| {
            sum.stolen_ns += it.stolen_ns;
            sum.of_ns += it.of_ns;
            for (name, ns) in it.by_tasks_ns {
                *sum.by_tasks_ns.entry(name).or_default() += ns;
            }
            sum
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

    /// What was taken of a steady record of one arm whose ledgers have a quarter of their windows stolen, and two eighths taken by kernel threads.
    fn recorded(workload: &str, window_ns: u64, on_cpu: f64) -> Taken {
        let line = |loss: &str, part: &str, share: f64| Share {
            loss: loss.to_owned(),
            part: part.to_owned(),
            share: Known::Value(share),
        };
        let mut record = moment(1.0, 2.5e9, 0.003);
        workload.clone_into(&mut record.arms[0].workload);
        for trial in &mut record.trials {
            let elapsed_ns = *trial.outcome.elapsed_ns.value().unwrap() as f64;
            trial.outcome.cpu_ns = Known::Value((on_cpu * elapsed_ns) as u64);
            let threads = ["kworker/0:1", ""].map(|it| line("kernel-threads", it, 0.125));
            let others = [line("stolen", "", 0.25), line("useful", "", 0.5)];
            trial.surroundings = Known::Value(TrialContext {
                window_ns,
                ledger: others.into_iter().chain(threads).collect::<Vec<_>>().into(),
                ..TrialContext::default()
            });
        }
        let trials: Vec<&Trial> = record.trials.iter().collect();
        Taken::of(&record.arms[0], &trials)
    }

    fn taken(workload: &str, window_ns: u64, on_cpu: f64) -> [f64; 2] {
        let taken = recorded(workload, window_ns, on_cpu);
        [taken.stolen(), taken.by_tasks()].map(|it| (1e3 * it).round() / 1e3)
    }

    #[test]
    fn what_one_task_took_is_no_more_than_what_all_of_them_took() {
        let second = 1_000_000_000;
        // The windows of the ledgers are much longer than the trials, and others worked in between.
        for on_cpu in [0.99, 0.9, 0.5, 0.0] {
            let taken = recorded("cpu-loop", 2 * second, on_cpu);
            let by = taken.busiest(0.0);
            assert_eq!(by.len(), 1);
            let half = by[0].share / taken.by_tasks();
            assert!((half - 0.5).abs() < 1e-9, "{by:?} of {}", taken.by_tasks());
        }
        assert!(recorded("cpu-loop", 2 * second, 1.0).busiest(0.001).is_empty());
    }

    #[test]
    fn shares_of_a_window_that_add_up_to_more_than_the_window_are_made_to_fit() {
        let line = |loss: &str, share: f64| Share {
            loss: loss.to_owned(),
            part: "gzip".to_owned(),
            share: Known::Value(share),
        };
        let around = TrialContext {
            window_ns: 500_000_000,
            ledger: vec![line("other-tasks", 1.6), line("stolen", 0.4)].into(),
            ..TrialContext::default()
        };
        let taken = Taken::of_window(&around);
        assert!((taken.by_tasks() - 0.8).abs() < 1e-9 && (taken.stolen() - 0.2).abs() < 1e-9);
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
