//! Doubts as text: one sentence each, and as a list in which doubts of one kind share a line.

use super::manner::Manner;
use super::quantity::percent;
use lab::doubt::{Doubt, LoadOf, Raised};
use std::mem::discriminant;

/// A doubt as a clause: what was observed, and what it means for the results.
pub(super) fn doubt_text(doubt: &Doubt, manner: Manner) -> String {
    match doubt {
        Doubt::Throttled { trials } => {
            format!("the CPUs were throttled in {}", manner.counted(*trials))
        }
        Doubt::ClockDrifted { share } => {
            format!("the clock moved by {} % between {}s", percent(*share), manner.one())
        }
        Doubt::ClockUnknown { missing } => {
            format!("the clock is unknown, so that its changes are not corrected for: {missing}")
        }
        Doubt::Stolen { share } => taken("the hypervisor", *share),
        Doubt::OtherLoad { share, by, server } => others(*share, by, server.as_deref()),
        Doubt::Warming { trials, share } => {
            let moved = moved(*share, manner);
            format!("it warmed up for {}, whose results are {moved}", manner.counted(*trials))
        }
        Doubt::Drifted { at, share } => {
            format!("from {} {at} on, results are {}", manner.one(), moved(*share, manner))
        }
        Doubt::TooFewTrials { trials, needed } => too_few(*trials, *needed, manner),
        Doubt::Unpinned => {
            let option = if manner.is_race { "cpus=" } else { "--cpus" };
            format!("it was not pinned: the scheduler could move it from CPU to CPU ({option})")
        }
        Doubt::MachineUnknown => {
            "another program ran it; its output names neither the machine nor the time, and the date is that of reading it"
                .to_owned()
        }
        Doubt::CutShort => "it was stopped before all planned trials had run".to_owned(),
        Doubt::Failures { trials } => {
            let (failed, those) = (manner.counted(*trials), manner.one());
            format!("{failed} failed and ended it; the {those}s before count")
        }
    }
}

fn taken(by: &str, share: f64) -> String {
    format!("{by} took {} % of the CPUs' time", percent(share))
}

/// What other tasks took, by name; and how to say that one of them is the server under test.
fn others(share: f64, by: &[LoadOf], server: Option<&str>) -> String {
    let each = by.iter().map(|it| format!("{} {} %", it.name, percent(it.share)));
    let names = each.collect::<Vec<_>>().join(", ");
    let names = if names.is_empty() { names } else { format!(" ({names})") };
    let hint = server.map(|product| {
        format!(
            "; if the command works with that server, --server {product} makes it part of the work"
        )
    });
    format!("{}{names}{}", taken("other tasks", share), hint.unwrap_or_default())
}

/// A median that is slower by `share`, in the unit of the result: of a rate it is lower then.
fn moved(share: f64, manner: Manner) -> String {
    let change = manner.in_figure(share);
    format!("{} % {}", percent(change.abs()), if change < 0.0 { "lower" } else { "higher" })
}

/// Blocks count where there are several arms, and what they are in trials.
fn too_few(have: u32, needed: u32, manner: Manner) -> String {
    match manner.per_block {
        None => {
            let have = manner.counted(have);
            format!("there are too few for an interval: {have}, and {needed} are needed")
        }
        Some(_) if manner.is_race => {
            format!("there are too few intervals for a claim: {have}, and {needed} are needed (-d)")
        }
        Some(per_block) => {
            let trials = |blocks: u32| per_block.saturating_mul(blocks as usize);
            let (of_each, wanted) = (trials(have), trials(needed));
            format!(
                "there are too few blocks for a claim: {have}, which is {of_each} trials of each; {needed} are needed (-n \
                 {wanted})"
            )
        }
    }
}

/// The severity among doubts of one kind: higher is worse.
pub(super) fn degree(doubt: &Doubt) -> f64 {
    match doubt {
        Doubt::Throttled { trials } | Doubt::Failures { trials } => f64::from(*trials),
        Doubt::ClockDrifted { share }
        | Doubt::Stolen { share }
        | Doubt::OtherLoad { share, .. } => *share,
        Doubt::Warming { share, .. } | Doubt::Drifted { share, .. } => share.abs(),
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
        Doubt::Warming { .. } => "warm-up",
        Doubt::Drifted { .. } => "drifted",
        Doubt::TooFewTrials { .. } => "too few trials",
        Doubt::Unpinned => "not pinned",
        Doubt::MachineUnknown => "machine unknown",
        Doubt::CutShort => "cut short",
        Doubt::Failures { .. } => "failed",
    }
}

/// Doubts of one kind that more arms than this share are summarised in one line: a sweep can have hundreds of arms.
const FEW: usize = 2;

/// One line per doubt, or one per kind if more than [`FEW`] arms raise it.
pub(crate) fn lines(doubts: &[&Raised], manner: Manner) -> Vec<String> {
    let mut left = doubts.to_vec();
    let mut lines = Vec::new();
    while let Some(first) = left.first() {
        let kind = discriminant(&first.doubt);
        let (alike, others): (Vec<&Raised>, Vec<&Raised>) =
            left.into_iter().partition(|it| discriminant(&it.doubt) == kind);
        left = others;
        if alike.iter().filter(|it| it.arm.is_some()).count() > FEW {
            lines.extend(of_many(alike, manner));
        } else {
            lines.extend(by_doubt(&alike, manner));
        }
    }
    lines
}

/// Each doubt once, with the names of the arms that raise it; without names if it is about all of them.
fn by_doubt(doubts: &[&Raised], manner: Manner) -> Vec<String> {
    let mut found: Vec<(Vec<&str>, &Doubt)> = Vec::new();
    for Raised { arm, doubt } in doubts {
        match found.iter_mut().find(|it| it.1 == doubt) {
            Some((arms, _)) => arms.extend(arm.as_deref()),
            None => found.push((arm.as_deref().into_iter().collect(), doubt)),
        }
    }
    let line = |(arms, doubt): (Vec<&str>, &Doubt)| match &arms[..] {
        [] => doubt_text(doubt, manner),
        arms => format!("{}: {}", arms.join(", "), doubt_text(doubt, manner)),
    };
    found.into_iter().map(line).collect()
}

/// The worst of the doubts of one kind, with the arms most affected.
fn of_many(mut alike: Vec<&Raised>, manner: Manner) -> Option<String> {
    // The sort is stable: equal doubts keep the order of their arms.
    alike.sort_by(|a, b| degree(&b.doubt).total_cmp(&degree(&a.doubt)));
    let worst = &alike.first()?.doubt;
    let arms: Vec<&str> = alike.iter().filter_map(|it| it.arm.as_deref()).collect();
    let (named, others) = arms.split_at(FEW.min(arms.len()));
    let who = format!("{} and {}", named.join(", "), counted_others(others.len()));
    let at_worst = if alike.iter().all(|it| it.doubt == *worst) { "" } else { "at worst, " };
    Some(format!("{who}: {at_worst}{}", doubt_text(worst, manner)))
}

fn counted_others(others: usize) -> String {
    if others == 1 { "1 other".to_owned() } else { format!("{others} others") }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{QUIET, interleaved, kept};
    use super::*;
    use lab::trial::Better;

    fn alone() -> Manner {
        Manner::of(&kept())
    }

    #[test]
    fn a_doubt_says_what_was_seen_and_how_much_of_it() {
        let text = |doubt| doubt_text(&doubt, alone());
        assert_eq!(
            text(Doubt::Stolen { share: 0.0123 }),
            "the hypervisor took 1.2 % of the CPUs' time"
        );
        assert_eq!(
            text(Doubt::Drifted { at: 12, share: -0.02 }),
            "from trial 12 on, results are 2.0 % lower"
        );
        assert_eq!(
            text(Doubt::Warming { trials: 6, share: 0.04 }),
            "it warmed up for 6 trials, whose results are 4.0 % higher"
        );
        let by = vec![LoadOf { name: "gzip".to_owned(), share: 0.5 }];
        assert_eq!(
            text(Doubt::OtherLoad { share: 0.62, by, server: None }),
            "other tasks took 62 % of the CPUs' time (gzip 50 %)"
        );
        let server = Some("postgresql".to_owned());
        assert_eq!(
            text(Doubt::OtherLoad { share: 0.62, by: Vec::new(), server }),
            "other tasks took 62 % of the CPUs' time; if the command works with that server, --server postgresql makes it \
             part of the work"
        );
        assert_eq!(text(Doubt::Throttled { trials: 1 }), "the CPUs were throttled in 1 trial");
    }

    #[test]
    fn a_rate_that_halves_is_half_as_high_and_a_race_has_intervals() {
        let race = Manner { better: Better::Higher, is_race: true, per_block: Some(1) };
        assert_eq!(
            doubt_text(&Doubt::Drifted { at: 7, share: 1.0 }, race),
            "from interval 7 on, results are 50 % lower"
        );
        assert!(doubt_text(&Doubt::Unpinned, race).ends_with("(cpus=)"));
    }

    #[test]
    fn too_few_trials_say_how_many_to_ask_for() {
        let text =
            |manner, trials, needed| doubt_text(&Doubt::TooFewTrials { trials, needed }, manner);
        assert_eq!(
            text(alone(), 3, 5),
            "there are too few for an interval: 3 trials, and 5 are needed"
        );
        let blocks = Manner::of(&interleaved(QUIET, QUIET, 5));
        assert_eq!(
            text(blocks, 5, 8),
            "there are too few blocks for a claim: 5, which is 10 trials of each; 8 are needed (-n 16)"
        );
        let race = Manner { is_race: true, ..blocks };
        assert!(text(race, 6, 8).starts_with("there are too few intervals for a claim: 6, and 8"));
    }

    fn listed(raised: &[Raised]) -> String {
        lines(&raised.iter().collect::<Vec<_>>(), alone()).join("\n")
    }

    #[test]
    fn a_doubt_stands_once_with_the_arms_that_raise_it() {
        let raised = [
            Raised::by("A", Doubt::CutShort),
            Raised::by("B", Doubt::TooFewTrials { trials: 4, needed: 5 }),
            Raised::by("B", Doubt::CutShort),
            Doubt::Throttled { trials: 2 }.into(),
        ];
        insta::assert_snapshot!(listed(&raised), @r"
        A, B: it was stopped before all planned trials had run
        B: there are too few for an interval: 4 trials, and 5 are needed
        the CPUs were throttled in 2 trials
        ");
    }

    #[test]
    fn what_many_arms_raise_is_one_line_with_the_worst_of_them() {
        let throttled = |cpu: u32| Doubt::Throttled { trials: 1 + cpu % 5 };
        let on = |cpu: u32, doubt| Raised::by(&format!("CPU {cpu}"), doubt);
        let stolen = [on(2, Doubt::Stolen { share: 0.01 }), on(90, Doubt::Stolen { share: 0.3 })];
        let raised: Vec<Raised> = (0..128)
            .map(|cpu| on(cpu, throttled(cpu)))
            .chain(stolen)
            .chain((0..3).map(|cpu| on(cpu, Doubt::Unpinned)))
            .collect();
        insta::assert_snapshot!(listed(&raised), @r"
        CPU 4, CPU 9 and 126 others: at worst, the CPUs were throttled in 5 trials
        CPU 2: the hypervisor took 1.0 % of the CPUs' time
        CPU 90: the hypervisor took 30 % of the CPUs' time
        CPU 0, CPU 1 and 1 other: it was not pinned: the scheduler could move it from CPU to CPU (--cpus)
        ");
    }
}
