//! Two machines in every form, and what is not a difference.

use super::*;
use crate::document::every_form::{in_every_form, text};
use crate::schemas::checked;
use fleet::{Attribute, Audit, compared};

fn attribute(kind: Kind, name: &str, value: &str) -> Attribute {
    Attribute { kind, name: name.into(), value: value.into() }
}

fn machine(clock: f64, bios: &str, others: Vec<Attribute>) -> Machine {
    let mut attributes = vec![
        attribute(Kind::Label, "cpu_model", "EPYC 9654"),
        attribute(Kind::Label, "bios_version", bios),
    ];
    attributes.extend(others);
    Machine {
        name: "db".into(),
        figures: vec![(Figure::Clock, clock)],
        attributes,
        audit: Audit::But(Vec::new()),
        ..Machine::default()
    }
}

/// A, whose BIOS and governor are at fault.
fn slow() -> Machine {
    machine(
        0.25,
        "12010303",
        vec![
            attribute(Kind::Finding, "clock-modulation", "critical"),
            attribute(Kind::Finding, "slow-governor", "high"),
            attribute(Kind::Setting, "governor", "powersave"),
            attribute(Kind::Fact, "CONFIG_HZ", "250"),
        ],
    )
}

fn fast() -> Machine {
    let others = vec![
        attribute(Kind::Finding, "slow-governor", "low"),
        attribute(Kind::Setting, "governor", "performance"),
        attribute(Kind::Fact, "CONFIG_HZ", "250"),
        attribute(Kind::Fact, "/sys/module/kvm/parameters/halt_poll_ns", ""),
    ];
    machine(1.0, "12010400", others)
}

/// Gives the report of two machines.
fn with_report<T>(machines: [&Machine; 2], give: impl FnOnce(&Report<'_>) -> T) -> T {
    let comparison = compared(machines[0], machines[1]);
    let names = ["db1.host", "db2.host"];
    give(&Report { names, machines, comparison: &comparison, notes: &[], all: false })
}

fn said(machines: [&Machine; 2]) -> String {
    with_report(machines, |it| text(&document(it), 80))
}

#[test]
fn two_machines_are_compared_in_every_form() {
    let (a, b) = (slow(), fast());
    insta::assert_snapshot!(with_report([&a, &b], |it| in_every_form(&document(it))));
}

#[test]
fn the_same_machine_twice_differs_in_nothing() {
    let a = slow();
    let said = said([&a, &a]);
    assert!(said.contains("Nothing differs: 6 values were compared."), "{said}");
}

#[test]
fn nothing_known_is_not_the_same() {
    let none = Machine { name: "x".into(), ..Machine::default() };
    let said = said([&none, &none]);
    assert!(said.contains("Nothing can be compared"), "{said}");
}

#[test]
fn json_has_every_difference_and_null_for_what_is_unknown() {
    let (a, b) = (slow(), fast());
    let value = checked("diff", |head| with_report([&a, &b], |it| json(head, it)));
    let names = |it: &serde_json::Value| it["name"].as_str().map(str::to_owned);
    let found: Vec<String> =
        value["differences"].as_array().unwrap().iter().filter_map(names).collect();
    let expected = [
        "bios_version",
        "clock-modulation",
        "slow-governor",
        "governor",
        "/sys/module/kvm/parameters/halt_poll_ns",
    ];
    assert_eq!(found, expected);
    assert!(value["differences"][4]["a"].is_null(), "{value:#}");
    assert_eq!(value["figures"][0]["a"], 0.25);
}

#[test]
fn facts_are_bounded_and_what_is_unknown_of_one_is_not_compared() {
    let facts = |value: &str| {
        (0..50).map(|it| attribute(Kind::Fact, &format!("/proc/{it}"), value)).collect()
    };
    let [a, b, none] = [facts("1"), facts("2"), vec![]].map(|facts| machine(1.0, "1", facts));
    let words = said([&a, &b]);
    assert!(words.contains("They differ in 50 facts.") && words.contains("30 more: `--all`."));
    let words = said([&none, &b]).replace('\n', " ");
    assert!(words.contains("Nothing differs: 2 values"), "{words}");
    assert!(words.contains("Not compared, as unknown of A: 50 facts that B has"), "{words}");
    assert!(words.contains("/proc/4 and 45 more."), "{words}");
}

/// The same in lines as long as they are.
fn wide(machines: [&Machine; 2]) -> String {
    with_report(machines, |it| text(&document(it), 10_000))
}

#[test]
fn findings_of_a_machine_are_no_difference_to_one_that_was_not_audited() {
    let unaudited = Machine { audit: Audit::None, ..machine(1.0, "12010303", vec![]) };
    let findings = vec![attribute(Kind::Finding, "clock-modulation", "critical")];
    let audited = machine(1.0, "12010303", findings);
    let words = wide([&audited, &unaudited]);
    assert!(words.contains("Nothing differs"), "{words}");
    assert!(words.contains("B was not audited, so findings are not compared."), "{words}");
    assert!(words.contains("unknown of B: 1 finding that A has, clock-modulation."), "{words}");
}

/// A machine with this result of a workload.
fn with_result(workload: &str, seconds: f64) -> Machine {
    let result = Measured {
        workload: workload.into(),
        name: "elapsed".into(),
        unit: "s".into(),
        is_less_better: true,
    };
    let figures = vec![(Figure::Result, seconds.recip())];
    Machine { figures, result: Some(result), ..machine(1.0, "1", vec![]) }
}

#[test]
fn a_result_is_shown_as_it_was_measured_and_compared_with_its_own_kind_only() {
    let [fast, slow, other] = [("cpu-loop", 2.0), ("cpu-loop", 4.0), ("fsync", 4.0)]
        .map(|(workload, seconds)| with_result(workload, seconds));
    let words = wide([&fast, &slow]);
    let line = "2.000 s in A, 4.000 s in B (+100.0 %, less is better)";
    assert!(words.contains("cpu-loop") && words.contains(line), "{words}");
    let value = checked("diff", |head| with_report([&fast, &slow], |it| json(head, it)));
    assert_eq!((&value["figures"][0]["a"], &value["figures"][0]["b"]), (&2.0.into(), &4.0.into()));
    let words = wide([&fast, &other]);
    assert!(!words.contains(" in A, "), "{words}");
    assert!(words.contains("elapsed (s) of cpu-loop, that of B elapsed (s) of fsync"), "{words}");
}
