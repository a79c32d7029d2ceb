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
    /// Of a finding, the machines of which nothing is known without it; of anything else those are all that have no code.
    unknown: Vec<bool>,
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

    /// Whether it is known what a machine has: a finding is absent where an audit made its check, of anything else without a value
    /// nothing is known.
    pub(crate) fn is_told(&self, machine: usize) -> bool {
        self.codes[machine] != NONE || (self.is_finding() && !self.unknown[machine])
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
                let unknown = Vec::new();
                columns.push(Column { kind: *kind, name, values, codes: codes_of_all, unknown });
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
    for column in columns.iter_mut().filter(|it| it.is_finding()) {
        column.unknown = machines.iter().map(|it| !it.audit.made(&column.name)).collect();
    }
    columns
}

/// How many machines have each code, of those of which it is known; [`NONE`] is that of the machines without a finding.
pub(crate) fn counts(column: &Column, machines: impl Iterator<Item = usize>) -> Vec<u32> {
    let mut counts = vec![0; column.n_codes()];
    for machine in machines.filter(|it| column.is_told(*it)) {
        counts[column.codes[machine] as usize] += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::machine;
    use crate::machine::Audit;

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
        assert_eq!(counts(&found[0], 0..3), [0, 1, 1]);
        assert_eq!([0, 1, 2].map(|it| found[0].is_told(it)), [true, true, false]);
        assert_eq!([0, 1, 2].map(|it| found[1].is_told(it)), [true; 3], "no finding is told, too");
    }

    #[test]
    fn a_finding_is_absent_only_where_its_check_was_made() {
        let audits = [Audit::But(vec![]), Audit::But(vec!["smi-storm".into()]), Audit::None];
        let mut machines = vec![machine(&[(Kind::Finding, "smi-storm", "high")])];
        machines.extend(audits.map(|audit| Machine { audit, ..machine(&[]) }));
        machines[0].audit = Audit::None;
        let found = &columns(&machines)[0];
        assert_eq!([0, 1, 2, 3].map(|it| found.is_told(it)), [true, true, false, false]);
        assert_eq!(counts(found, 0..4), [1, 1], "one lacks it, and one has it");
    }
}
