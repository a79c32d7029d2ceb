//! Four reasons in one fleet, and none in another.

use crate::generated::{Fleet, accused, said};
use fleet::{Answer, Figure, Kind, Question, Subject, judge};

/// One model with one BIOS and one microcode at 25 %, another microcode at -5 %, a rack at 62 %, and one machine at 50 %.
fn four_reasons(n: usize) -> (Fleet, usize) {
    let mut fleet = Fleet::usual(1, n);
    fleet.spread(0.01);
    let triple = [
        ("cpu_model", "cpu_model-2"),
        ("bios_version", "bios_version-2"),
        ("microcode", "microcode-2-1"),
    ];
    fleet.slow(&fleet.with(&triple), 0.25);
    fleet.slow(&fleet.with(&[("microcode", "microcode-0-2")]), 0.95);
    fleet.slow(&fleet.with(&[("rack", "rack-7")]), 0.62);
    let lone = (0..n).find(|it| !fleet.slow.contains(it)).expect("a healthy machine");
    fleet.slow(&[lone], 0.5);
    (fleet, lone)
}

fn found(answer: &Answer) -> Vec<Vec<String>> {
    answer.explanations.iter().map(said).collect()
}

fn holds_four_reasons(n: usize) {
    let (fleet, lone) = four_reasons(n);
    let answer = judge(&fleet.machines, &Question::of(Figure::Clock));
    let said = found(&answer);
    let is = |words: &[&str]| {
        said.iter().any(|it| words.iter().all(|word| it.iter().any(|it| it == word)))
    };
    assert_eq!(answer.explanations.len(), 3, "{said:?}");
    assert!(is(&["bios_version-2 + microcode-2-1", "bios_date-2 + microcode-2-1"]), "{said:?}");
    assert!(is(&["microcode-0-2"]) && is(&["rack-7"]), "{said:?}");
    for (lost, explanation) in answer.explanations.iter().map(|it| (it.lost, it)) {
        let expected = [0.75, 0.05, 0.38].into_iter().find(|it| (it - lost).abs() < 0.01);
        let expected = expected.unwrap_or_else(|| panic!("{explanation:?}"));
        assert!(
            (explanation.interval.0..explanation.interval.1).contains(&expected),
            "{explanation:?}"
        );
        assert!(explanation.interval.0 > 0.02, "{explanation:?}");
        assert!(explanation.slow_outside <= 1, "{explanation:?}");
    }
    let unexplained: Vec<_> = answer.slow.iter().filter(|it| it.explained_by.is_none()).collect();
    assert!(unexplained.iter().any(|it| it.machine == lone));
    assert!(unexplained.len() <= 1 + n / 10_000, "{unexplained:?}");
    let wrongly = accused(&answer).difference(&fleet.slow).count();
    assert!(wrongly as f64 <= answer.false_share * fleet.slow.len() as f64, "{wrongly}");
    assert!(fleet.slow.is_subset(&accused(&answer)));
    assert_eq!(answer.tested, n);
}

#[test]
fn four_reasons_are_found() {
    holds_four_reasons(6_000);
}

#[test]
#[ignore = "20,000 machines, for an optimised build"]
fn four_reasons_are_found_among_20_000_machines() {
    holds_four_reasons(20_000);
}

#[test]
#[ignore = "100,000 machines, for an optimised build"]
fn four_reasons_are_found_among_100_000_machines() {
    holds_four_reasons(100_000);
}

#[test]
fn healthy_machines_are_left_alone() {
    let mut fleet = Fleet::usual(2, 4_000);
    fleet.spread(0.02);
    let answer = judge(&fleet.machines, &Question::of(Figure::Clock));
    assert!(answer.explanations.is_empty(), "{:?}", found(&answer));
    assert!(answer.slow.is_empty(), "{:?}", answer.slow);
    assert!(answer.contrasts.is_empty());
}

#[test]
#[ignore = "20,000 machines, for an optimised build"]
fn healthy_machines_are_left_alone_among_20_000() {
    let mut fleet = Fleet::usual(3, 20_000);
    fleet.spread(0.015);
    let answer = judge(&fleet.machines, &Question::of(Figure::Clock));
    assert!(answer.explanations.is_empty() && answer.slow.is_empty(), "{:?}", answer.slow);
}

/// No machine of it is slow by itself: 5 % are two and a half spreads.
#[test]
fn a_cohort_is_found_whose_machines_are_not_slow_one_by_one() {
    let mut fleet = Fleet::usual(4, 2_000);
    fleet.spread(0.02);
    let cohort = fleet.with(&[("microcode", "microcode-3-1")]);
    fleet.slow(&cohort, 0.95);
    let answer = judge(&fleet.machines, &Question::of(Figure::Clock));
    let [explanation] = answer.explanations.as_slice() else { panic!("{:?}", found(&answer)) };
    assert_eq!(said(explanation), ["microcode-3-1"]);
    assert_eq!(explanation.inside, cohort);
    assert!(explanation.slow_inside < cohort.len() / 10, "{explanation:?}");
    assert!((explanation.lost - 0.05).abs() < 0.01, "{explanation:?}");
}

/// Two microcodes of three are slow: the majority of the group, and not its norm.
#[test]
fn the_faster_cohort_is_healthy_although_most_are_not_in_it() {
    let mut fleet = Fleet::usual(5, 1_500);
    fleet.spread(0.01);
    for value in ["microcode-1-0", "microcode-1-2"] {
        fleet.slow(&fleet.with(&[("microcode", value)]), 0.7);
    }
    let answer = judge(&fleet.machines, &Question::of(Figure::Clock));
    let mut said: Vec<_> = answer.explanations.iter().flat_map(said).collect();
    said.sort();
    assert_eq!(said, ["microcode-1-0", "microcode-1-2"]);
    assert_eq!(accused(&answer), fleet.slow);
}

/// What is slower still is shown by itself, although the cohort around it is larger.
#[test]
fn a_slower_part_of_a_slow_cohort_has_its_own_explanation() {
    let mut fleet = Fleet::usual(6, 4_000);
    fleet.spread(0.02);
    fleet.slow(&fleet.with(&[("microcode", "microcode-1-1")]), 0.94);
    fleet.slow(
        &fleet.with(&[("microcode", "microcode-1-1"), ("bios_version", "bios_version-3")]),
        0.4,
    );
    let answer = judge(&fleet.machines, &Question::of(Figure::Clock));
    let said = found(&answer);
    let firsts: Vec<_> = said.iter().map(|it| it[0].as_str()).collect();
    assert_eq!(firsts, ["bios_version-3 + microcode-1-1", "microcode-1-1"], "{said:?}");
    let part = fleet.with(&[("microcode", "microcode-1-1"), ("bios_version", "bios_version-3")]);
    let by =
        |machine: usize| answer.slow.iter().find(|it| it.machine == machine).unwrap().explained_by;
    assert!(part.iter().all(|it| by(*it) == Some(0)));
}

/// A setting explains a rack's machines better than the rack; the finding that says "slow" explains nothing, and is in the contrast.
#[test]
fn settings_and_findings_explain_and_symptoms_are_in_the_contrast() {
    let mut fleet = Fleet::usual(7, 1_000);
    fleet.spread(0.01);
    for machine in 0..1_000 {
        fleet.add(machine, Kind::Fact, "serial", &machine.to_string());
        let is_set = machine % 17 == 0;
        fleet.add(machine, Kind::Setting, "no_turbo", if is_set { "1" } else { "0" });
        if is_set {
            fleet.slow(&[machine], 0.7);
            fleet.add(machine, Kind::Finding, "low-clock", "high");
        }
    }
    fleet.slow(&[1], 0.5);
    fleet.add(1, Kind::Finding, "thermal-throttling", "critical");
    let symptoms = vec!["low-clock".into()];
    let answer = judge(&fleet.machines, &Question { symptoms, ..Question::of(Figure::Clock) });
    let [explanation] = answer.explanations.as_slice() else { panic!("{:?}", found(&answer)) };
    assert_eq!((&*explanation.attributes[0].name, explanation.inside.len()), ("no_turbo", 59));
    let of = |subject: Subject| {
        let contrast = answer.contrasts.iter().find(|it| it.of == subject).unwrap();
        contrast.telling.iter().map(|it| format!("{}", it.attribute.name)).collect::<Vec<_>>()
    };
    assert_eq!(of(Subject::Explanation(0)), ["low-clock"]);
    assert!(explanation.same.is_empty(), "a symptom is no other reason");
    assert_eq!(of(Subject::Machine(1))[0], "thermal-throttling");
    assert!(!of(Subject::Machine(1)).contains(&"serial".to_owned()));
}

/// One rack is slow on all models; one microcode's name is that of all models, and only on one of them it is slow.
#[test]
fn what_holds_across_groups_and_what_holds_in_one_are_two_things() {
    let labels = [("microcode", 3), ("rack", 40), ("kernel", 3)];
    let mut fleet = Fleet::new(8, &[600; 4], &labels, &[]);
    fleet.spread(0.01);
    fleet.slow(&fleet.with(&[("rack", "rack-3")]), 0.62);
    fleet.slow(&fleet.with(&[("cpu_model", "cpu_model-2"), ("microcode", "microcode-1")]), 0.8);
    let answer = judge(&fleet.machines, &Question::of(Figure::Clock));
    let [first, second] = answer.explanations.as_slice() else { panic!("{:?}", found(&answer)) };
    assert_eq!(
        (said(first), said(second)),
        (vec!["microcode-1".to_owned()], vec!["rack-3".to_owned()])
    );
    let group = &answer.groups[first.group.unwrap()];
    assert_eq!(group.values[0].as_deref(), Some("cpu_model-2"));
    assert_eq!(second.group, None);
}

/// A rack of which a third is at 30 % loses more than a microcode that takes 4 % of 130 machines.
#[test]
fn what_loses_most_is_first_although_only_a_part_of_it_is_slow() {
    let mut fleet = Fleet::usual(10, 2_000);
    fleet.spread(0.01);
    let microcode = fleet.with(&[("microcode", "microcode-3-1")]);
    fleet.slow(&microcode, 0.96);
    let is_other = |it: &usize| !microcode.contains(it);
    let rack: Vec<usize> = fleet.with(&[("rack", "rack-5")]).into_iter().filter(is_other).collect();
    let part: Vec<usize> = rack.iter().copied().step_by(3).collect();
    fleet.slow(&part, 0.3);
    let answer = judge(&fleet.machines, &Question::of(Figure::Clock));
    let [first, second] = answer.explanations.as_slice() else { panic!("{:?}", found(&answer)) };
    assert_eq!((said(first), first.partly), (vec!["rack-5".to_owned()], true));
    assert_eq!((said(second), second.partly), (vec!["microcode-3-1".to_owned()], false));
    for (at, it) in answer.explanations.iter().enumerate() {
        let explained = answer.slow.iter().filter(|it| it.explained_by == Some(at)).count();
        assert!(it.explains == explained && explained <= it.slow_inside, "{it:?}");
    }
}

/// One in three machines of a rack are slow, and hardly any other: the rack is named, its healthy machines are not accused.
#[test]
fn a_rack_is_named_of_which_a_part_is_slow() {
    let mut fleet = Fleet::usual(9, 2_000);
    fleet.spread(0.01);
    let rack = fleet.with(&[("rack", "rack-5")]);
    let part: Vec<usize> = rack.iter().copied().step_by(3).collect();
    fleet.slow(&part, 0.7);
    fleet.slow(&[1, 2, 3], 0.6);
    let answer = judge(&fleet.machines, &Question::of(Figure::Clock));
    let [explanation] = answer.explanations.as_slice() else { panic!("{:?}", found(&answer)) };
    assert_eq!(said(explanation), ["rack-5"]);
    assert!(explanation.partly && explanation.inside == rack);
    assert_eq!((explanation.slow_inside, explanation.slow_outside), (part.len(), 3));
    assert_eq!(accused(&answer), fleet.slow);
}
