//! What monitoring systems are told of an audit.

use super::*;
use facts::{CpuSet, Missing};
use host::Captured;
use rules::audit::{Audit, Suppressed};
use rules::check::Check;
use rules::checks::CHECKS;
use rules::config::Ignored;
use rules::finding::{Confidence, Cost, OfClock};

fn check(id: &str) -> &'static Check {
    CHECKS.iter().find(|it| it.id == id).unwrap()
}

fn governor(message: &str) -> (&'static Check, Finding) {
    let cpus = CpuSet::parse_list("0-3").unwrap();
    let finding = Finding::new(Severity::High, Confidence::High, message)
        .on(cpus, 16)
        .evidence("/sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "powersave")
        .evidence("/dev/cpu/3/msr 0x19a", "0x14")
        .cost_of_clock(OfClock::lost(0.37).at_most(), "1.9 of 3.0 GHz");
    (check("slow-governor"), finding)
}

fn audit(findings: Vec<(&'static Check, Finding)>) -> Audit {
    let no_turbo = Missing::not_here("turbo", "it has none");
    Audit {
        findings,
        unknown: vec![(check("prochot-asserted"), Missing::denied("/dev/cpu/0/msr 0x19c"))],
        not_applicable: vec![(check("turbo-off"), no_turbo)],
        clean: vec![check("no-idle-driver"), check("stolen-time")],
        suppressed: Vec::new(),
        expired: Vec::new(),
        absent_now: Vec::new(),
    }
}

/// A governor that is too slow, and a medium and a low finding.
fn three() -> Audit {
    let of = |severity, message| Finding::new(severity, Confidence::High, message);
    audit(vec![
        governor("the governor powersave holds 1.9 GHz: of 3.0"),
        (check("offline-cpus"), of(Severity::Medium, "2 CPUs are offline")),
        (check("rival-tuner"), of(Severity::Low, "two tuners run")),
    ])
}

/// The audit in the format of this name, and what its plugin would exit with.
fn written(name: &str, audit: &Audit, fail_on: FailOn, verbose: bool) -> (String, Option<u8>) {
    let head = Head { host: "db7".to_owned(), began: "2026-11-20T16:00:01.250Z".to_owned() };
    let host = host::view(&Captured::excerpt("").unwrap());
    let audited = Audited { head: &head, host: &host, audit, fail_on, verbose };
    let format = FORMATS.iter().find(|it| it.name == name).unwrap();
    let code = format.plugin.as_ref().map(|it| (it.exit_code)(audited.state()));
    ((format.write)(&audited).unwrap(), code)
}

fn usual(name: &str, audit: &Audit) -> String {
    written(name, audit, FailOn::default(), false).0
}

const UNKNOWN: FailOn = FailOn { severity: None, unknown: true };

fn at(severity: Severity) -> FailOn {
    FailOn { severity: Some(severity), unknown: false }
}

#[test]
fn nagios_gets_a_line_with_numbers_and_then_each_finding() {
    insta::assert_snapshot!(usual("nagios", &three()), @r"
    FULLCLOCK CRITICAL: The frequency governor, a Linux setting, can hold the clock down on CPUs 0-3 (4 of 16). Set another governor. 3 findings, worst high. | critical=0;;0;0 high=1;;0;0 medium=1;0;;0 low=1;;;0 info=0;;;0 unknown=1;;;0 clean=2;;;0 clock_lost=37%;;;0;100
    [CRITICAL] slow-governor, CPUs 0-3 (4 of 16): the governor powersave holds 1.9 GHz: of 3.0; cost: up to 37 % of the clock
    [WARNING] offline-cpus: 2 CPUs are offline
    [OK] rival-tuner: two tuners run
    1 check unknown: `fullclock audit -v` says why
    ");
    let (verbose, _) = written("nagios", &three(), FailOn::default(), true);
    assert!(verbose.contains("\n[UNKNOWN] prochot-asserted: /dev/cpu/0/msr 0x19c"), "{verbose}");
}

#[test]
fn checkmk_gets_one_service_with_a_name_that_stays() {
    insta::assert_snapshot!(usual("checkmk", &three()), @r#"2 "fullclock audit" fullclock_critical=0;;1;0|fullclock_high=1;;1;0|fullclock_medium=1;1;;0|fullclock_low=1;;;0|fullclock_info=0;;;0|fullclock_unknown=1;;;0|fullclock_clock_lost=37;;;0;100 The frequency governor, a Linux setting, can hold the clock down on CPUs 0-3 (4 of 16). Set another governor. 3 findings, worst high.\nhigh: slow-governor, CPUs 0-3 (4 of 16): the governor powersave holds 1.9 GHz: of 3.0; cost: up to 37 % of the clock (!!)\nmedium: offline-cpus: 2 CPUs are offline (!)\nlow: rival-tuner: two tuners run\n1 check unknown: `fullclock audit -v` says why"#);
    let none = usual("checkmk", &audit(Vec::new()));
    assert!(none.starts_with("0 \"fullclock audit\" "), "{none}");
}

#[test]
fn the_state_is_that_of_the_worst_finding() {
    let of = |severity, fail_on| {
        let finding = Finding::new(severity, Confidence::Low, "x");
        written("nagios", &audit(vec![(check("rival-tuner"), finding)]), fail_on, false).1
    };
    let states = Severity::ALL.map(|it| of(it, FailOn::default()));
    assert_eq!(states, [Some(0), Some(0), Some(1), Some(2), Some(2)]);
    // What is named is critical, and nothing else is.
    let states = Severity::ALL.map(|it| of(it, at(Severity::Low)));
    assert_eq!(states, [Some(0), Some(2), Some(2), Some(2), Some(2)]);
    let states = Severity::ALL.map(|it| of(it, at(Severity::Critical)));
    assert_eq!(states, [Some(0), Some(0), Some(1), Some(1), Some(2)]);
}

#[test]
fn unknown_checks_are_a_state_where_fail_on_names_them_and_nothing_is_worse() {
    let state = |audit: &Audit, fail_on| written("nagios", audit, fail_on, false).1;
    let none = audit(Vec::new());
    assert_eq!(state(&none, FailOn::default()), Some(0));
    assert_eq!(state(&none, UNKNOWN), Some(3));
    assert_eq!(state(&three(), UNKNOWN), Some(2));
    let nothing = Audit { clean: Vec::new(), ..audit(Vec::new()) };
    assert_eq!(state(&nothing, FailOn::default()), Some(3));
    assert!(usual("nagios", &nothing).starts_with("FULLCLOCK UNKNOWN: Nothing could be judged. |"));
    assert_eq!(written("checkmk", &three(), UNKNOWN, false).1, Some(0));
}

#[test]
fn limits_of_the_numbers_follow_what_fails() {
    let (line, _) = written("nagios", &three(), at(Severity::Medium), false);
    assert!(line.contains("high=1;;0;0 medium=1;;0;0 low=1;;;0"), "{line}");
    let (line, _) = written("nagios", &three(), UNKNOWN, false);
    assert!(line.contains(" unknown=1;0;;0 "), "{line}");
}

#[test]
fn what_a_host_holds_begins_no_line_and_no_performance_data() {
    let hostile = audit(vec![governor("a|b=1\n2 \"other service\" - x\\ny\r\u{1b}[2J")]);
    let nagios = usual("nagios", &hostile);
    assert_eq!((nagios.lines().count(), nagios.matches('|').count()), (3, 1), "{nagios}");
    let checkmk = usual("checkmk", &hostile);
    assert_eq!(checkmk.lines().count(), 1, "{checkmk}");
    let (_, text) = checkmk.split_once(" 1 finding, ").unwrap();
    assert!(!text.contains('|') && !text.contains("x\\ny"), "{text}");
    assert!(!nagios.contains('\u{1b}') && !checkmk.contains('\u{1b}'));
    for format in FORMATS.iter().filter_map(|it| it.plugin.as_ref()) {
        let failed = (format.failed)("cannot read /a|b\nc");
        assert_eq!(failed.lines().count(), 1, "{failed}");
        assert!(failed.contains("cannot read /a\u{2758}b c"), "{failed}");
    }
}

#[test]
fn nagios_is_told_of_findings_that_do_not_fit() {
    let many = audit((0..300).map(|_| governor(&"x".repeat(100))).collect());
    let (nagios, code) = written("nagios", &many, FailOn::default(), true);
    assert!(nagios.len() <= 8191 && nagios.len() > 7000, "{}", nagios.len());
    let shown = nagios.lines().filter(|it| it.starts_with("[CRITICAL]")).count();
    assert!(nagios.contains(&format!("\n... and {} more findings\n", 300 - shown)), "{nagios}");
    assert!(nagios.contains("1 check unknown"));
    assert_eq!(code, Some(2));
}

#[test]
fn a_test_case_fails_where_the_audit_fails() {
    let (junit, code) = written("junit", &three(), at(Severity::High), false);
    assert_eq!(code, None);
    insta::assert_snapshot!(junit, @r#"
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites tests="7" failures="1" errors="0">
    <testsuite name="fullclock audit" tests="7" failures="1" errors="0" skipped="2" hostname="db7" timestamp="2026-11-20T16:00:01">
    <testcase classname="fullclock.audit" name="slow-governor"><failure type="high" message="the governor powersave holds 1.9 GHz: of 3.0">[high] slow-governor, CPUs 0-3 (4 of 16): the governor powersave holds 1.9 GHz: of 3.0; cost: up to 37 % of the clock
    /sys/devices/system/cpu/cpufreq/policy0/scaling_governor = powersave
    /dev/cpu/3/msr 0x19a = 0x14
    </failure></testcase>
    <testcase classname="fullclock.audit" name="turbo-off"><skipped message="does not apply: no turbo here: it has none"/></testcase>
    <testcase classname="fullclock.audit" name="rival-tuner"><system-out>[low] rival-tuner: two tuners run
    </system-out></testcase>
    <testcase classname="fullclock.audit" name="prochot-asserted"><skipped message="unknown: /dev/cpu/0/msr 0x19c may not be read"/></testcase>
    <testcase classname="fullclock.audit" name="no-idle-driver"></testcase>
    <testcase classname="fullclock.audit" name="stolen-time"></testcase>
    <testcase classname="fullclock.audit" name="offline-cpus"><system-out>[medium] offline-cpus: 2 CPUs are offline
    </system-out></testcase>
    </testsuite>
    </testsuites>
    "#);
    let (junit, _) = written("junit", &three(), UNKNOWN, false);
    assert!(
        junit.contains("<error type=\"unknown\" message=\"/dev/cpu/0/msr 0x19c may"),
        "{junit}"
    );
    assert!(junit.contains(" failures=\"0\" errors=\"1\" skipped=\"1\""), "{junit}");
    assert!(!usual("junit", &three()).contains("<failure"));
}

#[test]
fn what_a_host_holds_is_no_markup() {
    let hostile = audit(vec![governor("<b a=\"1\">&amp;]]>\u{1b}\u{ffff}\nend")]);
    let (junit, _) = written("junit", &hostile, at(Severity::Info), false);
    let safe = "message=\"&lt;b a=&quot;1&quot;&gt;&amp;amp;]]&gt;\\u001b\u{fffd}\\nend\"";
    assert!(junit.contains(safe), "{junit}");
    let is_text = |it: char| it == '\n' || !it.is_control();
    assert!(junit.chars().all(is_text), "{junit:?}");
}

/// What the schema of SARIF 2.1.0 requires of the objects that are written, shortened.
const SARIF: &str = r##"{
  "type": "object", "required": ["version", "runs"], "additionalProperties": false,
  "properties": {
    "$schema": {"type": "string", "format": "uri"}, "version": {"const": "2.1.0"},
    "runs": {"type": "array", "minItems": 1, "items": {
      "required": ["tool"],
      "properties": {
        "tool": {"required": ["driver"], "properties": {"driver": {"required": ["name", "rules"], "properties": {
          "rules": {"uniqueItems": true, "items": {"required": ["id"], "properties": {
            "help": {"required": ["text"]}, "shortDescription": {"required": ["text"]}, "helpUri": {"format": "uri"}}}}}}}},
        "invocations": {"items": {"required": ["executionSuccessful"], "properties": {
          "toolExecutionNotifications": {"items": {"required": ["message"], "properties": {
            "level": {"enum": ["none", "note", "warning", "error"]}}}}}}},
        "results": {"items": {
          "required": ["message", "ruleId"],
          "properties": {
            "level": {"enum": ["none", "note", "warning", "error"]},
            "ruleIndex": {"type": "integer", "minimum": 0},
            "message": {"required": ["text"]},
            "locations": {"items": {"$ref": "#/$defs/location"}},
            "relatedLocations": {"uniqueItems": true, "items": {"$ref": "#/$defs/location"}},
            "partialFingerprints": {"additionalProperties": {"type": "string"}}}}}}}}
  },
  "$defs": {"location": {"type": "object", "additionalProperties": false, "properties": {
    "message": {"required": ["text"]},
    "logicalLocations": {"items": {"required": ["name"]}},
    "physicalLocation": {"required": ["artifactLocation"], "properties": {"artifactLocation": {
      "required": ["uri", "uriBaseId"], "properties": {"uri": {"type": "string", "pattern": "^[A-Za-z0-9._~/%-]+$"}}}}}}}}
}"##;

#[test]
fn sarif_has_a_rule_for_each_check_and_a_result_for_each_finding() {
    let sarif: serde_json::Value = serde_json::from_str(&usual("sarif", &three())).unwrap();
    let schema = serde_json::from_str(SARIF).unwrap();
    let errors: Vec<String> = jsonschema::validator_for(&schema)
        .unwrap()
        .iter_errors(&sarif)
        .map(|it| format!("{}: {it}", it.instance_path()))
        .collect();
    assert_eq!(errors, [""; 0]);
    let run = &sarif["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    assert_eq!(rules.len(), CHECKS.len());
    let results = run["results"].as_array().unwrap();
    let levels: Vec<_> = results.iter().map(|it| it["level"].as_str().unwrap()).collect();
    assert_eq!(levels, ["error", "warning", "note"]);
    let index = usize::try_from(results[1]["ruleIndex"].as_u64().unwrap()).unwrap();
    assert_eq!(rules[index]["id"], "offline-cpus");
    let location = &results[0]["locations"][0]["physicalLocation"]["artifactLocation"];
    assert_eq!(location["uri"], "sys/devices/system/cpu/cpufreq/policy0/scaling_governor");
    let related = &results[0]["relatedLocations"][0];
    assert_eq!(related["physicalLocation"]["artifactLocation"]["uri"], "dev/cpu/3/msr");
    assert_eq!(related["logicalLocations"][0]["name"], "/dev/cpu/3/msr 0x19a");
    let notes = run["invocations"][0]["toolExecutionNotifications"].as_array().unwrap();
    assert_eq!(notes[0]["associatedRule"]["id"], "prochot-asserted");
}

#[test]
fn a_path_that_is_no_address_is_encoded() {
    let finding = Finding::new(Severity::Low, Confidence::High, "x");
    let odd = finding.evidence("/sys/fs/cgroup/a#b%ä/cpu.max", "1").evidence("CPUID leaf 6", "0");
    let text = usual("sarif", &audit(vec![(check("rival-tuner"), odd)]));
    assert!(text.contains("\"sys/fs/cgroup/a%23b%25%C3%A4/cpu.max\""), "{text}");
    let sarif: serde_json::Value = serde_json::from_str(&text).unwrap();
    let register = &sarif["runs"][0]["results"][0]["relatedLocations"][0];
    assert!(register["physicalLocation"].is_null(), "{register}");
    assert_eq!(register["logicalLocations"][0]["fullyQualifiedName"], "db7:CPUID leaf 6");
}

#[test]
fn every_severity_has_a_state_and_every_format_a_name_of_its_own() {
    assert_eq!(STATES.map(|it| it.0), {
        let mut all = Severity::ALL;
        all.reverse();
        all
    });
    let mut names: Vec<&str> = FORMATS.iter().map(|it| it.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), FORMATS.len());
}

#[test]
fn the_largest_share_of_the_clock_is_a_number_without_noise() {
    let of = |cost: Cost| {
        let (check, mut finding) = governor("x");
        finding.cost = Some(cost);
        (check, finding)
    };
    let clock = |share| of(Cost::of_clock(OfClock::lost(share).at_most(), ""));
    let two = audit(vec![clock(0.29), clock(0.0725)]);
    assert!(usual("nagios", &two).contains(" clock_lost=29%;;;0;100\n"));
    assert!(
        !usual("nagios", &audit(vec![of(Cost::of("1 % of one CPU", ""))])).contains("clock_lost")
    );
}

#[test]
fn the_guide_has_the_table_of_states() {
    let guide = include_str!("../../../../docs/guide/monitoring.md");
    let rows: Vec<Vec<&str>> = guide.lines().map(|it| it.split(" | ").collect()).collect();
    for (severity, state) in STATES {
        let is_it = |first: &str| {
            first.trim_start_matches("| ").split(", ").any(|it| it == severity.name())
        };
        let row = rows.iter().find(|row| row.len() == 3 && is_it(row[0])).unwrap();
        assert_eq!(row[1], state.name(), "{row:?}");
    }
    for format in FORMATS {
        assert!(guide.contains(&format!("--format {}", format.name)), "{}", format.name);
    }
}

/// What a site has decided about is shown by every format, and makes no state.
#[test]
fn a_suppressed_finding_is_shown_and_makes_no_state() {
    let mut audit = audit(Vec::new());
    let (check, finding) = governor("the governor powersave holds 1.9 GHz: of 3.0");
    let because = "a laptop on a train".to_owned();
    let by = Ignored { check, cpus: None, until: "2027-03-31".to_owned(), because };
    audit.suppressed.push(Suppressed { check, finding, by });
    for format in FORMATS {
        let fail_on = FailOn { severity: Some(Severity::Info), unknown: false };
        let (text, code) = written(format.name, &audit, fail_on, false);
        for words in ["slow-governor", "2027-03-31", "a laptop on a train"] {
            assert!(text.contains(words), "{}: {text}", format.name);
        }
        assert_eq!(code.unwrap_or_default(), 0, "{}", format.name);
        assert!(!text.contains("<failure"), "{text}");
    }
}
