//! What a look of some seconds has to watch, so that what an audit left open is decided.

use super::explains::EXPLAINS;
use super::{Because, chains};
use crate::audit::Audit;
use crate::finding::Moment;
use crate::looks::sights_of;
use facts::watched::Sight;
use std::collections::BTreeSet;

/// Of the candidates of signs that nothing explains, and of causes that only a log or a count since boot shows.
pub fn sights(audit: &Audit) -> Vec<Sight> {
    let mut checks: BTreeSet<&str> = BTreeSet::new();
    for chain in chains(audit) {
        let open = chain.candidates.iter().filter(|it| !matches!(it.because, Because::Unknown(_)));
        checks.extend(open.map(|it| it.check.id));
        if chain.moment() == Moment::SinceBoot {
            checks.extend(chain.links().map(|it| it.check.id));
        }
    }
    // A clean check has seen one moment: where a clock is low and nobody is seen to hold it, that is not enough.
    for sign in chains(audit).iter().filter(|it| it.cause().is_none()) {
        let causes =
            EXPLAINS.iter().filter(|it| sign.links().any(|link| link.check.id == it.effect));
        checks.extend(causes.map(|it| it.cause));
    }
    let sights: BTreeSet<Sight> = checks.into_iter().flat_map(sights_of).copied().collect();
    sights.into_iter().collect()
}
