//! What two machines do not have in common.

use crate::machine::{Attribute, Kind, Machine};
use std::collections::HashMap;
use std::sync::Arc;

/// One attribute that two machines do not have alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// What sort of thing.
    pub kind: Kind,
    /// Its name.
    pub name: Arc<str>,
    /// Its value on the first machine; `None` where that does not tell.
    pub first: Option<Arc<str>>,
    /// Its value on the second machine; `None` where that does not tell.
    pub second: Option<Arc<str>>,
}

/// The attributes that two machines do not have alike: by kind, in the order in which the first machine tells of them, then those that
/// only the second tells of.
#[must_use]
pub fn differences(first: &Machine, second: &Machine) -> Vec<Difference> {
    let of_first = values(first);
    let of_second = values(second);
    let only_second =
        second.attributes.iter().filter(|it| !of_first.contains_key(&(it.kind, &*it.name)));
    let mut found = Vec::new();
    let mut seen = HashMap::new();
    for attribute in first.attributes.iter().chain(only_second) {
        let key = (attribute.kind, &*attribute.name);
        if seen.insert(key, ()).is_some() {
            continue;
        }
        let (a, b) = (of_first.get(&key), of_second.get(&key));
        if a != b {
            found.push(Difference {
                kind: attribute.kind,
                name: Arc::clone(&attribute.name),
                first: a.map(|it| Arc::clone(it)),
                second: b.map(|it| Arc::clone(it)),
            });
        }
    }
    found.sort_by_key(|it| it.kind);
    found
}

/// Where a name stands twice, the first value holds.
fn values(machine: &Machine) -> HashMap<(Kind, &str), &Arc<str>> {
    let mut values = HashMap::new();
    for Attribute { kind, name, value } in &machine.attributes {
        values.entry((*kind, &**name)).or_insert(value);
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::machine;

    fn said(first: &Machine, second: &Machine) -> Vec<String> {
        let word = |it: Option<Arc<str>>| it.map_or("-".to_owned(), |it| it.to_string());
        let found = differences(first, second).into_iter();
        found
            .map(|it| format!("{:?} {} {} {}", it.kind, it.name, word(it.first), word(it.second)))
            .collect()
    }

    #[test]
    fn other_values_and_what_only_one_has_are_told_by_kind() {
        let first = machine(&[
            (Kind::Setting, "governor", "powersave"),
            (Kind::Label, "bios_version", "1.0"),
            (Kind::Label, "kernel", "6.1"),
            (Kind::Finding, "thermal-throttling", "high"),
        ]);
        let second = machine(&[
            (Kind::Fact, "cmdline", "quiet"),
            (Kind::Label, "kernel", "6.1"),
            (Kind::Label, "rack", "r7"),
            (Kind::Label, "bios_version", "1.2"),
            (Kind::Setting, "governor", "performance"),
        ]);
        assert_eq!(
            said(&first, &second),
            [
                "Label bios_version 1.0 1.2",
                "Label rack - r7",
                "Finding thermal-throttling high -",
                "Setting governor powersave performance",
                "Fact cmdline - quiet",
            ]
        );
        assert!(differences(&first, &first).is_empty());
    }

    #[test]
    fn one_name_in_two_kinds_is_two_things_and_a_second_value_of_one_is_ignored() {
        let first = machine(&[(Kind::Label, "x", "1"), (Kind::Label, "x", "2")]);
        let second = machine(&[(Kind::Fact, "x", "1"), (Kind::Label, "x", "1")]);
        assert_eq!(said(&first, &second), ["Fact x - 1"]);
    }
}
