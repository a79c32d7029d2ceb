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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::columns;
    use crate::fixture::machine;
    use crate::machine::{Audit, Machine};

    fn said(machines: &[Machine], inside: &[usize], outside: &[usize]) -> Vec<String> {
        let found = contrast(&columns(machines), inside, outside, |_| true);
        let words = |it: Telling| {
            let Telling { attribute, inside, of_inside, outside, of_outside } = it;
            let name = format!("{} {}", attribute.name, attribute.value);
            format!("{name}: {inside} of {of_inside}, {outside} of {of_outside}")
        };
        found.into_iter().map(words).collect()
    }

    #[test]
    fn what_is_rare_outside_is_told_and_what_is_unknown_is_not_counted() {
        let slow = [
            (Kind::Fact, "cmdline", "idle=poll"),
            (Kind::Label, "bios_version", "1.0"),
            (Kind::Finding, "smi-storm", "high"),
            (Kind::Setting, "no_turbo", "1"),
        ];
        let healthy = [(Kind::Label, "bios_version", "1.0"), (Kind::Setting, "no_turbo", "0")];
        let partly = [(Kind::Label, "bios_version", "2.0"), (Kind::Setting, "no_turbo", "1")];
        let machines = [
            machine(&slow),
            machine(&slow),
            machine(&healthy),
            machine(&healthy),
            machine(&partly),
        ];
        assert_eq!(
            said(&machines, &[0, 1], &[2, 3, 4]),
            ["smi-storm high: 2 of 2, 0 of 3", "no_turbo 1: 2 of 2, 1 of 3"],
            "of no other one the command line is known, and most have the BIOS"
        );
    }

    /// What no audit looked for, a machine does not lack.
    #[test]
    fn machines_that_were_not_audited_are_no_peers_without_a_finding() {
        let with = [(Kind::Finding, "smi-storm", "high")];
        let mut machines = vec![machine(&with), machine(&with)];
        machines.extend(vec![Machine { audit: Audit::None, ..machine(&[]) }; 5]);
        let all: Vec<usize> = (2..7).collect();
        assert_eq!(said(&machines, &[0, 1], &all), <[&str; 0]>::default());
        machines[2].audit = Audit::But(Vec::new());
        assert_eq!(said(&machines, &[0, 1], &all), ["smi-storm high: 2 of 2, 0 of 1"]);
    }

    #[test]
    fn a_few_are_told_at_most() {
        let names: Vec<String> = (0..30).map(|it| format!("key-{it}")).collect();
        let with = |value| {
            machine(&names.iter().map(|it| (Kind::Fact, it.as_str(), value)).collect::<Vec<_>>())
        };
        assert_eq!(said(&[with("a"), with("b")], &[0], &[1]).len(), MOST);
    }
}
