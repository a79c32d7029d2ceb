//! The attributes of all machines as columns of small numbers, so that values are compared and counted without their words.

use crate::machine::{Attribute, Kind, Machine};
use std::collections::HashMap;
use std::sync::Arc;

/// The code of a machine that has no such attribute.
pub(crate) const NONE: u32 = 0;

/// One name and the values that machines have for it.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) kind: Kind,
    pub(crate) name: Arc<str>,
    /// What the codes stand for, from 1 on.
    values: Vec<Arc<str>>,
    /// One for each machine.
    pub(crate) codes: Vec<u32>,
}

impl Column {
    /// The attribute that a code stands for.
    pub(crate) fn attribute(&self, code: u32) -> Attribute {
        Attribute {
            kind: self.kind,
            name: Arc::clone(&self.name),
            value: Arc::clone(self.value(code)),
        }
    }

    /// The word that a code stands for.
    pub(crate) fn value(&self, code: u32) -> &Arc<str> {
        &self.values[code as usize - 1]
    }

    /// How many codes there are, [`NONE`] included.
    pub(crate) fn n_codes(&self) -> usize {
        self.values.len() + 1
    }

    /// Whether it is known what a machine has: a finding that an audit does not tell of is not there, of anything else nothing is known.
    pub(crate) fn is_told(&self, machine: usize) -> bool {
        self.codes[machine] != NONE || self.is_finding()
    }

    /// Whether fleets are grouped by it.
    pub(crate) fn is_label(&self) -> bool {
        self.kind == Kind::Label
    }

    /// Whether an absence is an answer.
    pub(crate) fn is_finding(&self) -> bool {
        self.kind == Kind::Finding
    }
}

/// The columns of all attributes: by kind, then as they first occur.
pub(crate) fn columns(machines: &[Machine]) -> Vec<Column> {
    let mut columns: Vec<Column> = Vec::new();
    let mut places: HashMap<(Kind, &str), usize> = HashMap::new();
    let mut codes: Vec<HashMap<&str, u32>> = Vec::new();
    for (at, machine) in machines.iter().enumerate() {
        for Attribute { kind, name, value } in &machine.attributes {
            let place = *places.entry((*kind, &**name)).or_insert_with(|| {
                let codes_of_all = vec![NONE; machines.len()];
                let (name, values) = (Arc::clone(name), Vec::new());
                columns.push(Column { kind: *kind, name, values, codes: codes_of_all });
                codes.push(HashMap::new());
                columns.len() - 1
            });
            let column = &mut columns[place];
            let code = *codes[place].entry(&**value).or_insert_with(|| {
                column.values.push(Arc::clone(value));
                column.values.len() as u32
            });
            // Where a name stands twice, the first value holds.
            if column.codes[at] == NONE {
                column.codes[at] = code;
            }
        }
    }
    columns.sort_by_key(|it| it.kind);
    columns
}

/// How many machines have each code.
pub(crate) fn counts(column: &Column, machines: impl Iterator<Item = usize>) -> Vec<u32> {
    let mut counts = vec![0; column.n_codes()];
    machines.for_each(|it| counts[column.codes[it] as usize] += 1);
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(attributes: &[(Kind, &str, &str)]) -> Machine {
        let attributes = attributes.iter().map(|(kind, name, value)| Attribute {
            kind: *kind,
            name: (*name).into(),
            value: (*value).into(),
        });
        Machine { name: "db".into(), figures: Vec::new(), attributes: attributes.collect() }
    }

    #[test]
    fn each_name_of_a_kind_is_a_column_and_missing_labels_are_not_told() {
        let machines = [
            machine(&[(Kind::Finding, "smi-storm", "high"), (Kind::Label, "rack", "r1")]),
            machine(&[
                (Kind::Label, "rack", "r2"),
                (Kind::Label, "rack", "r1"),
                (Kind::Fact, "rack", "r1"),
            ]),
            machine(&[]),
        ];
        let found = columns(&machines);
        let names: Vec<_> = found.iter().map(|it| (it.kind, &*it.name)).collect();
        assert_eq!(
            names,
            [(Kind::Label, "rack"), (Kind::Finding, "smi-storm"), (Kind::Fact, "rack")]
        );
        assert_eq!(found[0].codes, [1, 2, NONE]);
        assert_eq!(&*found[0].attribute(2).value, "r2");
        assert_eq!(counts(&found[0], 0..3), [1, 1, 1]);
        assert_eq!([0, 1, 2].map(|it| found[0].is_told(it)), [true, true, false]);
        assert_eq!([0, 1, 2].map(|it| found[1].is_told(it)), [true; 3], "no finding is told, too");
    }
}
