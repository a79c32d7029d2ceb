//! A fleet in every form, and what must not be said of one.

use super::fixture::{answer, answer_without_a_clock, machines};
use super::*;
use crate::document::Format;
use crate::document::every_form::{in_every_form, text};
use crate::schemas::checked;
use fleet::{Attribute, Audit, Figure, Kind, Slow};
use serde_json::Value;

fn report<'a>(machines: &'a [Machine], answer: &'a Answer) -> Report<'a> {
    let (source, reader) = ("http://prom:9090", Reader::Command);
    Report { source, machines, answer, skipped: &[], notes: &[], all: false, reader }
}

/// One line of all that is said.
fn said(machines: &[Machine], answer: &Answer) -> String {
    text(&document(&report(machines, answer)), 10_000)
}

#[test]
fn a_fleet_has_its_verdict_first_then_why_then_what_is_unknown() {
    let (machines, answer) = (machines(), answer());
    insta::assert_snapshot!(in_every_form(&document(&report(&machines, &answer))));
}

#[test]
fn json_and_csv_hold_what_the_words_say() {
    let (machines, answer) = (machines(), answer());
    let report = report(&machines, &answer);
    let value = checked("fleet", |head| json::json(head, &report));
    let first = &value["explanations"][0];
    assert_eq!((&first["n_inside"], &first["n_slow_outside"]), (&8.into(), &1.into()));
    assert_eq!(first["contrasts"][0]["name"], "clock-modulation");
    assert_eq!(value["slow"][8]["findings"][0]["name"], "slow-governor");
    assert_eq!(value["groups"][1]["too_few_of"], 8);
    assert!(value["groups"][1]["typical"].is_null());
    let csv = csv(&report);
    let line = format!(
        "db8:7077,CPU model {},0.6,1.2,0.5,50,",
        "Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz"
    );
    assert_eq!(csv.lines().nth(9), Some(&*line), "{csv}");
    assert!(csv.lines().nth(1).unwrap().ends_with(",BIOS 12010303"), "{csv}");
}

#[test]
fn a_fleet_in_which_nothing_is_slow_says_so() {
    let healthy = Answer { slow: vec![], explanations: vec![], suspects: vec![], ..answer() };
    let said = said(&machines(), &healthy);
    assert!(said.contains("No machine is slower than its peers: 40 were compared.\n"), "{said}");
    assert!(!said.contains("Slow machines") && !said.contains("explains"), "{said}");
}

#[test]
fn no_machine_and_no_judgement_are_not_healthy() {
    let none = Answer {
        slow: vec![],
        explanations: vec![],
        suspects: vec![],
        groups: vec![],
        tested: 0,
        ..answer()
    };
    let all = said(&machines(), &none);
    assert!(all.contains("None of 44 machines can be judged"), "{all}");
    let empty = Answer { silent: vec![], ..none };
    let said = said(&[], &empty);
    assert!(said.contains("No machine was found."), "{said}");
    assert!(!said.contains("slower") && !said.contains("healthy"), "{said}");
}

#[test]
fn without_a_clock_what_few_have_is_named_and_none_is_called_slow() {
    let (machines, answer) = (machines(), answer_without_a_clock());
    let report = report(&machines, &answer);
    insta::assert_snapshot!(in_every_form(&document(&report)));
    let value = checked("fleet", |head| json::json(head, &report));
    assert_eq!(
        (&value["slow"], &value["explanations"]),
        (&Value::Array(vec![]), &Value::Array(vec![]))
    );
    let first = &value["minorities"][0];
    assert_eq!(first["machines"], serde_json::json!(["db8:7077", "db9:7077"]));
    assert_eq!((&first["n_peers"], &first["unusual"][0]["usual"]), (&40.into(), &Value::Null));
    assert_eq!(first["unusual"][1]["usual"], "performance");
    let said = said(&machines, &answer);
    for never in ["slower", "runs at", "Slow machines"] {
        assert!(!said.contains(never), "{never}: {said}");
    }
}

#[test]
fn differences_are_bounded_named_by_why_they_are_all_and_not_cut_on_request() {
    let (machines, mut answer) = (machines(), answer_without_a_clock());
    let mut many = answer.minorities[1].clone();
    many.unusual = vec![many.unusual[0].clone(); 9];
    answer.minorities = vec![many; 30];
    let words = said(&machines, &answer);
    assert!(words.contains("10 more: `--all`.") && words.contains("and 4 more differences"));
    assert!(words.contains("No clock to compare: what differs"), "{words}");
    let all = text(&document(&Report { all: true, ..report(&machines, &answer) }), 200);
    assert!(!all.contains("10 more") && !all.contains("more differences"), "{all}");
    let words = said(&machines, &Answer { tested: 40, ..answer.clone() });
    assert!(words.contains("None is slow: what differs"), "{words}");
    assert!(words.contains("40 were compared. 2 machines have something that few"), "{words}");
    let words = said(&machines, &Answer { silent: vec![], ..answer });
    assert!(words.contains("Too few peers to compare a clock: what differs"), "{words}");
}

#[test]
fn one_of_few_peers_that_is_far_below_is_named_and_not_called_slow() {
    let answer = Answer { slow: vec![], explanations: vec![], tested: 0, ..answer() };
    let machines = machines();
    let said = said(&machines, &answer);
    assert!(said.contains("None of 44 machines has enough peers to be judged. 1 machine runs far"));
    assert!(said.contains("runs at 25 % of its 2 peers, which are too few"), "{said}");
    assert!(said.contains("has slow-governor (high), as 0 of 2 peers do"), "{said}");
    assert!(said.contains("fullclock plan slow-governor"), "{said}");
    assert!(!said.contains("Slow machines"), "{said}");
    let report = report(&machines, &answer);
    let value = checked("fleet", |head| json::json(head, &report));
    let suspect = &value["suspects"][0];
    assert_eq!((&suspect["machine"], &suspect["lost"]), (&"web2:7077".into(), &0.75.into()));
    assert_eq!(suspect["contrasts"][0]["name"], "slow-governor");
}

#[test]
fn an_effect_that_no_machine_shows_by_itself_is_said_of_all_that_have_it() {
    let mut answer = answer();
    answer.slow.clear();
    let it = &mut answer.explanations[0];
    (it.slow_inside, it.slow_outside, it.lost, it.interval) = (0, 0, 0.05, (0.045, 0.055));
    it.explains = 0;
    let said = said(&machines(), &answer);
    assert!(said.contains("8 machines of CPU model Intel(R)"), "{said}");
    assert!(said.contains("are 5.0 % slower than their peers; 0 of them are"), "{said}");
    assert!(said.contains("up to 8 may be accused wrongly"), "{said}");
    assert!(said.contains("BIOS 12010303 explains 8 machines"), "{said}");
}

#[test]
fn an_explanation_of_which_a_part_is_slow_claims_no_loss_of_the_others() {
    let mut answer = answer();
    let it = &mut answer.explanations[0];
    (it.partly, it.inside, it.lost) = (true, (0..20).collect(), 0.001);
    let said = said(&machines(), &answer);
    assert!(said.contains("8 of 20 machines of CPU model Intel(R)"), "{said}");
    assert!(said.contains("are slow, and the others are not"), "{said}");
    assert!(
        said.contains("79 % on average by those that are slow, as much as 6.3 healthy"),
        "{said}"
    );
    assert!(said.contains("Together they lack as much as 6.8 healthy machines do."), "{said}");
}

#[test]
fn lists_are_bounded_and_all_of_them_are_shown_on_request() {
    let (machines, mut answer) = (machines(), answer());
    answer.slow = (0..30).map(|machine| Slow { machine, ..answer.slow[0] }).collect();
    let bounded = report(&machines, &answer);
    let words = text(&document(&bounded), 200);
    assert!(words.contains("10 more: `--all`.") && !words.contains("db29:7077"), "{words}");
    let words = text(&document(&Report { all: true, ..bounded }), 200);
    assert!(words.contains("db29:7077") && !words.contains("10 more"), "{words}");
}

#[test]
fn what_a_label_holds_moves_no_cursor_and_is_no_markup() {
    let (mut machines, mut answer) = (machines(), answer());
    let hostile = "<b>x</b>\u{1b}[2J\n# y | z";
    machines[0].name = hostile.into();
    let label = Attribute { kind: Kind::Label, name: "rack".into(), value: hostile.into() };
    answer.explanations[0].attributes = vec![label];
    let document = document(&report(&machines, &answer));
    assert!(!text(&document, 100).contains('\u{1b}'));
    let page = document.render(Format::Html);
    assert!(!page.contains("<b>x") && !page.contains('\u{1b}'), "{page}");
    let markdown = document.render(Format::Markdown);
    assert!(!markdown.contains("<b>x") && !markdown.contains("\n# y"), "{markdown}");
}

#[test]
fn what_holds_no_machine_is_listed_with_the_reason() {
    let (machines, answer) = (machines(), answer());
    let skipped = [Skipped { name: "x.tar", why: "it ends early" }];
    let report = Report { skipped: &skipped, ..report(&machines, &answer) };
    let said = text(&document(&report), 100);
    assert!(said.contains("- x.tar: it ends early\n"), "{said}");
    assert_eq!(checked("fleet", |head| json::json(head, &report))["skipped"][0]["name"], "x.tar");
}

#[test]
fn a_result_is_a_number_and_a_clock_a_share_of_the_nominal_one() {
    let values =
        [Figure::Clock, Figure::Speed, Figure::Result].map(|it| words::value(it, None, 0.25));
    assert_eq!(values, ["25.0 %", "25.0 %", "0.2500"]);
}

/// Twice as long is a result of half the speed, and is shown as the time that it took.
#[test]
fn results_are_shown_in_their_own_unit() {
    let (mut machines, mut answer) = (machines(), answer());
    let measured = Measured {
        workload: "cpu-loop".into(),
        name: "elapsed".into(),
        unit: "s".into(),
        is_less_better: true,
    };
    machines.iter_mut().for_each(|it| it.result = Some(measured.clone()));
    answer.figure = Figure::Result;
    answer.groups[0].centre = 0.5;
    let words = said(&machines, &answer);
    assert!(
        words.contains("Results of cpu-loop are compared: elapsed, less is better."),
        "{words}"
    );
    assert!(words.contains("4.000 s") && words.contains("2.000 s"), "{words}");
    let report = report(&machines, &answer);
    let value = checked("fleet", |head| json::json(head, &report));
    assert_eq!(
        (&value["slow"][0]["value"], &value["result"]["better"]),
        (&4.0.into(), &"less".into())
    );
    assert_eq!(value["suspects"][0]["value"], 4.0);
    assert!(csv(&report).lines().nth(1).unwrap().contains(",4,2,"), "{}", csv(&report));
}

#[test]
fn machines_that_were_not_audited_are_no_peers_without_a_finding() {
    let (mut machines, answer) = (machines(), answer());
    let alone = Answer { slow: vec![Slow { explained_by: None, ..answer.slow[8] }], ..answer };
    // Its finding is that of most machines on which it is known.
    for it in &mut machines[9..40] {
        it.audit = Audit::None;
    }
    let finding =
        Attribute { kind: Kind::Finding, name: "slow-governor".into(), value: "high".into() };
    machines[0].attributes.push(finding);
    for it in &mut machines[1..8] {
        it.audit = Audit::But(vec!["slow-governor".into()]);
    }
    let report = report(&machines, &alone);
    let value = checked("fleet", |head| json::json(head, &report));
    assert_eq!(value["slow"][0]["findings"], serde_json::json!([]), "{value:#}");
    assert_eq!((&value["n_audited"], &value["slow"][0]["audited"]), (&13.into(), &true.into()));
    let words = said(&machines, &alone);
    assert!(words.contains("Not audited: 31 machines, db9:7077, "), "{words}");
    machines.iter_mut().for_each(|it| it.audit = Audit::None);
    machines[8].attributes.retain(|it| it.kind != Kind::Finding);
    let words = said(&machines, &alone);
    assert!(words.contains("No machine was audited: findings are unknown."), "{words}");
    assert!(words.contains("not audited"), "{words}");
}

/// Of eight slow machines inside another explanation has five: the verdict counts each once.
#[test]
fn the_verdict_counts_what_an_explanation_explains_best() {
    let (machines, mut answer) = (machines(), answer());
    answer.explanations[0].explains = 3;
    let words = said(&machines, &answer);
    assert!(words.contains("BIOS 12010303 explains 3 of them"), "{words}");
}

#[test]
fn a_page_names_no_options_of_the_command_line() {
    let (machines, mut answer) = (machines(), answer());
    answer.slow = (0..30).map(|machine| Slow { machine, ..answer.slow[0] }).collect();
    answer.groups = vec![answer.groups[0].clone(); 30];
    let on_page = Report { reader: Reader::Page, ..report(&machines, &answer) };
    let words = text(&document(&on_page), 10_000);
    assert!(!words.contains("--all") && !words.contains("--by"), "{words}");
    assert!(words.contains("10 more: `/api/v1/fleet` of this server has all."), "{words}");
    assert!(words.contains("db4:7077 and 3 more\n"), "{words}");
}
