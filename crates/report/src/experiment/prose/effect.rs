//! What a factor does to a workload, in sentences.

use super::{listed, way_word};
use crate::bench::{percent, percents, signed_percents};
use crate::experiment::Study;
use lab::experiment::analysis::{Effect, Estimate, WorkloadAnalysis};
use lab::known::Known;
use rules::losses;

/// A sentence about one effect, with details.
pub(in crate::experiment) struct EffectSentence {
    /// `governor=powersave makes cpu-loop 125 % slower than performance, ...`.
    pub(in crate::experiment) sentence: String,
    /// The losses and the power that changed, if measured.
    pub(in crate::experiment) beside: Option<String>,
    /// Whether the effect is significant.
    pub(in crate::experiment) is_claimed: bool,
}

/// The effects of all levels of all factors: significant ones first, the largest first.
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
    let workload = study.workload_name(&workload.workload);
    let claimed = effect.estimate.value().is_some_and(|it| it.is_claimed);
    let sentence = match &effect.estimate {
        Known::Missing { missing } => {
            format!("{level} cannot be compared with {first} in {workload}: {missing}")
        }
        Known::Value(it) if it.is_claimed => {
            let [share, low, high] = claim(it);
            let way = way_word(it.change);
            format!(
                "{level} makes {workload} {share} % {way} than {first}, 95 % interval {low} to {high} %{}",
                clock(effect)
            )
        }
        Known::Value(it) => {
            let shares = [it.change, it.interval.low, it.interval.high];
            let [change, low, high] = signed_percents(shares, it.interval.half_width());
            format!(
                "{level} shows no difference from {first} in {workload}: {change} % time, 95 % interval {low} to {high} %"
            )
        }
    };
    EffectSentence { sentence, beside: beside(effect).filter(|_| claimed), is_claimed: claimed }
}

/// The change and both ends of its interval without signs, the smaller end first.
fn claim(estimate: &Estimate) -> [String; 3] {
    let Estimate { change, interval, .. } = estimate;
    let ends = [interval.low.abs(), interval.high.abs()];
    let shares = [change.abs(), ends[0].min(ends[1]), ends[0].max(ends[1])];
    percents(shares, interval.half_width())
}

/// The part of a change that the clock explains, as a clause.
fn clock(effect: &Effect) -> String {
    /// The precision that the probe and the noise of the results allow.
    const CLOSE: f64 = 0.05;
    let part = match &effect.clock_part {
        Known::Value(part) => *part,
        Known::Missing { missing } => {
            return format!("; what the clock explains of it is unknown: {missing}");
        }
    };
    let alone = effect.by_clock.value().filter(|it| it.abs() >= 0.0005);
    match (part, alone) {
        (part, _) if (part - 1.0).abs() <= CLOSE => "; the clock explains all of it".to_owned(),
        (part, _) if part.abs() <= CLOSE => "; the clock explains nothing of it".to_owned(),
        (part, _) if part > 0.0 && part < 1.0 => {
            format!("; the clock explains {:.0} % of it", part * 100.0)
        }
        (_, Some(alone)) => format!(
            "; the clock alone would have made it {} % {}",
            percent(alone.abs()),
            way_word(*alone)
        ),
        (_, None) => String::new(),
    }
}

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
        assert_eq!(
            sentence(|it| it.clock_part = Known::Value(1.01)),
            "governor=performance makes cpu-loop 55.00 % faster than powersave, 95 % interval 54.40 to \
             55.60 %; the clock explains all of it"
        );
        assert!(sentence(|it| it.clock_part = Known::Value(0.4)).ends_with("explains 40 % of it"));
        let over = sentence(|it| {
            it.clock_part = Known::Value(-0.2);
            it.by_clock = Known::Value(0.11);
        });
        assert!(over.ends_with("; the clock alone would have made it 11 % slower"), "{over}");
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
                Estimate { change: 0.001, interval, p: 0.4, corrected_p: 1.0, is_claimed: false };
            it.estimate = Known::Value(estimate);
        });
        assert_eq!(
            unclaimed,
            "governor=performance shows no difference from powersave in cpu-loop: +0.10 % time, \
             95 % interval -0.20 to +0.40 %"
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
