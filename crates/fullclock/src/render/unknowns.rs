//! Checks without a verdict, grouped by what would give them one.

use facts::{HostView, Missing};
use rules::audit::Audit;
use rules::check::Check;
use std::collections::BTreeMap;

/// What a host is called when it is a virtual machine, and which checks its nature takes away.
pub(crate) struct Guest {
    pub(crate) hypervisor: String,
    pub(crate) checks: Vec<&'static str>,
}

/// Unknown checks that one and the same deed would make known.
pub(crate) struct Group<'a> {
    /// The deed; `None` where nobody can do anything.
    pub(crate) remedy: Option<&'static str>,
    /// The checks, each with the fact that was missing.
    pub(crate) checks: Vec<(&'static Check, &'a Missing)>,
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

/// On a virtual machine, what it cannot see.
pub(crate) fn guest(host: &HostView, audit: &Audit) -> Option<Guest> {
    let hypervisor = host.platform.hypervisor.as_ref().ok()?.clone()?;
    let hidden = |it: &&(&'static Check, Missing)| matches!(it.1.why, facts::Why::NotHere(_));
    let checks = audit.not_applicable.iter().filter(hidden).map(|(check, _)| check.id).collect();
    Some(Guest { hypervisor, checks })
}
