//! The first, cheap look at every value and pair of values: sums over the machines that have it.
//!
//! Machines are counted in the order of one column, and tallies kept for the values of the other: so a pair of columns costs one pass
//! over the machines, however many values they have.

use crate::candidate::Candidate;
use crate::cohort::LEAST_LOSS;
use crate::columns::NONE;
use crate::scene::Scene;

/// What fewer machines have in common explains nothing.
pub(crate) const LEAST_INSIDE: usize = 3;

/// What a candidate must gain over a simpler one, as a factor: one in ten machines wrongly accused is tolerated for a shorter
/// explanation.
const SIMPLER: f64 = 1.1;

/// How many of the single values, and of the pairs, are looked at closely.
const KEPT: usize = 192;

/// A candidate, and how well its machines and their slowness fit together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scored {
    pub(crate) candidate: Candidate,
    pub(crate) score: f64,
}

/// What a screening found.
pub(crate) struct Screened {
    /// The best, the best first.
    pub(crate) best: Vec<Scored>,
    /// How many values and pairs of values there are.
    pub(crate) searched: usize,
}

/// Screens all values of the columns, and all pairs of values of `n_paired` of them: of labels first, then of what tells most by itself.
pub(crate) fn screen(scene: &Scene<'_>, columns: &[usize], n_paired: usize) -> Screened {
    let order: Vec<usize> = (0..scene.peers.groups.len()).flat_map(|it| scene.open(it)).collect();
    let mut search = Search { scene, best: Best::default(), searched: 0 };
    let mut marks: Vec<(usize, f64)> = Vec::new();
    for column in columns {
        search.best.latest = 0.0;
        search.pass(&by_code(scene, *column, &order), *column, None);
        marks.push((*column, search.best.latest));
    }
    let mut best = std::mem::take(&mut search.best).finished();
    let is_label = |it: usize| scene.columns[it].is_label();
    marks.sort_by(|a, b| is_label(b.0).cmp(&is_label(a.0)).then(b.1.total_cmp(&a.1)));
    marks.truncate(n_paired);
    // Of two pairs that hold the same machines, the one of the earlier columns.
    marks.sort_by_key(|it| it.0);
    for (at, (first, _)) in marks.iter().enumerate() {
        let sorted = by_code(scene, *first, &order);
        for (second, _) in &marks[at + 1..] {
            search.pass(&sorted, *first, Some(*second));
        }
    }
    best.extend(search.best.finished());
    best.sort_by(|a, b| b.score.total_cmp(&a.score));
    Screened { best, searched: search.searched }
}

/// Machines by their code in a column, those of one code in the given order; without those that have no code.
fn by_code(scene: &Scene<'_>, column: usize, order: &[usize]) -> Vec<usize> {
    let codes = &scene.columns[column].codes;
    let mut sorted: Vec<usize> = order.iter().copied().filter(|it| codes[*it] != NONE).collect();
    sorted.sort_by_key(|it| codes[*it]);
    sorted
}

/// Sums over machines that have something in common.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    n: u32,
    /// Groups that they are of.
    groups: u32,
    /// Of their distances, in spreads.
    distance: f64,
    /// Of the same as shares.
    share: f64,
}

impl Tally {
    fn join(&mut self, other: Tally) {
        self.n += other.n;
        self.groups += other.groups;
        self.distance += other.distance;
        self.share += other.share;
    }
}

/// Tallies for each code of a column, and which of them are in use.
#[derive(Default)]
struct Tallies {
    of_code: Vec<Tally>,
    used: Vec<u32>,
}

impl Tallies {
    fn of(n_codes: usize) -> Self {
        Self { of_code: vec![Tally::default(); n_codes], used: Vec::new() }
    }

    fn join(&mut self, code: u32, tally: Tally) {
        let at = &mut self.of_code[code as usize];
        if at.n == 0 {
            self.used.push(code);
        }
        at.join(tally);
    }

    /// Takes all out, in the order of first use.
    fn drain(&mut self) -> impl Iterator<Item = (u32, Tally)> {
        let of_code = &mut self.of_code;
        self.used.drain(..).map(|it| (it, std::mem::take(&mut of_code[it as usize])))
    }
}

/// What the passes over all columns and pairs of columns share.
struct Search<'a> {
    scene: &'a Scene<'a>,
    best: Best,
    searched: usize,
}

impl Search<'_> {
    /// Offers each value of a column, or each pair of values of two, of all machines and of each group. `sorted` is by the code of the
    /// first column, and of one code by group.
    fn pass(&mut self, sorted: &[usize], first: usize, second: Option<usize>) {
        let scene = self.scene;
        let codes = &scene.columns[first].codes;
        let group_of = &scene.peers.group_of;
        let code_of = |it: usize| second.map_or(1, |second| scene.columns[second].codes[it]);
        let n_codes = second.map_or(2, |it| scene.columns[it].n_codes());
        let (mut here, mut all) = (Tallies::of(n_codes), Tallies::of(n_codes));
        let mut of_groups: Vec<(usize, u32, Tally)> = Vec::new();
        for of_first in sorted.chunk_by(|a, b| codes[*a] == codes[*b]) {
            for of_group in of_first.chunk_by(|a, b| group_of[*a] == group_of[*b]) {
                let group = group_of[of_group[0]];
                let unit = scene.unit(group);
                for machine in of_group.iter().filter(|it| code_of(**it) != NONE) {
                    let distance = f64::from(scene.distance[*machine]);
                    here.join(
                        code_of(*machine),
                        Tally { n: 1, groups: 0, distance, share: distance * unit },
                    );
                }
                for (code, tally) in here.drain() {
                    let tally = Tally { groups: 1, ..tally };
                    all.join(code, tally);
                    of_groups.push((group, code, tally));
                }
            }
            let first = (first, codes[of_first[0]]);
            let pair = |code: u32| second.map(|it| (it, code));
            let level = u8::from(second.is_some());
            for (group, code, tally) in of_groups.drain(..) {
                // What only one group has is the same with and without a word about the group.
                let is_all = all.of_code[code as usize].groups == 1;
                let level = if is_all { level } else { level + 1 };
                self.offer(
                    Candidate { first, second: pair(code), group: Some(group), level },
                    tally,
                );
            }
            for (code, tally) in all.drain().filter(|it| it.1.groups > 1) {
                self.offer(Candidate { first, second: pair(code), group: None, level }, tally);
            }
        }
    }

    /// The score is twice the gain in likelihood when the machines are slower by what they are on average, as their distances are normal
    /// with a spread of 1: it grows with how slow and how many they are, and falls with each healthy one among them.
    fn offer(&mut self, candidate: Candidate, tally: Tally) {
        if (tally.n as usize) < LEAST_INSIDE {
            return;
        }
        self.searched += 1;
        let n = f64::from(tally.n);
        // Half of the least loss: slow machines may be among those that the distances are counted from.
        if tally.distance < 0.0 && -tally.share / n >= LEAST_LOSS / 2.0 {
            let score = tally.distance.powi(2) / n / SIMPLER.powi(i32::from(candidate.level));
            self.best.offer(Scored { candidate, score });
        }
    }
}

/// The best of many.
#[derive(Default)]
struct Best {
    kept: Vec<Scored>,
    /// What it takes to be among them.
    least: f64,
    /// The score of the best since this was last reset.
    latest: f64,
}

impl Best {
    fn offer(&mut self, scored: Scored) {
        self.latest = self.latest.max(scored.score);
        if scored.score <= self.least {
            return;
        }
        self.kept.push(scored);
        if self.kept.len() >= 4 * KEPT {
            self.cut();
        }
    }

    fn cut(&mut self) {
        // Of equal ones the earlier: columns are in the order of preference.
        self.kept.sort_by(|a, b| b.score.total_cmp(&a.score));
        self.kept.truncate(KEPT);
        self.least =
            self.kept.last().filter(|_| self.kept.len() == KEPT).map_or(0.0, |it| it.score);
    }

    fn finished(mut self) -> Vec<Scored> {
        self.cut();
        self.kept
    }
}
