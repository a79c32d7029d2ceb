//! What slow machines have that their peers lack.

use crate::answer::Telling;
use crate::columns::{Column, counts};
use crate::machine::Kind;

/// More are not told of.
const MOST: usize = 12;

/// The attributes that most of `inside` have and most of `outside` lack, by the difference of the shares; `may` says which columns are
/// looked at.
pub(crate) fn contrast(
    columns: &[Column],
    inside: &[usize],
    outside: &[usize],
    may: impl Fn(usize) -> bool,
) -> Vec<Telling> {
    let mut found: Vec<(f64, Telling)> = Vec::new();
    for (_, column) in columns.iter().enumerate().filter(|it| may(it.0)) {
        let told = |machines: &[usize]| machines.iter().filter(|it| column.is_told(**it)).count();
        let (of_inside, of_outside) = (told(inside), told(outside));
        if of_inside == 0 || of_outside == 0 {
            continue;
        }
        let here = counts(column, inside.iter().copied());
        let there = counts(column, outside.iter().copied());
        for code in (1..column.n_codes()).filter(|it| here[*it] > 0) {
            let share = f64::from(here[code]) / of_inside as f64;
            let share_outside = f64::from(there[code]) / of_outside as f64;
            if share < 0.5 || share_outside >= 0.5 || share - share_outside < LEAST {
                continue;
            }
            let attribute = column.attribute(code as u32);
            let (inside, outside) = (here[code] as usize, there[code] as usize);
            let telling = Telling { attribute, inside, of_inside, outside, of_outside };
            found.push((share - share_outside, telling));
        }
    }
    // Of what tells as much, what says what is wrong before what only differs.
    found.sort_by(|a, b| {
        b.0.total_cmp(&a.0).then(rank(a.1.attribute.kind).cmp(&rank(b.1.attribute.kind)))
    });
    found.truncate(MOST);
    found.into_iter().map(|it| it.1).collect()
}

/// A smaller difference of the shares tells next to nothing.
const LEAST: f64 = 0.25;

fn rank(kind: Kind) -> u8 {
    match kind {
        Kind::Finding => 0,
        Kind::Setting => 1,
        Kind::Label => 2,
        Kind::Fact => 3,
    }
}
