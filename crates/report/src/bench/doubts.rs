//! Doubts as text: one sentence each, and as a list in which doubts of one kind share a line.

use super::quantity::percent;
use crate::page::Page;
use lab::doubt::{Doubt, Raised};
use std::mem::discriminant;

/// A doubt as a clause: what was observed, and what it means for the results.
pub(super) fn doubt_text(doubt: &Doubt) -> String {
    match doubt {
        Doubt::Throttled { trials } => {
            format!("the CPUs were throttled in {}", counted(*trials))
        }
        Doubt::ClockDrifted { share } => {
            format!("the clock moved by {} % between trials", percent(*share))
        }
        Doubt::ClockUnknown { missing } => {
            format!("the clock was not visible, so it is not taken out: {missing}")
        }
        Doubt::Stolen { share } => {
            format!("the hypervisor took {} % of the CPUs' time around the trials", percent(*share))
        }
        Doubt::OtherLoad { share } => {
            format!("other tasks took {} % of the CPUs' time around the trials", percent(*share))
        }
        Doubt::Outliers { trials, of } => {
            let (lie, they) =
                if *trials == 1 { ("lies", "it counts") } else { ("lie", "they count") };
            format!("{trials} of {of} trials {lie} far from the others; {they} all the same")
        }
        Doubt::Warming { trials: 1 } => "the first trial was slower than the rest".to_owned(),
        Doubt::Warming { trials } => format!("the first {trials} trials were slower than the rest"),
        Doubt::Drifted { at, share } => {
            let way = if *share > 0.0 { "slower" } else { "faster" };
            format!("from trial {at} on the figures are {} % {way}", percent(share.abs()))
        }
        Doubt::TooFewTrials { trials, needed } => {
            format!("there are too few trials for a claim: {trials}, and it takes {needed}")
        }
        Doubt::Unpinned => {
            "it was not pinned: the scheduler could move it from CPU to CPU (--cpus)".to_owned()
        }
        Doubt::MachineUnknown => {
            "another program ran it, on a machine and at a time that its output does not tell; the date is that of \
             reading it"
                .to_owned()
        }
        Doubt::CutShort => "it was cut short before its plan was done".to_owned(),
        Doubt::Failures { trials } => {
            format!("{} failed and ended it; those before count", counted(*trials))
        }
    }
}

/// The severity among doubts of one kind: higher is worse.
pub(super) fn degree(doubt: &Doubt) -> f64 {
    match doubt {
        Doubt::Throttled { trials } | Doubt::Warming { trials } | Doubt::Failures { trials } => {
            f64::from(*trials)
        }
        Doubt::Outliers { trials, of } => f64::from(*trials) / f64::from((*of).max(1)),
        Doubt::ClockDrifted { share } | Doubt::Stolen { share } | Doubt::OtherLoad { share } => {
            *share
        }
        Doubt::Drifted { share, .. } => share.abs(),
        Doubt::TooFewTrials { trials, .. } => -f64::from(*trials),
        Doubt::ClockUnknown { .. } | Doubt::Unpinned | Doubt::MachineUnknown | Doubt::CutShort => {
            0.0
        }
    }
}

/// A short name for a doubt.
pub(crate) fn name(doubt: &Doubt) -> &'static str {
    match doubt {
        Doubt::Throttled { .. } => "throttled",
        Doubt::ClockDrifted { .. } => "clock moved",
        Doubt::ClockUnknown { .. } => "clock unknown",
        Doubt::Stolen { .. } => "stolen time",
        Doubt::OtherLoad { .. } => "other load",
        Doubt::Outliers { .. } => "outliers",
        Doubt::Warming { .. } => "slow start",
        Doubt::Drifted { .. } => "drifted",
        Doubt::TooFewTrials { .. } => "too few trials",
        Doubt::Unpinned => "not pinned",
        Doubt::MachineUnknown => "machine unknown",
        Doubt::CutShort => "cut short",
        Doubt::Failures { .. } => "failed",
    }
}

fn counted(trials: u32) -> String {
    if trials == 1 { "1 trial".to_owned() } else { format!("{trials} trials") }
}

const LABEL: usize = 14;

/// Doubts of one kind that more arms than this share are summarised in one line: a sweep can have hundreds of arms.
const FEW: usize = 2;

/// Adds the doubts to the page, those that forbid a claim first.
pub(super) fn doubts(page: &mut Page, doubts: &[Raised], forbidding: &[Raised]) {
    let mut listed = |label: &str, doubts: Vec<&Raised>| {
        for line in lines(&doubts) {
            page.labelled(LABEL, label, &line);
        }
    };
    listed("  forbids", forbidding.iter().collect());
    listed("  doubt", doubts.iter().filter(|it| !forbidding.contains(it)).collect());
}

/// One line per doubt, or one per kind if more than [`FEW`] arms raise it.
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

/// Each doubt once, with the names of the arms that raise it; without names if it is about all of them.
fn by_doubt(doubts: &[&Raised]) -> Vec<String> {
    let mut found: Vec<(Vec<&str>, &Doubt)> = Vec::new();
    for Raised { arm, doubt } in doubts {
        match found.iter_mut().find(|it| it.1 == doubt) {
            Some((arms, _)) => arms.extend(arm.as_deref()),
            None => found.push((arm.as_deref().into_iter().collect(), doubt)),
        }
    }
    let line = |(arms, doubt): (Vec<&str>, &Doubt)| match &arms[..] {
        [] => doubt_text(doubt),
        arms => format!("{}: {}", arms.join(", "), doubt_text(doubt)),
    };
    found.into_iter().map(line).collect()
}

/// The worst of the doubts of one kind, with the arms most affected.
fn of_many(mut alike: Vec<&Raised>) -> Option<String> {
    // The sort is stable: equal doubts keep the order of their arms.
    alike.sort_by(|a, b| degree(&b.doubt).total_cmp(&degree(&a.doubt)));
    let worst = &alike.first()?.doubt;
    let arms: Vec<&str> = alike.iter().filter_map(|it| it.arm.as_deref()).collect();
    let (named, others) = arms.split_at(FEW.min(arms.len()));
    let who = format!("{} and {}", named.join(", "), counted_others(others.len()));
    let at_worst = if alike.iter().all(|it| it.doubt == *worst) { "" } else { "at worst, " };
    Some(format!("{who}: {at_worst}{}", doubt_text(worst)))
}

fn counted_others(others: usize) -> String {
    if others == 1 { "1 other".to_owned() } else { format!("{others} others") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Style;

    #[test]
    fn a_doubt_says_what_was_seen_and_how_much_of_it() {
        assert_eq!(
            doubt_text(&Doubt::Stolen { share: 0.0123 }),
            "the hypervisor took 1.2 % of the CPUs' time around the trials"
        );
        assert_eq!(
            doubt_text(&Doubt::Drifted { at: 12, share: -0.02 }),
            "from trial 12 on the figures are 2.0 % faster"
        );
        assert_eq!(
            doubt_text(&Doubt::Throttled { trials: 1 }),
            "the CPUs were throttled in 1 trial"
        );
    }

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
