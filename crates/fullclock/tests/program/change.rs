//! Planning and changing, by the built binary. What is changed here is harmless: a request for wake-ups within a second.

use crate::support::{changes_settings, fullclock, is_of, printed, ran, refusal, without_began};
use serde_json::Value;
use std::path::Path;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A folder that holds a host of two CPUs, one cpufreq policy each.
fn host() -> TempDir {
    let root = tempfile::tempdir().unwrap();
    let cpus = root.path().join("sys/devices/system/cpu");
    let mut files = vec![("online", "0-1"), ("possible", "0-1")];
    for policy in ["cpufreq/policy0", "cpufreq/policy1"] {
        write(&cpus.join(policy).join("affected_cpus"), &policy[14..]);
        write(&cpus.join(policy).join("scaling_driver"), "acpi-cpufreq");
        write(&cpus.join(policy).join("scaling_governor"), "powersave");
        write(&cpus.join(policy).join("scaling_available_governors"), "performance powersave");
    }
    files.extend([("cpu0/cpufreq/x", ""), ("cpu1/cpufreq/x", "")]);
    for (name, text) in files {
        write(&cpus.join(name), text);
    }
    write(&root.path().join("proc/sys/vm/stat_interval"), "1");
    root
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, format!("{text}\n")).unwrap();
}

/// What is printed and the exit code, on a host in a folder.
fn planned(host: &TempDir, arguments: &[&str]) -> (String, Option<i32>) {
    let root = host.path().to_str().unwrap();
    let arguments = [&["--root", root, "plan"], arguments].concat();
    let output = fullclock(&arguments).output().unwrap();
    (String::from_utf8(output.stdout).unwrap(), output.status.code())
}

#[test]
fn a_plan_is_printed_for_other_tools_and_writes_nothing() {
    let host = host();
    write(&host.path().join("etc/tuned/active_profile"), "throughput-performance");
    let of = |tool, more: &[&str]| planned(&host, &[&["--as", tool], more].concat());
    let (tuned, code) = of("tuned", &["governor=performance", "stat-interval=60"]);
    assert_eq!(code, Some(0));
    assert!(tuned.contains("\ninclude=throughput-performance\n"), "{tuned}");
    assert!(tuned.contains("[cpu]\n# was powersave\ngovernor=performance\n"), "{tuned}");
    assert!(tuned.contains("[sysctl]\n# was 1\nvm.stat_interval=60\n"), "{tuned}");
    let (cpupower, _) = of("cpupower", &["governor=performance", "stat-interval=60"]);
    assert!(cpupower.contains("\ncpupower -c 0-1 frequency-set -g performance  # was powersave\n"));
    assert!(cpupower.contains("\n# NOT BY CPUPOWER: /proc/sys/vm/stat_interval: 1 -> 60 "));
    let root = host.path().to_str().unwrap();
    let (code, text, errors) =
        ran(&["--root", root, "plan", "--as", "cpupower", "stat-interval=60"]);
    assert_eq!(code, 0);
    let lacking = errors.strip_prefix("fullclock: ").unwrap();
    assert!(lacking.starts_with("cpupower makes 0 of 1 write; "), "{errors}");
    assert!(text.ends_with(&format!("# {lacking}")), "{text}");
    let (shell, code) = of("shell", &["governor=fast"]);
    assert_eq!(code, Some(3));
    assert!(shell.contains("\n# REFUSED: governor=fast: "), "{shell}");
    let file = host.path().join("fix.sh");
    let name = file.to_str().unwrap();
    assert_eq!(of("shell", &["governor=performance", "-o", name]), (String::new(), Some(0)));
    let script = std::fs::read_to_string(&file).unwrap();
    assert!(
        script.starts_with("#!/bin/sh\n") && script.contains("\nput /sys/devices/"),
        "{script}"
    );
    assert_eq!(of("shell", &["--json"]).1, Some(2));
    let governor = host.path().join("sys/devices/system/cpu/cpufreq/policy0/scaling_governor");
    assert_eq!(std::fs::read_to_string(governor).unwrap(), "powersave\n");
}

#[test]
fn a_plan_shows_what_is_written_where_and_for_how_long() {
    let host = host();
    let (text, code) = planned(&host, &["governor=performance"]);
    assert_eq!(code, Some(0));
    assert_eq!(
        text,
        format!(
            "\
fullclock plan for {}
2 writes of 1 setting.

governor=performance
write     /sys/devices/system/cpu/cpufreq/policy{{0-1}}/scaling_governor: powersave -> performance (2
          places)
risk      low: nothing but speed and power change
power     idle cores draw some watts more a socket
lasts     until reboot
",
            host.path().display()
        )
    );
}

#[test]
fn a_plan_and_a_status_are_printed_for_a_ticket_and_as_a_page() {
    let host = host();
    let (markdown, _) = planned(&host, &["--format", "markdown", "governor=performance"]);
    assert!(markdown.starts_with("# fullclock plan for "), "{markdown}");
    assert!(markdown.contains("\n## governor=performance\n"), "{markdown}");
    let (page, _) = planned(&host, &["--format", "html", "governor=performance"]);
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<dt>lasts</dt>"), "{page}");
    let (json, _) = planned(&host, &["--format", "json", "governor=performance"]);
    let (same, _) = planned(&host, &["--json", "governor=performance"]);
    assert_eq!(without_began(&json), without_began(&same));
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let status =
        |form| printed(&["status", "--format", form, "--state-dir", state.to_str().unwrap()]);
    assert_eq!(status("markdown"), "# Nothing is applied.\n");
    assert!(status("html").contains("<h1>Nothing is applied.</h1>"));
}

#[test]
fn a_plan_that_is_to_last_is_one_document_with_its_files() {
    let host = host();
    let root = host.path().to_str().unwrap();
    let words = ["--root", root, "apply", "--dry-run", "--persist", "--format", "markdown"];
    let ticket = printed(&[&words[..], &["stat-interval=10"]].concat());
    assert_eq!(ticket.matches("# fullclock plan for ").count(), 1, "{ticket}");
    assert!(ticket.contains("\n## Files that make it last\n"), "{ticket}");
    assert!(ticket.contains("\nvm.stat_interval = 10\n"), "{ticket}");
}

#[test]
fn a_finding_that_no_setting_fixes_is_told_of() {
    let host = host();
    let governor = "sys/devices/system/cpu/cpufreq/policy0/scaling_governor";
    let [first, second] = [governor.to_owned(), governor.replace("policy0", "policy1")];
    for policy in [first, second] {
        write(&host.path().join(policy), "performance");
    }
    assert!(planned(&host, &[]).0.contains("\nNothing to change.\n"));
    for (file, text) in [
        ("proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw"),
        ("proc/self/cgroup", "0::/"),
        ("proc/812/stat", "812 (postgres) S 1 1 1 0 -1 4194560 0"),
        ("proc/812/cgroup", "0::/db.slice/postgresql.service"),
        ("sys/fs/cgroup/db.slice/postgresql.service/cpu.max", "max 100000"),
        ("sys/fs/cgroup/db.slice/cpu.max", "50000 100000"),
        (
            "sys/fs/cgroup/db.slice/cpu.stat",
            "nr_periods 1000\nnr_throttled 900\nthrottled_usec 50000000",
        ),
    ] {
        write(&host.path().join(file), text);
    }
    let (text, code) = planned(&host, &[]);
    assert_eq!(code, Some(0));
    assert!(text.contains("finding that no setting fixes: cgroup-quota-throttling"), "{text}");
    let json: Value = serde_json::from_str(&planned(&host, &["--json"]).0).unwrap();
    assert_eq!(json["unfixed"][0]["id"], "cgroup-quota-throttling");
    assert!(json["unfixed"][0]["reason"].as_str().unwrap().contains("CPUQuota="), "{json}");
}

/// A server of RHEL 6, whose policies are in the folders of its CPUs: 0 and 1 share one, which CPU 1 has as a link.
fn older_host() -> TempDir {
    let root = tempfile::tempdir().unwrap();
    let cpus = root.path().join("sys/devices/system/cpu");
    for (name, text) in [("online", "0-2"), ("possible", "0-2"), ("present", "0-2")] {
        write(&cpus.join(name), text);
    }
    for (cpu, affected) in [(0, "0 1"), (2, "2")] {
        for (file, text) in [
            ("affected_cpus", affected),
            ("related_cpus", affected),
            ("scaling_driver", "acpi-cpufreq"),
            ("scaling_governor", "powersave"),
            ("scaling_available_governors", "powersave ondemand userspace performance"),
            ("scaling_cur_freq", "1600000"),
            ("scaling_min_freq", "1600000"),
            ("scaling_max_freq", "2933000"),
            ("cpuinfo_min_freq", "1600000"),
            ("cpuinfo_max_freq", "2933000"),
            ("scaling_available_frequencies", "2933000 1600000"),
        ] {
            write(&cpus.join(format!("cpu{cpu}/cpufreq/{file}")), text);
        }
    }
    std::fs::create_dir(cpus.join("cpu1")).unwrap();
    std::os::unix::fs::symlink("../cpu0/cpufreq", cpus.join("cpu1/cpufreq")).unwrap();
    write(&root.path().join("proc/sys/kernel/osrelease"), "2.6.32-754.35.1.el6.x86_64");
    write(&root.path().join("etc/redhat-release"), "CentOS release 6.10 (Final)");
    root
}

#[test]
fn policies_in_the_folders_of_cpus_are_planned_as_they_are_judged() {
    let host = older_host();
    let root = host.path().to_str().unwrap();
    let audit = printed(&["--root", root, "audit"]);
    assert!(audit.contains("fullclock apply governor=performance"), "{audit}");
    assert!(audit.contains("/etc/sysconfig/cpuspeed") && !audit.contains("update-grub"), "{audit}");
    for words in [&["slow-governor"][..], &["governor=performance"], &[]] {
        let (plan, code) = planned(&host, words);
        assert_eq!(code, Some(0), "{plan}");
        assert!(plan.contains("2 writes of 1 setting."), "{plan}");
        assert!(
            plan.contains("/cpu{0,2}/cpufreq/scaling_governor: powersave -> performance"),
            "{plan}"
        );
    }
    let (limits, _) = planned(&host, &["scaling-min=max"]);
    assert!(limits.contains("/cpu{0,2}/cpufreq/scaling_min_freq: 1600000 -> 2933000"), "{limits}");
}

#[test]
fn a_check_that_finds_nothing_is_named_in_its_plan() {
    let (plan, code) = planned(&older_host(), &["turbo-off"]);
    let (unknown, _) = planned(&host(), &["capped-frequency"]);
    assert!(code.is_some() && !plan.contains("\nNothing to change.\n"), "{plan}");
    assert!(!unknown.contains("\nNothing to change.\n"), "{unknown}");
}

#[test]
fn a_finding_is_planned_by_its_name_and_without_a_name_all_that_an_audit_finds() {
    let host = host();
    let by_name = planned(&host, &["slow-governor"]);
    assert!(by_name.0.contains("governor=performance"), "{by_name:?}");
    assert!(planned(&host, &[]).0.contains("governor=performance"));
}

#[test]
fn a_finding_is_fixed_only_on_the_cpus_that_have_it() {
    let host = host();
    let governor = "sys/devices/system/cpu/cpufreq/policy0/scaling_governor";
    write(&host.path().join(governor), "performance");
    let (text, code) = planned(&host, &["slow-governor"]);
    assert_eq!(code, Some(0));
    assert!(text.contains("governor=performance@1"), "{text}");
    write(&host.path().join(governor.replace("policy0", "policy1")), "performance");
    let (text, code) = planned(&host, &["slow-governor"]);
    assert_eq!(code, Some(0));
    assert!(!text.contains("governor=performance"), "{text}");
}

#[test]
fn what_cannot_be_done_is_refused_with_its_reason_and_another_code() {
    let (text, code) = planned(&host(), &["governor=fast", "stat-interval=2"]);
    assert_eq!(code, Some(3));
    assert!(
        text.contains("governor=fast: ") && text.contains("has no governor \"fast\""),
        "{text}"
    );
    assert!(text.contains("stat-interval=2"), "{text}");
}

#[test]
fn json_of_a_plan_is_what_its_schema_says() {
    let (text, code) = planned(&host(), &["--json", "governor=performance", "uncore-max=max"]);
    let value: Value = serde_json::from_str(&text).unwrap();
    is_of(include_str!("../../../../schemas/plan-2.json"), &value);
    assert_eq!(code, Some(3));
    assert_eq!(value["steps"][0]["writes"].as_array().unwrap().len(), 2);
    assert_eq!(value["refused"][0]["setting"], "uncore-max");
}

#[test]
fn nonsense_is_answered_by_what_would_make_sense() {
    let answer = refusal(&["plan", "governor"]);
    assert!(answer.contains("governor is a setting: say governor=VALUE"), "{answer}");
    assert!(refusal(&["plan", "goverment=x"]).contains("there is no setting \"goverment\""));
    assert!(refusal(&["plan", "nothing"]).contains("neither a finding nor SETTING=VALUE"));
    assert!(refusal(&["plan", "--profile", "noon"]).contains("there is no profile \"noon\""));
    assert!(refusal(&["plan", "stat-interval=1", "stat-interval=2"]).contains("give one of them"));
    assert!(refusal(&["apply"]).contains("say what to apply"));
    let other = refusal(&["apply", "--root", "/", "stat-interval=2"]);
    assert!(other.contains("only this machine can be changed"), "{other}");
}

#[test]
fn a_profile_that_others_can_write_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let profile = folder.path().join("night.toml");
    write(&profile, "title = 'x'\n[[setting]]\nset = 'stat-interval=2'\nbecause = 'y'");
    std::fs::set_permissions(&profile, std::fs::Permissions::from_mode(0o666)).unwrap();
    let refused = refusal(&["plan", "--profile", profile.to_str().unwrap()]);
    assert!(refused.contains("others can write it (mode 666): chmod go-w it"), "{refused}");
    std::fs::set_permissions(&profile, std::fs::Permissions::from_mode(0o644)).unwrap();
    let host = host();
    let (text, _) = planned(&host, &["--profile", profile.to_str().unwrap()]);
    assert!(text.contains("stat_interval: 1 -> 2") && text.contains("why       y"), "{text}");
}

#[test]
fn nothing_applied_is_nothing_to_show_revert_confirm_or_watch() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let state = ["--state-dir", state.to_str().unwrap()];
    assert_eq!(printed(&[&["status"], &state[..]].concat()), "Nothing is applied.\n");
    assert!(refusal(&[&["revert"], &state[..]].concat()).contains("nothing is applied"));
    assert!(refusal(&[&["confirm"], &state[..]].concat()).contains("no change waits"));
    assert!(refusal(&[&["watch-drift"], &state[..]].concat()).contains("nothing is applied"));
}

/// A state folder, and the binary with it.
struct Session {
    folder: TempDir,
}

impl Session {
    fn new() -> Session {
        Session { folder: tempfile::tempdir().unwrap() }
    }

    fn run(&self, arguments: &[&str]) -> (Value, Option<i32>) {
        let state = self.folder.path().join("state");
        let arguments = [arguments, &["--json", "--state-dir", state.to_str().unwrap()]].concat();
        let output = fullclock(&arguments).output().unwrap();
        (serde_json::from_slice(&output.stdout).unwrap_or_default(), output.status.code())
    }

    fn state_of_latest(&self) -> Value {
        let (status, code) = self.run(&["status", "--all"]);
        assert_eq!(code, Some(0));
        is_of(include_str!("../../../../schemas/status-2.json"), &status);
        status["changes"].as_array().unwrap().last().unwrap()["state"].clone()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.run(&["revert", "--all"]);
    }
}

#[test]
fn a_request_is_held_until_it_is_reverted() {
    let _settings = changes_settings();
    let session = Session::new();
    let (applied, code) = session.run(&["apply", "cpu-dma-latency=1000000"]);
    assert_eq!(code, Some(0), "{applied:#}");
    is_of(include_str!("../../../../schemas/apply-2.json"), &applied);
    assert_eq!(session.state_of_latest(), "kept");
    let (reverted, code) = session.run(&["revert"]);
    assert_eq!(code, Some(0), "{reverted:#}");
    is_of(include_str!("../../../../schemas/revert-2.json"), &reverted);
    assert_eq!(reverted["undone"][0]["fate"], "written-back");
    assert_eq!(session.state_of_latest(), "reverted");
}

#[test]
fn what_nobody_confirms_is_reverted_and_what_somebody_does_is_kept() {
    let _settings = changes_settings();
    let session = Session::new();
    let apply = ["apply", "cpu-dma-latency=1000000", "--confirm-within"];
    assert_eq!(session.run(&[&apply[..], &["1s"]].concat()).1, Some(0));
    let until = Instant::now() + Duration::from_secs(60);
    while session.state_of_latest() != "reverted" {
        assert!(Instant::now() < until, "the guard has not reverted");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(session.run(&[&apply[..], &["10m"]].concat()).1, Some(0));
    assert_eq!(session.state_of_latest(), "awaiting");
    let state = session.folder.path().join("state");
    let kept = printed(&["confirm", "--state-dir", state.to_str().unwrap()]);
    assert!(kept.contains("is kept"), "{kept}");
    assert_eq!(session.state_of_latest(), "kept");
}

#[test]
fn a_proof_leaves_the_change_in_force_or_nothing() {
    let _settings = changes_settings();
    let session = Session::new();
    let workload = "cpu-loop --iterations 100000 --trials 8 --no-save";
    let (applied, code) = session.run(&["apply", "--prove", workload, "cpu-dma-latency=1000000"]);
    is_of(include_str!("../../../../schemas/apply-2.json"), &applied);
    let (status, _) = session.run(&["status", "--all"]);
    let changes = status["changes"].as_array().unwrap();
    let n_kept = changes.iter().filter(|it| it["state"] == "kept").count();
    assert_eq!(n_kept, usize::from(code == Some(0)), "{applied:#}");
    assert!(code == Some(0) || applied["error"].as_str().unwrap().starts_with("not kept: "));
    assert!(changes.len() >= 8, "the change was made for each trial with it");
    assert!(changes.iter().rev().skip(n_kept).all(|it| it["state"] == "reverted"), "{status:#}");
}

#[test]
fn a_proof_of_nonsense_changes_nothing() {
    let _settings = changes_settings();
    let session = Session::new();
    for workload in ["no-such-workload", "cpu-loop --sweep", "cpu-loop --no-such-option"] {
        let asked = ["apply", "--prove", workload, "cpu-dma-latency=1000000"];
        assert_eq!(session.run(&asked).1, Some(2), "{workload}");
    }
    assert_eq!(session.run(&["status", "--all"]).0["changes"], serde_json::json!([]));
}

#[test]
fn a_proof_with_a_password_is_refused_before_the_journal_has_it() {
    let _settings = changes_settings();
    let session = Session::new();
    let state = session.folder.path().join("state");
    let workload = "plsql-loop --dsn postgres://me:secret@db1/x";
    let words = ["apply", "--prove", workload, "cpu-dma-latency=1000000", "--state-dir"];
    let output = fullclock(&[&words[..], &[state.to_str().unwrap()]].concat()).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("PGPASSFILE") && !error.contains("secret"), "{error}");
    assert_eq!(session.run(&["status", "--all"]).0["changes"], serde_json::json!([]));
}
