//! Every check's verdict on one host.

use crate::check::Check;
use crate::checks::CHECKS;
use crate::finding::Finding;
use facts::{HostView, Missing};

/// What the checks said, each with its check, in the order of the list.
pub struct Audit {
    /// Faults, worst first.
    pub findings: Vec<(&'static Check, Finding)>,
    /// Checks that could not be made, with the fact that was missing.
    pub unknown: Vec<(&'static Check, Missing)>,
    /// Checks about something that this host does not have.
    pub not_applicable: Vec<(&'static Check, Missing)>,
    /// Checks that found nothing.
    pub clean: Vec<&'static Check>,
}

/// Runs every check.
pub fn audit(host: &HostView) -> Audit {
    let mut audit = Audit {
        findings: Vec::new(),
        unknown: Vec::new(),
        not_applicable: Vec::new(),
        clean: Vec::new(),
    };
    for &check in CHECKS {
        match (check.run)(host) {
            Ok(findings) if findings.is_empty() => audit.clean.push(check),
            Ok(findings) => audit.findings.extend(findings.into_iter().map(|it| (check, it))),
            Err(missing) if missing.is_absence() => audit.not_applicable.push((check, missing)),
            Err(missing) => audit.unknown.push((check, missing)),
        }
    }
    // The sort is stable: within a severity, the order of the list stays.
    audit.findings.sort_by_key(|(_, it)| std::cmp::Reverse((it.severity, it.confidence)));
    audit
}
