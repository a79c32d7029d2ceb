//! `fullclock compare` of results that were kept: earlier ones, several of each, and a margin; and of two recordings.

use crate::support::{is_of, printed, refusal};
use serde_json::{Value, json};
use std::path::Path;
use tempfile::TempDir;

/// Writes a result of ten trials of about this many milliseconds, as `bench` does; returns its path.
fn kept(folder: &Path, day: u32, iterations: u64, ms: f64) -> String {
    let trial = |at: u64| {
        let value = ms * (1.0 + (at * 5 % 7) as f64 / 1e4) / 1e3;
        let ns = (value * 1e9) as u64;
        let figure = json!({ "name": "elapsed", "unit": "s", "value": value, "better": "lower" });
        json!({
            "number": at + 1, "arm": 0, "block": at, "began_ns": at * ns, "elapsed_ns": ns, "cpu_ns": ns, "tasks": 1,
            "figures": [figure], "clock": { "missing": "nobody looked" },
            "surroundings": { "missing": "nobody looked" },
        })
    };
    let id = format!("202611{day:02}T100000Z-cpu-loop");
    let settings = json!({ "cpus": "1", "iterations": iterations });
    let arm = json!({ "name": "A", "workload": "cpu-loop", "settings": settings, "cpus": "1", "about": [] });
    let result = json!({
        "format": 1, "id": id, "version": "0.1.0", "began": format!("2026-11-{day:02}T10:00:00Z"), "arms": [arm],
        "machine": { "scaling_governor": "performance" }, "trials": (0..10).map(trial).collect::<Vec<_>>(), "doubts": [],
        "is_complete": true,
    });
    let path = folder.join(format!("{id}.json"));
    std::fs::write(&path, result.to_string()).unwrap();
    path.to_str().unwrap().to_owned()
}

/// As JSON, with a folder of results that has no others.
fn compared(results: &TempDir, arguments: &[&str]) -> Value {
    let more = ["--results", results.path().to_str().unwrap(), "--json"];
    let value = serde_json::from_str(&printed(&[&["compare"], arguments, &more].concat())).unwrap();
    is_of(include_str!("../../../../schemas/comparison-3.json"), &value);
    value
}

#[test]
fn earlier_results_of_the_same_say_what_two_runs_differ_by() {
    let (folder, results) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let kept = |day, iterations, ms| kept(folder.path(), day, iterations, ms);
    let (a, b) = (kept(20, 7, 100.0), kept(21, 7, 101.0));
    let verdict = |value: &Value| value["comparisons"][0]["verdict"].clone();
    let assumed = verdict(&compared(&results, &[&a, &b]));
    assert_eq!(
        (&assumed["is"], &assumed["allowance"]["known_of"]),
        (&json!("not-clear"), &Value::Null)
    );
    // Of another workload, of two days, and later ones.
    kept(2, 8, 100.0);
    kept(3, 7, 100.01);
    kept(4, 7, 100.0);
    kept(22, 7, 100.0);
    assert_eq!(verdict(&compared(&results, &[&a, &b])), assumed);
    kept(5, 7, 100.02);
    let known = verdict(&compared(&results, &[&a, &b]));
    assert_eq!((&known["is"], &known["allowance"]["known_of"]), (&json!("claimed"), &json!(3)));
    let text = printed(&["compare", &a, &b, "--results", results.path().to_str().unwrap()]);
    assert!(text.contains("from 3 earlier"), "{text}");
    // Nothing is written where results are only read.
    assert!(!folder.path().join("history.sqlite").exists());
}

#[test]
fn three_results_of_each_are_compared_as_runs_and_fewer_or_others_are_refused() {
    let (folder, results) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let kept = |day, iterations, ms| kept(folder.path(), day, iterations, ms);
    let a = [(1, 100.0), (2, 100.3), (3, 100.5)].map(|(day, ms)| kept(day, 7, ms));
    let b = [(4, 110.0), (5, 110.4), (6, 110.2)].map(|(day, ms)| kept(day, 7, ms));
    let of = |a: &[String], b: &[String]| -> Vec<String> { [a, &["--vs".to_owned()], b].concat() };
    let all = of(&a, &b);
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let comparison = &compared(&results, &all)["comparisons"][0];
    assert_eq!((&comparison["design"], &comparison["n"]), (&json!("runs"), &json!(3)));
    assert_eq!(comparison["verdict"]["is"], "claimed");
    assert_eq!(comparison["runs"]["b"][1]["result"], *b[1]);
    for format in ["text", "markdown", "html"] {
        let text = printed(&[&["compare", "--format", format], &all[..]].concat());
        assert!(text.contains("B takes ") && text.contains("% longer than A"), "{text}");
    }
    let refused = |a: &[String], b: &[String]| {
        let all = of(a, b);
        refusal(&[&["compare"][..], &all.iter().map(String::as_str).collect::<Vec<_>>()].concat())
    };
    let few = refused(&a, &b[..2]);
    assert!(few.contains("3 results of A and 2 of B: it takes 3 or more of each"), "{few}");
    let other = kept(7, 8, 110.0);
    let different = refused(&a, &[b[0].clone(), b[1].clone(), other]);
    assert!(different.contains("there is nothing to compare: "), "{different}");
    let one_each = compared(&results, &[&a[0], "--vs", &b[0]]);
    assert_eq!(one_each["comparisons"][0]["design"], "separate");
}

#[test]
fn a_margin_is_asked_for_and_answered() {
    let (folder, results) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (a, b) = (kept(folder.path(), 1, 7, 100.0), kept(folder.path(), 2, 7, 100.0));
    let within = |margin: &str| {
        compared(&results, &[&a, &b, "--same", margin])["comparisons"][0]["same"]["is"].clone()
    };
    assert_eq!([within("5%"), within("0.01%")], [json!("within"), json!("open")]);
    let text = printed(&[
        "compare",
        &a,
        &b,
        "--same",
        "5%",
        "--results",
        results.path().to_str().unwrap(),
    ]);
    assert!(text.contains("as long as A's, within 5 %"), "{text}");
    assert!(refusal(&["compare", &a, &b, "--same", "0"]).contains("expected a percentage"));
    let alone = refusal(&["bench", "cpu-loop", "--same", "1%", "--no-save"]);
    assert!(alone.contains("--vs names them"), "{alone}");
}

/// Works without a break for seven seconds, and reports about `$1` transactions per second, four times a second.
const CLIENT: &str = "
    end=$(($(date +%s) + 7))
    n=0
    while [ $(date +%s) -lt $end ]; do
        next=$(($(date +%s%N) + 250000000))
        while [ $(date +%s%N) -lt $next ]; do
            i=0
            while [ $i -lt 5000 ]; do i=$((i + 1)); done
        done
        n=$((n + 1))
        echo \"progress: $n.0 s, $(($1 + n % 3)).0 tps, lat 1.000 ms\"
    done
";

/// The recording of a client that reports this rate.
fn recorded(folder: &Path, name: &str, rate: &str) -> String {
    let file = folder.join(name).to_str().unwrap().to_owned();
    let watch = ["watch", "-i", "250ms", "--csv", "--columns", "busy", "--record", &file];
    let client = ["--client", "pgbench", "--", "sh", "-c", CLIENT, "client", rate];
    printed(&[&watch[..], &client].concat());
    file
}

#[test]
fn of_two_recordings_that_of_dearer_transactions_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) =
        (recorded(folder.path(), "a.tape", "400"), recorded(folder.path(), "b.tape", "100"));
    let value: Value = serde_json::from_str(&printed(&["compare", &a, &b, "--json"])).unwrap();
    is_of(include_str!("../../../../schemas/why-1.json"), &value);
    assert_eq!(
        (&value["rate"]["is"], &value["work"]),
        (&json!("claimed"), &json!("client-and-server"))
    );
    let causes = value["causes"].as_array().unwrap();
    let cost = causes.iter().find(|it| it["what"] == "cost").unwrap_or_else(|| panic!("{value:#}"));
    assert!(cost["share"].as_f64().unwrap() > 0.1, "{value:#}");
    let text = printed(&["compare", &a, &b]);
    assert!(text.contains("fewer tps than A (99 % interval "), "{text}");
    assert!(text.contains("CPU time per transaction explains "), "{text}");

    let result = kept(folder.path(), 1, 7, 100.0);
    assert!(refusal(&["compare", &a, &result]).contains("one is a recording and the other is not"));
    assert!(refusal(&["compare", &a, &b, &a]).contains("two at a time"));
    assert!(refusal(&["compare", &a, &b, "--same", "1%"]).contains("--same is for results"));
    let silent = folder.path().join("silent.tape").to_str().unwrap().to_owned();
    printed(&["watch", "-n", "2", "-i", "20ms", "--csv", "--columns", "busy", "--record", &silent]);
    let refused = refusal(&["compare", &a, &silent]);
    assert!(
        refused.contains("B holds no numbers of a client") && refused.contains("--client pgbench")
    );
}
