//! Machines that should be equally fast: those of one model, and of what else the question names.

use crate::columns::{Column, NONE};
use crate::healthy::{Healthy, LEAST};
use crate::machine::{Kind, Machine};
use crate::question::{MODEL, Question};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

/// What is known of the machines of a fleet that have a figure.
pub(crate) struct Peers {
    /// The names of the labels that peers share.
    pub(crate) by: Vec<Arc<str>>,
    /// The logarithm of each machine's figure; not a number where there is none.
    pub(crate) values: Vec<f64>,
    /// The group of each machine; [`NO_GROUP`] where it has no figure.
    pub(crate) group_of: Vec<usize>,
    /// The groups, the largest first.
    pub(crate) groups: Vec<Members>,
    /// Machines without the figure.
    pub(crate) silent: Vec<usize>,
    /// Machines whose figure is none.
    pub(crate) unusable: Vec<usize>,
}

/// The group of a machine that is not compared.
pub(crate) const NO_GROUP: usize = usize::MAX;

/// Machines that share some labels.
pub(crate) struct Members {
    /// What they share.
    pub(crate) values: Vec<Option<Arc<str>>>,
    /// Themselves, the slowest first.
    pub(crate) ascending: Vec<usize>,
}

impl Members {
    /// Whether they are enough to say which of them are slow.
    pub(crate) fn is_enough(&self) -> bool {
        self.ascending.len() >= LEAST
    }
}

impl Peers {
    pub(crate) fn of(machines: &[Machine], columns: &[Column], question: &Question) -> Self {
        let mut by: Vec<Arc<str>> = vec![MODEL.into()];
        for name in &question.by {
            if !by.contains(name) {
                by.push(Arc::clone(name));
            }
        }
        let (mut silent, mut unusable) = (Vec::new(), Vec::new());
        let mut values = vec![f64::NAN; machines.len()];
        for (at, machine) in machines.iter().enumerate() {
            let of_figure = machine.figures.iter().find(|it| it.0 == question.figure);
            match of_figure {
                None => silent.push(at),
                // Logarithms of subnormal numbers have few digits left.
                Some((_, figure)) if figure.is_normal() && *figure > 0.0 => {
                    values[at] = figure.ln();
                }
                Some(_) => unusable.push(at),
            }
        }
        let groups = groups(columns, &by, &values);
        let mut group_of = vec![NO_GROUP; machines.len()];
        for (group, members) in groups.iter().enumerate() {
            members.ascending.iter().for_each(|it| group_of[*it] = group);
        }
        Self { by, values, group_of, groups, silent, unusable }
    }

    /// The groups of all machines, those without a figure included.
    pub(crate) fn of_all(&self, columns: &[Column]) -> Vec<Members> {
        groups(columns, &self.by, &vec![0.0; self.values.len()])
    }

    /// Whether a column is one of those that peers share.
    pub(crate) fn is_shared(&self, column: &Column) -> bool {
        column.kind == Kind::Label && self.by.contains(&column.name)
    }

    /// The healthy machines among those of a group for which `is_taken` holds.
    pub(crate) fn healthy(
        &self,
        group: usize,
        is_taken: impl Fn(usize) -> bool,
    ) -> Option<Healthy> {
        let taken = self.groups[group].ascending.iter().filter(|it| is_taken(**it));
        Healthy::of(&taken.map(|it| self.values[*it]).collect::<Vec<_>>())
    }
}

/// Machines with the same values of these labels. Those that do not tell one are compared with each other.
fn groups(columns: &[Column], by: &[Arc<str>], values: &[f64]) -> Vec<Members> {
    let label =
        |name: &Arc<str>| columns.iter().find(|it| it.kind == Kind::Label && it.name == *name);
    let labels: Vec<Option<&Column>> = by.iter().map(label).collect();
    let mut groups: Vec<Members> = Vec::new();
    let mut places: HashMap<Vec<u32>, usize> = HashMap::new();
    for machine in (0..values.len()).filter(|it| !values[*it].is_nan()) {
        let key = labels.iter().map(|it| it.map_or(NONE, |it| it.codes[machine])).collect();
        let place = *places.entry(key).or_insert_with(|| {
            let value = |it: &Option<&Column>| {
                let told = it.filter(|it| it.codes[machine] != NONE);
                told.map(|it| Arc::clone(it.value(it.codes[machine])))
            };
            let values = labels.iter().map(value).collect();
            groups.push(Members { values, ascending: Vec::new() });
            groups.len() - 1
        });
        groups[place].ascending.push(machine);
    }
    for group in &mut groups {
        group.ascending.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    }
    groups.sort_by(|a, b| {
        Reverse(a.ascending.len())
            .cmp(&Reverse(b.ascending.len()))
            .then_with(|| a.values.cmp(&b.values))
    });
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::columns;
    use crate::fixture::with_clock;
    use crate::machine::Figure;

    fn machine(figure: f64, labels: &[(&str, &str)]) -> Machine {
        let labels: Vec<_> =
            labels.iter().map(|(name, value)| (Kind::Label, *name, *value)).collect();
        with_clock(figure, &labels)
    }

    fn peers(machines: &[Machine], by: &[&str]) -> Peers {
        let by = by.iter().map(|it| (*it).into()).collect();
        let question = Question { by, ..Question::of(Figure::Clock) };
        Peers::of(machines, &columns(machines), &question)
    }

    #[test]
    fn groups_share_every_label_and_the_largest_is_first() {
        let machines = [
            machine(1.0, &[("cpu_model", "B"), ("rack", "r1")]),
            machine(0.9, &[("cpu_model", "A"), ("rack", "r1")]),
            machine(0.8, &[("cpu_model", "A"), ("rack", "r2")]),
            machine(0.7, &[("cpu_model", "A"), ("rack", "r1")]),
            machine(0.7, &[]),
        ];
        let by_model = peers(&machines, &[]);
        let members: Vec<_> = by_model.groups.iter().map(|it| it.ascending.clone()).collect();
        assert_eq!(members, [vec![3, 2, 1], vec![4], vec![0]]);
        assert_eq!(by_model.groups[1].values, [None], "it does not tell");
        assert_eq!(by_model.group_of, [2, 0, 0, 0, 1]);
        let by_rack = peers(&machines, &["rack", "cpu_model"]);
        assert_eq!(by_rack.by.iter().map(|it| &**it).collect::<Vec<_>>(), ["cpu_model", "rack"]);
        assert_eq!(by_rack.groups.len(), 4);
        assert_eq!(by_rack.groups[0].ascending, [3, 1]);
    }

    #[test]
    fn what_is_no_speed_is_set_apart_from_silence() {
        let figures = [1.0, 0.0, -1.0, f64::NAN, f64::INFINITY, 1e-320];
        let mut machines: Vec<_> = figures.map(|it| machine(it, &[])).into();
        machines.push(Machine { figures: vec![(Figure::Speed, 1.0)], ..machine(1.0, &[]) });
        let found = peers(&machines, &[]);
        assert_eq!((found.unusable, found.silent), (vec![1, 2, 3, 4, 5], vec![6]));
        assert_eq!(found.groups[0].ascending, [0]);
    }
}
