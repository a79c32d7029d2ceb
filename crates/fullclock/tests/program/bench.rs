//! `fullclock bench` and `fullclock compare`, as a user meets them: figures that are right, and clear words where there
//! is none.

use crate::support::{fullclock, is_of, printed, refusal, without_began};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Short enough for a test, and with a known answer all the same.
const SHORT: &str = "cpu-loop --iterations 100000";

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&printed(&[arguments, &["--json"]].concat())).unwrap()
}

/// The one result in a folder.
fn result_in(folder: &Path) -> PathBuf {
    let entries = std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
    let results: Vec<PathBuf> =
        entries.filter(|it| it.extension().is_some_and(|it| it == "json")).collect();
    assert_eq!(results.len(), 1, "{results:?}");
    results[0].clone()
}

/// A result of two arms, kept in `folder`.
fn kept(folder: &Path) -> PathBuf {
    let results = folder.to_str().unwrap();
    printed(&["bench", "--vs", SHORT, SHORT, "-n", "16", "--results", results]);
    result_in(folder)
}

#[test]
fn what_there_is_to_run_is_data_too() {
    let value = json(&["bench"]);
    is_of(include_str!("../../../../schemas/workloads-1.json"), &value);
    let csv = printed(&["bench", "--csv"]);
    let n_workloads = value["workloads"].as_array().unwrap().len();
    assert_eq!((csv.lines().count(), n_workloads > 10), (n_workloads + 1, true), "{csv}");
}

#[test]
fn a_result_is_what_the_schema_says_and_has_its_trials() {
    let value = json(&["bench", "cpu-loop", "--iterations", "100000", "-n", "4", "--no-save"]);
    is_of(include_str!("../../../../schemas/result-2.json"), &value);
    let trials = value["trials"].as_array().unwrap();
    assert_eq!(trials.len(), 4);
    assert!(trials.iter().all(|it| it["figures"][0]["value"].as_f64().unwrap() > 0.0));
    assert_eq!(value["summaries"][0]["figures"][0]["name"], "elapsed");
}

#[test]
fn a_workload_that_finds_its_cpus_is_recorded_on_those_and_on_no_others() {
    let bench = ["bench", "all-cores", "--iterations", "100000", "-n", "2", "--no-save"];
    let value = json(&bench);
    let cpus = &value["arms"][0]["cpus"];
    assert!(cpus.is_string(), "{cpus}");
    assert_eq!(value["summaries"][0]["cpus"], *cpus);
    assert_eq!(value["trials"][0]["surroundings"]["cpus"], *cpus);
    let text = value["doubts"].to_string() + &value["trials"][0]["clock"].to_string();
    assert!(!text.contains("unpinned") && !text.contains("scheduler chose"), "{text}");
    let refused = refusal(&[&bench[..], &["--cpus", "any"]].concat());
    assert!(refused.contains("--cpus any would let them move"), "{refused}");
}

#[test]
fn two_arms_are_compared_and_the_raw_and_the_normalised_difference_are_both_told() {
    let text = printed(&["bench", "--vs", SHORT, SHORT, "-n", "16", "--no-save"]);
    for part in ["\nelapsed  ", "\nelapsed in cycles  ", "\nclock  "] {
        assert!(text.contains(part), "{part:?} in {text}");
    }
    assert!(["between A and B", "than A"].iter().any(|it| text.contains(it)), "{text}");
}

#[test]
fn long_loops_on_one_cpu_take_turns_in_pieces_and_their_trials_are_pairs() {
    let long = "cpu-loop --iterations 6000000";
    let value = json(&["bench", "--vs", long, long, "-n", "9", "--no-save"]);
    is_of(include_str!("../../../../schemas/result-2.json"), &value);
    let pieces = value["pieces"].as_u64().unwrap();
    assert!(pieces >= 2 && pieces.is_multiple_of(2), "{pieces}");
    let pairs: Vec<&[Value]> = value["trials"].as_array().unwrap().chunks(2).collect();
    assert_eq!(pairs.len(), 9);
    for pair in pairs {
        let arms: BTreeSet<u64> = pair.iter().map(|it| it["arm"].as_u64().unwrap()).collect();
        assert_eq!(arms, BTreeSet::from([0, 1]));
        for shared in ["block", "clock", "surroundings"] {
            assert_eq!(pair[0][shared], pair[1][shared]);
        }
        // The other one began before this one had ended.
        let ns = |it: &Value, field: &str| it[field].as_u64().unwrap();
        let ended_ns = ns(&pair[0], "began_ns") + ns(&pair[0], "elapsed_ns");
        assert!(ns(&pair[1], "began_ns") < ended_ns, "{pair:?}");
    }
    assert_eq!(value["comparisons"][0]["n"], 9);
}

#[test]
fn a_loop_that_cannot_be_cut_and_one_elsewhere_run_as_a_whole() {
    let long = "cpu-loop --iterations 6000000";
    let anywhere = "cpu-loop --iterations 6000000 --cpus any";
    let value = json(&["bench", "--vs", long, anywhere, "-n", "4", "--no-save"]);
    assert_eq!(value["pieces"], 1);
}

#[test]
fn workloads_that_measure_different_things_are_refused_before_anything_runs() {
    let told = refusal(&["bench", "--vs", SHORT, "cpu-speed", "--no-save"]);
    let why = "there is nothing to compare: A measures elapsed (s), B measures speed (M/s)";
    assert!(told.contains(why), "{told}");
}

#[test]
fn a_result_kept_is_compared_arm_by_arm_and_with_another() {
    let folder = tempfile::tempdir().unwrap();
    let file = kept(folder.path());
    let path = file.to_str().unwrap();
    for results in [&[path][..], &[path, path], &[path, path, path]] {
        let value = json(&[&["compare"], results].concat());
        is_of(include_str!("../../../../schemas/comparison-3.json"), &value);
        let n = results.len().max(2) - 1;
        assert_eq!(value["comparisons"].as_array().unwrap().len(), n);
    }
    let text = printed(&["compare", path, path]);
    assert!(text.contains("the same in both"), "{text}");
    assert!(!text.contains("than A,"), "{text}");
    let verdict = text.lines().nth(1).unwrap();
    let as_ticket = printed(&["compare", path, path, "--format", "markdown"]);
    assert!(as_ticket.starts_with("# fullclock compare of "), "{as_ticket}");
    assert!(as_ticket.contains(verdict.split(',').next().unwrap()), "{as_ticket}");
    let page = printed(&["compare", path, path, "--format", "html"]);
    assert!(
        page.starts_with("<!DOCTYPE html>") && page.contains(" scope=\"col\">A</th>"),
        "{page}"
    );
    assert_eq!(
        without_began(&printed(&["compare", path, "--format", "json"])),
        without_began(&printed(&["compare", path, "--json"]))
    );
}

#[test]
fn the_trials_of_a_result_are_rows() {
    let bench = ["bench", "cpu-loop", "--iterations", "100000", "-n", "4", "--no-save"];
    let rows = printed(&[&bench[..], &["--format", "csv"]].concat());
    assert!(rows.starts_with("trial,block,variant,workload,"), "{rows}");
    assert_eq!(rows.matches(",elapsed,").count(), 4, "{rows}");
    let page = printed(&[&bench[..], &["--format", "html"]].concat());
    assert!(page.starts_with("<!DOCTYPE html>"), "{page}");
}

#[test]
fn results_are_compared_by_the_ids_that_the_history_shows() {
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().to_str().unwrap();
    let file = kept(folder.path());
    let id = file.file_stem().unwrap().to_str().unwrap();
    let of = |a, b| ["compare", "--results", results, a, b];
    // The year is enough as long as there is one result.
    assert!(printed(&of(&id[..4], id)).contains("the same in both"));
    assert_eq!(
        refusal(&of("before", id)),
        "fullclock: there is no file before: no result's id is \"before\" or begins like that; \
         `fullclock history` lists them\n"
    );
    std::fs::copy(&file, folder.path().join("2-other.json")).unwrap();
    let ambiguous = refusal(&of("2", id));
    assert!(ambiguous.contains("\"2\" begins the ids of 2 results: 2-other, "), "{ambiguous}");
    std::fs::write(folder.path().join("half.json"), "{\"format\":1,").unwrap();
    let cut = refusal(&of("half", id));
    assert!(cut.ends_with("half.json: is cut short, and no trial of it can be read\n"), "{cut}");
}

#[test]
fn trials_before_the_disk_was_full_are_printed_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().to_str().unwrap();
    // A write that would make a file larger than that fails as on a full disk: in part, then with an error.
    let limited = |blocks: u32| {
        let script = format!(
            "trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" bench {SHORT} -n 1000 --results \"$1\""
        );
        let binary = env!("CARGO_BIN_EXE_fullclock");
        let output = Command::new("sh").args(["-c", &script, binary, results]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        (output.stdout, String::from_utf8(output.stderr).unwrap())
    };
    let (_, said) = limited(1);
    assert!(said.starts_with("fullclock: cannot keep a result in "), "{said}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    let (printed, said) = limited(128);
    assert!(said.contains("fullclock: ended at trial "), "{said}");
    assert!(said.contains(": cannot keep trials; those before are in "), "{said}");
    assert!(String::from_utf8(printed).unwrap().contains(" trials"));
    let listed = json(&["history", "--results", results]);
    let arm = &listed["results"][0]["arms"][0];
    assert!(arm["trials"].as_u64().unwrap() > 1, "{listed}");
}

#[test]
fn a_result_that_was_cut_short_or_is_of_a_later_version_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let file = kept(folder.path());
    let path = file.to_str().unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, &text[..text.len() / 2]).unwrap();
    assert!(refusal(&["compare", path]).contains("cut short"));
    std::fs::write(&file, text.replacen("\"format\":1", "\"format\":999", 1)).unwrap();
    assert!(refusal(&["compare", path]).contains("a later version"));
    assert!(refusal(&["compare", "/nowhere.json"]).contains("/nowhere.json"));
}

#[test]
fn a_command_that_fails_says_how_and_with_which_words() {
    let bench = ["bench", "command", "--no-save", "-n", "4", "--", "sh", "-c"];
    let text = refusal(&[&bench[..], &["echo no such table >&2; exit 3"]].concat());
    assert_eq!(text, "fullclock: sh failed, exit status 3: no such table\n");
}

#[test]
fn a_metric_that_is_no_number_is_no_figure() {
    let bench = ["bench", "command", "--no-save", "-n", "4", "--metric", "x=(\\S+)", "--"];
    let text = refusal(&[&bench[..], &["echo", "x=NaN"]].concat());
    assert!(text.contains("\"NaN\" as its metric, which is not a finite number"), "{text}");
    let vs = ["bench", "--no-save", "-n", "4", "--vs", "echo x=7", "echo x=7"];
    let value = json(&[&vs[..], &["--metric", "x=(\\S+)"]].concat());
    assert_eq!(value["trials"][0]["figures"][0]["value"], 7.0);
}

#[test]
fn a_commands_children_are_its_own_load_and_no_other_tasks() {
    let script = "(i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done); exit 0";
    // Work is told from lost time where the clock is known, which it is of CPUs that were named.
    let bench =
        ["bench", "command", "--cpus", "0", "--no-save", "-n", "3", "--", "sh", "-c", script];
    let mut command = fullclock(&["--json"]);
    let output = command.args(bench).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    for trial in value["trials"].as_array().unwrap() {
        let lines = trial["surroundings"]["ledger"].as_array().unwrap();
        let of = |loss: &str| lines.iter().filter(|it| it["loss"] == loss).collect::<Vec<_>>();
        let has = |loss: &str, part: &str| of(loss).iter().any(|it| it["part"] == part);
        let is_known = of("useful").iter().all(|it| it["share"].is_number());
        if !is_known
            || !has("useful", "tasks that ended")
                && !has("other-tasks", "tasks that ended or moved")
        {
            println!("skipped: what tasks ran that ended, or the clock, is unknown");
            continue;
        }
        assert!(has("useful", "tasks that ended"), "{lines:#?}");
    }
}

#[test]
fn trials_before_a_failure_are_printed_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let script = format!("echo x >> {0}/n; test $(wc -l < {0}/n) -lt 4", folder.path().display());
    let results = folder.path().to_str().unwrap();
    let bench = ["bench", "command", "-n", "9", "--results", results, "--", "sh", "-c", &script];
    let output = fullclock(&bench).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8(output.stdout).unwrap().contains("3 trials"));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("after 3 good ones failed"), "{said}");
    let kept: Value =
        serde_json::from_str(&std::fs::read_to_string(result_in(folder.path())).unwrap()).unwrap();
    assert_eq!(kept["trials"].as_array().unwrap().len(), 3);
    assert_eq!(kept["is_complete"], false);
}

#[test]
fn what_cannot_be_run_is_refused_with_what_can() {
    assert!(refusal(&["bench", "cpu-loop", "--cpus", "8191"]).contains("--cpus names 8191"));
    assert!(refusal(&["bench", "no-such"]).contains("there are cpu-loop"));
    assert!(refusal(&["bench", "cpu-loop", "--rows", "3"]).contains("does not take --rows"));
    assert!(refusal(&["bench", "--vs", "cpu-loop --nix", "b"]).contains("--nix"));
    assert!(refusal(&["bench", "--vs", "'", "b"]).contains("quote"));
    assert!(refusal(&["bench", "cpu-loop", "--root", "/"]).contains("--root"));
}

#[test]
fn a_speed_is_compared_with_peers_of_the_same_processor() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (peers, results) = (path("peers.txt"), path("results"));
    let bench = ["bench", "cpu-speed", "--iterations", "100000", "-n", "5"];
    printed(&[&bench[..], &["--results", &results]].concat());
    let twin = result_in(Path::new(&results));
    let with = |file| [&bench[..], &["--no-save", "--peers", file]].concat();
    let value = json(&with(twin.to_str().unwrap()));
    is_of(include_str!("../../../../schemas/result-2.json"), &value);
    let text = value["peers"].to_string();
    // A machine that hides its processor has no peers, and says so.
    assert!(value["peers"]["n_peers"] == 1 || text.contains("does not name"), "{text}");
    std::fs::write(&peers, "No such processor ; 2713\n").unwrap();
    let text = printed(&with(&peers));
    let told = text.lines().find(|it| it.starts_with("peers  "));
    assert!(told.is_some_and(|it| it.contains("  unknown: ")), "{text}");
    std::fs::write(&peers, "# nobody\n").unwrap();
    assert!(refusal(&["bench", "cpu-speed", "--peers", &peers]).contains("it names no peer"));
    std::fs::write(&peers, "A 2713\n").unwrap();
    assert!(refusal(&["bench", "cpu-speed", "--peers", &peers]).contains("line 1: `A 2713`"));
    std::fs::write(&peers, "{}").unwrap();
    assert!(refusal(&["bench", "cpu-speed", "--peers", &peers]).contains("peers.txt"));
    assert!(refusal(&["bench", "cpu-loop", "--peers", &peers]).contains("name that workload"));
}

#[test]
fn a_signal_ends_it_and_the_trials_until_then_are_printed() {
    let folder = tempfile::tempdir().unwrap();
    let begun = folder.path().join("begun");
    let script = format!("echo >> {}; sleep 0.1", begun.display());
    let bench = ["bench", "command", "-n", "1000", "--no-save", "--", "sh", "-c", &script];
    let mut child = fullclock(&bench).stdout(Stdio::piped()).spawn().unwrap();
    // Of the fourth trial on, some are over.
    while std::fs::read(&begun).map_or(0, |it| it.len()) < 4 {
        assert_eq!(child.try_wait().unwrap(), None, "it ended before its fourth trial");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert!(child.wait().unwrap().success());
    assert!(text.contains("stopped before all planned"), "{text}");
}

#[test]
fn the_script_for_oracle_is_printed_and_its_output_read_back() {
    let script = printed(&["bench", "plsql-loop", "--print-sql", "oracle"]);
    assert!(script.contains("sqlplus"), "{script}");
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("output.txt");
    let run = "Res = 873729.72\nElapsed: 00:00:08.01\n";
    std::fs::write(&output, run.repeat(5)).unwrap();
    let results = folder.path().join("results");
    let [output, results] = [&output, &results].map(|it| it.to_str().unwrap());
    let value = json(&["bench", "plsql-loop", "--parse", output, "--results", results]);
    is_of(include_str!("../../../../schemas/result-2.json"), &value);
    assert_eq!(value["summaries"][0]["figures"][0]["median"], 8.01);
    assert!(value["doubts"].to_string().contains("machine-unknown"), "{}", value["doubts"]);
    let kept = result_in(Path::new(results));
    let kept = kept.to_str().unwrap();
    let text = printed(&["compare", kept, kept]);
    assert!(text.contains("another program ran it"), "{text}");
    let text = printed(&["bench", "plsql-loop", "--parse", output, "--no-save"]);
    assert!(
        text.starts_with("fullclock bench of plsql-loop --iterations 10000000 --engine oracle\n"),
        "{text}"
    );
    std::fs::write(output, run.replace("873729.72", "873729.75")).unwrap();
    assert!(refusal(&["bench", "plsql-loop", "--parse", output]).contains("WRONG ANSWER"));
    assert!(refusal(&["bench", "schema-build", "--print-sql", "oracle"]).contains("no script"));
}

mod alone {
    use super::*;

    #[test]
    fn an_arm_of_twice_the_work_is_slower_in_every_unit() {
        let twice = "cpu-loop --iterations 200000";
        let value = json(&["bench", "--vs", SHORT, twice, "-n", "40", "--no-save"]);
        is_of(include_str!("../../../../schemas/result-2.json"), &value);
        let change = value["comparisons"][0]["cycles"]["change"].as_f64().unwrap();
        // Whatever else the machine does, twice the cycles are more.
        assert!(change > 0.1, "{change}");
    }
}
