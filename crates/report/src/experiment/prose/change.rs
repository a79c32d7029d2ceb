//! What a level makes of a workload's main result, in words: in the result's own unit and direction.

use crate::bench::differs::{self, Kind, percents};
use crate::bench::percent;
use crate::experiment::Study;
use lab::compare::ClockShare;
use lab::experiment::analysis::{Estimate, WorkloadAnalysis};
use lab::stats::Interval;
use lab::trial::Better;
use lab::verdict::Ratio;

/// A workload whose result changes.
#[derive(Clone, Copy)]
pub(in crate::experiment) struct Changed<'a> {
    name: &'a str,
    figure: &'a str,
    kind: Kind,
    better: Better,
}

impl<'a> Changed<'a> {
    pub(in crate::experiment) fn of(study: &Study<'a>, workload: &'a WorkloadAnalysis) -> Self {
        let WorkloadAnalysis { figure, unit, better, .. } = workload;
        let name = study.workload_name(&workload.workload);
        Changed { name, figure, kind: Kind::of(figure, unit), better: *better }
    }

    /// What a change of an analysis, above 0 of what is slower, is of the result itself: 0.05 of a rate is 5 % more of it.
    pub(in crate::experiment) fn own(self, change: f64) -> f64 {
        match self.better {
            Better::Lower => change,
            Better::Higher => (1.0 + change).recip() - 1.0,
        }
    }

    fn ratio(self, estimate: &Estimate) -> Ratio {
        let Estimate { change, interval, confidence, .. } = *estimate;
        let ratio = Ratio { log: change.ln_1p(), interval: interval.map(f64::ln_1p), confidence };
        match self.better {
            Better::Lower => ratio,
            Better::Higher => ratio.turned(),
        }
    }

    /// The change and both ends of its interval, as shares of the result itself.
    pub(in crate::experiment) fn ends(self, estimate: &Estimate) -> [f64; 3] {
        let (change, Interval { low, high }) = self.ratio(estimate).change();
        [change, low, high]
    }

    /// The same as percentages with their signs.
    pub(in crate::experiment) fn signed(self, estimate: &Estimate) -> [String; 3] {
        differs::signed(&self.ratio(estimate))
    }

    /// Whether the clock explains a change of which so much is left in cycles.
    pub(super) fn is_explained(self, change: &Estimate, left: &Estimate) -> bool {
        ClockShare::explains_all(&self.ratio(change), &self.ratio(left))
    }

    /// Behind "makes": `cpu-loop take 7.0 % less time`, `the speed of cpu-speed 2.3 times as high`.
    pub(super) fn about(self, change: f64) -> String {
        let own = self.own(change);
        let shown = |value: f64| percent(value.abs() / 100.0);
        self.phrase(own, &if own >= LARGE { shown(1.0 + own) } else { shown(own * 100.0) })
    }

    /// Against another level, with its interval: `cpu-loop take 7.0 % less time than with powersave (6.1 to 7.9 %)`.
    pub(super) fn claim(self, estimate: &Estimate, other: &str) -> String {
        self.told(estimate, Some(other))
    }

    /// The same of what is not against one level: `cpu-loop take 7.0 % less time (6.1 to 7.9 %)`.
    pub(super) fn much(self, estimate: &Estimate) -> String {
        self.told(estimate, None)
    }

    fn told(self, estimate: &Estimate, other: Option<&str>) -> String {
        let against = |word: &str| other.map_or(String::new(), |it| format!(" {word} with {it}"));
        let ratio = self.ratio(estimate);
        let [change, low, high] = self.ends(estimate);
        if change >= LARGE {
            let decimals = ratio.decimals_of_times();
            let [much, low, high] =
                [change, low, high].map(|it| format!("{:.decimals$}", 1.0 + it));
            let (phrase, as_with) = (self.phrase(change, &much), against("as"));
            return format!("{phrase}{as_with} ({low} to {high})");
        }
        let [near, far] = if change < 0.0 { [high, low] } else { [low, high] };
        let [much, near, far] = percents([change, near, far], &ratio);
        format!("{}{} ({near} to {far} %)", self.phrase(change, &much), against("than"))
    }

    /// Where a change lies that was not shown: `between 1.9 % less and 0.4 % more time`; `None` where the results are equal.
    pub(super) fn range(self, estimate: &Estimate) -> Option<String> {
        let between = self.kind.between(&self.ratio(estimate))?;
        Some(match self.kind {
            Kind::Elapsed => format!("{between} time"),
            Kind::Rate => format!("{between} {}/s", self.figure),
            Kind::Time | Kind::Value => between,
        })
    }

    /// `much` is a share in percent, or how many times as much from half as much again on.
    fn phrase(self, own: f64, much: &str) -> String {
        let Changed { name, figure, .. } = self;
        let (is_large, is_less) = (own >= LARGE, own < 0.0);
        let way = self.kind.way(is_less);
        match self.kind {
            Kind::Elapsed if is_large => format!("{name} take {much} times as long"),
            Kind::Elapsed if is_less => format!("{name} take {much} % less time"),
            Kind::Elapsed => format!("{name} take {much} % longer"),
            Kind::Rate if is_large => format!("{name} do {much} times as many {figure}/s"),
            Kind::Rate => format!("{name} do {much} % {way} {figure}/s"),
            Kind::Time if is_large => format!("the {figure} of {name} {much} times as long"),
            Kind::Value if is_large => format!("the {figure} of {name} {much} times as high"),
            Kind::Time | Kind::Value => format!("the {figure} of {name} {much} % {way}"),
        }
    }
}

/// From here on a change is told as a multiple, as between two variants.
const LARGE: f64 = lab::verdict::LARGE - 1.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(figure: &'static str, unit: &str, better: Better) -> Changed<'static> {
        Changed { name: "it", figure, kind: Kind::of(figure, unit), better }
    }

    fn estimate(change: f64, half: f64) -> Estimate {
        let interval = Interval { low: change - half, high: change + half };
        Estimate { change, interval, confidence: 0.99, is_claimed: change.abs() > half }
    }

    #[test]
    fn a_result_is_told_in_its_own_direction_and_unit() {
        let time = changed("elapsed", "s", Better::Lower);
        let rate = changed("commits", "1/s", Better::Higher);
        let speed = changed("speed", "M/s", Better::Higher);
        let claim = |it: Changed<'_>, change| it.claim(&estimate(change, 0.012), "off");
        assert_eq!(claim(time, -0.07), "it take 7 % less time than with off (6 to 8 %)");
        assert_eq!(claim(time, 1.4), "it take 2.40 times as long as with off (2.39 to 2.41)");
        assert_eq!(
            claim(rate, 0.25),
            "it do 20.0 % fewer commits/s than with off (19.2 to 20.8 %)"
        );
        assert_eq!(
            claim(speed, -0.5),
            "the speed of it 2.00 times as high as with off (1.95 to 2.05)"
        );
        assert_eq!(speed.about(-0.5), "the speed of it 2.0 times as high");
    }

    #[test]
    fn what_is_not_shown_is_a_range_with_both_its_ends() {
        let range = |it: Changed<'_>| it.range(&estimate(0.001, 0.004)).unwrap();
        assert_eq!(
            range(changed("elapsed", "s", Better::Lower)),
            "between 0.3 % less and 0.5 % more time"
        );
        let rate = changed("commits", "1/s", Better::Higher);
        assert_eq!(range(rate), "between 0.5 % fewer and 0.3 % more commits/s");
        let speed = changed("speed", "M/s", Better::Higher);
        assert_eq!(range(speed), "between 0.5 % lower and 0.3 % higher");
    }
}
