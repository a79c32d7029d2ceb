//! Two machines, or one at two times: what differs, and what cannot be compared as one of them does not tell it.

use crate::differences::{Difference, differences};
use crate::machine::{Kind, Machine};
use std::sync::Arc;

/// What can be said of two machines.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// What differs, by kind.
    pub differences: Vec<Difference>,
    /// What only one of them tells, and the other could not have.
    pub untold: Vec<Untold>,
}

/// What one of two machines does not tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Untold {
    /// What sort of thing.
    pub kind: Kind,
    /// Whether it is the first that does not tell.
    pub by_first: bool,
    /// Their names.
    pub names: Vec<Arc<str>>,
}

/// A source that tells fewer of a kind than this share of what another one tells does not tell the kind: an audit has one fact, a capture a
/// thousand.
const SHARE: f64 = 0.1;

/// Compares two machines.
///
/// A label of which one does not tell is unknown there, and so is a finding whose check was not made. A setting or a fact is a difference,
/// as what is not set has no value; but not where one of them tells next to none of the kind.
#[must_use]
pub fn compared(first: &Machine, second: &Machine) -> Comparison {
    let mut found = Comparison::default();
    let n = |of: &Machine, kind| of.attributes.iter().filter(|it| it.kind == kind).count() as f64;
    for it in differences(first, second) {
        let by_first = it.first.is_none();
        let is_one_sided = by_first || it.second.is_none();
        let (silent, other) = if by_first { (first, second) } else { (second, first) };
        let is_untold = match it.kind {
            Kind::Label => true,
            Kind::Finding => !silent.audit.made(&it.name),
            Kind::Setting | Kind::Fact => n(silent, it.kind) < SHARE * n(other, it.kind),
        };
        if !is_one_sided || !is_untold {
            found.differences.push(it);
            continue;
        }
        let is_it = |at: &&mut Untold| at.kind == it.kind && at.by_first == by_first;
        match found.untold.iter_mut().find(is_it) {
            Some(untold) => untold.names.push(it.name),
            None => found.untold.push(Untold { kind: it.kind, by_first, names: vec![it.name] }),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::machine::Audit;

    fn machine(attributes: &[(Kind, &str)]) -> Machine {
        let named: Vec<_> = attributes.iter().map(|(kind, name)| (*kind, *name, "1")).collect();
        fixture::machine(&named)
    }

    fn words(first: &Machine, second: &Machine) -> (Vec<String>, Vec<String>) {
        let found = compared(first, second);
        let untold = |it: &Untold| format!("{:?} {} {}", it.kind, it.by_first, it.names.join(","));
        (
            found.differences.iter().map(|it| it.name.to_string()).collect(),
            found.untold.iter().map(untold).collect(),
        )
    }

    #[test]
    fn a_label_that_one_does_not_tell_is_unknown_and_a_finding_differs() {
        let first = machine(&[(Kind::Label, "kernel"), (Kind::Finding, "turbo-off")]);
        let second = machine(&[(Kind::Label, "rack"), (Kind::Label, "board")]);
        let (differ, untold) = words(&first, &second);
        assert_eq!(differ, ["turbo-off"]);
        assert_eq!(untold, ["Label false kernel", "Label true rack,board"]);
    }

    #[test]
    fn a_setting_that_one_lacks_differs_unless_it_tells_none() {
        let both = [(Kind::Setting, "a"), (Kind::Setting, "b")];
        let (differ, untold) = words(&machine(&both), &machine(&both[..1]));
        assert_eq!((differ, untold.len()), (vec!["b".to_owned()], 0));
        let (differ, untold) = words(&machine(&[]), &machine(&both));
        assert_eq!((differ.len(), untold), (0, vec!["Setting true a,b".to_owned()]));
    }

    #[test]
    fn a_finding_is_no_difference_to_a_machine_whose_audit_did_not_look_for_it() {
        let with = machine(&[(Kind::Finding, "turbo-off")]);
        for audit in [Audit::None, Audit::But(vec!["turbo-off".into()])] {
            let without = Machine { audit, ..machine(&[]) };
            let (differ, untold) = words(&with, &without);
            assert_eq!((differ.len(), untold), (0, vec!["Finding false turbo-off".to_owned()]));
            assert_eq!(words(&without, &with).1, ["Finding true turbo-off"]);
        }
    }
}
