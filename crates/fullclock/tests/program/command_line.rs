//! The built binary, as a user meets it: what it prints, and what it exits with.

use crate::support::{TWO_GOVERNORS, fullclock, is_of, printed, refusal};
use serde_json::Value;
use std::path::Path;

fn code(arguments: &[&str]) -> i32 {
    fullclock(arguments).output().unwrap().status.code().unwrap()
}

#[test]
fn an_audit_without_a_command_is_an_audit() {
    assert_eq!(printed(&["--host", TWO_GOVERNORS]), printed(&["audit", "--host", TWO_GOVERNORS]));
}

#[test]
fn json_of_a_capture_and_of_this_machine_is_what_the_schema_says() {
    let audit = |arguments: &[&str]| -> Value {
        let value = serde_json::from_str(&printed(arguments)).unwrap();
        is_of(include_str!("../../../../schemas/audit-2.json"), &value);
        value
    };
    let live = audit(&["audit", "--json"]);
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    assert_eq!(live["host"], name.trim());
    // The capture's own name is redacted.
    let captured = audit(&["audit", "--json", "--host", TWO_GOVERNORS]);
    assert_eq!(captured["host"], "two-governors.host");
}

#[test]
fn the_schema_refuses_a_finding_without_evidence() {
    let schema = include_str!("../../../../schemas/audit-2.json");
    let validator = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
    let mut value: Value =
        serde_json::from_str(&printed(&["--json", "--host", TWO_GOVERNORS])).unwrap();
    value["findings"][0]["evidence"] = serde_json::json!([]);
    assert!(!validator.is_valid(&value));
}

#[test]
fn the_exit_code_follows_the_level_that_was_asked_for() {
    assert_eq!(code(&["--host", TWO_GOVERNORS]), 0);
    assert_eq!(code(&["--host", TWO_GOVERNORS, "--fail-on", "high"]), 1);
    assert_eq!(code(&["--host", TWO_GOVERNORS, "--fail-on", "critical"]), 0);
}

#[test]
fn what_cannot_run_exits_with_2_and_says_why() {
    assert!(refusal(&["--host", "/nowhere"]).starts_with("fullclock: cannot read /nowhere: "));
    let empty = tempfile::tempdir().unwrap();
    let empty = empty.path().to_str().unwrap();
    assert!(refusal(&["--root", empty]).contains("no folder in it holds proc/ or sys/"));
    assert_eq!(code(&["audit", "--fail-on", "awful"]), 2);
    assert_eq!(code(&["audit", "--root", "/", "--host", TWO_GOVERNORS]), 2);
    assert_eq!(code(&["--root", "/", "audit", "--host", TWO_GOVERNORS]), 2);
    assert_eq!(code(&["explain", "no-such-check"]), 2);
}

#[test]
fn a_closed_standard_error_changes_no_exit_code() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let status = fullclock(&["--host", "/nowhere"]).stderr(writer).status().unwrap();
    assert_eq!(status.code(), Some(2));
}

#[test]
fn a_capture_without_end_is_refused() {
    assert!(refusal(&["--host", "/dev/zero"]).contains("no capture"));
}

#[test]
fn a_pipe_gets_no_colour_unless_it_is_asked_for() {
    assert!(!printed(&["--host", TWO_GOVERNORS]).contains('\u{1b}'));
    assert!(printed(&["--host", TWO_GOVERNORS, "--color", "always"]).contains('\u{1b}'));
}

#[test]
fn what_a_host_holds_gives_no_orders_to_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hostile\u{1b}[2J.host");
    let text = std::fs::read_to_string(TWO_GOVERNORS).unwrap();
    let text = text.replace("Xeon", "\u{1b}]0;X\u{7}").replace("userspace", "user\u{9b}2Jspace");
    assert!(text.contains('\u{1b}') && text.contains('\u{9b}'));
    std::fs::write(&file, text).unwrap();
    let shown = printed(&["--verbose", "--host", file.to_str().unwrap()]);
    assert!(shown.contains("mixed-frequency-settings"), "{shown}");
    assert!(!shown.contains(|it: char| it.is_control() && it != '\n'), "{shown:?}");
    std::fs::write(&file, "no capture").unwrap();
    assert!(!refusal(&["--host", file.to_str().unwrap()]).contains('\u{1b}'));
}

#[test]
fn ticks_are_counted_as_the_schema_says() {
    let value = serde_json::from_str(&printed(&["tick", "-d", "50ms", "--json"])).unwrap();
    is_of(include_str!("../../../../schemas/tick-2.json"), &value);
    assert!(printed(&["tick", "-d", "50ms", "--cpus", "0"]).contains("LOC"));
}

#[test]
fn ticks_of_what_cannot_be_measured_are_refused() {
    assert_eq!(code(&["tick", "--host", TWO_GOVERNORS]), 2);
    assert!(refusal(&["tick", "--cpus", "16000"]).contains("not online"));
    assert!(refusal(&["tick", "-d", "0"]).contains("the shortest time is 1ms, the longest 1d"));
    assert!(refusal(&["tick", "-d", "10d"]).contains("the shortest time is 1ms, the longest 1d"));
    assert!(refusal(&["tick", "--cpus", ","]).contains("it names no CPU"));
}

#[test]
fn an_option_that_means_nothing_to_a_command_is_not_listed_and_says_what_to_use() {
    for command in ["ledger", "noise", "watch", "tick"] {
        let help = printed(&[command, "--help"]);
        for option in ["--fail-on", "--root", "--host"] {
            assert!(!help.contains(option), "{command}: {help}");
            for order in [[command, option, "high"], [option, "high", command]] {
                let refusal = refusal(&order);
                assert!(refusal.contains("tip: ") && refusal.contains("Usage: "), "{refusal}");
            }
        }
    }
    let help = printed(&["net", "server", "--help"]);
    assert!(!help.contains("--root") && !help.contains("--json"), "{help}");
    let orders =
        [["net", "server", "--json"], ["net", "--json", "server"], ["--json", "net", "server"]];
    for order in orders {
        let refusal = refusal(&order);
        assert!(refusal.contains("tip: `fullclock net client --json`"), "{refusal}");
    }
    assert!(refusal(&["watch", "--verbose"]).contains("`--columns`"));
    assert!(refusal(&["--json", "capture"]).contains("`fullclock audit --json`"));
    assert!(printed(&["ledger", "--help"]).contains("--verbose"));
}

#[test]
fn options_of_all_commands_may_stand_before_the_name_of_one() {
    assert!(printed(&["--json", "tick", "-d", "1ms"]).starts_with('{'));
    assert_eq!(printed(&["--host", TWO_GOVERNORS, "audit"]), printed(&["--host", TWO_GOVERNORS]));
}

fn explained(subject: &[&str]) -> Value {
    let value =
        serde_json::from_str(&printed(&[&["explain", "--json"], subject].concat())).unwrap();
    is_of(include_str!("../../../../schemas/explain-2.json"), &value);
    value
}

#[test]
fn ids_of_every_list_are_explained() {
    assert!(printed(&["explain", "slow-governor"]).contains("References"));
    let metric = printed(&["explain", "busy-mhz"]);
    assert!(metric.contains("Column `Bzy_MHz`, in MHz"), "{metric}");
    assert_eq!(explained(&["busy-mhz"])["list"], "metric");
    let both = printed(&["explain", "ticks"]);
    assert!(both.contains("(metric)") && both.contains("(ledger line)"), "{both}");
    let workload = printed(&["explain", "cpu-loop"]);
    assert!(workload.contains("What it cannot know"), "{workload}");
    assert!(workload.contains("Main result: elapsed (s), lower is better."), "{workload}");
    let list = printed(&["explain"]);
    for id in ["slow-governor", "core-residency", "stolen", "scaling-max", "spin-pair"] {
        assert!(list.contains(id), "{id} in {list}");
    }
    let setting = printed(&["explain", "scaling-max"]);
    assert!(setting.contains("(setting)") && setting.contains("What it costs"), "{setting}");
    assert!(setting.contains("Fixes findings of capped-frequency"), "{setting}");
    let lists = explained(&[]);
    assert!(lists["workloads"].is_array() && lists["settings"].is_array(), "{lists}");
}

#[test]
fn pasted_lines_are_explained() {
    let line = "Conflicting CPU frequency values detected: 1600.000000 != 2534.000000. CPU Frequency is not max.";
    assert!(printed(&["explain", line]).contains("37 % slower"));
    assert!(explained(&[line])["meaning"].is_array());
}

#[test]
fn outputs_of_other_programs_are_explained_together() {
    let text = "analyzing CPU 0:\n  driver: acpi-cpufreq\n  hardware limits: 1.20 GHz - 2.40 GHz\n\
                \u{20} The governor \"powersave\" may decide which speed to use\n\
                Current active profile: powersave\n";
    let said = printed(&["explain", text]);
    assert!(
        said.contains("High, slow-governor: CPU 0 (1 of 1): governor powersave holds"),
        "{said}"
    );
    assert!(said.contains("Medium, power-saving-bias: the profile powersave"), "{said}");
    let told = explained(&[text]);
    assert!(told["what"].as_str().unwrap().starts_with("cpupower"), "{told}");
    assert_eq!(told["others"][0]["checks"][0], "rival-tuner");
    assert!(printed(&["explain"]).contains("cpupower frequency-info"));
}

#[test]
fn ipmi_says_where_there_is_no_controller_what_makes_one_or_where_to_look() {
    if Path::new("/dev/ipmi0").exists() {
        // The test bench has one, and asks it.
        return;
    }
    for question in ["latency", "sensors", "power"] {
        let why = refusal(&["ipmi", question]);
        assert!(
            why.contains("/dev/ipmi0") && why.contains("modprobe -a ipmi_si ipmi_devintf"),
            "{why}"
        );
    }
}

#[test]
fn what_makes_no_sense_to_ipmi_is_refused_before_anybody_is_asked() {
    for (arguments, why) in [
        (&["ipmi"][..], "Usage"),
        (&["ipmi", "latency", "-n", "0"], "1..=1000000"),
        (&["ipmi", "latency", "--cpus", "x"], "--cpus"),
        (&["--root", "/", "ipmi", "latency"], "ssh HOST fullclock ipmi"),
        (&["ipmi", "power", "-i", "10ms"], "every 100ms"),
        (&["ipmi", "power", "-d", "0s"], "out of range"),
        (&["ipmi", "sensors", "-n", "3"], "--watch"),
        (&["ipmi", "sensors", "-i", "1s"], "--watch"),
        (&["ipmi", "sensors", "--watch", "-n", "0"], "not in 1.."),
        (&["ipmi", "sensors", "--cache", "/tmp", "--no-cache"], "cannot be used with"),
    ] {
        let output = fullclock(arguments).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && said.contains(why), "{arguments:?}: {said}");
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = fullclock(&["explain"]).stdout(writer).output().unwrap();
    assert_eq!((output.status.code(), &output.stderr[..]), (Some(0), &b""[..]));
}

/// Two looks at the whole machine are compared: other tests make and remove control groups between them.
mod alone {
    use super::*;

    #[test]
    fn a_capture_of_this_machine_gives_the_same_audit() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("this.host");
        let file = file.to_str().unwrap();
        assert_eq!(code(&["--quiet", "capture", "-o", file]), 0);
        let ids = |arguments: &[&str]| {
            let value: Value = serde_json::from_str(&printed(arguments)).unwrap();
            let list = |name: &str| {
                value[name]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|it| it["id"].clone())
                    .collect::<Vec<_>>()
            };
            (list("findings"), value["clean"].clone())
        };
        assert_eq!(ids(&["--json", "--host", file]), ids(&["--json"]));
    }
}
