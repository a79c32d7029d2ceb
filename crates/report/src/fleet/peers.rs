//! What slow machines have that their peers lack.

use super::Report;
use fleet::{Answer, Attribute, Audit, Explanation, Kind, Machine, Slow, Subject, Telling};
use std::collections::HashMap;

/// How many machines of each group have each finding, and of how many that is known.
pub(super) struct Findings<'a> {
    report: &'a Report<'a>,
    groups: Vec<Counts<'a>>,
}

/// The same of one group.
#[derive(Default)]
struct Counts<'a> {
    /// Machines that were audited.
    audited: usize,
    having: HashMap<&'a Attribute, usize>,
    /// Audited machines that a check could not be made on.
    unknown: HashMap<&'a str, usize>,
}

impl<'a> Findings<'a> {
    pub(super) fn of(report: &'a Report<'a>) -> Findings<'a> {
        let groups = report.answer.groups.iter();
        let counts = groups.map(|group| {
            let mut counts = Counts::default();
            for machine in group.machines.iter().filter_map(|it| report.machines.get(*it)) {
                for it in findings(machine) {
                    *counts.having.entry(it).or_insert(0) += 1;
                }
                if let Audit::But(unknown) = &machine.audit {
                    counts.audited += 1;
                    unknown.iter().for_each(|it| *counts.unknown.entry(&**it).or_insert(0) += 1);
                }
            }
            counts
        });
        Findings { report, groups: counts.collect() }
    }

    /// The findings of a slow machine that at most half of its peers have, of those of which it is known, the rarest first.
    pub(super) fn rare(&self, it: &Slow) -> Vec<&'a Attribute> {
        let (Some(machine), Some(counts)) =
            (self.report.machines.get(it.machine), self.groups.get(it.group))
        else {
            return Vec::new();
        };
        let having = |it: &Attribute| counts.having.get(it).copied().unwrap_or(0);
        let told =
            |it: &Attribute| counts.audited - counts.unknown.get(&*it.name).copied().unwrap_or(0);
        let mut rare: Vec<&Attribute> =
            findings(machine).filter(|it| having(it) * 2 <= told(it)).collect();
        rare.sort_by_key(|it| having(it));
        rare
    }
}

fn findings(machine: &Machine) -> impl Iterator<Item = &Attribute> {
    machine.attributes.iter().filter(|it| it.kind == Kind::Finding)
}

/// What the machines of an explanation, or one machine, have and their peers lack.
pub(super) fn telling(answer: &Answer, of: Subject) -> &[Telling] {
    let contrast = answer.contrasts.iter().find(|it| it.of == of);
    contrast.map_or(&[], |it| &it.telling)
}

/// The checks whose findings an explanation's machines have and their peers lack, those that explain it first.
pub(super) fn findings_of<'a>(it: &'a Explanation, telling: &'a [Telling]) -> Vec<&'a str> {
    let own = it.attributes.iter().chain(it.same.iter().flatten());
    let all = own.chain(telling.iter().map(|it| &it.attribute));
    let mut ids: Vec<&str> = Vec::new();
    for it in all.filter(|it| it.kind == Kind::Finding) {
        if !ids.contains(&&*it.name) {
            ids.push(&it.name);
        }
    }
    ids
}
