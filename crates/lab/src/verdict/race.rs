//! What may be said of a race: of a steady piece one figure, of a race that was changed its pieces, of one that changed by itself
//! what happened.

use std::ops::Range;

use super::confidence;
use super::outcome::Verdict;
use super::ratio::Ratio;
use crate::stats::{
    self, AcrossMark, Counts, LEAST_EFFECTIVE, Moved, Standing, Steady, standing, steady_ratio,
};

/// A race of two nodes: facts of the whole, and the pieces that marks cut it into.
#[derive(Clone, Debug, PartialEq)]
pub struct Race {
    /// Facts of the whole race.
    pub standing: Standing,
    /// The pieces between marks, in their order; one without marks, none of a race without intervals.
    pub pieces: Vec<Piece>,
    /// What changed where marks cut it, between the pieces.
    pub cuts: Vec<Cut>,
}

impl Race {
    /// The verdict of the whole race: there is one only where conditions were the same from beginning to end.
    pub fn verdict(&self) -> Option<&Verdict> {
        match &*self.pieces {
            [Piece { state: State::Judged(verdict), .. }] => Some(verdict),
            _ => None,
        }
    }
}

/// The intervals between two marks.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// Which intervals of the race.
    pub intervals: Range<usize>,
    /// Facts of them.
    pub standing: Standing,
    /// What may be said.
    pub state: State,
}

/// What may be said of a piece.
#[derive(Clone, Debug, PartialEq)]
pub enum State {
    /// It is steady: one figure describes it.
    Judged(Verdict),
    /// Ups and downs last so long that there are too few of them: the ratio is a fact of this race, not what another would show.
    TooShort {
        /// How many intervals an up or down lasts.
        lasting: f64,
        /// How many intervals it takes for a verdict, about.
        needed: u64,
    },
    /// It changed by itself. Parts are described, never claimed: they were chosen by what they show.
    Changed(Vec<Part>),
}

/// The intervals between two changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Which intervals of the race.
    pub intervals: Range<usize>,
    /// Facts of them.
    pub standing: Standing,
    /// Which node moved where it begins; nothing of the first part of a piece.
    pub moved: Option<Moved>,
}

/// What changed between two pieces.
#[derive(Clone, Debug, PartialEq)]
pub struct Cut {
    /// The intervals that hold the marks and belong to neither side.
    pub intervals: Range<usize>,
    /// After over before; nothing where a side is shorter than 8 intervals, or changed by itself as well.
    pub across: Option<AcrossMark>,
    /// The confidence of its intervals.
    pub confidence: f64,
}

/// As many as make an interval of some use: t of 1 % with 7 degrees is 3.5, with 2 it is 9.9.
const WANTED_EFFECTIVE: f64 = 8.0;

/// Judges a race of equally long intervals, in so many of `comparisons` of one output. `marks` are the intervals in which conditions
/// changed, ascending: a setting, a quota, a restart.
pub fn of_race(intervals: &[Counts], marks: &[usize], comparisons: usize) -> Race {
    let pieces = cut(intervals.len(), marks);
    // Of each piece one, and of each mark what it did to a, to b, and to b with a as its control.
    let n_intervals = (4 * pieces.len()).saturating_sub(3).max(1);
    let confidence = confidence(comparisons.max(1) * n_intervals);
    let piece = |range: &Range<usize>| Piece {
        intervals: range.clone(),
        standing: standing(&intervals[range.clone()]),
        state: state(intervals, range, confidence),
    };
    let pieces: Vec<Piece> = pieces.iter().map(piece).collect();
    let neighbours = pieces.iter().zip(pieces.iter().skip(1));
    let cuts = neighbours.map(|(before, after)| Cut {
        intervals: before.intervals.end..after.intervals.start,
        across: across(intervals, before, after, confidence),
        confidence,
    });
    let cuts = cuts.collect();
    Race { standing: standing(intervals), pieces, cuts }
}

/// What is left between the marks.
fn cut(n: usize, marks: &[usize]) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for mark in marks.iter().copied().filter(|it| *it < n).chain([n]) {
        if mark > start {
            pieces.push(start..mark);
        }
        start = start.max(mark + 1);
    }
    pieces
}

fn state(race: &[Counts], range: &Range<usize>, confidence: f64) -> State {
    let intervals = &race[range.clone()];
    let changes = stats::changes(intervals);
    if !changes.is_empty() {
        return State::Changed(parts(intervals, range.start, &changes));
    }
    match steady_ratio(intervals, confidence) {
        Err(unfit) => State::Judged(Verdict::too_few(unfit)),
        Ok(steady) if steady.effective < LEAST_EFFECTIVE => too_short(&steady, intervals.len()),
        Ok(steady) => State::Judged(Verdict::of_ratio(Ratio::new(steady.ratio, confidence), None)),
    }
}

fn too_short(steady: &Steady, n: usize) -> State {
    let lasting = n as f64 / steady.effective;
    State::TooShort { lasting, needed: (lasting * WANTED_EFFECTIVE).ceil() as u64 }
}

fn parts(piece: &[Counts], start: usize, changes: &[usize]) -> Vec<Part> {
    let ends = changes.iter().copied().chain([piece.len()]);
    let ranges: Vec<Range<usize>> = [0]
        .into_iter()
        .chain(changes.iter().copied())
        .zip(ends)
        .map(|(from, to)| from..to)
        .collect();
    let before = [None].into_iter().chain(ranges.iter().map(Some));
    let part = |(before, range): (Option<&Range<usize>>, &Range<usize>)| Part {
        intervals: start + range.start..start + range.end,
        standing: standing(&piece[range.clone()]),
        moved: before.map(|it| stats::moved(&piece[it.clone()], &piece[range.clone()])),
    };
    before.zip(&ranges).map(part).collect()
}

fn across(race: &[Counts], before: &Piece, after: &Piece, confidence: f64) -> Option<AcrossMark> {
    let steady = |it: &Piece| !matches!(it.state, State::Changed(_));
    let sides = steady(before) && steady(after);
    let of = |it: &Piece| &race[it.intervals.clone()];
    stats::across_mark(of(before), of(after), confidence).ok().filter(|_| sides)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::race;
    use proptest::prelude::*;

    #[test]
    fn a_steady_race_has_one_figure_and_its_stalls_are_in_it() {
        let found =
            of_race(&race(60, |at| if at.is_multiple_of(6) { 1000 } else { 10_000 }), &[], 1);
        let verdict = found.verdict().unwrap();
        assert!(verdict.is_claimed(), "{found:?}");
        assert!((found.standing.log_ratio - 0.85_f64.ln()).abs() < 0.01, "{found:?}");
        assert_eq!(verdict.ratio().unwrap().log, found.standing.log_ratio);
    }

    #[test]
    fn a_race_that_changed_by_itself_is_described_and_nothing_of_it_claimed() {
        let found = of_race(&race(60, |at| if at < 24 { 12_000 } else { 2500 }), &[], 1);
        assert_eq!(found.verdict(), None);
        let [Piece { state: State::Changed(parts), .. }] = &*found.pieces else {
            panic!("{found:?}")
        };
        assert_eq!(
            parts.iter().map(|it| it.intervals.clone()).collect::<Vec<_>>(),
            [0..24, 24..60]
        );
        let moved = parts[1].moved.unwrap();
        assert!(moved.a.is_none() && moved.b.unwrap() < -1.2, "{moved:?}");
    }

    #[test]
    fn a_mark_cuts_a_race_and_both_pieces_are_judged() {
        let quota = race(60, |at| if at < 24 { 12_000 } else { 2500 });
        let found = of_race(&quota, &[24], 1);
        assert_eq!(found.verdict(), None);
        assert_eq!(
            found.pieces.iter().map(|it| it.intervals.clone()).collect::<Vec<_>>(),
            [0..24, 25..60]
        );
        for piece in &found.pieces {
            let State::Judged(verdict) = piece.state else { panic!("{piece:?}") };
            assert!(verdict.is_claimed() && verdict.ratio().unwrap().confidence == 0.998);
        }
        let across = found.cuts[0].across.unwrap();
        assert!((across.b_against_a.value - (2.7_f64 / 12.2).ln()).abs() < 0.05, "{across:?}");
        assert!(across.a.interval.contains(0.0), "{across:?}");
    }

    #[test]
    fn marks_at_the_ends_and_beside_each_other_leave_no_empty_pieces() {
        let found = of_race(&race(20, |_| 10_000), &[0, 9, 10, 19, 40], 1);
        assert_eq!(
            found.pieces.iter().map(|it| it.intervals.clone()).collect::<Vec<_>>(),
            [1..9, 11..19]
        );
        assert_eq!(of_race(&[], &[], 1).pieces, []);
        assert_eq!(of_race(&race(1, |_| 1), &[0], 1).pieces, []);
    }

    #[test]
    fn seven_intervals_are_too_few_and_slow_ups_and_downs_too_short() {
        let few = of_race(&race(7, |_| 8000), &[], 1);
        let too_few = Verdict::TooFew { have: 7, needed: 8, so_far: None };
        assert_eq!(few.verdict(), Some(&too_few));
        let wave = |at: u64| Counts {
            a: 10_000,
            b: if (at / 6).is_multiple_of(2) { 10_000 } else { 10_200 },
        };
        let slow = of_race(&(0..24).map(wave).collect::<Vec<_>>(), &[], 1);
        let [Piece { state: State::TooShort { lasting, needed }, .. }] = &*slow.pieces else {
            panic!("{slow:?}")
        };
        assert!(*lasting > 24.0 / 3.0 && *needed > 64, "{slow:?}");
    }

    proptest! {
        #[test]
        fn nothing_contradicts_itself(
            counts in prop::collection::vec((0_u64..3000, 0_u64..3000), 0..80), marks in prop::collection::btree_set(0_usize..80, 0..4),
            step in 0_usize..80,
        ) {
            let counts: Vec<Counts> = (0..).zip(counts).map(|(at, (a, b))| Counts { a: 5000 + a, b: b + if at < step { 500 } else { 5000 } }).collect();
            let marks: Vec<usize> = marks.into_iter().collect();
            let race = of_race(&counts, &marks, 1);
            prop_assert_eq!(race.standing.intervals, counts.len());
            for piece in &race.pieces {
                match &piece.state {
                    State::Judged(verdict) => {
                        let Some(ratio) = verdict.ratio() else { continue };
                        prop_assert_eq!(ratio.log, piece.standing.log_ratio);
                        prop_assert_eq!(verdict.is_claimed(), !ratio.interval.contains(0.0));
                    }
                    State::TooShort { needed, .. } => prop_assert!(*needed > piece.intervals.len() as u64),
                    State::Changed(parts) => {
                        prop_assert!(parts.len() > 1);
                        let all: usize = parts.iter().map(|it| it.intervals.len()).sum();
                        prop_assert_eq!(all, piece.intervals.len());
                    }
                }
            }
        }
    }
}
