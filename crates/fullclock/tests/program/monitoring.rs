//! `fullclock audit --format nagios|checkmk|junit|sarif`: what is printed, and the exit code that monitoring systems go by.

use crate::support::{TWO_GOVERNORS, printed, ran};
use serde_json::Value;

fn audited(format: &str, more: &[&str]) -> (i32, String, String) {
    ran(&[&["audit", "--host", TWO_GOVERNORS, "--format", format], more].concat())
}

#[test]
fn the_exit_code_of_a_nagios_plugin_is_the_state_in_its_line() {
    let (code, text, errors) = audited("nagios", &[]);
    assert_eq!((code, &*errors), (2, ""), "{text}");
    assert!(text.starts_with("FULLCLOCK CRITICAL: ") && text.contains(" | critical="), "{text}");
    let (code, text, _) = audited("nagios", &["--fail-on", "critical"]);
    assert_eq!(code, 1, "{text}");
    assert!(text.starts_with("FULLCLOCK WARNING: "), "{text}");
}

#[test]
fn a_quiet_plugin_has_its_line_all_the_same() {
    for format in ["nagios", "checkmk"] {
        assert_eq!(audited(format, &["-q"]), audited(format, &[]), "{format}");
        let cannot_run = ["-q", "audit", "--format", format, "--host", "/nowhere"];
        assert_eq!(ran(&cannot_run), ran(&cannot_run[1..]), "{format}");
    }
}

#[test]
fn a_plugin_that_cannot_run_is_unknown_in_one_line() {
    for cannot_run in [
        &["audit", "--format", "nagios", "--host", "/nowhere"][..],
        &["audit", "--format=nagios", "--fail-on", "awful"],
        &["--host", "/x", "audit", "--format", "nagios", "--no-such-option"],
    ] {
        let (code, text, _) = ran(cannot_run);
        assert_eq!((code, text.lines().count()), (3, 1), "{text}");
        assert!(text.starts_with("FULLCLOCK UNKNOWN: "), "{text}");
    }
    let (code, text, errors) = ran(&["audit", "--format", "checkmk", "--host", "/nowhere"]);
    assert_eq!((code, &*errors), (0, ""));
    assert!(text.starts_with("3 \"fullclock audit\" - cannot read /nowhere: "), "{text}");
    // Documents have no state: as always, nothing is printed.
    let (code, text, errors) = ran(&["audit", "--format", "junit", "--host", "/nowhere"]);
    assert_eq!((code, &*text), (2, ""));
    assert!(errors.starts_with("fullclock: cannot read /nowhere: "), "{errors}");
}

#[test]
fn a_local_check_of_checkmk_exits_with_0_and_has_its_state_in_the_line() {
    let (code, text, _) = audited("checkmk", &["--fail-on", "info"]);
    assert_eq!((code, text.lines().count()), (0, 1), "{text}");
    assert!(text.starts_with("2 \"fullclock audit\" fullclock_critical="), "{text}");
}

#[test]
fn documents_exit_as_every_audit_does() {
    for format in ["junit", "sarif"] {
        assert_eq!(audited(format, &[]).0, 0);
        assert_eq!(audited(format, &["--fail-on", "high"]).0, 1);
        assert_eq!(audited(format, &["--fail-on", "critical"]).0, 0);
    }
    let (_, junit, _) = audited("junit", &["--fail-on", "high"]);
    assert!(junit.contains("<failure type=\"high\""), "{junit}");
    let sarif: Value = serde_json::from_str(&audited("sarif", &[]).1).unwrap();
    assert_eq!(sarif["runs"][0]["invocations"][0]["executionSuccessful"], true);
}

#[test]
fn a_format_is_written_to_a_file_and_excludes_json() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("audit.xml");
    let (code, text, _) = audited("junit", &["-o", file.to_str().unwrap()]);
    assert_eq!((code, &*text), (0, ""));
    let junit = std::fs::read_to_string(&file).unwrap();
    assert!(junit.starts_with("<?xml ") && junit.ends_with("</testsuites>\n"), "{junit}");
    // The ending names it, too.
    for (name, begins) in [("by-ending.xml", "<?xml "), ("by-ending.sarif", "{")] {
        let file = folder.path().join(name);
        printed(&["audit", "--host", TWO_GOVERNORS, "-o", file.to_str().unwrap()]);
        let text = std::fs::read_to_string(file).unwrap();
        assert!(text.starts_with(begins) && text.contains("slow-governor"), "{text}");
        assert!(!name.ends_with("sarif") || text.contains("sarif"), "{text}");
    }
    assert_eq!(audited("junit", &["--json"]).0, 2);
}
