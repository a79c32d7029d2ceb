//! What few machines have and most of their peers do not, where no speed separates them.

use crate::answer::{Minority, Unusual};
use crate::columns::{Column, NONE};
use crate::machine::{Kind, SEVERITIES};
use crate::peers::{Members, Peers};
use std::collections::BTreeMap;
use std::sync::Arc;

/// At most this share of the machines of a group is few; one machine is in any group.
pub const FEW: f64 = 0.1;

/// Of two machines that differ, either may be the one that is usual.
const LEAST: usize = 3;

/// A machine with less than this share of the attributes of a kind that another machine has is taken as silent about that kind: an audit has
/// one fact, a capture has a thousand.
const SHARE: f64 = 0.1;

/// Which machines have something that few of their peers have.
///
/// Few are a tenth of those of which it is known, while more than half have one other value: where values are spread, as racks and serial
/// numbers are, none is usual and none is named.
pub(crate) fn minorities(columns: &[Column], peers: &Peers) -> Vec<Minority> {
    let mut found: Vec<(Rank, Minority)> = Vec::new();
    for group in peers.of_all(columns) {
        if group.ascending.len() < LEAST {
            continue;
        }
        for (machines, mut unusual) in of_group(columns, peers, &group) {
            drop_twins(&mut unusual);
            unusual.sort_by_key(rank);
            let values = group.values.clone();
            let minority = Minority { values, machines, of: group.ascending.len(), unusual };
            found.push((Rank::of(&minority), minority));
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found.into_iter().map(|it| it.1).collect()
}

/// What stands first: the worst finding, then settings and labels, then facts; the fewest machines; the first of them.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    sort: usize,
    n_machines: usize,
    first: Option<usize>,
}

impl Rank {
    fn of(it: &Minority) -> Rank {
        // They are in order.
        let sort = it.unusual.first().map_or(usize::MAX, |it| match it.attribute.kind {
            Kind::Finding => rank(it).1,
            Kind::Setting | Kind::Label => SEVERITIES.len() + 1,
            Kind::Fact => SEVERITIES.len() + 2,
        });
        Rank { sort, n_machines: it.machines.len(), first: it.machines.first().copied() }
    }
}

/// Findings by their severity, then settings, labels and facts.
fn rank(it: &Unusual) -> (u8, usize) {
    let sort = match it.attribute.kind {
        Kind::Finding => 0,
        Kind::Setting => 1,
        Kind::Label => 2,
        Kind::Fact => 3,
    };
    let mut worst_first = SEVERITIES.iter().rev();
    let severity = worst_first.position(|severity| **severity == *it.attribute.value);
    (sort, severity.unwrap_or(SEVERITIES.len()))
}

/// What few machines of one group have, by these machines.
fn of_group(
    columns: &[Column],
    peers: &Peers,
    group: &Members,
) -> BTreeMap<Vec<usize>, Vec<Unusual>> {
    let tells = [Kind::Setting, Kind::Fact].map(|kind| (kind, telling(columns, group, kind)));
    let mut found: BTreeMap<Vec<usize>, Vec<Unusual>> = BTreeMap::new();
    for column in columns.iter().filter(|it| !peers.is_shared(it)) {
        let of_kind = tells.iter().find(|it| it.0 == column.kind).map(|it| &it.1);
        // What is not set has no value, where the machine tells of others.
        let is_known = |(at, machine): &(usize, usize)| {
            column.is_told(*machine) || of_kind.is_some_and(|it| it[*at])
        };
        let known = group.ascending.iter().copied().enumerate().filter(is_known);
        let mut codes: Vec<(u32, usize)> = known.map(|it| (column.codes[it.1], it.1)).collect();
        codes.sort_unstable();
        let known = codes.len();
        let few = ((known as f64 * FEW) as usize).max(1);
        let of_values: Vec<&[(u32, usize)]> = codes.chunk_by(|a, b| a.0 == b.0).collect();
        let Some(usual) = of_values.iter().find(|it| it.len() * 2 > known) else { continue };
        let (usual, n_usual) = (usual[0].0, usual.len());
        if known < LEAST {
            continue;
        }
        for of_value in of_values.iter().filter(|it| it.len() <= few) {
            let code = of_value[0].0;
            if code == NONE || code == usual {
                continue;
            }
            let value = |code: u32| (code != NONE).then(|| Arc::clone(column.value(code)));
            let attribute = column.attribute(code);
            let unusual = Unusual { attribute, usual: value(usual), n_usual, known };
            let machines = of_value.iter().map(|it| it.1).collect();
            found.entry(machines).or_default().push(unusual);
        }
    }
    found
}

/// Which machines of a group tell of a kind at all.
fn telling(columns: &[Column], group: &Members, kind: Kind) -> Vec<bool> {
    let of_kind: Vec<&Column> = columns.iter().filter(|it| it.kind == kind).collect();
    let told = |machine: &usize| of_kind.iter().filter(|it| it.codes[*machine] != NONE).count();
    let told: Vec<usize> = group.ascending.iter().map(told).collect();
    let most = told.iter().copied().max().unwrap_or(0);
    told.into_iter().map(|it| it > 0 && it as f64 >= SHARE * most as f64).collect()
}

/// A setting by which fleets are grouped is a label, too: once is enough.
fn drop_twins(unusual: &mut Vec<Unusual>) {
    let settings = unusual.iter().filter(|it| it.attribute.kind == Kind::Setting);
    let settings: Vec<Arc<str>> = settings.map(|it| Arc::clone(&it.attribute.name)).collect();
    unusual.retain(|it| it.attribute.kind != Kind::Label || !settings.contains(&it.attribute.name));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Answer;
    use crate::fixture;
    use crate::judge::judge;
    use crate::machine::{Audit, Figure, Machine};
    use crate::question::Question;

    /// A machine of model X.
    fn machine(attributes: Attributes<'_>) -> Machine {
        fixture::machine(&[&[(Kind::Label, "cpu_model", "X")], attributes].concat())
    }

    fn judged(machines: &[Machine]) -> Answer {
        judge(machines, &Question::of(Figure::Clock))
    }

    /// `0,3 of 20: governor powersave, most performance (18 of 20)`.
    fn said(machines: &[Machine]) -> Vec<String> {
        let words = |it: &Minority| {
            let unusual = it.unusual.iter().map(|it| {
                let Unusual { attribute, usual, n_usual, known } = it;
                let usual = usual.as_deref().unwrap_or("-");
                let (name, value) = (&attribute.name, &attribute.value);
                format!("{name} {value}, most {usual} ({n_usual} of {known})")
            });
            let machines: Vec<String> = it.machines.iter().map(ToString::to_string).collect();
            format!(
                "{} of {}: {}",
                machines.join(","),
                it.of,
                unusual.collect::<Vec<_>>().join("; ")
            )
        };
        judged(machines).minorities.iter().map(words).collect()
    }

    type Attributes<'a> = &'a [(Kind, &'a str, &'a str)];

    /// Twenty twins, of which these have others of these attributes.
    fn twins(odd: &[(usize, Attributes<'_>)]) -> Vec<Machine> {
        let usual = [
            (Kind::Setting, "governor", "performance"),
            (Kind::Setting, "turbo", "on"),
            (Kind::Label, "bios_version", "1.1"),
            (Kind::Fact, "cpus online", "0-7"),
        ];
        let of = |at: usize| {
            let own = odd.iter().filter(|it| it.0 == at).flat_map(|it| it.1).copied();
            let mut all: Vec<_> = own.collect();
            let rest: Vec<_> =
                usual.iter().filter(|it| !all.iter().any(|own| own.1 == it.1)).copied().collect();
            all.extend(rest);
            let serial = at.to_string();
            all.push((Kind::Fact, "serial", &serial));
            machine(&all)
        };
        (0..20).map(of).collect()
    }

    #[test]
    fn what_few_have_is_named_with_who_has_it_and_what_most_have() {
        let bios: &[_] = &[(Kind::Label, "bios_version", "1.0")];
        let slow: &[_] = &[
            (Kind::Setting, "governor", "powersave"),
            (Kind::Label, "governor", "powersave"),
            (Kind::Finding, "slow-governor", "high"),
        ];
        let fact: &[_] = &[(Kind::Fact, "boot line: idle", "poll")];
        let worse: &[_] = &[(Kind::Finding, "clock-modulation", "critical")];
        let machines =
            twins(&[(3, bios), (7, slow), (9, slow), (11, fact), (5, worse), (6, worse)]);
        assert_eq!(
            said(&machines),
            [
                "5,6 of 20: clock-modulation critical, most - (18 of 20)",
                "7,9 of 20: slow-governor high, most - (18 of 20); \
                 governor powersave, most performance (18 of 20)",
                "3 of 20: bios_version 1.0, most 1.1 (19 of 20)",
                "11 of 20: boot line: idle poll, most - (19 of 20)",
            ]
        );
        assert_eq!(judged(&machines).tested, 0, "no speed is known, and none is slow");
    }

    #[test]
    fn what_more_have_what_no_value_is_usual_of_and_equal_machines_are_not_named() {
        let bios: &[_] = &[(Kind::Label, "bios_version", "1.0")];
        assert_eq!(said(&twins(&[(1, bios), (2, bios), (3, bios)])), <[&str; 0]>::default());
        assert_eq!(said(&twins(&[])), <[&str; 0]>::default());
        let rack = |at: usize| machine(&[(Kind::Label, "rack", ["a", "b", "c"][at % 3])]);
        assert_eq!(said(&(0..30).map(rack).collect::<Vec<_>>()), <[&str; 0]>::default());
    }

    #[test]
    fn of_three_twins_the_odd_one_is_named_and_of_two_neither() {
        let of = |value| machine(&[(Kind::Setting, "turbo", value)]);
        let odd = ["1 of 3: turbo off, most on (2 of 3)"];
        assert_eq!(said(&[of("on"), of("off"), of("on")]), odd);
        assert_eq!(said(&[of("on"), of("off")]), <[&str; 0]>::default());
    }

    /// Those of another model are no peers, an audit that did not look says nothing, and neither does an audit in place of a capture.
    #[test]
    fn only_what_peers_tell_counts() {
        let mut machines = twins(&[(4, &[(Kind::Finding, "smi-storm", "high")])]);
        for it in &mut machines[5..] {
            it.audit = Audit::None;
        }
        let named = ["4 of 20: smi-storm high, most - (4 of 5)"];
        assert_eq!(said(&machines), named);
        machines.iter_mut().for_each(|it| it.audit = Audit::But(vec!["smi-storm".into()]));
        assert_eq!(said(&machines), <[&str; 0]>::default(), "it is known of one machine alone");
        let mut machines = vec![machine(&[(Kind::Fact, "cpus online", "0-7")]); 20];
        machines[3] = twins(&[]).swap_remove(0);
        let other: Vec<String> = (0..30).map(|it| format!("fact {it}")).collect();
        let facts: Vec<_> = other.iter().map(|it| (Kind::Fact, it.as_str(), "1")).collect();
        machines[3].attributes.extend(machine(&facts).attributes);
        assert_eq!(said(&machines), <[&str; 0]>::default());
    }

    #[test]
    fn where_a_machine_is_slow_the_question_is_another_one() {
        let mut machines = twins(&[(4, &[(Kind::Label, "bios_version", "1.0")])]);
        let clock = |at: usize| 1.0 + (at * 7 % 20) as f64 / 1000.0;
        for (at, it) in machines.iter_mut().enumerate() {
            it.figures = vec![(Figure::Clock, clock(at))];
        }
        assert_eq!(said(&machines).len(), 1, "equally fast, and different");
        machines[4].figures[0].1 = 0.5;
        let answer = judged(&machines);
        assert_eq!((answer.slow.len(), answer.minorities.len()), (1, 0));
    }
}
