//! Findings joined into chains: a sign of lost clock, the mechanism that causes it, the party whose it is, and what to do.
//!
//! Which check's findings are signs and which are mechanisms is in [`parts`], what explains what in [`explains`]; both are lists. A
//! finding that nothing explains begins a chain of its own. A chain has one loss, that of its sign where one was measured, and
//! one fix, that of its cause.

pub mod explains;
pub mod parts;
mod wanted;

pub use wanted::sights;

use crate::audit::Audit;
use crate::check::Check;
use crate::checks::CHECKS;
use crate::finding::{Confidence, Finding, Moment, Scope};
use crate::loss_scale;
use crate::party::Party;
use crate::severity::Severity;
use explains::{Condition, EXPLAINS, Relation, cause_of};
use facts::{Elsewhere, Missing};
use parts::{Kind, Part, part_of};
use std::cmp::Reverse;
use std::time::Duration;

/// A cause, and what it explains.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain<'a> {
    /// What begins it: the cause, or a sign that nothing explains.
    root: Link<'a>,
    /// The findings that it explains, each behind its own cause.
    explained: Vec<Link<'a>>,
    /// What may cause it, where the first link is a sign: the likeliest first.
    pub candidates: Vec<Candidate<'a>>,
}

/// A finding in a chain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link<'a> {
    /// Its check.
    pub check: &'static Check,
    /// The finding.
    pub finding: &'a Finding,
    /// What it is in a chain.
    pub part: &'static Part,
}

/// A mechanism that may be the cause of a sign.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate<'a> {
    /// The check that would show it.
    pub check: &'static Check,
    /// What it is in a chain.
    pub part: &'static Part,
    /// What speaks for it.
    pub because: Because<'a>,
}

/// What speaks for a candidate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Because<'a> {
    /// It was there at some time since boot.
    Logged(&'a Finding),
    /// It was there at some time since boot, and was not in so long a look.
    Still(&'a Finding, Duration),
    /// It is there, and does not explain all.
    Found(&'a Finding),
    /// It could not be looked at.
    Unknown(&'a Missing),
}

/// What a chain takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChainLoss {
    /// The share of the clock or time of each CPU concerned, 0 to 1.
    pub share: f64,
    /// What that says of the true share.
    pub bound: Bound,
}

/// What a share says of the true one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// It was measured.
    Measured,
    /// Some CPUs lose more.
    AtLeast,
    /// That follows from what limits the clock; what of it is lost depends on the load.
    AtMost,
}

impl Bound {
    /// The word in output.
    pub fn name(self) -> &'static str {
        match self {
            Bound::Measured => "measured",
            Bound::AtLeast => "at least",
            Bound::AtMost => "at most",
        }
    }
}

/// The chains of an audit, the most severe first. Findings of checks without a [part](parts) are in none.
pub fn chains(audit: &Audit) -> Vec<Chain<'_>> {
    let findings = &audit.findings;
    let causes = causes(findings);
    let root = |(at, cause): (usize, &Option<usize>)| {
        let root = findings.get(at).filter(|_| cause.is_none()).and_then(link)?;
        let explained = explained_by(&causes, at);
        let explained: Vec<_> =
            explained.into_iter().filter_map(|at| link(findings.get(at)?)).collect();
        if root.part.only_with_effect && explained.is_empty() {
            return None;
        }
        Some(Chain { root, explained, candidates: candidates(audit, &root) })
    };
    let mut chains: Vec<Chain<'_>> = causes.iter().enumerate().filter_map(root).collect();
    // The sort is stable: of equals, the order of the audit stays.
    let promille = |it: &Chain<'_>| it.loss().map(|it| (1000.0 * it.share) as u32);
    chains.sort_by_key(|it| Reverse((it.severity(), promille(it), it.confidence())));
    chains
}

/// What explains each finding. Signs that nothing explains stand behind the first of them: their cause is looked for together.
fn causes(findings: &[(&'static Check, Finding)]) -> Vec<Option<usize>> {
    let mut causes: Vec<Option<usize>> =
        (0..findings.len()).map(|at| cause_of(findings, at)).collect();
    let is_sign = |check: &Check| part_of(check.id).is_some_and(|it| it.kind == Kind::Symptom);
    let signs = findings.iter().zip(&mut causes).enumerate();
    let mut unexplained =
        signs.filter(|(_, ((check, _), cause))| is_sign(check) && cause.is_none());
    if let Some((first, _)) = unexplained.next() {
        unexplained.for_each(|(_, (_, cause))| *cause = Some(first));
    }
    causes
}

fn link<'a>((check, finding): &'a (&'static Check, Finding)) -> Option<Link<'a>> {
    Some(Link { check, finding, part: part_of(check.id)? })
}

/// All that a root explains, each behind its own cause.
fn explained_by(causes: &[Option<usize>], root: usize) -> Vec<usize> {
    let mut order = vec![root];
    let mut next = 0;
    // Each finding has one cause, and no relation leads back: a test of the list sees to that.
    while let Some(&cause) = order.get(next) {
        let effects = causes.iter().enumerate().filter(|(_, it)| **it == Some(cause));
        order.extend(effects.map(|(at, _)| at));
        next += 1;
    }
    order.split_off(1)
}

/// What may cause the sign that a chain begins with.
fn candidates<'a>(audit: &'a Audit, sign: &Link<'a>) -> Vec<Candidate<'a>> {
    if sign.part.kind != Kind::Symptom {
        return Vec::new();
    }
    let of = |relation: &Relation| {
        let check = CHECKS.iter().copied().find(|it| it.id == relation.cause)?;
        let because = because(audit, check).filter(Because::is_possible)?;
        // What could not be looked at, while a register says that it does not act.
        if matches!(because, Because::Unknown(_)) && audit.absent_now.contains(&check.id) {
            return None;
        }
        Some(Candidate { check, part: part_of(check.id)?, because })
    };
    // A known fault that is seen by its effect is the cause; one that is not is none.
    let is_open = |it: &&Relation| !it.holds.contains(&Condition::CauseIsSeenByIt);
    let all = EXPLAINS.iter().filter(|it| it.effect == sign.check.id).filter(is_open);
    let mut candidates: Vec<Candidate<'_>> = all.filter_map(of).collect();
    candidates.sort_by_key(|it| match it.because {
        Because::Found(_) => 0,
        Because::Logged(_) => 1,
        Because::Unknown(_) => 2,
        Because::Still(..) => 3,
    });
    candidates
}

/// What speaks for a check's fault: nothing where it was looked at and not found.
fn because<'a>(audit: &'a Audit, check: &Check) -> Option<Because<'a>> {
    let mut found = audit.findings.iter().filter(|(it, _)| it.id == check.id).map(|it| &it.1);
    if let Some(finding) = found.next() {
        return Some(match (finding.held.moment, finding.held.still_for) {
            (Moment::Now, _) => Because::Found(finding),
            (Moment::SinceBoot, Some(time)) => Because::Still(finding, time),
            (Moment::SinceBoot, None) => Because::Logged(finding),
        });
    }
    let unknown = audit.unknown.iter().find(|(it, _)| it.id == check.id);
    unknown.map(|(_, missing)| Because::Unknown(missing))
}

impl<'a> Candidate<'a> {
    /// What it is, in a few words: what was found, where something was.
    pub fn name(&self) -> &'a str {
        match self.because {
            Because::Logged(it) | Because::Still(it, _) | Because::Found(it) => {
                it.held.name.as_deref().unwrap_or(self.part.name)
            }
            Because::Unknown(_) => self.part.name,
        }
    }
}

impl Because<'_> {
    /// Whether this kind of machine has the mechanism at all, as far as is known.
    fn is_possible(&self) -> bool {
        match self {
            Because::Unknown(missing) => !missing.is_elsewhere(Elsewhere::Firmware),
            Because::Logged(_) | Because::Still(..) | Because::Found(_) => true,
        }
    }
}

impl<'a> Chain<'a> {
    /// Its findings, the cause first, each behind what explains it.
    pub fn links(&self) -> impl Iterator<Item = &Link<'a>> + Clone {
        std::iter::once(&self.root).chain(&self.explained)
    }

    /// The mechanism that causes it; `None` where only a sign was found.
    pub fn cause(&self) -> Option<&Link<'a>> {
        Some(&self.root).filter(|it| it.part.kind == Kind::Mechanism)
    }

    /// The sign: the last link that is one.
    pub fn sign(&self) -> Option<&Link<'a>> {
        self.links().filter(|it| it.part.kind == Kind::Symptom).last()
    }

    /// Of what it takes.
    pub fn of(&self) -> parts::Lost {
        self.root.part.of
    }

    /// What causes it, in a few words that follow "by"; what is seen, where the cause is unknown.
    pub fn mechanism(&self) -> &'a str {
        self.root.finding.held.name.as_deref().unwrap_or(self.root.part.name)
    }

    /// What to do about the cause, in the imperative; `None` where the cause is unknown.
    pub fn action(&self) -> Option<&'a str> {
        let cause = self.cause()?;
        Some(cause.finding.held.action.as_deref().unwrap_or(cause.part.action))
    }

    /// Whose it is, where that is known.
    pub fn party(&self) -> Option<Party> {
        let cause = self.cause()?;
        cause.finding.held.by.or(cause.part.party)
    }

    /// Whether somebody set the cause, and who did is unknown.
    pub fn is_set_by_unknown(&self) -> bool {
        self.party().is_none() && self.cause().is_some_and(|it| it.part.is_set)
    }

    /// Whether it is seen that the cause acts, and not only that it can.
    pub fn acts(&self) -> bool {
        self.severity() >= Severity::Medium && self.cause().is_some_and(|it| it.part.acts)
    }

    /// The program that does it, by name and number.
    pub fn program(&self) -> Option<&'a str> {
        self.cause()?.finding.held.program.as_deref()
    }

    /// Whether it is certain that the program does it.
    pub fn is_certain(&self) -> bool {
        self.cause().is_some_and(|it| it.finding.held.is_certain)
    }

    /// Whether the cause is a setting that no program is known here to write.
    pub fn is_unwritten(&self) -> bool {
        self.cause().is_some_and(|it| it.finding.held.is_unwritten)
    }

    /// When it was seen.
    pub fn moment(&self) -> Moment {
        self.root.finding.held.moment
    }

    /// What it takes: what its sign measured, the least of several, what its cause was seen to take, or at most what that can take; `None`
    /// where none is known.
    pub fn loss(&self) -> Option<ChainLoss> {
        let share_of = |it: &Link<'_>| it.finding.lost.as_ref().map(loss_scale::Lost::share);
        let is_least_of =
            |it: &Link<'_>| it.finding.lost.as_ref().is_some_and(loss_scale::Lost::is_least);
        let signs = self.links().filter(|it| it.part.kind == Kind::Symptom);
        let least = signs.clone().filter_map(share_of).min_by(f64::total_cmp);
        let is_least = signs.clone().count() > 1 || signs.clone().last().is_some_and(is_least_of);
        if let Some(share) = least {
            let is_most = signs
                .clone()
                .filter_map(|it| it.finding.lost.as_ref())
                .any(loss_scale::Lost::is_most);
            let bound = match (is_least, is_most) {
                (true, _) => Bound::AtLeast,
                (false, true) => Bound::AtMost,
                (false, false) => Bound::Measured,
            };
            return Some(ChainLoss { share, bound });
        }
        let shares = self.links().filter_map(|it| Some((share_of(it)?, it)));
        let (share, link) = shares.max_by(|(a, _), (b, _)| a.total_cmp(b))?;
        let bound = match link.part.is_seen {
            true if is_least_of(link) => Bound::AtLeast,
            true => Bound::Measured,
            false => Bound::AtMost,
        };
        Some(ChainLoss { share, bound })
    }

    /// The CPUs that lose it: those of its signs, or of its cause.
    pub fn cpus(&self) -> Option<Scope> {
        let signs = self.links().filter(|it| it.part.kind == Kind::Symptom);
        let scopes: Vec<&Scope> = signs.filter_map(|it| it.finding.cpus.as_ref()).collect();
        match scopes.first() {
            Some(first) => {
                let cpus = scopes.iter().flat_map(|it| it.cpus.iter()).collect();
                Some(Scope { cpus, of: first.of })
            }
            None => self.links().find_map(|it| it.finding.cpus.clone()),
        }
    }

    /// That of the most severe of its findings: a chain is no less than what it is made of.
    pub fn severity(&self) -> Severity {
        self.links().map(|it| it.finding.severity).max().unwrap_or(Severity::Info)
    }

    /// That of the least sure of its findings: each link has to hold. A cause that is seen to act needs no sign: one that it predicts
    /// makes it no less sure.
    pub fn confidence(&self) -> Confidence {
        if self.acts() {
            return self.root.finding.confidence;
        }
        self.links().map(|it| it.finding.confidence).min().unwrap_or(Confidence::Low)
    }

    /// Whether its findings are about different CPUs.
    pub fn has_several_scopes(&self) -> bool {
        self.explained.iter().any(|it| it.finding.cpus != self.root.finding.cpus)
    }
}

#[cfg(test)]
mod tests;
