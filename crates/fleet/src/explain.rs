//! The search for what explains slow machines: the best candidate is taken, its machines are set aside, and the rest is searched again.

use crate::candidate::Candidate;
use crate::chance::drawn_at_least;
use crate::cohort::{FALSE_OF_EACH, LEAST_LOSS};
use crate::evidence::{Evidence, measured};
use crate::scene::Scene;
use crate::screen::{LEAST_INSIDE, Scored, screen};
use crate::trimmed::{Gap, Trimmed};

/// More explanations are not an explanation.
const MOST: usize = 32;

/// How many columns are paired with each other: more labels than fleets have, and 276 passes over the machines.
const PAIRED: usize = 24;

/// A candidate that holds, with what was known when it was taken.
pub(crate) struct Found {
    pub(crate) candidate: Candidate,
    pub(crate) evidence: Evidence,
    /// Whether only some of its machines are slow.
    pub(crate) partly: bool,
}

/// Takes explanations until no more hold; the scene is left with what they do not explain. Also tells how many candidates there were.
pub(crate) fn explain(scene: &mut Scene<'_>) -> (Vec<Found>, usize) {
    let mut found: Vec<Found> = Vec::new();
    let mut searched = 0;
    while found.len() < MOST {
        let screened = screen(scene, scene.eligible, PAIRED);
        searched = searched.max(screened.searched);
        let best = best(scene, &screened.best, searched);
        let Some(taken) = best.or_else(|| partly(scene, &screened.best, searched)) else { break };
        let Evidence { inside, slow, .. } = &taken.evidence;
        scene.set_aside(if taken.partly { &slow.inside } else { inside });
        found.push(taken);
    }
    // What was found later was still among the healthy ones before.
    for it in &mut found {
        it.evidence.gap = measured(scene, &it.evidence.inside).unwrap_or(it.evidence.gap);
    }
    (found, searched)
}

/// The first of the candidates that holds, or one that is much slower and shares machines with it.
fn best(scene: &Scene<'_>, candidates: &[Scored], searched: usize) -> Option<Found> {
    let mut rest = candidates.iter().map(|it| it.candidate);
    let mut best = rest.find_map(|it| held(scene, it, searched))?;
    for candidate in rest {
        // A cohort that is slow as a whole can be better explained than a few of its machines that are slower still. These would be set
        // aside with it, and their own reason never be found.
        let gap = split(scene, &candidate, &best.evidence.inside);
        if gap.is_some_and(|it| it.size >= MUCH && is_sure(it.chance(), searched))
            && let Some(slower) = held(scene, candidate, searched)
            && slower.evidence.gap.size >= best.evidence.gap.size + MUCH
        {
            best = slower;
        }
    }
    Some(simplest(scene, best, candidates, searched))
}

/// The simplest candidate of which the found one is a part that is no slower than the rest, as far as can be told.
fn simplest(scene: &Scene<'_>, found: Found, candidates: &[Scored], searched: usize) -> Found {
    let simpler = candidates.iter().map(|it| it.candidate);
    let simpler = simpler.filter(|it| it.is_simpler_than(&found.candidate));
    let holding = simpler
        .filter_map(|it| held(scene, it, searched).or_else(|| held_partly(scene, it, searched)));
    let mut as_good = holding.filter(|it| {
        let [part, all] = [&found, it].map(|it| &it.evidence);
        let chance = if it.partly {
            let (n_slow, n) = (part.slow.inside.len(), part.inside.len());
            drawn_at_least(n_slow, n, all.slow.inside.len(), all.inside.len())
        } else {
            split(scene, &found.candidate, &all.inside).map_or(1.0, |it| it.chance())
        };
        !is_sure(chance, parts_of(scene, all.inside.len()))
    });
    as_good.next().unwrap_or(found)
}

/// How many parts of some machines have a value of another column in common, at most.
fn parts_of(scene: &Scene<'_>, n_machines: usize) -> usize {
    let values = scene.eligible.iter().map(|it| scene.columns[*it].n_codes());
    values.map(|it| it.min(n_machines / LEAST_INSIDE)).sum()
}

fn is_sure(chance: f64, searched: usize) -> bool {
    chance * searched as f64 <= FALSE_OF_EACH
}

/// A candidate whose machines are slower than their peers beyond doubt, and by something that matters: as a whole, and half of them.
fn held(scene: &Scene<'_>, candidate: Candidate, searched: usize) -> Option<Found> {
    let evidence = Evidence::of(scene, &candidate)?;
    let matters = evidence.gap.size.min(evidence.median) >= LEAST_LOSS;
    (matters && is_sure(evidence.chance, searched)).then_some(Found {
        candidate,
        evidence,
        partly: false,
    })
}

/// The first of the candidates of which a part is slow.
fn partly(scene: &Scene<'_>, candidates: &[Scored], searched: usize) -> Option<Found> {
    let found = candidates.iter().find_map(|it| held_partly(scene, it.candidate, searched))?;
    Some(simplest(scene, found, candidates, searched))
}

/// A candidate of whose machines a good part is slow, and far more of them than of the others.
fn held_partly(scene: &Scene<'_>, candidate: Candidate, searched: usize) -> Option<Found> {
    let evidence = Evidence::of(scene, &candidate)?;
    let slow = &evidence.slow;
    let share = slow.inside.len() as f64 / evidence.inside.len() as f64;
    let is_much = slow.inside.len() >= LEAST_INSIDE
        && share >= LEAST_SHARE
        && share >= slow.share_outside * LEAST_RATIO;
    let holds = is_much && is_sure(slow.chance, searched);
    holds.then_some(Found { candidate, evidence, partly: true })
}

/// What is slow less often than one in five times, and than four times as often as elsewhere, has more to do with something else.
const LEAST_SHARE: f64 = 0.2;
const LEAST_RATIO: f64 = 4.0;

/// How much slower machines have to be to be explained first, as a logarithm.
const MUCH: f64 = 0.05;

/// How much slower those of some machines are that have a candidate than the others of them; `None` where either are too few.
fn split(scene: &Scene<'_>, candidate: &Candidate, machines: &[usize]) -> Option<Gap> {
    let location = |of_candidate: bool| {
        let part =
            machines.iter().filter(|it| candidate.holds(scene.columns, **it) == of_candidate);
        let mut above: Vec<f64> = part.map(|it| scene.above_healthy(*it)).collect();
        above.sort_unstable_by(f64::total_cmp);
        Trimmed::of(&above).filter(|it| it.n >= LEAST_INSIDE)
    };
    let (part, rest) = (location(true)?, location(false)?);
    Some(Gap::between(&part.moderated(rest.variance), &rest))
}
