//! The second, close look at a candidate: how much slower its machines are than peers that lack it, and whether that can be chance.

use crate::candidate::Candidate;
use crate::chance::{at_least_bound, drawn_at_least};
use crate::healthy::Healthy;
use crate::scene::Scene;
use crate::screen::LEAST_INSIDE;
use crate::slow::LEAST_LOSS;
use crate::trimmed::{Gap, Trimmed};

/// What is known of a candidate.
#[derive(Clone, Debug)]
pub(crate) struct Evidence {
    /// Open machines that have it, of groups with peers that lack it.
    pub(crate) inside: Vec<usize>,
    /// How much slower a typical one of them is, as a logarithm.
    pub(crate) gap: Gap,
    /// How much slower the middle one of them is, as a logarithm.
    pub(crate) median: f64,
    /// The chance of as much where the candidate means nothing.
    pub(crate) chance: f64,
    /// Those that are slow by themselves.
    pub(crate) slow: SlowOnes,
}

/// Machines far below their peers, inside and outside.
#[derive(Clone, Debug)]
pub(crate) struct SlowOnes {
    pub(crate) inside: Vec<usize>,
    /// Their share of the machines that lack it.
    pub(crate) share_outside: f64,
    /// The chance of as many inside where the candidate means nothing.
    pub(crate) chance: f64,
}

impl Evidence {
    /// `None` where too few have it, or too few of their peers lack it.
    pub(crate) fn of(scene: &Scene<'_>, candidate: &Candidate) -> Option<Self> {
        let groups = match candidate.group {
            Some(group) => group..group + 1,
            None => 0..scene.peers.groups.len(),
        };
        let parts: Vec<Part> = groups.filter_map(|it| Part::of(scene, candidate, it)).collect();
        let inside: Vec<usize> = parts.iter().flat_map(|it| &it.inside).copied().collect();
        if inside.len() < LEAST_INSIDE {
            return None;
        }
        let above = above(scene, &parts);
        let gap = gap(&above, &parts)?;
        let median = -above[above.len() / 2];
        let slow = slow_ones(&parts);
        let shares = FAR_BELOW.map(|spreads| by_rank(&parts, |_| spreads) * FAR_BELOW.len() as f64);
        let by_rank = shares.into_iter().fold(1.0, f64::min);
        // Either test may be the one that sees it.
        let by_mean = gap.chance().max(by_single_machines(&parts, gap.size));
        let chance = (2.0 * by_mean.min(by_rank)).min(1.0);
        Some(Self { inside, gap, median, chance, slow })
    }
}

/// How much slower a typical one of machines that were set aside is than the healthy ones that are left in their groups.
pub(crate) fn measured(scene: &Scene<'_>, inside: &[usize]) -> Option<Gap> {
    let mut of_group: Vec<usize> = inside.to_vec();
    of_group.sort_by_key(|it| scene.peers.group_of[*it]);
    let parts = of_group.chunk_by(|a, b| scene.peers.group_of[*a] == scene.peers.group_of[*b]);
    let parts = parts.filter_map(|it| {
        let healthy = scene.healthy[scene.peers.group_of[it[0]]]?;
        Some(Part { inside: it.to_vec(), healthy, of_inside: Vec::new(), of_outside: Vec::new() })
    });
    let parts: Vec<Part> = parts.collect();
    gap(&above(scene, &parts), &parts)
}

/// What is counted as far below the healthy ones, in spreads.
const FAR_BELOW: [f64; 5] = [0.5, 1.0, 2.0, 3.0, 5.0];

/// What a candidate is in one group.
struct Part {
    inside: Vec<usize>,
    healthy: Healthy,
    /// How many spreads each machine that has it is from healthy ones that lack it.
    of_inside: Vec<f64>,
    /// The same of the machines that lack it.
    of_outside: Vec<f64>,
}

impl Part {
    fn of(scene: &Scene<'_>, candidate: &Candidate, group: usize) -> Option<Self> {
        let columns = scene.columns;
        let open = scene.open(group);
        let inside: Vec<usize> = open.clone().filter(|it| candidate.holds(columns, *it)).collect();
        if inside.is_empty() {
            return None;
        }
        let lacks = |it: usize| candidate.lacks(columns, it);
        let healthy = scene.peers.healthy(group, |it| scene.is_reference(it) && lacks(it))?;
        let spreads = |it: usize| (scene.peers.values[it] - healthy.centre) / healthy.spread;
        let of_inside = inside.iter().map(|it| spreads(*it)).collect();
        let of_outside = open.filter(|it| lacks(*it)).map(spreads).collect();
        Some(Self { inside, healthy, of_inside, of_outside })
    }
}

/// How far each machine inside is above the healthy ones outside of its group, as a logarithm, in ascending order.
fn above(scene: &Scene<'_>, parts: &[Part]) -> Vec<f64> {
    let above = |part: &Part| {
        let centre = part.healthy.centre;
        part.inside.iter().map(|it| scene.peers.values[*it] - centre).collect::<Vec<_>>()
    };
    let mut all: Vec<f64> = parts.iter().flat_map(above).collect();
    all.sort_unstable_by(f64::total_cmp);
    all
}

/// How far a typical machine inside is below the healthy ones outside of its group. `above` are their distances, in ascending order.
fn gap(above: &[f64], parts: &[Part]) -> Option<Gap> {
    let (mut spread, mut error, mut degrees) = (0.0, 0.0, 0.0_f64);
    for part in parts {
        let n = part.inside.len() as f64;
        spread += n * part.healthy.spread.powi(2);
        // Machines of one group share the error of its centre.
        error += (n * part.healthy.error()).powi(2);
        degrees += (part.healthy.n - 1) as f64;
    }
    let n = above.len() as f64;
    let inside = Trimmed::of(above)?.moderated(spread / n);
    let outside = (error / n.powi(2), degrees);
    Some(Gap::of(-inside.mean, (inside.squared_error(), inside.degrees), outside))
}

/// The chance that so many of those inside are so many spreads below, where who is inside has nothing to do with it. It asks nothing of
/// how values are distributed.
fn by_rank(parts: &[Part], spreads: impl Fn(&Part) -> f64) -> f64 {
    let (mut seen, mut drawn, mut expected) = (0, 0, 0.0);
    for part in parts {
        let spreads = spreads(part);
        let far = |values: &[f64]| values.iter().filter(|it| **it <= -spreads).count();
        let (n, all) = (part.of_inside.len(), part.of_inside.len() + part.of_outside.len());
        let marked = far(&part.of_inside) + far(&part.of_outside);
        if parts.len() == 1 {
            return drawn_at_least(far(&part.of_inside), n, marked, all);
        }
        seen += far(&part.of_inside);
        drawn += n;
        expected += n as f64 * marked as f64 / all as f64;
    }
    at_least_bound(seen, drawn, expected / drawn as f64)
}

/// The chance that those inside are single slow machines that happen to have it, as the slow ones outside do not: of three machines
/// that are as slow as others elsewhere the mean is far below the healthy ones, and says nothing about what they have in common.
/// 0 where they are no farther from the healthy ones than these are from each other.
fn by_single_machines(parts: &[Part], size: f64) -> f64 {
    let (mut seen, mut drawn, mut expected, mut spread) = (0, 0, 0.0, 0.0);
    for part in parts {
        let limit = -size / 2.0 / part.healthy.spread;
        let far = |values: &[f64]| values.iter().filter(|it| **it <= limit).count();
        let n = part.inside.len();
        seen += far(&part.of_inside);
        drawn += n;
        expected += n as f64 * far(&part.of_outside) as f64 / part.of_outside.len() as f64;
        spread += n as f64 * part.healthy.spread;
    }
    let n = drawn as f64;
    if size * n < APART * spread { 0.0 } else { at_least_bound(seen, drawn, expected / n) }
}

/// So many spreads apart the slow ones of a group and the healthy ones are two kinds.
const APART: f64 = 3.0;

fn slow_ones(parts: &[Part]) -> SlowOnes {
    let far = |part: &Part| FAR.max(LEAST_LOSS / part.healthy.spread);
    let (mut inside, mut n_slow, mut n_outside) = (Vec::new(), 0, 0);
    for part in parts {
        let limit = -far(part);
        let of_inside = part.inside.iter().zip(&part.of_inside);
        inside.extend(of_inside.filter(|it| *it.1 <= limit).map(|it| *it.0));
        n_slow += part.of_outside.iter().filter(|it| **it <= limit).count();
        n_outside += part.of_outside.len();
    }
    let share_outside = n_slow as f64 / n_outside.max(1) as f64;
    SlowOnes { inside, share_outside, chance: by_rank(parts, far) }
}

/// So many spreads below the others no healthy machine is.
const FAR: f64 = 5.0;
