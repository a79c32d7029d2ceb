//! `fullclock experiment` and `fullclock report`: what is asked for, what is kept, and how a study goes on.

use crate::support::{fullclock, is_of, needs_same_settings, printed, refusal};
use lab::record::Record;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tempfile::{Builder, TempDir};

const SCHEMA: &str = include_str!("../../../../schemas/experiment-3.json");

/// Varies a condition, which takes no root, and runs for seconds.
const STUDY: [&str; 7] =
    ["experiment", "load=idle,all-cores", "-w", "cpu-loop --iterations 100000", "-n", "8", "-q"];

/// A journal of changes is kept where nobody else may look.
fn own_folder() -> TempDir {
    Builder::new().permissions(fs::Permissions::from_mode(0o700)).tempdir().unwrap()
}

/// Studies and the journal of changes in this folder, as options.
fn kept_in(place: &str) -> [&str; 4] {
    ["--results", place, "--state-dir", place]
}

/// The file of the only study in a folder with this ending.
fn file(results: &Path, ending: &str) -> Option<PathBuf> {
    let entries = fs::read_dir(results).ok()?.filter_map(|it| Some(it.ok()?.path()));
    let study = entries.into_iter().find(|it| it.to_string_lossy().ends_with("-load"))?;
    let files = fs::read_dir(study).ok()?.filter_map(|it| Some(it.ok()?.path()));
    files.into_iter().find(|it| it.to_string_lossy().ends_with(ending))
}

fn n_lines(file: Option<PathBuf>) -> usize {
    file.and_then(|it| fs::read_to_string(it).ok()).map_or(0, |it| it.lines().count())
}

#[test]
fn a_study_that_is_killed_again_and_again_goes_on_until_it_is_whole() {
    let _settings = needs_same_settings();
    let folder = own_folder();
    let place = folder.path().to_str().unwrap();
    let mut n_before = 0;
    for round in 0..4 {
        let words = if round == 0 { &STUDY[..] } else { &["experiment", "resume", "-q"] };
        let mut command = fullclock(words);
        let mut run = command.args(kept_in(place)).spawn().unwrap();
        let deadline = Instant::now() + Duration::from_secs(30);
        // A line for the study, and one for each trial; none where it has ended.
        while n_lines(file(folder.path(), ".trials")) < n_before + 3
            && run.try_wait().unwrap().is_none()
            && Instant::now() < deadline
        {
            sleep(Duration::from_millis(5));
        }
        // SIGKILL; it may have ended.
        run.kill().ok();
        run.wait().unwrap();
        n_before = n_lines(file(folder.path(), ".trials"));
    }
    if n_before > 0 {
        printed(&[&["experiment", "resume", "-q"][..], &kept_in(place)].concat());
    }
    let path = file(folder.path(), "-load.json").unwrap();
    let record: Record = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    let order: Vec<(u32, u32, usize)> =
        record.trials.iter().map(|it| (it.number, it.block, it.arm)).collect();
    let places: Vec<(u32, u32)> = (0..16).map(|it| (it + 1, it / 4 + 1)).collect();
    assert_eq!(order.iter().map(|it| (it.0, it.1)).collect::<Vec<_>>(), places);
    for block in order.chunks(4) {
        let arms: Vec<usize> = block.iter().map(|it| it.2).collect();
        assert!(arms == [0, 1, 1, 0] || arms == [1, 0, 0, 1], "{order:?}");
    }
    assert!(record.is_complete);
    let error = refusal(&[&["experiment", "resume"][..], &kept_in(place)].concat());
    assert!(error.contains("was cut short"), "{error}");
    let id = &record.id;
    let error = refusal(&[&["experiment", "resume", id][..], &kept_in(place)].concat());
    assert!(error.contains(&format!("{id} is complete")), "{error}");
}

#[test]
fn a_report_is_written_once_more_from_what_was_kept() {
    let _settings = needs_same_settings();
    let folder = own_folder();
    let place = folder.path().to_str().unwrap();
    let text = printed(&[&STUDY[..], &kept_in(place), &["--json"]].concat());
    let value: Value = serde_json::from_str(&text).unwrap();
    is_of(SCHEMA, &value);
    let study = file(folder.path(), "report.md").unwrap();
    let study = study.parent().unwrap();
    let names = ["report.html", "report.json", "report.md", "trials.csv"];
    // A study has no name of its host: read again, it goes by its folder.
    let folder_name = study.file_name().unwrap().to_str().unwrap();
    let host = |it: &str| format!("\"host\": \"{it}\"");
    let here = host(value["host"].as_str().unwrap());
    let of_folder = host(folder_name);
    let read = |it| fs::read_to_string(study.join(it)).unwrap();
    let first = names.map(|it| read(it).replacen(&here, &of_folder, 1));
    let again = folder.path().join("again");
    let words = ["report", study.to_str().unwrap(), "--output", again.to_str().unwrap()];
    assert!(printed(&words).contains("load=all-cores"));
    assert_eq!(names.map(|it| fs::read_to_string(again.join(it)).unwrap()), first);
    assert_eq!(first[3].lines().count(), 17);
}

#[test]
fn a_plan_file_says_what_options_say_and_they_go_before_it() {
    let folder = own_folder();
    let plan = folder.path().join("plan.toml");
    let text = "workloads = ['cpu-loop --iterations 1000']\ntrials = 30\nshape = 'one-at-a-time'\n\
                [factors]\nload = ['idle', 'all-cores']\n";
    fs::write(&plan, text).unwrap();
    let shown = printed(&["experiment", plan.to_str().unwrap(), "-n", "9", "--dry-run"]);
    assert!(
        shown.contains("2 combinations (one factor at a time), 10 trials of each: 20 trials"),
        "{shown}"
    );
}

#[test]
fn a_dry_run_tells_programs_what_it_tells_people() {
    let words = ["load=idle,all-cores", "cpu=0,1", "-w", "cpu-loop --iterations 1000", "-n", "9"];
    let shown = printed(&[&["experiment", "--dry-run", "--json"], &words[..]].concat());
    let value: Value = serde_json::from_str(&shown).unwrap();
    is_of(include_str!("../../../../schemas/experiment-plan-2.json"), &value);
    assert_eq!((&value["n_trials"], &value["design"]["trials"]), (&40.into(), &10.into()));
    let arm = json!({
        "name": "load=all-cores cpu=0", "workload": 0, "levels": [1, 0],
        "settings": {}, "conditions": {"load": "all-cores", "cpu": "0"},
    });
    let arms = value["arms"].as_array().unwrap();
    assert!(arms.len() == 4 && arms.contains(&arm), "{shown}");
    assert!(value["length_s"].as_f64().unwrap() > 0.0, "{shown}");
    assert_eq!(printed(&[&["experiment", "--dry-run", "-q"], &words[..]].concat()), "");
}

#[test]
fn beside_a_load_only_one_thread_runs_where_no_workload_is_named() {
    let _settings = needs_same_settings();
    let shown = printed(&["experiment", "load=idle,all-cores", "--dry-run"]);
    let lengths: Vec<&str> = shown.lines().filter(|it| it.ends_with(" s a trial")).collect();
    assert!(lengths.len() == 1 && lengths[0].starts_with("cpu-loop "), "{shown}");
}

#[test]
fn what_cannot_be_run_is_told_before_the_first_trial() {
    let folder = own_folder();
    let wrong = folder.path().join("wrong.toml");
    fs::write(&wrong, "trails = 3\n").unwrap();
    let wrong = wrong.to_str().unwrap();
    for (words, told) in [
        (&["experiment"][..], "say what to vary"),
        (&["experiment", "governor"], "is not FACTOR=LEVELS"),
        (&["experiment", "nosuch=1,2"], "there is no setting \"nosuch\""),
        (&["experiment", "load=idle,half"], "the levels of load are idle and all-cores"),
        (&["experiment", "stat-interval=1,soon"], "stat-interval takes seconds"),
        (&["experiment", "isolcpus=none,4096"], "isolcpus=4096: expected a list within"),
        (
            &["experiment", "isolcpus=1"],
            "as-found cannot be a level of a setting that takes a reboot",
        ),
        (&["experiment", "isolcpus=none,1", "--boots", "2"], "2 boots of each: expected 3 to 100"),
        (&["experiment", "load=idle,all-cores", "--boots", "4"], "--boots: nothing that is varied"),
        (&["experiment", "resume", "--boots", "4"], "--boots: a study goes on as it was planned"),
        (&["experiment", "resume", "-n", "8"], "--trials: a study goes on as it was planned"),
        (&["experiment", "resume", "--seed", "8"], "--seed: a study goes on as it was planned"),
        (&["experiment", "case:nosuch"], "case:kipmid"),
        (&["experiment", wrong], "unknown field `trails`"),
        (&["experiment", "load=idle,all-cores", "-w", "cpu-loop --rows 3"], "does not take --rows"),
        (&["experiment", "load=idle,all-cores", "-w", "/no/such/command"], "/no/such/command"),
        (&["experiment", "load=idle,all-cores", "--budget", "1ms"], "--budget"),
        (&["experiment", "turbo=on,off", "-n", "4"], "6..=100000"),
        (&["experiment", "turbo=on,off", "--max-temperature", "nan"], "a limit of NaN degrees"),
        (&["experiment", "load=idle,all-cores", "-w", "all-cores"], "no CPU is left to the load"),
        (&["experiment", "load=idle,all-cores", "-w", "/bin/true"], "-w 'command --cpus"),
        (&["report", "/no/such/study"], "/no/such/study"),
    ] {
        let place = folder.path().to_str().unwrap();
        let state: &[&str] = if words[0] == "report" { &[] } else { &["--state-dir", place] };
        let error = refusal(&[words, state].concat());
        assert!(error.contains(told), "{words:?}: {error}");
    }
}
