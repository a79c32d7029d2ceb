//! A power limit of a management controller: an audit finds it, beside ipmitool, and a controller that hangs does not hold one.
#![expect(clippy::print_stdout, reason = "the times are to be read, not judged")]

use crate::boots::WITH_SENSORS;
use serde_json::Value;
use testbench::StepOutput;

const CHECK: &str = "bmc-power-cap";

/// The documents that the step prints, in their order.
const NONE: usize = 0;
const LIMITED: usize = 1;
const SAMPLED: usize = 2;
const FAR: usize = 3;
const SAMPLED_FREE: usize = 4;
const HANGS: usize = 5;

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn an_audit_finds_the_limit_that_is_in_force_and_no_other() {
    assert_eq!(finding(NONE), None);
    assert!(!is_unknown(&document(NONE)), "{:#}", document(NONE));
    let limited = finding(LIMITED).unwrap_or_else(|| panic!("{:#}", document(LIMITED)));
    let message = limited["message"].as_str().unwrap_or_default();
    assert!(message.contains("holds the board to 220 W, and it draws 214 W"), "{limited:#}");
    assert_eq!(limited["severity"], "medium", "{limited:#}");
    let evidence = limited["evidence"].to_string();
    assert!(evidence.contains("00 dc 00 00 11 dc 00 70 17 00 00 00 00 01 00"), "{limited:#}");
    let diagnosis = document(LIMITED)["diagnosis"].clone();
    let has_limit = |it: &&Value| it["findings"].to_string().contains(CHECK);
    let chains: Vec<&Value> =
        diagnosis.as_array().into_iter().flatten().filter(has_limit).collect();
    assert_eq!(chains.len(), 1, "{diagnosis:#}");
    assert_eq!(chains[0]["party"], "management controller", "{diagnosis:#}");
    let far = finding(FAR).unwrap_or_else(|| panic!("{:#}", document(FAR)));
    assert_eq!(far["severity"], "info", "{far:#}");
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn an_audit_asks_three_questions_and_a_plan_none() {
    let [none, plan] = ["none", "plan"].map(|it| {
        let digits = note(it).last().map_or("", |it| *it).to_owned();
        usize::from_str_radix(&digits, 16).unwrap_or_else(|error| panic!("{error}: {digits}"))
    });
    println!("an audit: {none} questions; a plan: {plan}");
    // What ipmitool asks to learn how many there were is in both.
    assert_eq!(none - plan, 3, "{none} {plan}");
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn limit_and_reading_are_those_of_ipmitool() {
    let (sampled, theirs) = (document(SAMPLED), &step().stderr);
    assert_eq!(sampled["limit"]["power_w"], 220.0, "{sampled:#}");
    assert_eq!(sampled["limit"]["exception_action"], 0x11);
    let samples = sampled["samples"].as_array().map_or(0, Vec::len);
    assert_eq!((samples, &sampled["drawn"]["mean_w"]), (3, &214.0.into()), "{sampled:#}");
    assert!(sampled["samples"][0]["at_limit"] == true, "{sampled:#}");
    for line in
        ["Power Limit Active", "Power Limit: 220 Watts", "Instantaneous power reading: 214 Watts"]
    {
        let words = |it: &str| it.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(theirs.lines().any(|it| words(it).contains(line)), "no '{line}' in {theirs}");
    }
    let free = document(SAMPLED_FREE);
    assert_eq!((&free["limit"], &free["samples"][0]["power_w"]), (&Value::Null, &214.0.into()));
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn a_controller_that_hangs_holds_no_audit_and_is_told_of() {
    let [usual, hanging] = ["none", "hangs"].map(|it| {
        let note = note(it);
        let [began, ended] = [1, 2].map(|at| note[at].parse::<f64>().unwrap_or(f64::NAN));
        ended - began
    });
    println!("an audit takes {usual:.2} s, with a controller that hangs {hanging:.2} s");
    // After the first question without an answer none is asked: no other one is told to have had none.
    let audit = document(HANGS);
    assert_eq!(finding(HANGS), None);
    assert!(!audit.to_string().contains("no answer to Get Power"), "{audit:#}");
    assert!(is_unknown(&audit), "{audit:#}");
    assert!(
        audit["unknown"].to_string().contains("no answer to Get DCMI Capabilities Info within"),
        "{audit:#}"
    );
    let said = note("ended with 2:").join(" ");
    assert!(said.contains("ipmitool mc info"), "{said}");
}

fn step() -> &'static StepOutput {
    WITH_SENSORS.step("power").unwrap_or_else(|error| panic!("{error:#}"))
}

/// The words of the line of the step's notes that begins so.
fn note(begin: &str) -> Vec<&'static str> {
    let line = step().stderr.lines().find(|it| it.starts_with(begin));
    line.unwrap_or_else(|| panic!("no '{begin}' in {:#?}", step())).split(' ').collect()
}

fn document(index: usize) -> Value {
    let documents = serde_json::Deserializer::from_str(&step().stdout).into_iter::<Value>();
    let documents: Result<Vec<Value>, _> = documents.collect();
    let documents = documents.unwrap_or_else(|error| panic!("{error}: {:#?}", step()));
    documents.get(index).cloned().unwrap_or_else(|| panic!("no document {index}: {:#?}", step()))
}

fn finding(index: usize) -> Option<Value> {
    let audit = document(index);
    let findings = audit["findings"].as_array().into_iter().flatten();
    findings.into_iter().find(|it| it["id"] == CHECK).cloned()
}

fn is_unknown(audit: &Value) -> bool {
    audit["unknown"].as_array().is_some_and(|all| all.iter().any(|it| it["check"] == CHECK))
}
