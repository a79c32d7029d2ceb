//! From machines to an answer.

use crate::answer::{Answer, Contrast, Explanation, Group, Slow, Subject, Suspect, TooFew};
use crate::cohort::FALSE;
use crate::columns::{Column, columns};
use crate::contrast::contrast;
use crate::eligible::{eligible, is_identity};
use crate::explain::{Found, explain};
use crate::few::far_below;
use crate::healthy::LEAST;
use crate::machine::Machine;
use crate::minority::minorities;
use crate::peers::Peers;
use crate::question::Question;
use crate::same::same;
use crate::scene::Scene;
use crate::slow::{Verdicts, verdicts};
use std::collections::HashSet;

/// Slow machines that nothing explains and that are held against their peers; of more, the slowest.
const MOST_ALONE: usize = 20;

/// Which machines are slow against their peers, and what explains them.
///
/// The answer depends on the order of the machines only where two explanations are equally good.
#[must_use]
pub fn judge(machines: &[Machine], question: &Question) -> Answer {
    let columns = columns(machines);
    let peers = Peers::of(machines, &columns, question);
    let eligible = eligible(&columns, &peers, question);
    let mut scene = Scene::new(&columns, &peers, &eligible);
    let (found, searched) = explain(&mut scene);
    let verdicts = verdicts(&scene);
    let is_symptom = |it: &Column| it.is_finding() && question.symptoms.contains(&it.name);
    let work = Work {
        columns: &columns,
        peers: &peers,
        scene: &scene,
        verdicts: &verdicts,
        is_symptom: columns.iter().map(is_symptom).collect(),
    };
    let mut held: Vec<Held> = found.into_iter().map(|it| work.held(it)).collect();
    held.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    let slow = work.slow(&held);
    let n_held = held.len();
    let explanations: Vec<Explanation> = held
        .iter()
        .enumerate()
        .map(|it| work.explanation(it, &slow, n_held as f64 / searched as f64))
        .collect();
    let suspects = work.suspects();
    let contrasts = work.contrasts(&held, &explanations, &slow, &suspects);
    let is_anyone_slow = !(slow.is_empty() && explanations.is_empty() && suspects.is_empty());
    let mut names = HashSet::new();
    Answer {
        figure: question.figure,
        peers_by: peers.by.clone(),
        machines: machines.len(),
        silent: peers.silent.clone(),
        unusable: peers.unusable.clone(),
        namesakes: machines.iter().filter(|it| !names.insert(&it.name)).count(),
        groups: (0..peers.groups.len()).map(|it| work.group(it)).collect(),
        slow,
        suspects,
        explanations,
        searched,
        contrasts,
        minorities: if is_anyone_slow { Vec::new() } else { minorities(&columns, &peers) },
        false_share: FALSE,
        tested: verdicts.tested,
    }
}

/// What was found, as the parts of an answer are made of it.
struct Work<'a> {
    columns: &'a [Column],
    peers: &'a Peers,
    scene: &'a Scene<'a>,
    verdicts: &'a Verdicts,
    /// Of each column.
    is_symptom: Vec<bool>,
}

/// An explanation with its machines.
struct Held {
    found: Found,
    /// Machines that have it, whether or not something else explains them better.
    inside: Vec<usize>,
    /// Their peers that lack it.
    outside: Vec<usize>,
    /// All machines of the groups that it is about.
    about: Vec<usize>,
    /// What its machines lose together, in healthy machines.
    weight: f64,
}

impl Work<'_> {
    fn held(&self, found: Found) -> Held {
        let groups: HashSet<usize> =
            found.evidence.inside.iter().map(|it| self.peers.group_of[*it]).collect();
        let about =
            (0..self.peers.group_of.len()).filter(|it| groups.contains(&self.peers.group_of[*it]));
        let about: Vec<usize> = about.collect();
        let candidate = &found.candidate;
        let inside: Vec<usize> =
            about.iter().copied().filter(|it| candidate.holds(self.columns, *it)).collect();
        let outside =
            about.iter().copied().filter(|it| candidate.lacks(self.columns, *it)).collect();
        let weight = self.weight(&found, inside.len());
        Held { found, inside, outside, about, weight }
    }

    /// Where some machines are slow and the others are not, a typical one loses nothing, and those that are slow count.
    fn weight(&self, found: &Found, n_inside: usize) -> f64 {
        let lost = |above: f64| -above.exp_m1();
        let evidence = &found.evidence;
        if found.partly {
            let slow = evidence.slow.inside.iter();
            return slow.map(|it| lost(self.scene.above_healthy(*it))).sum();
        }
        lost(-evidence.gap.size) * n_inside as f64
    }

    /// Of several explanations of one machine, that whose typical loss is nearest to its own.
    fn slow(&self, held: &[Held]) -> Vec<Slow> {
        let mut explained: Vec<Option<(f64, usize)>> = vec![None; self.peers.values.len()];
        for (at, it) in held.iter().enumerate() {
            for machine in &it.inside {
                let off = (self.scene.above_healthy(*machine) + it.found.evidence.gap.size).abs();
                if explained[*machine].is_none_or(|best| off < best.0) {
                    explained[*machine] = Some((off, at));
                }
            }
        }
        let slow = self.verdicts.slow.iter().map(|it| Slow {
            machine: it.machine,
            group: self.peers.group_of[it.machine],
            value: self.peers.values[it.machine].exp(),
            lost: it.lost,
            spreads: it.spreads,
            explained_by: explained[it.machine].map(|it| it.1),
        });
        slow.collect()
    }

    fn suspects(&self) -> Vec<Suspect> {
        let groups = self.peers.groups.iter().enumerate();
        let suspects = groups.filter_map(|(group, members)| {
            let (machine, lost) = far_below(members, &self.peers.values)?;
            Some(Suspect { machine, group, value: self.peers.values[machine].exp(), lost })
        });
        let mut suspects: Vec<Suspect> = suspects.collect();
        suspects.sort_by(|a, b| b.lost.total_cmp(&a.lost).then(a.machine.cmp(&b.machine)));
        suspects
    }

    fn group(&self, group: usize) -> Group {
        let members = &self.peers.groups[group];
        let healthy = self.scene.healthy[group];
        let has = members.ascending.len();
        Group {
            values: members.values.clone(),
            machines: members.ascending.clone(),
            centre: healthy.map_or(0.0, |it| it.centre.exp()),
            spread: healthy.map_or(0.0, |it| it.spread),
            detectable: self.verdicts.detectable(self.scene, group).unwrap_or(1.0),
            too_few: healthy.is_none().then_some(TooFew { has, needs: LEAST }),
        }
    }

    /// `selected` is the share of the candidates that were taken: an interval of what was selected for being extreme is as wide as the
    /// share demands (Benjamini and Yekutieli, "False Discovery Rate-Adjusted Multiple Confidence Intervals for Selected Parameters",
    /// JASA 100, 2005).
    fn explanation(&self, (at, held): (usize, &Held), slow: &[Slow], selected: f64) -> Explanation {
        let candidate = &held.found.candidate;
        let inside: HashSet<usize> = held.inside.iter().copied().collect();
        let outside: HashSet<usize> = held.outside.iter().copied().collect();
        let gap = &held.found.evidence.gap;
        let lost = |size: f64| -(-size).exp_m1();
        let off = gap.off_by(FALSE * selected / 2.0);
        let may = |it: usize| !self.is_symptom[it] && !self.peers.is_shared(&self.columns[it]);
        let unexplained = |it: &&Slow| it.explained_by.is_none() && outside.contains(&it.machine);
        Explanation {
            attributes: candidate.attributes(self.columns),
            same: same(self.columns, candidate, &held.about, may),
            group: candidate.group,
            partly: held.found.partly,
            slow_inside: slow.iter().filter(|it| inside.contains(&it.machine)).count(),
            explains: slow.iter().filter(|it| it.explained_by == Some(at)).count(),
            slow_outside: slow.iter().filter(unexplained).count(),
            inside: held.inside.clone(),
            outside: held.outside.len(),
            lost: lost(gap.size),
            interval: (lost(gap.size - off), lost(gap.size + off)),
        }
    }

    fn contrasts(
        &self,
        held: &[Held],
        explanations: &[Explanation],
        slow: &[Slow],
        suspects: &[Suspect],
    ) -> Vec<Contrast> {
        let is_telling: Vec<bool> =
            (self.columns.iter()).map(|it| !self.peers.is_shared(it) && !is_identity(it)).collect();
        let mut contrasts = Vec::new();
        for (at, it) in held.iter().enumerate() {
            let same = explanations[at].same.iter().filter(|it| it.len() == 1).flatten();
            let known: HashSet<_> = same.map(|it| (it.kind, &it.name)).collect();
            let may = |column: usize| {
                let key = (self.columns[column].kind, &self.columns[column].name);
                is_telling[column] && !it.found.candidate.uses(column) && !known.contains(&key)
            };
            let telling = contrast(self.columns, &it.inside, &it.outside, may);
            contrasts.push(Contrast { of: Subject::Explanation(at), telling });
        }
        let is_slow: HashSet<usize> = slow.iter().map(|it| it.machine).collect();
        for it in slow.iter().filter(|it| it.explained_by.is_none()).take(MOST_ALONE) {
            let peers = self.scene.open(it.group).filter(|it| !is_slow.contains(it));
            let telling = contrast(self.columns, &[it.machine], &peers.collect::<Vec<_>>(), |it| {
                is_telling[it]
            });
            contrasts.push(Contrast { of: Subject::Machine(it.machine), telling });
        }
        for it in suspects.iter().take(MOST_ALONE) {
            let members = self.peers.groups[it.group].ascending.iter().copied();
            let peers: Vec<usize> = members.filter(|peer| *peer != it.machine).collect();
            let telling = contrast(self.columns, &[it.machine], &peers, |it| is_telling[it]);
            contrasts.push(Contrast { of: Subject::Machine(it.machine), telling });
        }
        contrasts.retain(|it| !it.telling.is_empty());
        contrasts
    }
}
