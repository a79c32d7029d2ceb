//! What can be said of a race whose conditions were changed: of each piece, and what the change did to the nodes.

use super::differs::{Words, signed};
use super::quantity::confidence;
use super::race_words::{RaceWords, grouped, time};
use crate::race::mark_words;
use lab::compare::Concerns;
use lab::stats::{Estimate, Standing};
use lab::verdict::{Cut, Piece, Ratio, State, Verdict};

/// Half an interval of an effect that says nothing of it.
const NOISY: f64 = 0.5;

impl RaceWords<'_> {
    /// A race whose conditions were changed: no one number describes it.
    pub(super) fn marked(&self, pieces: &[Piece]) -> String {
        let mut text = format!("No one number describes this race: {}", self.marks());
        for (at, piece) in pieces.iter().enumerate() {
            let when = match at {
                0 => "Before".to_owned(),
                _ if pieces.len() == 2 => "after".to_owned(),
                _ => format!("from {} on", time(self.began(piece.intervals.start))),
            };
            let separator = if at == 0 { ". " } else { "; " };
            text.extend([separator, &when, ", ", &self.piece(piece)]);
        }
        let sides = self.raced.race.pieces.windows(2);
        for (cut, sides) in self.raced.race.cuts.iter().zip(sides) {
            text.extend(self.across(cut, [&sides[0], &sides[1]]).map(|it| format!(". {it}")));
        }
        text
    }

    /// What may be said of a piece between marks.
    fn piece(&self, piece: &Piece) -> String {
        let words = Words::of(self.it);
        match &piece.state {
            State::Judged(Verdict::Claimed(ratio)) => {
                let (sentence, interval) = words.claim(ratio);
                format!("{sentence} ({interval}, {} interval)", confidence(ratio.confidence))
            }
            State::Judged(Verdict::TooFew { .. }) | State::TooShort { .. } => {
                format!("{} (too short to say more)", self.level(&piece.standing))
            }
            State::Judged(Verdict::TooNoisy(_)) => {
                format!("{} (too noisy to say more)", self.level(&piece.standing))
            }
            State::Judged(verdict) => {
                let ratio = verdict.ratio();
                let range = ratio.map_or_else(String::new, |it| words.range(it));
                let confidence = ratio.map_or_else(String::new, |it| confidence(it.confidence));
                format!("no difference is shown: {range} ({confidence} interval)")
            }
            State::Changed(_) => {
                format!("{}, and changed by itself", self.level(&piece.standing))
            }
        }
    }

    /// What became of each node at a mark, and of the one that it is about with the other as the control.
    fn across(&self, cut: &Cut, [before, after]: [&Piece; 2]) -> Option<String> {
        let found = cut.across?;
        let rates = |of: fn(&Standing) -> u64| {
            [before, after].map(|it| {
                let seconds = self.seconds(&it.intervals).max(f64::MIN_POSITIVE);
                grouped((of(&it.standing) as f64 / seconds).round() as u64)
            })
        };
        let own = |name: &str, change: Estimate, [from, to]: [String; 2]| {
            if change.interval.contains(0.0) {
                return format!("no change of {name} is shown");
            }
            let way = if change.value < 0.0 { "fell" } else { "rose" };
            format!("{name} {way} from {from} to {to} {}/s", self.it.figure)
        };
        let (a, b) = (&*self.it.a, &*self.it.b);
        let of_a = own(a, found.a, rates(|it| it.totals.a));
        let of_b = own(b, found.b, rates(|it| it.totals.b));
        let Estimate { value: log, interval } = found.b_against_a;
        let ratio = Ratio { log, interval, confidence: cut.confidence };
        let (control, text) = match self.raced.concerned(cut) {
            Concerns::Both => (None, format!("{of_a}, {of_b}")),
            Concerns::A => (Some((b, a, ratio.turned())), format!("{of_a}, {of_b}")),
            Concerns::B => (Some((a, b, ratio)), format!("{of_b}, {of_a}")),
        };
        let at = time(self.began(cut.intervals.end));
        let control = control.map(|(control, name, ratio)| self.controlled(control, name, &ratio));
        Some(format!("At {at} {text}{}", control.unwrap_or_default()))
    }

    /// What a mark changed of a node, without what happened to the other one at the same time.
    fn controlled(&self, control: &str, name: &str, ratio: &Ratio) -> String {
        let [change, low, high] = signed(ratio);
        let confidence = confidence(ratio.confidence);
        let change = match ratio.excludes_none() {
            true => format!("the {}/s of {name} changed by {change} %", self.it.figure),
            false if ratio.half_width() > NOISY => {
                return format!(
                    "; with {control} as the control, it is too noisy to say what that did to {name}"
                );
            }
            false => format!("no effect on {name} is shown"),
        };
        format!(
            "; with {control} as the control, {change} ({low} to {high} %, {confidence} interval)"
        )
    }

    /// The marks that cut it, each at its time.
    fn marks(&self) -> String {
        const MOST: usize = 3;
        let told: Vec<String> = self
            .raced
            .marks
            .iter()
            .take(MOST)
            .map(|it| {
                let who = match it.concerns {
                    Concerns::A => format!(" {}:", self.it.a),
                    Concerns::B => format!(" {}:", self.it.b),
                    Concerns::Both => String::new(),
                };
                format!("at {}{who} {}", time(it.at_s), mark_words(&it.mark))
            })
            .collect();
        let more = self.raced.marks.len().saturating_sub(told.len());
        let others = if more > 0 { format!(", and {more} more") } else { String::new() };
        told.join(", ") + &others
    }
}

#[cfg(test)]
mod tests {
    use super::super::race_words::tests::throttled;
    use super::*;
    use lab::comparison::within;

    #[test]
    fn a_race_with_a_mark_says_what_it_changed_of_the_node_that_it_is_about() {
        let found = within(&throttled()).unwrap();
        let text = RaceWords::of(&found[0]).unwrap().verdict();
        let begins = "No one number describes this race: at 11.0 s b: /g: no quota -> 0.25 CPUs. Before, b makes ";
        assert!(text.starts_with(begins), "{text}");
        assert!(text.contains("; after, b makes 70 % fewer"), "{text}");
        assert!(text.contains(". At 11.0 s b fell from 20,"), "{text}");
        assert!(
            text.contains(
                "no change of a is shown; with a as the control, the commits/s of b changed by -75"
            ),
            "{text}"
        );
        assert!(text.ends_with("99.8 % interval)"), "{text}");
    }
}
