//! Which doubts the trials of a record raise. They say how large what they doubt is, where that has a size; none forbids a claim.
//!
//! What the trials cannot show is not here: that a run was cut short, that trials failed.

use crate::compare::Measure;
use crate::doubt::{Doubt, Raised};
use crate::experiment;
use crate::other_load::Taken;
use crate::record::{Arm, Record};
use crate::stats::{LEAST_BATCHES, LEAST_BLOCKS, Sample, median, shift};
use crate::trial::{Trial, TrialContext};
use facts::system::roles::{Words, product_of};
use std::collections::BTreeSet;

/// Throttling in any part of a trial is a doubt: a millisecond a second of it is 0.1 %, less than what is compared.
const THROTTLED_MS_A_SECOND: f64 = 1.0;

/// The clock probe disagrees with itself by 0.01 %, and turbo moves a clock by 100 MHz of some thousands, 2 to 4 %, at a
/// time; half of such a step stands out from both.
const CLOCK_DRIFT: f64 = 0.01;

/// Half a percent taken from the trials, unevenly, is a difference as large as the smallest that settings make.
const TAKEN: f64 = 0.005;

/// A move of the figures that is smaller than half a percent is smaller than what one looks for between moments.
const DRIFT: f64 = 0.005;

/// The workload whose server only `--server` names.
const COMMAND: &str = "command";

/// Trials of which one arm has an interval, and two moments are compared.
const LEAST_TRIALS: usize = 5;

/// What makes the trials doubtful, in the order of [`Doubt`].
pub fn of(record: &Record) -> Vec<Raised> {
    let mut sides: Vec<Side<'_>> =
        record.arms.iter().map(|arm| Side { arm, trials: Vec::new() }).collect();
    for trial in &record.trials {
        sides.get_mut(trial.arm).into_iter().for_each(|it| it.trials.push(trial));
    }
    let too_few = too_few(&sides, record);
    sides.retain(|it| !it.trials.is_empty());
    // The verdict of a race is of what was steady of it, and says what was not.
    let moved = if record.is_race() { |_: &Side<'_>| None } else { moved };
    [throttled, clock_drifted, clock_unknown, stolen, other_load, moved]
        .into_iter()
        .flat_map(|ask| raised(&sides, ask))
        .chain(too_few.map(Raised::from))
        .chain(raised(&sides, unpinned))
        .chain(raised(&sides, machine_unknown))
        .collect()
}

/// An arm and its trials.
struct Side<'a> {
    arm: &'a Arm,
    trials: Vec<&'a Trial>,
}

/// What each arm says when it is asked: once where all of them say the same, else with the arm's name.
fn raised(sides: &[Side<'_>], ask: fn(&Side<'_>) -> Option<Doubt>) -> Vec<Raised> {
    let found: Vec<Option<Doubt>> = sides.iter().map(ask).collect();
    match &found[..] {
        [Some(first), others @ ..] if others.iter().all(|it| it.as_ref() == Some(first)) => {
            vec![first.clone().into()]
        }
        _ => {
            let name = |(side, doubt): (&Side<'_>, Option<Doubt>)| {
                Some(Raised::by(&side.arm.name, doubt?))
            };
            sides.iter().zip(found).filter_map(name).collect()
        }
    }
}

fn throttled(side: &Side<'_>) -> Option<Doubt> {
    let is_throttled = |it: &&&Trial| {
        it.surroundings.value().is_some_and(|around| {
            most(around, "throttle-events") > 0.0
                || most(around, "throttle-time") >= THROTTLED_MS_A_SECOND
        })
    };
    let trials = side.trials.iter().filter(is_throttled).count() as u32;
    (trials > 0).then_some(Doubt::Throttled { trials })
}

/// The highest value of a metric's parts.
fn most(surroundings: &TrialContext, id: &str) -> f64 {
    let readings = surroundings.metrics.iter().filter(|it| it.metric == id);
    readings.filter_map(|it| it.value.value().copied()).fold(0.0, f64::max)
}

/// Where some trials have a clock, those say how far it moved. One odd probe says nothing, and more trials do not make it more.
fn clock_drifted(side: &Side<'_>) -> Option<Doubt> {
    let sample = Sample::new(clocks(side)).ok()?;
    let share = sample.quantile(0.9) / sample.quantile(0.1).max(1.0) - 1.0;
    (share >= CLOCK_DRIFT).then_some(Doubt::ClockDrifted { share })
}

fn clock_unknown(side: &Side<'_>) -> Option<Doubt> {
    if !clocks(side).is_empty() {
        return None;
    }
    let missing = side.trials.iter().find_map(|it| it.clock.reason())?;
    Some(Doubt::ClockUnknown { missing: missing.to_owned() })
}

fn clocks(side: &Side<'_>) -> Vec<f64> {
    side.trials.iter().filter_map(|it| Some(it.clock.value()?.mean_hz())).collect()
}

fn stolen(side: &Side<'_>) -> Option<Doubt> {
    let share = Taken::of(side.arm, &side.trials).stolen();
    (share >= TAKEN).then_some(Doubt::Stolen { share })
}

fn other_load(side: &Side<'_>) -> Option<Doubt> {
    let taken = Taken::of(side.arm, &side.trials);
    let share = taken.by_tasks();
    (share >= TAKEN).then(|| {
        let by = taken.busiest(TAKEN);
        let is_command = side.arm.workload == COMMAND && side.arm.settings.server.is_none();
        let server = by.iter().find_map(|it| product_named(&it.name)).filter(|_| is_command);
        Doubt::OtherLoad { share, by, server: server.map(str::to_owned) }
    })
}

/// The database product whose processes have this name.
fn product_named(name: &str) -> Option<&'static str> {
    product_of(&Words { comm: name, cmdline: &[] }).map(|it| it.id).filter(|it| *it != "jvm")
}

/// The main figures, as logarithms of slowness.
fn figures(side: &Side<'_>) -> Option<Sample> {
    Sample::new(side.trials.iter().filter_map(|it| Measure::Figure.of(it)).collect()).ok()
}

/// A warm-up or a drift: the clearest shift of the level, and by how much the median moves there.
///
/// What lasts for fewer than five trials moves the median of all by next to nothing: it shows in the longest trial.
fn moved(side: &Side<'_>) -> Option<Doubt> {
    let figures = figures(side)?;
    let place = shift(&figures)?;
    let (before, after) = figures.in_order().split_at(place);
    let [before, after] = [before, after].map(|it| Sample::new(it.to_vec()));
    let by = median(&after.ok()?) - median(&before.ok()?);
    if by.abs() < DRIFT {
        return None;
    }
    // Counted among the trials of the arm, as a reader does who knows how many it has.
    let mut counted = (1..).zip(&side.trials).filter(|(_, it)| Measure::Figure.of(it).is_some());
    let (at, _) = counted.nth(place)?;
    Some(if by < 0.0 && 3 * place <= figures.len() {
        Doubt::Warming { trials: at - 1, share: (-by).exp_m1() }
    } else {
        Doubt::Drifted { at, share: by.exp_m1() }
    })
}

fn unpinned(side: &Side<'_>) -> Option<Doubt> {
    (side.arm.cpus.is_none() && !side.arm.is_foreign).then_some(Doubt::Unpinned)
}

fn machine_unknown(side: &Side<'_>) -> Option<Doubt> {
    side.arm.is_foreign.then_some(Doubt::MachineUnknown)
}

/// Blocks count where there are several arms, those that any of them shares with the first, and of a race the intervals; trials
/// where there is one arm. The analysis of a study needs fewer blocks than two arms do that are compared.
fn too_few(sides: &[Side<'_>], record: &Record) -> Option<Doubt> {
    let (have, needed) = match sides {
        [] => (0, LEAST_TRIALS),
        [one] => (one.trials.len(), LEAST_TRIALS),
        [first, others @ ..] => {
            let first = blocks_of(first);
            let shared = others.iter().map(|it| blocks_of(it).intersection(&first).count());
            let needed = if record.is_race() {
                LEAST_BATCHES
            } else if record.experiment.is_some() {
                experiment::analysis::LEAST_BLOCKS as usize
            } else {
                LEAST_BLOCKS
            };
            (shared.min().unwrap_or_default(), needed)
        }
    };
    (have < needed).then_some(Doubt::TooFewTrials { trials: have as u32, needed: needed as u32 })
}

/// The blocks in which every trial has a figure.
fn blocks_of(side: &Side<'_>) -> BTreeSet<u32> {
    let has_figure = |it: &&Trial| Measure::Figure.of(it).is_some();
    let (with, without): (Vec<&Trial>, Vec<&Trial>) =
        side.trials.iter().copied().partition(has_figure);
    let without: BTreeSet<u32> = without.into_iter().map(|it| it.block).collect();
    with.into_iter().map(|it| it.block).filter(|it| !without.contains(it)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixture::{blocks, moment, record, trial};
    use crate::experiment::{Design, Experiment};
    use crate::known::Known;
    use crate::trial::Reading;

    /// The doubts of a steady record after `change`, as its file would hold them.
    fn after(change: impl Fn(&mut Record)) -> String {
        let mut record = moment(1.0, 2.5e9, 0.003);
        change(&mut record);
        serde_json::to_string(&of(&record)).unwrap()
    }

    #[test]
    fn a_steady_pinned_arm_raises_no_doubt() {
        assert_eq!(after(|_| ()), "[]");
    }

    #[test]
    fn what_the_machine_did_is_told_by_its_counters() {
        let metric = |metric: &str, value| Reading {
            metric: metric.to_owned(),
            part: String::new(),
            value: Known::Value(value),
        };
        let throttled = after(|it| {
            let metrics = vec![metric("throttle-events", 0.5), metric("steal", 9.0)].into();
            let around = TrialContext { metrics, ..TrialContext::default() };
            it.trials[2].surroundings = Known::Value(around);
        });
        assert_eq!(throttled, r#"[{"doubt":"throttled","trials":1}]"#);
    }

    #[test]
    fn a_clock_that_nobody_saw_says_why() {
        let unseen = after(|it| {
            for trial in &mut it.trials {
                trial.clock = Known::missing("too busy");
            }
        });
        assert_eq!(unseen, r#"[{"doubt":"clock-unknown","missing":"too busy"}]"#);
    }

    #[test]
    fn few_trials_and_no_pinning_are_told_and_one_slow_trial_is_not() {
        assert_eq!(after(|it| it.trials[9] = trial(0, 9, 1.5, 2.5e9)), "[]");
        let few = after(|it| it.trials.truncate(4));
        assert_eq!(few, r#"[{"doubt":"too-few-trials","trials":4,"needed":5}]"#);
        assert_eq!(after(|it| it.arms[0].cpus = None), r#"[{"doubt":"unpinned"}]"#);
    }

    #[test]
    fn one_odd_probe_is_no_moving_clock_and_a_fifth_of_them_is() {
        let with_slow = |n: usize| {
            after(|it| {
                for trial in it.trials.iter_mut().take(n) {
                    trial.clock = crate::compare::fixture::trial(0, 0, 1.0, 2.4e9).clock;
                }
            })
        };
        assert_eq!(with_slow(1), "[]");
        assert!(with_slow(4).starts_with(r#"[{"doubt":"clock-drifted","share":0.04"#));
    }

    #[test]
    fn a_doubt_that_one_arm_alone_raises_names_it() {
        let mut record = record(blocks((1.0, 2.5e9), (1.0, 2.5e9), 0.003));
        record.arms[0].cpus = None;
        let found = serde_json::to_string(&of(&record)).unwrap();
        assert_eq!(found, r#"[{"arm":"arm 0","doubt":"unpinned"}]"#);
        record.arms[1].cpus = None;
        assert_eq!(serde_json::to_string(&of(&record)).unwrap(), r#"[{"doubt":"unpinned"}]"#);
    }

    #[test]
    fn a_study_has_too_few_trials_where_its_own_analysis_has() {
        let mut record = record(blocks((1.0, 2.5e9), (1.0, 2.5e9), 0.003));
        let few = |record: &Record| {
            let found = of(record).into_iter().map(|it| it.doubt);
            found.filter(|it| matches!(it, Doubt::TooFewTrials { .. })).collect::<Vec<_>>()
        };
        let blocks_are = |record: &mut Record, n| record.trials.retain(|it| it.block < n);
        let first = record.trials[0].block;
        blocks_are(&mut record, first + 3);
        assert_eq!(few(&record), [Doubt::TooFewTrials { trials: 3, needed: 4 }]);
        let (design, arms) = (Design::default(), Vec::new());
        record.experiment = Some(Experiment::of(design, arms, 1));
        assert_eq!(few(&record), []);
        // A trial without a figure takes its block with it.
        record.trials[0].outcome.figures = Vec::new().into();
        assert_eq!(few(&record), [Doubt::TooFewTrials { trials: 2, needed: 3 }]);
    }

    #[test]
    fn a_race_has_too_few_intervals_where_its_verdict_has() {
        let mut record = record(blocks((1.0, 2.5e9), (1.0, 2.5e9), 0.003));
        record.id = "20261120T154305Z-race".to_owned();
        record.trials.retain(|it| it.block < 7);
        let few = Doubt::TooFewTrials { trials: 7, needed: 8 };
        assert_eq!(of(&record), [few.into()]);
    }

    #[test]
    fn results_that_moved_are_told_with_the_trial_and_the_share() {
        let moved = after(|it| {
            for trial in &mut it.trials[12..] {
                trial.outcome.figures.edit(|it| it[0].value *= 1.1);
            }
        });
        assert!(moved.contains(r#"{"doubt":"drifted","at":13,"share":0.1"#), "{moved}");
    }

    #[test]
    fn slow_trials_at_the_beginning_are_a_warm_up_with_its_size() {
        let warming = after(|it| {
            for trial in &mut it.trials[..6] {
                trial.outcome.figures.edit(|it| it[0].value *= 1.1);
            }
        });
        assert!(warming.contains(r#"{"doubt":"warming","trials":6,"share":0.1"#), "{warming}");
        let fast = after(|it| {
            for trial in &mut it.trials[..6] {
                trial.outcome.figures.edit(|it| it[0].value /= 1.1);
            }
        });
        assert!(fast.contains(r#"{"doubt":"drifted","at":7,"share":0.09"#), "{fast}");
    }

    #[test]
    fn the_trial_of_a_move_is_counted_among_those_of_its_arm() {
        let mut record = record(blocks((1.0, 2.5e9), (1.0, 2.5e9), 0.003));
        for trial in record.trials.iter_mut().filter(|it| it.arm == 1).skip(10) {
            trial.outcome.figures.edit(|it| it[0].value *= 1.1);
        }
        let found = of(&record);
        let [Raised { arm: Some(arm), doubt: Doubt::Drifted { at, .. } }] = &found[..] else {
            panic!("{found:?}");
        };
        assert!(arm == "arm 1" && *at == 11, "{found:?}");
    }
}
