//! `fullclock metrics`: one page for a monitoring system, to standard output and as a file.

use crate::support::{fullclock, printed, refusal};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// The series of a page, without their values.
fn series(text: &str) -> BTreeSet<String> {
    let lines = text.lines().filter(|it| !it.starts_with('#'));
    lines.map(|it| it.rsplit_once(' ').unwrap().0.to_owned()).collect()
}

#[test]
fn this_machine_tells_what_it_is_what_its_kernel_counts_and_what_was_found() {
    let text = printed(&["metrics"]);
    for family in [
        "fullclock_build_info{version=",
        "fullclock_host_info{",
        "fullclock_online_cpus ",
        "fullclock_ticks_total ",
        "fullclock_context_switches_total ",
        "fullclock_unknown_checks{obstacle=\"guest\"}",
    ] {
        assert!(text.contains(&format!("\n{family}")), "{family}: {text}");
    }
    // What one look cannot know.
    for family in ["ledger", "clock_ratio", "start_time", "busy_cycles", "speed_ratio"] {
        assert!(!text.contains(&format!("fullclock_{family}")), "{family}: {text}");
    }
    assert!(!text.contains("cpu=\"") && !text.contains("# EOF"), "{text}");
    assert!(printed(&["metrics", "--per-cpu"]).contains("\nfullclock_cpu_ticks_total{cpu=\"0\"} "));
}

#[test]
fn counters_of_two_runs_never_go_back() {
    let total = |text: &str| -> f64 {
        let line = text.lines().find_map(|it| it.strip_prefix("fullclock_context_switches_total "));
        line.unwrap().parse().unwrap()
    };
    let (first, second) = (printed(&["metrics"]), printed(&["metrics"]));
    assert!(total(&first) > 0.0 && total(&second) > total(&first));
}

#[test]
fn a_textfile_is_whole_and_readable_for_everybody_and_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("fullclock.prom");
    fs::write(&file, "old").unwrap();
    fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
    let text = printed(&["metrics", "--textfile", file.to_str().unwrap()]);
    assert_eq!(text, "");
    let written = fs::read_to_string(&file).unwrap();
    assert!(written.starts_with("# HELP fullclock_build_info") && written.ends_with('\n'));
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o644);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    assert!(series(&written).is_superset(&series("fullclock_online_cpus 1")));
}

#[test]
fn what_makes_no_sense_is_refused() {
    assert!(refusal(&["metrics", "--textfile", "/nowhere/x.prom"]).contains("/nowhere"));
    assert!(refusal(&["metrics", "--root", "/"]).contains("this machine"));
    assert!(refusal(&["metrics", "--json"]).contains("audit --json"));
    let output = fullclock(&["metrics", "--textfile", "/dev/null"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}
