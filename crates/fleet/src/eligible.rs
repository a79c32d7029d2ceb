//! Which attributes may explain something.

use crate::columns::{Column, NONE, counts};
use crate::peers::{NO_GROUP, Peers};
use crate::question::Question;
use crate::screen::LEAST_INSIDE;
use std::collections::{HashMap, HashSet};

/// Indices of the columns that may explain something, in their order. Of columns that divide the machines alike, the first.
///
/// Not those that peers share, nor findings that are the symptom itself, nor what hardly any two machines have in common: a serial
/// number explains nothing.
pub(crate) fn eligible(columns: &[Column], peers: &Peers, question: &Question) -> Vec<usize> {
    let compared: Vec<usize> =
        (0..peers.group_of.len()).filter(|it| peers.group_of[*it] != NO_GROUP).collect();
    let mut seen: HashSet<(bool, Vec<u32>)> = HashSet::new();
    let mut eligible = Vec::new();
    for (at, column) in columns.iter().enumerate() {
        let is_symptom = column.is_finding() && question.symptoms.contains(&column.name);
        if is_symptom || peers.is_shared(column) || !tells_apart(column, &compared) {
            continue;
        }
        if seen.insert((column.is_finding(), pattern(column, &compared))) {
            eligible.push(at);
        }
    }
    eligible
}

/// Whether some value is that of a few machines, and not of all.
fn tells_apart(column: &Column, compared: &[usize]) -> bool {
    let counts = counts(column, compared.iter().copied());
    counts.iter().skip(1).any(|it| (LEAST_INSIDE..compared.len()).contains(&(*it as usize)))
}

/// The codes of the machines, numbered anew in the order in which they occur.
fn pattern(column: &Column, compared: &[usize]) -> Vec<u32> {
    let mut numbers = HashMap::from([(NONE, NONE)]);
    let number = |it: &usize| {
        if !column.is_told(*it) {
            return u32::MAX;
        }
        let next = numbers.len() as u32;
        *numbers.entry(column.codes[*it]).or_insert(next)
    };
    compared.iter().map(number).collect()
}

/// Whether most machines have a value that no other one has: an address, a serial number, a time.
pub(crate) fn is_identity(column: &Column) -> bool {
    let counts = counts(column, 0..column.codes.len());
    let told: u32 = counts.iter().skip(1).sum();
    let alone = counts.iter().skip(1).filter(|it| **it == 1).count();
    !column.is_finding() && 2 * alone > told as usize
}
