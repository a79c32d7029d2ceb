//! What exactly the same machines have in common.

use crate::candidate::Candidate;
use crate::columns::{Column, NONE, counts};
use crate::machine::Attribute;

/// More are not told of.
const MOST: usize = 8;

/// Single attributes, or pairs where the candidate is one, that of `peers` exactly the same machines have as the candidate. `may` says
/// which columns are looked at.
pub(crate) fn same(
    columns: &[Column],
    candidate: &Candidate,
    peers: &[usize],
    may: impl Fn(usize) -> bool,
) -> Vec<Vec<Attribute>> {
    let (inside, outside): (Vec<usize>, Vec<usize>) =
        peers.iter().partition(|it| candidate.holds(columns, **it));
    let Some(any) = inside.first() else { return Vec::new() };
    // What all of them have, and whether others have it, too.
    let mut common: Vec<(usize, u32, bool)> = Vec::new();
    for (at, column) in columns.iter().enumerate().filter(|it| may(it.0)) {
        let code = column.codes[*any];
        if code != NONE && inside.iter().all(|it| column.codes[*it] == code) {
            let others = counts(column, outside.iter().copied())[code as usize];
            common.push((at, code, others > 0));
        }
    }
    let attribute = |it: &(usize, u32, bool)| columns[it.0].attribute(it.1);
    let alone = common.iter().filter(|it| !it.2 && !candidate.uses(it.0));
    let mut found: Vec<Vec<Attribute>> = alone.map(|it| vec![attribute(it)]).collect();
    if candidate.second.is_some() {
        let shared: Vec<_> = common.iter().filter(|it| it.2).take(PAIRED).collect();
        for (at, first) in shared.iter().enumerate() {
            for second in &shared[at + 1..] {
                let both = |it: &usize| {
                    columns[first.0].codes[*it] == first.1
                        && columns[second.0].codes[*it] == second.1
                };
                let is_itself = candidate.uses(first.0) && candidate.uses(second.0);
                if !is_itself && !outside.iter().any(both) {
                    found.push(vec![attribute(first), attribute(second)]);
                }
            }
        }
    }
    found.truncate(MOST);
    found
}

/// How many attributes that all of them have are paired.
const PAIRED: usize = 24;
