//! A race of two nodes as JSON shows it: facts of the whole, and what may be said of its pieces.

use super::verdict_view::{Change, VerdictView};
use lab::compare::{Concerns, Legs, Marked, Raced};
use lab::stats::{Estimate, Standing};
use lab::trial::Mark;
use lab::verdict::{Cut, Part, Piece, Ratio, State};
use schemars::JsonSchema;
use serde::Serialize;
use std::ops::Range;

/// Two nodes that counted at the same time. Changes are of the total of b, as shares of that of a.
#[derive(Serialize, JsonSchema)]
pub(super) struct RaceView<'a> {
    /// Facts of the whole, from which nothing is inferred.
    #[serde(flatten)]
    standing: StandingView,
    /// Changes of conditions, which cut it into pieces.
    marks: Vec<MarkView<'a>>,
    /// What is between the marks: one piece without any. Of a race with one piece that is steady, its verdict is that of the comparison.
    pieces: Vec<PieceView>,
    /// What changed from each piece to the next one.
    cuts: Vec<CutView>,
    /// Its legs, where the nodes were started more than once: then it has no pieces, and the verdict of the comparison is of the nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    legs: Option<LegsView>,
}

/// Legs of a race: its nodes were started anew for each.
#[derive(Serialize, JsonSchema)]
struct LegsView {
    planned: u32,
    /// Of each leg that is judged: it went on for the planned time, and no mark changed conditions.
    each: Vec<LegView>,
    /// How many were left out because a mark changed conditions in them.
    marked: usize,
}

/// What two nodes counted in a leg.
#[derive(Serialize, JsonSchema)]
struct LegView {
    intervals: usize,
    a: u64,
    b: u64,
    change: f64,
}

/// What two nodes counted.
#[derive(Serialize, JsonSchema)]
struct StandingView {
    /// When it began, in seconds since the race did.
    began_s: f64,
    ended_s: f64,
    /// How many intervals both have.
    intervals: usize,
    /// What the first counted in them.
    a: u64,
    /// What the other one counted.
    b: u64,
    change: f64,
    /// In how many intervals b counted less than a.
    behind: usize,
    /// The most intervals on end in which a node counted less than half of its median, of a and of b.
    stalled: [usize; 2],
}

/// A change of conditions.
#[derive(Serialize, JsonSchema)]
struct MarkView<'a> {
    /// When it was noticed, in seconds since the race began.
    at_s: f64,
    concerns: ConcernsName,
    #[serde(flatten)]
    mark: &'a Mark,
}

/// Which of the two nodes a mark is about.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ConcernsName {
    A,
    B,
    Both,
}

/// Intervals between two marks.
#[derive(Serialize, JsonSchema)]
struct PieceView {
    #[serde(flatten)]
    standing: StandingView,
    #[serde(flatten)]
    state: StateView,
}

/// What may be said of a piece.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "state", rename_all = "kebab-case")]
enum StateView {
    /// It is steady.
    Judged { verdict: VerdictView },
    /// Ups and downs last so long that there are too few of them for a verdict.
    TooShort {
        /// How many intervals an up or down lasts.
        lasting: f64,
        /// How many intervals it takes for a verdict, about.
        needed: u64,
    },
    /// It changed by itself, so that its parts are described and nothing is claimed of them.
    Changed { parts: Vec<PartView> },
}

/// Intervals between two changes that no mark explains.
#[derive(Serialize, JsonSchema)]
struct PartView {
    #[serde(flatten)]
    standing: StandingView,
    /// By which share each node moved where the part begins, of a and of b; null where its counts do not show it.
    moved: [Option<f64>; 2],
}

/// What changed at a mark. Missing where a side is too short or changed by itself as well.
#[derive(Serialize, JsonSchema)]
struct CutView {
    /// From the end of the piece before to the beginning of the one after, in seconds since the race began.
    began_s: f64,
    ended_s: f64,
    concerns: ConcernsName,
    a: Option<Change>,
    b: Option<Change>,
    /// Of b with what happened to a taken out.
    b_against_a: Option<Change>,
}

impl<'a> RaceView<'a> {
    pub(super) fn of(raced: &'a Raced) -> RaceView<'a> {
        let race = &raced.race;
        RaceView {
            standing: StandingView::of(raced, &(0..race.standing.intervals), &race.standing),
            marks: raced.marks.iter().map(MarkView::of).collect(),
            pieces: race.pieces.iter().map(|it| PieceView::of(raced, it)).collect(),
            cuts: race.cuts.iter().map(|it| CutView::of(raced, it)).collect(),
            legs: raced.legs.as_ref().map(LegsView::of),
        }
    }
}

impl LegsView {
    fn of(legs: &Legs) -> LegsView {
        let leg = |it: &Standing| LegView {
            intervals: it.intervals,
            a: it.totals.a,
            b: it.totals.b,
            change: it.log_ratio.exp_m1(),
        };
        LegsView {
            planned: legs.planned,
            each: legs.each.iter().map(leg).collect(),
            marked: legs.marked,
        }
    }
}

impl StandingView {
    fn of(raced: &Raced, intervals: &Range<usize>, standing: &Standing) -> StandingView {
        StandingView {
            began_s: time(raced, intervals.start),
            ended_s: time(raced, intervals.end),
            intervals: standing.intervals,
            a: standing.totals.a,
            b: standing.totals.b,
            change: standing.log_ratio.exp_m1(),
            behind: standing.behind,
            stalled: standing.stalled,
        }
    }
}

fn time(raced: &Raced, interval: usize) -> f64 {
    raced.times_s.get(interval).or(raced.times_s.last()).copied().unwrap_or_default()
}

impl<'a> MarkView<'a> {
    fn of(it: &'a Marked) -> MarkView<'a> {
        MarkView { at_s: it.at_s, concerns: ConcernsName::of(it.concerns), mark: &it.mark }
    }
}

impl ConcernsName {
    fn of(concerns: Concerns) -> ConcernsName {
        match concerns {
            Concerns::A => ConcernsName::A,
            Concerns::B => ConcernsName::B,
            Concerns::Both => ConcernsName::Both,
        }
    }
}

impl PieceView {
    fn of(raced: &Raced, piece: &Piece) -> PieceView {
        let part = |it: &Part| PartView {
            standing: StandingView::of(raced, &it.intervals, &it.standing),
            moved: it.moved.map_or([None; 2], |it| [it.a, it.b].map(|it| it.map(f64::exp_m1))),
        };
        PieceView {
            standing: StandingView::of(raced, &piece.intervals, &piece.standing),
            state: match &piece.state {
                State::Judged(verdict) => StateView::Judged { verdict: VerdictView::of(verdict) },
                State::TooShort { lasting, needed } => {
                    StateView::TooShort { lasting: *lasting, needed: *needed }
                }
                State::Changed(parts) => {
                    StateView::Changed { parts: parts.iter().map(part).collect() }
                }
            },
        }
    }
}

impl CutView {
    fn of(raced: &Raced, cut: &Cut) -> CutView {
        let change = |it: Estimate| {
            let (log, interval) = (it.value, it.interval);
            Change::of(&Ratio { log, interval, confidence: cut.confidence })
        };
        CutView {
            began_s: time(raced, cut.intervals.start),
            ended_s: time(raced, cut.intervals.end),
            concerns: ConcernsName::of(raced.concerned(cut)),
            a: cut.across.map(|it| change(it.a)),
            b: cut.across.map(|it| change(it.b)),
            b_against_a: cut.across.map(|it| change(it.b_against_a)),
        }
    }
}
