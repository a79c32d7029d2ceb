//! What an audit found.

use crate::openmetrics::Exposition;
use facts::Obstacle;
use rules::audit::Audit;
use rules::diagnosis::{self, Chain};
use rules::finding::{Confidence, Moment, Severity};
use rules::party::Party;
use std::collections::{BTreeMap, BTreeSet};

/// The findings of an audit, as far as a monitoring system is told of them.
#[derive(Clone, Debug)]
pub struct Findings {
    /// Checks with the severity and the confidence of each finding.
    pub found: Vec<(&'static str, Severity, Confidence)>,
    /// Checks whose findings the site suppresses, with their severities.
    pub suppressed: Vec<(&'static str, Severity)>,
    /// What kept each check from being made that could not be.
    pub unknown: Vec<Obstacle>,
    /// What the chains of its diagnosis take.
    pub chains: Vec<Taken>,
}

/// What a chain of a diagnosis takes.
#[derive(Clone, Copy, Debug)]
pub struct Taken {
    /// The check that found the cause, or the sign where the cause is unknown.
    pub check: &'static str,
    /// What is lost: clock, turbo, time.
    pub lost: &'static str,
    /// Whose the cause is; `unknown` where that is not seen.
    pub party: &'static str,
    /// The share of each CPU concerned, 0 to 1.
    pub share: f64,
}

impl Findings {
    /// Those of an audit.
    pub fn of(audit: &Audit) -> Findings {
        let found = audit.findings.iter();
        let suppressed = audit.suppressed.iter();
        Findings {
            found: found.map(|(check, it)| (check.id, it.severity, it.confidence)).collect(),
            suppressed: suppressed.map(|it| (it.check.id, it.finding.severity)).collect(),
            unknown: audit.unknown.iter().map(|(_, missing)| missing.obstacle()).collect(),
            chains: diagnosis::chains(audit).iter().filter_map(Taken::by).collect(),
        }
    }
}

impl Taken {
    /// Of what was in force when the host was read, and takes a known share.
    fn by(chain: &Chain<'_>) -> Option<Taken> {
        let is_live = chain.moment() == Moment::Now;
        Some(Taken {
            check: chain.links().next()?.check.id,
            lost: chain.of().name(),
            party: chain.party().map_or("unknown", Party::name),
            share: chain.loss().filter(|_| is_live)?.share,
        })
    }
}

pub(super) fn tell(page: &mut Exposition, findings: &Findings) {
    const NAME: &str = "fullclock_finding";
    let help = "Findings of the latest audit, by the check that finds them";
    page.family(NAME, help, "");
    let found: BTreeSet<[&str; 3]> = findings
        .found
        .iter()
        .map(|(check, severity, confidence)| [check, severity.name(), confidence.name()])
        .collect();
    for [id, severity, confidence] in found {
        let labels = [("id", id), ("severity", severity), ("confidence", confidence)];
        page.sample(NAME, &labels, 1.0);
    }
    suppressed(page, &findings.suppressed);
    unknown(page, &findings.unknown);
    diagnosis(page, &findings.chains);
}

fn suppressed(page: &mut Exposition, findings: &[(&str, Severity)]) {
    const NAME: &str = "fullclock_suppressed_findings";
    page.family(NAME, "Findings of the same audit that the configuration suppresses", "");
    let mut counts: BTreeMap<(&str, &str), u32> = BTreeMap::new();
    for (check, severity) in findings {
        *counts.entry((check, severity.name())).or_default() += 1;
    }
    for ((check, severity), count) in counts {
        page.sample(NAME, &[("check", check), ("severity", severity)], count.into());
    }
}

/// A sample for each obstacle, 0 included: an alert on one that is gone ends at once.
fn unknown(page: &mut Exposition, unknown: &[Obstacle]) {
    const NAME: &str = "fullclock_unknown_checks";
    let help = "Checks that could not be made: for lack of a privilege or of a kernel module, because the fact belongs to \
                the machine under this guest, or for another reason";
    page.family(NAME, help, "");
    for obstacle in Obstacle::ALL {
        let n_checks = unknown.iter().filter(|it| **it == obstacle).count();
        page.sample(NAME, &[("obstacle", obstacle.name())], n_checks as f64);
    }
}

/// What each cause takes, of those of one check and party the most: a share of each CPU concerned is no share of the machine.
fn diagnosis(page: &mut Exposition, chains: &[Taken]) {
    const NAME: &str = "fullclock_diagnosis_lost_ratio";
    let help = "What is lost of the clock or time of each CPU concerned, as far as the diagnosis knows it: measured, at least, or at most \
                what a cause in force can take; by the check of the cause, or of the sign where that is unknown, and whose it is";
    page.family(NAME, help, "ratio");
    let mut most: BTreeMap<[&str; 3], f64> = BTreeMap::new();
    for Taken { check, lost, party, share } in chains {
        let known = most.entry([check, lost, party]).or_default();
        *known = known.max(*share);
    }
    for ([check, lost, party], share) in most {
        page.sample(NAME, &[("check", check), ("lost", lost), ("party", party)], share);
    }
}
