//! Doubts as a list: of the same one, and of one that many arms raise, a line.

use super::doubts::{degree, words};
use crate::page::Page;
use lab::doubt::{Doubt, Raised};
use std::mem::discriminant;

const LABEL: usize = 14;

/// A sweep of a large machine has hundreds of arms: of as many as this each doubt still has a line of its own.
const FEW: usize = 2;

/// Those that forbid a claim first.
pub(super) fn doubts(page: &mut Page, doubts: &[Raised], forbidding: &[Raised]) {
    let mut listed = |label: &str, doubts: Vec<&Raised>| {
        for line in lines(&doubts) {
            page.labelled(LABEL, label, &line);
        }
    };
    listed("  forbids", forbidding.iter().collect());
    listed("  doubt", doubts.iter().filter(|it| !forbidding.contains(it)).collect());
}

/// A line for each doubt or, where more than a few arms raise one of a kind, for the kind.
pub(crate) fn lines(doubts: &[&Raised]) -> Vec<String> {
    let mut left = doubts.to_vec();
    let mut lines = Vec::new();
    while let Some(first) = left.first() {
        let kind = discriminant(&first.doubt);
        let (alike, others): (Vec<&Raised>, Vec<&Raised>) =
            left.into_iter().partition(|it| discriminant(&it.doubt) == kind);
        left = others;
        if alike.iter().filter(|it| it.arm.is_some()).count() > FEW {
            lines.extend(of_many(alike));
        } else {
            lines.extend(by_doubt(&alike));
        }
    }
    lines
}

/// Each doubt once, with the names of the arms that raise it; without any where all do.
fn by_doubt(doubts: &[&Raised]) -> Vec<String> {
    let mut found: Vec<(Vec<&str>, &Doubt)> = Vec::new();
    for Raised { arm, doubt } in doubts {
        match found.iter_mut().find(|it| it.1 == doubt) {
            Some((arms, _)) => arms.extend(arm.as_deref()),
            None => found.push((arm.as_deref().into_iter().collect(), doubt)),
        }
    }
    let line = |(arms, doubt): (Vec<&str>, &Doubt)| match &arms[..] {
        [] => words(doubt),
        arms => format!("{}: {}", arms.join(", "), words(doubt)),
    };
    found.into_iter().map(line).collect()
}

/// The worst of doubts of one kind, with the arms that have most of it.
fn of_many(mut alike: Vec<&Raised>) -> Option<String> {
    // In the order of the arms where they are equal.
    alike.sort_by(|a, b| degree(&b.doubt).total_cmp(&degree(&a.doubt)));
    let worst = &alike.first()?.doubt;
    let arms: Vec<&str> = alike.iter().filter_map(|it| it.arm.as_deref()).collect();
    let (named, others) = arms.split_at(FEW.min(arms.len()));
    let who = format!("{} and {}", named.join(", "), counted(others.len()));
    let at_worst = if alike.iter().all(|it| it.doubt == *worst) { "" } else { "at worst, " };
    Some(format!("{who}: {at_worst}{}", words(worst)))
}

fn counted(others: usize) -> String {
    if others == 1 { "1 other".to_owned() } else { format!("{others} others") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Style;

    fn listed(raised: &[Raised], forbidding: &[Raised]) -> String {
        let mut page = Page::new(Style { color: false, width: 100 });
        doubts(&mut page, raised, forbidding);
        page.finish()
    }

    #[test]
    fn a_doubt_stands_once_with_the_arms_that_raise_it() {
        let few = Raised::by("B", Doubt::TooFewTrials { trials: 4, needed: 5 });
        let raised = [
            Raised::by("A", Doubt::CutShort),
            few.clone(),
            Raised::by("B", Doubt::CutShort),
            Doubt::Throttled { trials: 2 }.into(),
        ];
        insta::assert_snapshot!(listed(&raised, &[few]), @r"
          forbids     B: there are too few trials for a claim: 4, and it takes 5
          doubt       A, B: it was cut short before its plan was done
          doubt       the CPUs were throttled in 2 trials
        ");
    }

    #[test]
    fn what_many_arms_raise_is_one_line_with_the_worst_of_them() {
        let outliers = |cpu: u32| Doubt::Outliers { trials: 1 + cpu % 5, of: 40 };
        let on = |cpu: u32, doubt| Raised::by(&format!("CPU {cpu}"), doubt);
        let stolen = [on(2, Doubt::Stolen { share: 0.01 }), on(90, Doubt::Stolen { share: 0.3 })];
        let raised: Vec<Raised> = (0..128)
            .map(|cpu| on(cpu, outliers(cpu)))
            .chain(stolen)
            .chain((0..3).map(|cpu| on(cpu, Doubt::Unpinned)))
            .collect();
        insta::assert_snapshot!(listed(&raised, &[]), @r"
          doubt       CPU 4, CPU 9 and 126 others: at worst, 5 of 40 trials lie far from the others; they
                      count all the same
          doubt       CPU 2: the hypervisor took 1.0 % of the CPUs' time around the trials
          doubt       CPU 90: the hypervisor took 30 % of the CPUs' time around the trials
          doubt       CPU 0, CPU 1 and 1 other: it was not pinned: the scheduler could move it from CPU to
                      CPU (--cpus)
        ");
    }
}
