//! Checks without a verdict, grouped by what would give them one.

use facts::Missing;
use rules::audit::Audit;
use rules::check::Check;
use std::collections::BTreeMap;

/// Unknown checks that one and the same deed would make known.
pub(crate) struct Group<'a> {
    /// The deed; `None` where nobody can do anything.
    pub remedy: Option<&'static str>,
    /// The checks, each with the fact that was missing.
    pub checks: Vec<(&'static Check, &'a Missing)>,
}

/// Unknown checks by remedy, the most helpful one first, those beyond remedy last.
pub(crate) fn by_remedy(audit: &Audit) -> Vec<Group<'_>> {
    let mut groups: BTreeMap<Option<&'static str>, Vec<_>> = BTreeMap::new();
    for (check, missing) in &audit.unknown {
        groups.entry(missing.remedy()).or_default().push((*check, missing));
    }
    let mut groups: Vec<Group<'_>> =
        groups.into_iter().map(|(remedy, checks)| Group { remedy, checks }).collect();
    groups.sort_by_key(|it| (it.remedy.is_none(), std::cmp::Reverse(it.checks.len())));
    groups
}
