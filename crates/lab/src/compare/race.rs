//! Two nodes of a race: what each counted in the same intervals, the marks that changed conditions, and what may be said.

use super::pairs::{Concerns, Marked, Pairs};
use crate::record::Record;
use crate::stats::{Sample, Standing, standing};
use crate::verdict::{self, Cut, LEAST_LEGS, Race, Verdict, confidence, of_race};

/// A race of two nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Raced {
    /// What may be said.
    pub race: Race,
    /// When each interval began, in seconds since the race did, and when the last one ended.
    pub times_s: Vec<f64>,
    /// The marks that cut it, in their order.
    pub marks: Vec<Marked>,
    /// What its legs say of the nodes, where they were started more than once. The race is then the facts of all of them: it has no
    /// pieces.
    pub legs: Option<Legs>,
}

/// Legs of a race: engines were started anew for each.
#[derive(Clone, Debug, PartialEq)]
pub struct Legs {
    /// How many were planned.
    pub planned: u32,
    /// Facts of each leg that went on for the planned time and in which no mark changed conditions.
    pub each: Vec<Standing>,
    /// How many went on for the planned time, and conditions changed in them.
    pub marked: usize,
    /// What may be said of the nodes.
    pub verdict: Verdict,
}

impl Raced {
    /// The verdict of the whole; `None` where no one number describes it.
    pub fn verdict(&self) -> Option<&Verdict> {
        self.legs.as_ref().map(|it| &it.verdict).or(self.race.verdict())
    }

    /// On how many legs the verdict rests; of a race that is begun once, on how many intervals.
    pub fn n(&self) -> usize {
        self.legs.as_ref().map_or(self.race.standing.intervals, |it| it.each.len())
    }

    /// Which nodes the marks of this cut are about.
    pub fn concerned(&self, cut: &Cut) -> Concerns {
        let is_its = |it: &&Marked| {
            it.intervals.start < cut.intervals.end && cut.intervals.start < it.intervals.end
        };
        let concerned = self.marks.iter().filter(is_its).map(|it| it.concerns);
        concerned.reduce(Concerns::and).unwrap_or(Concerns::Both)
    }
}

/// Judges two nodes of a race; one of `comparisons` that are shown together. `None` where they have no interval in common.
pub fn race(record: &Record, nodes: (usize, usize), comparisons: usize) -> Option<Raced> {
    let pairs = Pairs::of(record, nodes, None);
    pairs.counts.first()?;
    let marks_of = |trial| pairs.marks_of(record, nodes, trial);
    let mut marks: Vec<Marked> = record.trials.iter().flat_map(marks_of).collect();
    marks.sort_by(|one, other| one.at_s.total_cmp(&other.at_s));
    if let Some(legs) = record.legs {
        let legs = of_legs(record, nodes, legs.planned, comparisons);
        let race = Race { standing: standing(&pairs.counts), pieces: Vec::new(), cuts: Vec::new() };
        return Some(Raced { race, times_s: pairs.times_s(), marks, legs: Some(legs) });
    }
    let mut cuts: Vec<usize> = marks.iter().flat_map(|it| it.intervals.clone()).collect();
    cuts.sort_unstable();
    cuts.dedup();
    let race = of_race(&pairs.counts, &cuts, comparisons);
    Some(Raced { race, times_s: pairs.times_s(), marks, legs: None })
}

/// Judges the legs that went on for the planned time. One in which conditions changed is of two kinds, and left out.
fn of_legs(record: &Record, nodes: (usize, usize), planned: u32, comparisons: usize) -> Legs {
    let (mut each, mut marked) = (Vec::new(), 0);
    for leg in 1..=record.whole_legs().unwrap_or_default() {
        let pairs = Pairs::of(record, nodes, Some(leg));
        let trials = record.trials.iter().filter(|it| it.block == leg);
        let is_marked =
            trials.into_iter().any(|trial| !pairs.marks_of(record, nodes, trial).is_empty());
        if is_marked {
            marked += 1;
        } else if !pairs.counts.is_empty() {
            each.push(standing(&pairs.counts));
        }
    }
    let verdict = match Sample::new(each.iter().map(|it| it.log_ratio).collect()) {
        Ok(ratios) => verdict::of_legs(&ratios, confidence(comparisons), None),
        Err(_) => Verdict::TooFew { have: 0, needed: LEAST_LEGS, so_far: None },
    };
    Legs { planned, each, marked, verdict }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixture::record;
    use crate::known::Known;
    use crate::race::Summing;
    use crate::trial::{Better, Mark, Trial};
    use crate::verdict::State;
    use std::ops::Range;
    use std::time::Duration;

    fn interval(arm: usize, at: u64, rate: f64) -> Trial {
        let mut trial = Trial::of_one_task(arm, 1, 1.0);
        trial.began_ns = Known::Value(at * 1_000_000_000 + arm as u64 * 1_000_000);
        trial.outcome.figures.edit(|it| {
            it[0].value = rate;
            it[0].better = Better::Higher;
        });
        trial
    }

    /// `n` seconds of so many nodes on one host, each of which commits `rate(arm, second)` times, or a little more.
    fn raced(n: u64, arms: usize, rate: impl Fn(usize, u64) -> f64) -> Record {
        let wobble = |at: u64, by: u64| (at * by % 401) as f64;
        let of = |at: u64, arm: usize| {
            interval(arm, at, rate(arm, at) * (1.0 + wobble(at, 7919 * (arm as u64 + 1)) / 1e4))
        };
        let trials = (0..n).flat_map(|at| (0..arms).map(move |arm| (at, arm)));
        let mut record = record(trials.map(|(at, arm)| of(at, arm)).collect());
        record.arms.iter_mut().for_each(|it| it.host = Some("here".to_owned()));
        record
    }

    fn mark(record: &mut Record, arm: usize, at: u64, mark: Mark) {
        let is_it = |it: &&mut Trial| it.arm == arm && began(it) == at;
        record.trials.iter_mut().find(is_it).unwrap().marks.push(mark);
    }

    fn began(trial: &Trial) -> u64 {
        trial.began_ns.value().unwrap() / 1_000_000_000
    }

    fn quota() -> Mark {
        Mark::Quota { group: "/g".to_owned(), from: None, to: Some(0.25) }
    }

    fn pieces(raced: &Raced) -> Vec<Range<usize>> {
        raced.race.pieces.iter().map(|it| it.intervals.clone()).collect()
    }

    #[test]
    fn equal_nodes_have_one_piece_and_no_claim() {
        let found = race(&raced(60, 2, |_, _| 10_000.0), (0, 1), 1).unwrap();
        assert!(!found.race.verdict().unwrap().is_claimed(), "{found:?}");
        assert_eq!((found.times_s.len(), found.times_s[60]), (61, 60.0));
    }

    #[test]
    fn a_quota_cuts_a_race_and_a_note_does_not() {
        let throttled = |arm, at| if arm == 1 && at >= 24 { 2500.0 } else { 10_000.0 };
        let mut record = raced(60, 2, throttled);
        mark(&mut record, 0, 10, Mark::Note { text: "checkpoint".to_owned() });
        mark(&mut record, 1, 24, quota());
        let found = race(&record, (0, 1), 1).unwrap();
        let [Marked { at_s, intervals, concerns, mark }] = &found.marks[..] else {
            panic!("{:?}", found.marks)
        };
        // A quota is looked for once a second: it may have changed in the interval before.
        assert_eq!((intervals.clone(), *concerns, mark), (23..25, Concerns::B, &quota()));
        assert!((at_s - 25.001).abs() < 1e-9, "{at_s}");
        assert_eq!(pieces(&found), [0..23, 25..60]);
        assert!(found.race.pieces.iter().all(|it| matches!(it.state, State::Judged(_))));
        let cut = &found.race.cuts[0];
        assert_eq!((cut.intervals.clone(), found.concerned(cut)), (23..25, Concerns::B));
        let across = cut.across.unwrap();
        assert!((across.b_against_a.value - 0.25_f64.ln()).abs() < 0.05, "{across:?}");
    }

    #[test]
    fn a_mark_cuts_only_the_pairs_that_it_is_about() {
        let mut record = raced(60, 3, |_, _| 10_000.0);
        record.arms[2].host = Some("elsewhere".to_owned());
        mark(&mut record, 0, 30, quota());
        let cuts = |record: &Record, pair| {
            let found = race(record, pair, 1).unwrap();
            (found.race.pieces.len(), found.marks.first().map(|it| it.concerns))
        };
        assert_eq!(cuts(&record, (0, 1)), (2, Some(Concerns::A)));
        assert_eq!(cuts(&record, (2, 0)), (2, Some(Concerns::B)));
        assert_eq!(cuts(&record, (1, 2)), (1, None));
        // What the first node noticed of its host is about the second, too.
        let setting = Mark::Setting { name: "governor".to_owned(), from: None, to: None };
        record.trials.iter_mut().for_each(|it| it.marks.clear());
        mark(&mut record, 0, 30, setting);
        assert_eq!(cuts(&record, (1, 2)), (2, Some(Concerns::A)));
        assert_eq!(cuts(&record, (0, 1)), (2, Some(Concerns::Both)));
        // Settings are looked at every 5 s.
        assert_eq!(pieces(&race(&record, (0, 1), 1).unwrap()), [0..25, 31..60]);
    }

    #[test]
    fn a_race_that_is_summed_up_is_judged_by_its_intervals() {
        let changed = |arm, at| if arm == 1 && at >= 700 { 8000.0 } else { 10_000.0 };
        let mut whole = raced(1200, 2, changed);
        mark(&mut whole, 1, 300, quota());
        let mut summed = Record { trials: Vec::new(), ..whole.clone() };
        for arm in 0..2 {
            let mut summing = Summing::of(Duration::from_secs(5000), Duration::from_secs(1));
            let own = whole.trials.iter().filter(|it| it.arm == arm).cloned();
            summed.trials.extend(own.flat_map(|it| summing.push(it)));
            summed.trials.extend(summing.finish());
        }
        assert_eq!(summed.trials.len(), 2 * 240 + 1);
        let judged = |record: &Record| race(record, (0, 1), 1).unwrap();
        assert_eq!(judged(&summed), judged(&whole));
    }

    /// Legs of ten seconds, with breaks of ten between them, in each of which the second node commits so many times what the first does.
    fn legs(shares: &[f64]) -> Record {
        let rate =
            |arm, at: u64| if arm == 1 { 10_000.0 * shares[at as usize / 20] } else { 10_000.0 };
        let mut record = raced(20 * shares.len() as u64, 2, rate);
        record.trials.retain(|it| began(it) % 20 < 10);
        record.trials.iter_mut().for_each(|it| it.block = (began(it) / 20 + 1) as u32);
        let n = shares.len() as u32;
        record.legs = Some(crate::record::Legs { planned: n, ended: n });
        record
    }

    #[test]
    fn legs_are_judged_by_what_differs_from_leg_to_leg() {
        let judged = |record: &Record| race(record, (0, 1), 1).unwrap().legs.unwrap();
        let alike = judged(&legs(&[0.8, 0.81, 0.79, 0.8, 0.82, 0.8]));
        let ratio = alike.verdict.ratio().unwrap();
        assert!(alike.verdict.is_claimed() && ratio.interval.contains(0.8_f64.ln()), "{alike:?}");
        // Each race by itself would be claimed.
        let moves = judged(&legs(&[0.8, 1.2, 0.9, 1.1, 1.05, 0.97]));
        assert!(!moves.verdict.is_claimed(), "{moves:?}");
        assert_eq!((moves.each.len(), moves.each[0].intervals), (6, 10));
    }

    #[test]
    fn a_leg_that_was_cut_short_and_one_with_a_mark_are_not_judged() {
        let mut record = legs(&[0.8; 6]);
        record.legs = Some(crate::record::Legs { planned: 6, ended: 5 });
        mark(&mut record, 1, 25, quota());
        let found = race(&record, (0, 1), 1).unwrap();
        let legs = found.legs.as_ref().unwrap();
        assert_eq!((legs.each.len(), legs.marked, legs.planned), (4, 1, 6));
        assert_eq!(found.verdict(), Some(&legs.verdict));
        // One that was killed knows no more than that the next leg had begun.
        record.legs = Some(crate::record::Legs { planned: 6, ended: 0 });
        assert_eq!(record.whole_legs(), Some(5));
        record.trials.retain(|it| it.block < 4);
        let few = race(&record, (0, 1), 1).unwrap().legs.unwrap().verdict;
        assert!(matches!(few, Verdict::TooFew { have: 1, needed: 4, so_far: Some(_) }), "{few:?}");
    }

    /// b counts nothing for ten seconds, and its interval lasts until it does.
    #[test]
    fn a_node_that_stands_still_loses_what_the_other_counts_meanwhile() {
        let mut record = raced(60, 2, |_, _| 100.0);
        record.trials.retain(|it| it.arm == 0 || !(21..31).contains(&began(it)));
        let still = record.trials.iter_mut().find(|it| it.arm == 1 && began(it) == 20).unwrap();
        still.outcome.elapsed_ns = Known::Value(11_000_000_000);
        still.outcome.figures.edit(|it| it.iter_mut().for_each(|it| it.value /= 11.0));
        let found = race(&record, (0, 1), 1).unwrap();
        let standing = found.race.standing;
        assert_eq!((standing.intervals, standing.stalled), (60, [0, 11]));
        assert!((standing.log_ratio.exp() - 50.0 / 60.0).abs() < 0.01, "{standing:?}");
        let (began, ended) = (found.times_s[20], found.times_s[31]);
        assert!((ended - began - 11.0).abs() < 1e-9);
    }

    #[test]
    fn an_interval_that_one_node_lacks_is_of_neither_and_a_restart_in_it_cuts_all_the_same() {
        let mut record = raced(20, 2, |_, _| 100.0);
        record.trials.retain(|it| it.arm == 0 || !(5..8).contains(&began(it)));
        let found = race(&record, (0, 1), 1).unwrap();
        assert_eq!(found.race.standing.intervals, 17);
        mark(&mut record, 0, 6, Mark::Restarted);
        let found = race(&record, (0, 1), 1).unwrap();
        assert_eq!(pieces(&found), [0..5, 6..17]);
    }
}
