//! A made-up fleet: 40 machines of one model, of which 8 have a bad BIOS and one a slow governor; three of another model, of which one
//! has a slow governor, too; one that has no clock.

use fleet::{
    Answer, Attribute, Audit, Contrast, Explanation, Figure, Group, Kind, Machine, Minority, Slow,
    Subject, Suspect, Telling, TooFew, Unusual,
};
use std::sync::Arc;

/// Machines with the bad BIOS.
const BAD: usize = 8;
const MODEL: &str = "Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz";

fn attribute(kind: Kind, name: &str, value: &str) -> Attribute {
    Attribute { kind, name: name.into(), value: value.into() }
}

fn machine(name: String, clock: Option<f64>, attributes: Vec<Attribute>) -> Machine {
    let figures = clock.map(|it| (Figure::Clock, it)).into_iter().collect();
    let audit = Audit::But(Vec::new());
    Machine { name: name.into(), figures, attributes, audit, ..Machine::default() }
}

/// A finding that `inside` of so many machines have, and none of their peers.
fn contrast(of: Subject, id: &str, severity: &str, (inside, all): (usize, usize)) -> Contrast {
    let attribute = attribute(Kind::Finding, id, severity);
    let of_outside = all - inside;
    let telling = Telling { attribute, inside, of_inside: inside, outside: 0, of_outside };
    Contrast { of, telling: vec![telling] }
}

/// The machines.
pub(crate) fn machines() -> Vec<Machine> {
    let label = |name, value| attribute(Kind::Label, name, value);
    let finding = |name, value| attribute(Kind::Finding, name, value);
    let of_model = |at: usize| {
        let (bios, clock) = if at < BAD { ("12010303", 0.25) } else { ("12010400", 1.2) };
        let mut attributes = vec![label("cpu_model", MODEL), label("bios_version", bios)];
        attributes.push(finding("turbo-headroom-lost", "info"));
        if at < BAD {
            attributes.push(label("bios_date", "2019-03-01"));
            attributes.push(finding("clock-modulation", "critical"));
        }
        if at == BAD {
            attributes.push(finding("slow-governor", "high"));
            attributes.push(attribute(Kind::Setting, "governor", "powersave"));
        }
        let clock = if at == BAD { 0.6 } else { clock };
        machine(format!("db{at}:7077"), Some(clock), attributes)
    };
    let of_other = |at: usize| {
        let mut attributes = vec![label("cpu_model", "EPYC 9654")];
        attributes.extend((at == 2).then(|| finding("slow-governor", "high")));
        let clock = if at == 2 { 0.25 } else { 1.0 };
        machine(format!("web{at}:7077"), Some(clock), attributes)
    };
    let silent = machine("old1:7077".to_owned(), None, Vec::new());
    (0..40).map(of_model).chain((0..3).map(of_other)).chain([silent]).collect()
}

/// What is said of them.
pub(crate) fn answer() -> Answer {
    let slow = |machine, value, lost, explained_by| Slow {
        machine,
        group: 0,
        value,
        lost,
        spreads: lost * 100.0,
        explained_by,
    };
    let values = |it: &str| vec![Some(Arc::from(it))];
    let group = Group {
        values: values(MODEL),
        machines: (0..40).collect(),
        centre: 1.2,
        spread: 0.01,
        detectable: 0.043,
        too_few: None,
    };
    let small = Group {
        values: values("EPYC 9654"),
        machines: (40..43).collect(),
        centre: 0.0,
        spread: 0.0,
        detectable: 0.0,
        too_few: Some(TooFew { has: 3, needs: 8 }),
    };
    let explanation = Explanation {
        attributes: vec![attribute(Kind::Label, "bios_version", "12010303")],
        same: vec![vec![attribute(Kind::Label, "bios_date", "2019-03-01")]],
        group: Some(0),
        inside: (0..BAD).collect(),
        partly: false,
        slow_inside: BAD,
        explains: BAD,
        outside: 32,
        slow_outside: 1,
        lost: 0.7917,
        interval: (0.789, 0.794),
    };
    let of_bios = (0..BAD).map(|it| slow(it, 0.25, 0.7917, Some(0)));
    Answer {
        figure: Figure::Clock,
        peers_by: vec!["cpu_model".into()],
        machines: 44,
        silent: vec![43],
        unusable: vec![],
        namesakes: 0,
        groups: vec![group, small],
        slow: of_bios.chain([slow(BAD, 0.6, 0.5, None)]).collect(),
        suspects: vec![Suspect { machine: 42, group: 1, value: 0.25, lost: 0.75 }],
        explanations: vec![explanation],
        searched: 7,
        contrasts: vec![
            contrast(Subject::Explanation(0), "clock-modulation", "critical", (BAD, 40)),
            contrast(Subject::Machine(BAD), "slow-governor", "high", (1, 40)),
            contrast(Subject::Machine(42), "slow-governor", "high", (1, 3)),
        ],
        minorities: vec![],
        false_share: 0.01,
        tested: 40,
    }
}

/// The same machines where no clock is known of any: two of them have something that few have.
pub(crate) fn answer_without_a_clock() -> Answer {
    let unusual = |(kind, name, value), usual: Option<&str>| Unusual {
        attribute: attribute(kind, name, value),
        usual: usual.map(Arc::from),
        n_usual: 38,
        known: 40,
    };
    let minority = |machines: &[usize], unusual| Minority {
        values: vec![Some(MODEL.into())],
        machines: machines.to_vec(),
        of: 40,
        unusual,
    };
    let governor = vec![
        unusual((Kind::Finding, "slow-governor", "high"), None),
        unusual((Kind::Setting, "governor", "powersave"), Some("performance")),
    ];
    let bios = vec![
        unusual((Kind::Label, "bios_version", "12010303"), Some("12010400")),
        unusual((Kind::Fact, "boot line: idle", "poll"), None),
    ];
    Answer {
        silent: (0..44).collect(),
        groups: vec![],
        slow: vec![],
        explanations: vec![],
        suspects: vec![],
        contrasts: vec![],
        minorities: vec![minority(&[8, 9], governor), minority(&[3, 4], bios)],
        searched: 0,
        tested: 0,
        ..answer()
    }
}
