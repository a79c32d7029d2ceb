//! Which finding explains which: the relations that a diagnosis joins findings by.

use super::parts::part_of;
use crate::check::Check;
use crate::finding::{Finding, Moment};
use crate::party::Party;
use crate::severity::Severity;

/// A cause and what it has for an effect.
#[derive(Debug, PartialEq, Eq)]
pub struct Relation {
    /// The check whose finding is the cause.
    pub cause: &'static str,
    /// The check whose finding it explains.
    pub effect: &'static str,
    /// What has to hold of the two, besides that they share their CPUs.
    pub holds: &'static [Condition],
}

/// What has to hold of a cause and its effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The cause was in force when the host was read: what was logged or counted since boot proves no present.
    CauseIsLive,
    /// The same of a cause that is at least medium: a lesser one is a normal rule of the processor, or does not bind.
    CauseMatters,
    /// The cause held the clock down for at least half of the time for which it was seen.
    CauseHolds,
    /// The effect was seen at that time, too.
    EffectIsLive,
    /// The effect was seen at that time, is at least medium, and its party is unknown.
    EffectIsUnowned,
    /// The effect leaves no less of the clock than the cause predicts, up to a quarter of that.
    AsPredicted,
    /// The effect is this party's.
    EffectIsOf(Party),
    /// The effect is at a limit that it was given.
    EffectIsAtLimit,
    /// The cause is a known fault that does this, and the effect shows that it acts.
    CauseIsSeenByIt,
    /// Nothing that is read proves it: a candidate, and no more.
    Unprovable,
}

use Condition::{
    AsPredicted, CauseHolds, CauseIsLive, CauseIsSeenByIt, CauseMatters, EffectIsAtLimit,
    EffectIsLive, EffectIsOf, EffectIsUnowned, Unprovable,
};

const fn relation(
    cause: &'static str,
    effect: &'static str,
    holds: &'static [Condition],
) -> Relation {
    Relation { cause, effect, holds }
}

/// Of a known fault and what it does: both are there at the moment.
const OF_KNOWN_FAULT: &[Condition] = &[CauseIsLive, EffectIsLive, CauseIsSeenByIt];

/// The causes of each effect stand in the order in which they are tried: what was read from the place that decides first.
pub const EXPLAINS: &[Relation] = &[
    // A fault of a firmware version is the cause of what it does; the finding shows that it is there.
    relation("known-fault", "clock-modulation", OF_KNOWN_FAULT),
    relation("known-fault", "prochot-asserted", OF_KNOWN_FAULT),
    relation("known-fault", "thermal-throttling", OF_KNOWN_FAULT),
    relation("known-fault", "low-power-limit", OF_KNOWN_FAULT),
    relation("known-fault", "power-limit-reached", OF_KNOWN_FAULT),
    // The clock is stopped for a part of the time: APERF counts less, whatever the P-state is (SDM vol. 3B, 15.8.3).
    relation("clock-modulation", "clock-below-minimum", &[CauseIsLive, AsPredicted]),
    // PROCHOT# brings the lowest clock and, on some processors, stops it in between.
    relation("bmc-power-cap", "prochot-asserted", &[CauseMatters, EffectIsUnowned]),
    relation("bmc-throttling", "prochot-asserted", &[CauseMatters, EffectIsUnowned]),
    relation("prochot-asserted", "clock-below-minimum", &[CauseMatters]),
    relation("thermal-throttling", "clock-below-minimum", &[CauseMatters]),
    relation("undervoltage", "clock-below-minimum", &[CauseMatters]),
    // The controller's own word, where no register says more.
    relation("bmc-throttling", "clock-below-minimum", &[CauseMatters]),
    // A limit that the lowest clock does not keep stops the clock, too (SDM vol. 3B, 15.10.3, package clamping).
    relation("power-limit-reached", "clock-below-minimum", &[CauseIsLive, CauseHolds]),
    // A clock that nothing else explains, under a version that does this.
    relation("known-fault", "clock-below-minimum", OF_KNOWN_FAULT),
    // Whether a power limit binds, no register that is read here tells.
    relation("low-power-limit", "clock-below-minimum", &[Unprovable]),
    relation("clock-modulation", "clock-not-delivered", &[CauseIsLive, AsPredicted]),
    relation("prochot-asserted", "clock-not-delivered", &[CauseMatters]),
    relation("thermal-throttling", "clock-not-delivered", &[CauseMatters]),
    relation("undervoltage", "clock-not-delivered", &[CauseMatters]),
    relation("bmc-throttling", "clock-not-delivered", &[CauseMatters]),
    relation("low-power-limit", "clock-not-delivered", &[Unprovable]),
    // Both are logs and counts since boot, unless a register shows the limit at the moment or a look sees them rise. One event in a look explains no
    // clock that is low all the time.
    relation("power-limit-reached", "clock-not-delivered", &[CauseIsLive, CauseHolds]),
    relation("clock-clipped-by-platform", "clock-not-delivered", &[CauseIsLive, CauseHolds]),
    relation("known-fault", "clock-not-delivered", OF_KNOWN_FAULT),
    // That a low limit binds is seen where the processor is at its power limit.
    relation("low-power-limit", "power-limit-reached", &[CauseMatters, EffectIsLive]),
    // A profile has a design power of its own, which the limit follows.
    relation("speed-select-profile", "low-power-limit", &[CauseIsLive]),
    // The limit that the processor's own controller shows is that of what it names as the source.
    relation("prochot-asserted", "capped-frequency", &[CauseMatters, EffectIsOf(Party::Physics)]),
    relation(
        "low-power-limit",
        "capped-frequency",
        &[CauseMatters, EffectIsOf(Party::Physics), AsPredicted],
    ),
    // While the hardware holds the clock, no governor can be judged.
    relation("prochot-asserted", "slow-governor", &[CauseMatters]),
    // A governor runs at the limit that it was given: it is not the governor that is slow.
    relation("capped-frequency", "slow-governor", &[CauseIsLive, EffectIsAtLimit]),
    relation("ipmi-without-interrupt", "kipmid-busy", &[CauseIsLive]),
];

/// So much of what a cause leaves has to be there: shares are of the nominal clock or of the highest, which differ by a fifth on servers.
const AS_PREDICTED: f64 = 0.75;

/// The place of what explains the finding at `effect`, by the first of the relations that hold.
pub(super) fn cause_of(findings: &[(&'static Check, Finding)], effect: usize) -> Option<usize> {
    let (check, finding) = findings.get(effect)?;
    let relation = |(id, cause): &(&'static Check, Finding)| {
        let mut relations = EXPLAINS.iter();
        relations
            .position(|it| it.cause == id.id && it.effect == check.id && it.joins(cause, finding))
    };
    let others = findings.iter().enumerate().filter(|(at, _)| *at != effect);
    let causes = others.filter_map(|(at, it)| Some((relation(it)?, at)));
    causes.min().map(|(_, cause)| cause)
}

/// Whose it is what a check found on a CPU: that of what explains its finding, at last. A finding of no CPUs is the machine's.
pub(crate) fn party_behind(
    findings: &[(&'static Check, Finding)],
    check: &str,
    cpu: u32,
) -> Option<Party> {
    let covers = |it: &Finding| it.cpus.as_ref().is_none_or(|it| it.cpus.contains(cpu));
    let mut at = findings.iter().position(|(it, found)| it.id == check && covers(found))?;
    // No relation leads back: a test of the list sees to that.
    while let Some(cause) = cause_of(findings, at) {
        at = cause;
    }
    let (check, finding) = findings.get(at)?;
    finding.held.by.or(part_of(check.id)?.party)
}

impl Relation {
    /// Whether this cause explains this effect.
    pub(crate) fn joins(&self, cause: &Finding, effect: &Finding) -> bool {
        let holds = |it: &Condition| match it {
            CauseIsSeenByIt => cause.held.sees.contains(&self.effect),
            it => it.holds(cause, effect),
        };
        share_cpus(cause, effect) && self.holds.iter().all(holds)
    }
}

impl Condition {
    fn holds(self, cause: &Finding, effect: &Finding) -> bool {
        match self {
            CauseIsLive => cause.held.moment == Moment::Now,
            CauseHolds => cause.held.is_lasting,
            EffectIsLive => effect.held.moment == Moment::Now,
            CauseMatters => matters(cause),
            EffectIsUnowned => matters(effect) && effect.held.by.is_none(),
            AsPredicted => match (left_by(cause), left_by(effect)) {
                (Some(predicted), Some(measured)) => measured >= AS_PREDICTED * predicted,
                _ => false,
            },
            EffectIsOf(party) => effect.held.by == Some(party),
            EffectIsAtLimit => effect.held.is_at_limit,
            // Of the relation, which names the effect.
            CauseIsSeenByIt => !cause.held.sees.is_empty(),
            Unprovable => false,
        }
    }
}

fn matters(finding: &Finding) -> bool {
    finding.held.moment == Moment::Now && finding.severity >= Severity::Medium
}

/// The share of the clock that a finding leaves.
fn left_by(finding: &Finding) -> Option<f64> {
    Some(1.0 - finding.lost.as_ref()?.share())
}

/// Whether all CPUs of the effect are among the cause's; a cause of no CPUs is the machine's, or that of a part of it.
fn share_cpus(cause: &Finding, effect: &Finding) -> bool {
    match (&cause.cpus, &effect.cpus) {
        (Some(cause), Some(effect)) => effect.cpus.minus(&cause.cpus).is_empty(),
        _ => match (&cause.held.place, &effect.held.place) {
            (None, _) => true,
            (cause, effect) => cause == effect,
        },
    }
}
