//! What can be said of a race of two nodes, in sentences: facts of the whole, its pieces, and what changed between them.

use super::differs::{Kind, Words};
use super::quantity::{confidence, percent, significant};
use facts::quantity::counted;
use lab::compare::{Legs, Raced};
use lab::comparison::Comparison;
use lab::stats::{Interval, Standing};
use lab::verdict::{LARGE, Part, Piece, Ratio, State, Verdict};
use std::ops::Range;

/// The names and times that sentences about a race need.
pub(super) struct RaceWords<'a> {
    pub(super) it: &'a Comparison,
    pub(super) raced: &'a Raced,
}

impl<'a> RaceWords<'a> {
    /// `None` where it is no race.
    pub(super) fn of(it: &'a Comparison) -> Option<RaceWords<'a>> {
        Some(RaceWords { it, raced: it.difference.raced.as_ref()? })
    }

    /// What may be said, in one or a few sentences.
    pub(super) fn verdict(&self) -> String {
        let race = &self.raced.race;
        if let Some(legs) = &self.raced.legs {
            return self.of_nodes(legs);
        }
        match &race.pieces[..] {
            [] => format!(
                "Nothing to say of {} and {}: they have no interval in common",
                self.it.a, self.it.b
            ),
            [piece @ Piece { state: State::Judged(verdict), .. }] => self.judged(piece, verdict),
            [piece @ Piece { state: State::TooShort { lasting, needed }, .. }] => {
                self.too_short(piece, *lasting, *needed)
            }
            [Piece { state: State::Changed(parts), .. }] => self.changed(parts),
            pieces => self.marked(pieces),
        }
    }

    /// What legs say, which is of the nodes and not of this race.
    fn of_nodes(&self, legs: &Legs) -> String {
        let words = Words::of(self.it);
        let basis =
            |it: &Ratio| format!("{} interval; {}", confidence(it.confidence), self.legs(legs));
        match &legs.verdict {
            Verdict::Claimed(ratio) | Verdict::NotClear { ratio, .. } => {
                let (sentence, interval) = words.claim(ratio);
                format!("{sentence} ({interval}, {})", basis(ratio))
            }
            Verdict::NotShown(ratio) | Verdict::Same { ratio, .. } => {
                format!(
                    "No difference of the nodes shown: {} ({})",
                    words.range(ratio),
                    basis(ratio)
                )
            }
            Verdict::TooNoisy(ratio) => {
                format!("Too noisy to say: {} ({})", words.range(ratio), basis(ratio))
            }
            Verdict::TooFew { have, needed, so_far } => {
                let few = format!("Too few legs to say: {have}, and {needed} are needed (--legs)");
                let so_far = so_far.map(|Interval { low, high }| {
                    let [low, high] = [low, high].map(|it| {
                        let (change, way) = (it.exp_m1(), Kind::Rate.way(it < 0.0));
                        format!("{:.1} % {way}", change.abs() * 100.0)
                    });
                    let Comparison { a, b, figure, .. } = self.it;
                    format!(". So far {b} made between {low} and {high} {figure} than {a}")
                });
                few + &so_far.unwrap_or_default()
            }
        }
    }

    /// `6 legs of 60 s, the nodes started anew for each`.
    fn legs(&self, legs: &Legs) -> String {
        let n = legs.each.len();
        let intervals: usize = legs.each.iter().map(|it| it.intervals).sum();
        let step = self.raced.times_s.windows(2).next().map_or(0.0, |it| it[1] - it[0]);
        let length = time(step * intervals as f64 / n.max(1) as f64);
        let left_out = match legs.marked {
            0 => String::new(),
            marked => format!("; {marked} in which conditions changed left out"),
        };
        let legs = counted(n as u64, "leg");
        format!("{legs} of {length}, the nodes started anew for each{left_out}")
    }

    fn judged(&self, piece: &Piece, verdict: &Verdict) -> String {
        let words = Words::of(self.it);
        let totals = self.totals(piece);
        match verdict {
            Verdict::Claimed(ratio) | Verdict::NotClear { ratio, .. } => {
                let (sentence, interval) = words.claim(ratio);
                let confidence = confidence(ratio.confidence);
                format!("{sentence} in this race: {totals} ({interval}, {confidence} interval)")
            }
            Verdict::NotShown(ratio) | Verdict::Same { ratio, .. } => format!(
                "No difference shown in this race: {} ({} interval; {totals})",
                words.range(ratio),
                confidence(ratio.confidence)
            ),
            Verdict::TooNoisy(ratio) => format!(
                "Too noisy to say: {} ({} interval; {totals})",
                words.range(ratio),
                confidence(ratio.confidence)
            ),
            Verdict::TooFew { have, needed, .. } => {
                format!("Too few intervals to say: {have}, and {needed} are needed (-d); {totals}")
            }
        }
    }

    /// `102,540 commits against 165,388 in 60 s`.
    fn totals(&self, Piece { standing, intervals, .. }: &Piece) -> String {
        let (of_b, of_a) = (grouped(standing.totals.b), grouped(standing.totals.a));
        let seconds = self.seconds(intervals);
        format!("{of_b} {} against {of_a} in {}", self.it.figure, time(seconds))
    }

    fn too_short(
        &self,
        Piece { standing, intervals, .. }: &Piece,
        lasting: f64,
        needed: u64,
    ) -> String {
        let step = self.seconds(intervals) / standing.intervals.max(1) as f64;
        format!(
            "{}. Whether it would again cannot be said: ups and downs last about {}; race for {} or more",
            self.fact(standing, "in this race"),
            time(lasting * step),
            time(needed as f64 * step)
        )
    }

    /// `b made 6 % fewer commits in this race (256,000 against 272,000)`.
    fn fact(&self, standing: &Standing, when: &str) -> String {
        let change = standing.log_ratio.exp_m1();
        let fewer = Kind::Rate.way(change < 0.0);
        let (a, b) = (grouped(standing.totals.a), grouped(standing.totals.b));
        format!(
            "{} made {} % {fewer} {} {when} than {} ({b} against {a})",
            self.it.b,
            percent(change.abs()),
            self.it.figure,
            self.it.a
        )
    }

    /// A race that changed by itself: what happened, and nothing claimed of it.
    fn changed(&self, parts: &[Part]) -> String {
        const MOST: usize = 5;
        let shown = parts.iter().take(MOST).enumerate();
        let said = shown.map(|(at, part)| match (at, parts.get(at + 1)) {
            (0, Some(next)) => {
                let until = time(self.began(next.intervals.start));
                format!("until {until} {}", self.level(&part.standing))
            }
            _ => {
                let from = time(self.began(part.intervals.start));
                format!("from {from} on {}", self.moved(part))
            }
        });
        let mut text = said.collect::<Vec<_>>().join("; ");
        let more = parts.len().saturating_sub(MOST);
        if more > 0 {
            text.extend(["; and ", &counted(more as u64, "change"), " more"]);
        }
        let standing = &self.raced.race.standing;
        let whole = self.fact(standing, "over the whole race");
        format!("The nodes did not keep their distance: {text}. {whole}")
    }

    /// What became of the nodes where a part begins.
    fn moved(&self, part: &Part) -> String {
        let moved = |name: &str, by: Option<f64>| {
            by.map(|log| {
                let (way, share) = (if log < 0.0 { "fell" } else { "rose" }, log.exp_m1().abs());
                format!("{name} {way} by {} %", percent(share))
            })
        };
        let of = part.moved.map(|it| [moved(&self.it.a, it.a), moved(&self.it.b, it.b)]);
        let found: Vec<String> = of.into_iter().flatten().flatten().collect();
        match found.is_empty() {
            true => self.level(&part.standing),
            false => found.join(" and "),
        }
    }

    /// `b made 2.4 times as many commits as a`, `they made as many commits, within 1 %`.
    pub(super) fn level(&self, standing: &Standing) -> String {
        const ALIKE: f64 = 0.01;
        let times = standing.log_ratio.exp();
        let (a, b, figure) = (&self.it.a, &self.it.b, &self.it.figure);
        if (times - 1.0).abs() <= ALIKE {
            return format!("they made as many {figure}, within 1 %");
        }
        if times < LARGE {
            let (share, way) = ((times - 1.0).abs(), Kind::Rate.way(times < 1.0));
            return format!("{b} made {} % {way} {figure} than {a}", percent(share));
        }
        format!("{b} made {} times as many {figure} as {a}", significant(times, 2))
    }

    pub(super) fn began(&self, interval: usize) -> f64 {
        self.raced.times_s.get(interval).copied().unwrap_or_default()
    }

    pub(super) fn seconds(&self, intervals: &Range<usize>) -> f64 {
        let end = self.raced.times_s.last().copied().unwrap_or_default();
        let end = self.raced.times_s.get(intervals.end).copied().unwrap_or(end);
        end - self.began(intervals.start)
    }
}

/// `102,540`.
pub(crate) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `4.0 s`, `5 min`, `24 h`.
pub(super) fn time(seconds: f64) -> String {
    match seconds {
        it if it >= 7200.0 => format!("{:.0} h", it / 3600.0),
        it if it >= 120.0 => format!("{:.0} min", it / 60.0),
        it if it >= 20.0 => format!("{it:.0} s"),
        it => format!("{it:.1} s"),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::fixture::raced;
    use super::*;
    use lab::comparison::within;
    use lab::record::Record;
    use lab::trial::Mark;

    #[test]
    fn a_steady_race_says_its_totals_and_that_it_is_this_race() {
        let found = within(&raced(["a", "b"], 0.7)).unwrap();
        let text = RaceWords::of(&found[0]).unwrap().verdict();
        assert!(
            text.starts_with("b makes 3")
                && text.contains(" % fewer commits/s than a in this race: "),
            "{text}"
        );
        assert!(text.contains(" 99 % interval)"), "{text}");
    }

    /// b is throttled to a quarter from the tenth second on.
    pub(in super::super) fn throttled() -> Record {
        let mut record = raced(["a", "b"], 1.2);
        for trial in record.trials.iter_mut().filter(|it| it.arm == 1 && it.block >= 10) {
            trial.outcome.figures.edit(|it| it[0].value /= 4.0);
            if trial.block == 10 {
                let (from, to) = (None, Some(0.25));
                trial.marks.push(Mark::Quota { group: "/g".to_owned(), from, to });
            }
        }
        record
    }

    #[test]
    fn a_race_that_changed_by_itself_is_described_without_a_claim() {
        let mut record = throttled();
        record.trials.iter_mut().for_each(|it| it.marks.clear());
        let found = within(&record).unwrap();
        let text = RaceWords::of(&found[0]).unwrap().verdict();
        assert!(
            text.starts_with(
                "The nodes did not keep their distance: until 10.0 s b made 20 % more"
            ),
            "{text}"
        );
        assert!(!text.contains("interval"), "{text}");
    }

    /// Five seconds each.
    fn in_legs(n_legs: u32) -> Record {
        let mut record = raced(["a", "b"], 0.7);
        record.trials.iter_mut().for_each(|it| it.block = it.block / 5 + 1);
        record.trials.retain(|it| it.block <= n_legs);
        record.legs = Some(lab::record::Legs { planned: 4, ended: n_legs });
        record
    }

    #[test]
    fn legs_speak_of_the_nodes_and_not_of_this_race() {
        let verdict =
            |record: &Record| RaceWords::of(&within(record).unwrap()[0]).unwrap().verdict();
        let text = verdict(&in_legs(4));
        assert!(text.starts_with("b makes 3") && !text.contains("this race"), "{text}");
        assert!(
            text.ends_with("99 % interval; 4 legs of 5.0 s, the nodes started anew for each)"),
            "{text}"
        );
        let few = verdict(&in_legs(3));
        assert!(
            few.starts_with(
                "Too few legs to say: 3, and 4 are needed (--legs). So far b made between 3"
            ),
            "{few}"
        );
    }

    #[test]
    fn numbers_are_grouped_and_times_are_short() {
        assert_eq!([1, 999, 1000, 1_234_567].map(grouped), ["1", "999", "1,000", "1,234,567"]);
        assert_eq!([4.0, 59.6, 300.0, 86_400.0].map(time), ["4.0 s", "60 s", "5 min", "24 h"]);
    }
}
