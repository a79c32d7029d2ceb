//! Fleets that are strange, and figures that are none.

use crate::generated::{Fleet, accused};
use fleet::{Answer, Figure, Machine, Question, judge};

fn clock(machines: &[Machine]) -> Answer {
    judge(machines, &Question::of(Figure::Clock))
}

#[test]
fn an_empty_fleet_has_an_answer() {
    let answer = clock(&[]);
    assert_eq!((answer.machines, answer.groups.len(), answer.slow.len()), (0, 0, 0));
}

#[test]
fn one_machine_says_nothing_and_says_why() {
    let fleet = Fleet::usual(1, 1);
    let answer = clock(&fleet.machines);
    let too_few = answer.groups[0].too_few.unwrap();
    assert_eq!((too_few.has, too_few.needs), (1, 5));
    assert_eq!((answer.groups[0].centre, answer.groups[0].detectable), (0.0, 1.0));
    assert_eq!((answer.tested, answer.slow.len()), (0, 0));
}

#[test]
fn what_is_no_figure_is_counted_and_left_out() {
    let mut fleet = Fleet::usual(2, 500);
    fleet.spread(0.01);
    for (at, figure) in
        [0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY].into_iter().enumerate()
    {
        fleet.machines[at].figures[0].1 = figure;
    }
    fleet.machines[5].figures.clear();
    let answer = clock(&fleet.machines);
    assert_eq!(answer.unusable, [0, 1, 2, 3, 4]);
    assert_eq!(answer.silent, [5]);
    assert_eq!(answer.tested, 494);
    assert!(accused(&answer).is_empty());
}

#[test]
fn machines_of_one_name_are_judged_each() {
    let mut fleet = Fleet::usual(3, 400);
    fleet.spread(0.01);
    fleet.slow(&[7], 0.5);
    let name = fleet.machines[0].name.clone();
    fleet.machines[7].name = name;
    let answer = clock(&fleet.machines);
    assert_eq!(answer.namesakes, 1);
    assert_eq!(accused(&answer), [7].into());
}

#[test]
fn equal_machines_are_healthy_and_one_that_differs_is_slow() {
    let mut fleet = Fleet::new(4, &[40], &[("rack", 4)], &[]);
    assert!(accused(&clock(&fleet.machines)).is_empty());
    fleet.slow(&[3], 0.9);
    assert_eq!(accused(&clock(&fleet.machines)), [3].into());
}

/// Each machine has one of two speeds, by chance: half of them are slow, and nothing says why.
#[test]
fn two_values_by_chance_have_no_explanation() {
    let mut fleet = Fleet::usual(5, 1_000);
    for machine in 0..1_000 {
        if fleet.rng.bool() {
            fleet.slow(&[machine], 0.9);
        }
    }
    let answer = clock(&fleet.machines);
    assert!(answer.explanations.is_empty(), "{:?}", answer.explanations);
    assert!(accused(&answer).is_subset(&fleet.slow));
}

#[test]
fn silent_machines_are_no_group() {
    let mut fleet = Fleet::usual(6, 100);
    fleet.machines.iter_mut().for_each(|it| it.figures.clear());
    let answer = clock(&fleet.machines);
    assert_eq!((answer.silent.len(), answer.groups.len(), answer.searched), (100, 0, 0));
}

/// Half of the machines do not tell their BIOS; those that do have the slow one, or the others.
#[test]
fn machines_that_do_not_tell_an_attribute_neither_have_nor_lack_it() {
    let mut fleet = Fleet::usual(7, 1_000);
    fleet.spread(0.01);
    let slow = fleet.with(&[("bios_version", "bios_version-1")]);
    fleet.slow(&slow, 0.8);
    for machine in (0..1_000).step_by(2) {
        fleet.machines[machine].attributes.retain(|it| !it.name.starts_with("bios"));
    }
    let answer = clock(&fleet.machines);
    let [explanation] = answer.explanations.as_slice() else { panic!("{:?}", answer.explanations) };
    assert_eq!(&*explanation.attributes[0].value, "bios_version-1");
    let told = |it: &usize| it % 2 == 1;
    assert_eq!(explanation.inside, slow.into_iter().filter(told).collect::<Vec<_>>());
    assert_eq!(explanation.inside.len() + explanation.outside, 500);
    assert!(
        fleet.slow.is_subset(&accused(&answer)),
        "those that do not tell are slow by themselves"
    );
}

/// Many slow machines by chance make no label slow.
#[test]
fn many_lone_machines_do_not_make_an_explanation() {
    let (mut wrongly, mut all) = (0, 0);
    for seed in 0..5 {
        let mut fleet = Fleet::usual(100 + seed, 2_000);
        fleet.spread(0.01);
        for machine in 0..2_000 {
            if fleet.rng.u32(..20) == 0 {
                let speed = 0.3 + 0.5 * fleet.rng.f64();
                fleet.slow(&[machine], speed);
            }
        }
        let answer = clock(&fleet.machines);
        assert!(answer.explanations.is_empty(), "{seed}: {:?}", answer.explanations);
        assert!(fleet.slow.is_subset(&accused(&answer)), "{seed}");
        wrongly += accused(&answer).difference(&fleet.slow).count();
        all += fleet.slow.len();
    }
    assert!(wrongly as f64 <= 0.02 * all as f64, "{wrongly} of {all}");
}

/// Most at the limit of their clock, and a tail of slower ones without a gap: healthy processors under turbo.
#[test]
fn a_lopsided_spread_accuses_nobody() {
    let mut fleet = Fleet::usual(9, 2_000);
    for machine in 0..2_000 {
        let tail = (fleet.normal().max(0.0) - fleet.normal().max(0.0)).max(0.0);
        fleet.machines[machine].figures[0].1 = (-0.03 * tail).exp();
    }
    let answer = clock(&fleet.machines);
    assert!(answer.explanations.is_empty() && answer.slow.len() <= 1, "{:?}", answer.slow);
}
