//! What a factor does to a workload, in sentences.

use super::{Changed, listed};
use crate::bench::percent;
use crate::experiment::Study;
use lab::experiment::analysis::{Effect, Estimate, WorkloadAnalysis};
use lab::known::Known;
use rules::losses;

/// A sentence about one effect, with details.
pub(in crate::experiment) struct EffectSentence {
    /// `governor=powersave makes cpu-loop take 2.2 times as long as with performance (2.1 to 2.3); ...`.
    pub(in crate::experiment) sentence: String,
    /// The losses and the power that changed, if measured.
    pub(in crate::experiment) beside: Option<String>,
    /// Whether it was shown.
    pub(in crate::experiment) is_claimed: bool,
}

/// The effects of all levels of all factors: those that were shown first, the largest first.
pub(in crate::experiment) fn effects(
    study: &Study<'_>,
    workload: &WorkloadAnalysis,
) -> Vec<EffectSentence> {
    let size = |it: &Effect| {
        let claimed = it.estimate.value().filter(|it| it.is_claimed);
        claimed.map_or(-1.0, |it| it.change.abs())
    };
    let mut effects: Vec<&Effect> = workload.effects.iter().collect();
    effects.sort_by(|a, b| size(b).total_cmp(&size(a)));
    effects.into_iter().map(|it| effect_sentence(study, workload, it)).collect()
}

fn effect_sentence(
    study: &Study<'_>,
    workload: &WorkloadAnalysis,
    effect: &Effect,
) -> EffectSentence {
    let level = study.setting(effect.factor, effect.level);
    let first = study.level(effect.factor, 0);
    let changed = Changed::of(study, workload);
    let workload = study.workload_name(&workload.workload);
    let claimed = effect.estimate.value().is_some_and(|it| it.is_claimed);
    let sentence = match &effect.estimate {
        Known::Missing { missing } => {
            format!("{level} cannot be compared with {first} in {workload}: {missing}")
        }
        Known::Value(it) if it.is_claimed => {
            format!("{level} makes {}{}", changed.claim(it, first), clock(changed, effect, it))
        }
        Known::Value(it) => {
            let range = changed.range(it).map_or_else(
                || format!("its results are those with {first}"),
                |range| format!("if there is one, it is {range} than with {first}"),
            );
            format!("{level}: no effect on {workload} shown; {range}")
        }
    };
    EffectSentence { sentence, beside: beside(effect).filter(|_| claimed), is_claimed: claimed }
}

/// What the clock has to do with a change, as a clause.
fn clock(changed: Changed<'_>, effect: &Effect, estimate: &Estimate) -> String {
    let (Some(alone), Some(left)) = (effect.by_clock.value(), effect.in_cycles.value()) else {
        let missing = effect.by_clock.reason().or(effect.in_cycles.reason()).unwrap_or_default();
        return format!("; what the clock explains of it is unknown: {missing}");
    };
    if changed.is_explained(estimate, left) {
        let [_, low, high] = changed.ends(left).map(f64::abs);
        let within = percent(low.max(high));
        return format!("; the clock explains it: in cycles both are the same within {within} %");
    }
    let left = match changed.range(left) {
        Some(range) if left.is_claimed => format!("in cycles it is {range}"),
        Some(range) => format!("in cycles no difference is shown: it is {range}"),
        None => "in cycles both are the same".to_owned(),
    };
    if alone.abs() < LEAST {
        return format!("; the clock was the same, and {left}");
    }
    format!("; the clock alone would have made {}, and {left}", changed.about(*alone))
}

/// A change of the clock that is told.
const LEAST: f64 = 0.0005;

/// The losses and the power that changed.
fn beside(effect: &Effect) -> Option<String> {
    const MOST: usize = 3;
    let moved: Vec<String> = effect
        .ledger
        .iter()
        // Useful time is the remainder after the losses.
        .filter(|(loss, _)| loss != "useful")
        .take(MOST)
        .map(|(loss, share)| {
            let title = title(loss);
            let way = if *share < 0.0 { "less" } else { "more" };
            format!("{title} {} points {way}", percent(share.abs()))
        })
        .collect();
    let time = (!moved.is_empty()).then(|| format!("of the CPUs' time, {}", listed(&moved)));
    let is_sure = effect.watts_interval.is_some_and(|it| !it.contains(0.0));
    let watts = effect.watts.value().filter(|it| is_sure && it.abs() >= 0.05).map(|watts| {
        let way = if *watts < 0.0 { "less" } else { "more" };
        format!("{:.1} W {way} power", watts.abs())
    });
    let parts: Vec<String> = [time, watts].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// The title of a line of the ledger.
fn title(loss: &str) -> &str {
    losses::find(loss).map_or(loss, |it| it.title)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::fixture;
    use lab::stats::Interval;

    fn sentence(change: impl FnOnce(&mut Effect)) -> String {
        changed(change).sentence
    }

    fn changed(change: impl FnOnce(&mut Effect)) -> EffectSentence {
        let (record, mut analysis) = fixture::study();
        let mut effect = fixture::effect(0, 1, -0.55, 0.006);
        change(&mut effect);
        analysis.workloads[0].effects = vec![effect];
        let study = Study::of(&record, &analysis).unwrap();
        effects(&study, &analysis.workloads[0]).remove(0)
    }

    #[test]
    fn a_claim_has_its_interval_and_what_the_clock_explains() {
        let told = |alone: f64, left: f64| {
            sentence(|it| {
                it.by_clock = Known::Value(alone);
                it.in_cycles = Known::Value(fixture::estimate(left, 0.006));
            })
        };
        assert_eq!(
            told(-0.55, 0.0),
            "governor=performance makes cpu-loop take 55.0 % less time than with powersave (54.4 to 55.6 %); the clock \
             explains it: in cycles both are the same within 0.60 %"
        );
        let half = told(-0.3, -0.36);
        let ends = "; the clock alone would have made cpu-loop take 30 % less time, and in cycles it is between 36.6 % less and \
                    35.4 % less time";
        assert!(half.ends_with(ends), "{half}");
        let same = told(0.0, -0.55);
        assert!(
            same.contains("; the clock was the same, and in cycles it is between 55.6 %"),
            "{same}"
        );
        let missing = Known::Missing { missing: "no probe".to_owned() };
        let unknown = sentence(|it| it.by_clock = missing);
        assert!(
            unknown.ends_with("what the clock explains of it is unknown: no probe"),
            "{unknown}"
        );
    }

    #[test]
    fn power_is_told_where_its_interval_leaves_out_zero() {
        let beside = |low: f64, high: f64| {
            let power = |it: &mut Effect| {
                it.watts = Known::Value(f64::midpoint(low, high));
                it.watts_interval = Some(Interval { low, high });
            };
            changed(power).beside
        };
        assert_eq!(beside(4.0, 6.0).unwrap(), "5.0 W more power");
        assert_eq!(beside(-1.0, 6.0), None);
    }

    #[test]
    fn what_is_not_claimed_is_not_told_apart() {
        let unclaimed = sentence(|it| {
            let interval = Interval { low: -0.002, high: 0.004 };
            let estimate =
                Estimate { change: 0.001, interval, confidence: 0.999, is_claimed: false };
            it.estimate = Known::Value(estimate);
        });
        assert_eq!(
            unclaimed,
            "governor=performance: no effect on cpu-loop shown; if there is one, it is between 0.2 % less and \
             0.4 % more time than with powersave"
        );
    }

    #[test]
    fn what_could_not_be_compared_says_why() {
        let missing = "all of its trials failed".to_owned();
        assert_eq!(
            sentence(|it| it.estimate = Known::Missing { missing }),
            "governor=performance cannot be compared with powersave in cpu-loop: all of its trials failed"
        );
    }
}
