//! `fullclock watch`, as a user meets it: its lines, its exit codes, and the terminal it leaves behind.

use crate::support::{fullclock, is_of, nanoseconds, printed, refusal};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

#[test]
fn once_is_one_interval_with_a_line_for_the_machine_and_each_cpu() {
    let text = printed(&["watch", "--once", "-i", "50ms", "--columns", "busy,ticks"]);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("Time     CPU") && lines[0].contains("Busy%"), "{text}");
    assert_eq!(lines[1].split_whitespace().nth(1), Some("all"), "{text}");
    assert!(lines.len() >= 3, "{text}");
}

#[test]
fn what_is_unknown_takes_one_line_unless_it_was_requested() {
    let noted = |arguments: &[&str]| {
        let output = fullclock(arguments).output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    // Every machine lacks some: a trace is never sampled.
    let short = noted(&["watch", "--once", "-i", "20ms"]);
    assert_eq!(short.lines().filter(|it| it.contains("unknown here")).count(), 1, "{short}");
    let requested = noted(&["watch", "--once", "-i", "20ms", "--columns", "busy,tick-stops"]);
    assert!(requested.contains("unknown here: tick-stops: "), "{requested}");
}

#[test]
fn the_columns_are_those_that_were_asked_for_in_their_order() {
    let text = printed(&["watch", "-n", "2", "-i", "20ms", "--columns", "ticks,busy"]);
    let heading: Vec<&str> = text.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(heading, ["Time", "CPU", "Tick/s", "Busy%"]);
}

#[test]
fn every_line_of_json_is_what_the_schema_says() {
    let text = printed(&["watch", "--json", "-n", "3", "-i", "20ms"]);
    assert_eq!(text.lines().count(), 3);
    for line in text.lines() {
        let value = serde_json::from_str(line).unwrap();
        is_of(include_str!("../../../../schemas/sample-2.json"), &value);
    }
}

#[test]
fn the_ledger_of_json_sums_to_all_of_the_time() {
    let text = printed(&["watch", "--json", "-n", "1", "-i", "100ms"]);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let ledger = &value["ledger"];
    let lines = ledger["lines"].as_array().unwrap().iter().map(|it| &it["time_s"]);
    let known: i64 = lines.filter(|it| !it.is_null()).map(nanoseconds).sum();
    let sum = known + nanoseconds(&ledger["unexplained"]["time_s"]);
    assert_eq!(sum, nanoseconds(&ledger["capacity_s"]));
}

#[test]
fn what_makes_no_sense_is_refused_in_plain_words() {
    assert!(
        refusal(&["watch", "-i", "0"])
            .contains("out of range: the shortest time is 1ms, the longest 1d")
    );
    assert!(refusal(&["watch", "-i", "10d"]).contains("out of range"));
    assert!(refusal(&["watch", "-n", "0"]).contains("0 is not in 1.."));
    assert!(
        refusal(&["watch", "--once", "--columns", "bzy_mhz"]).contains("did you mean busy-mhz?")
    );
    assert!(refusal(&["watch", "--once", "--columns", "xyzzy"]).contains("`fullclock explain`"));
    assert!(
        refusal(&["watch", "--once", "--cpus", "16000"]).contains("--cpus names 16000, and only")
    );
    assert!(refusal(&["watch", "--once", "--cpus", "abc"]).contains("a list of CPUs like 0-3,8"));
    assert!(refusal(&["watch", "--csv", "--json", "--once"]).contains("two formats"));
    assert!(refusal(&["watch", "--once", "--", "true"]).contains("cannot be used with"));
    assert!(refusal(&["watch", "--root", "/", "--once"]).contains("watch shows this machine"));
    assert!(refusal(&["watch", "--replay", "/nowhere"]).contains("/nowhere"));
    assert!(refusal(&["watch", "--replay", "/dev/null"]).contains("/dev/null"));
    assert!(refusal(&["watch", "--once", "--record", "/nowhere/x"]).contains("/nowhere/x"));
}

#[test]
fn a_command_is_watched_until_it_ends_and_its_exit_code_is_passed_on() {
    let code = |command: &[&str]| {
        let arguments = [&["watch", "-i", "20ms", "--"], command].concat();
        fullclock(&arguments).output().unwrap().status.code()
    };
    assert_eq!(code(&["true"]), Some(0));
    assert_eq!(code(&["sh", "-c", "exit 7"]), Some(7));
    assert_eq!(code(&["sh", "-c", "kill -TERM $$"]), Some(128 + 15));
    assert!(refusal(&["watch", "--", "/nowhere/command"]).contains("/nowhere/command"));
}

#[test]
fn what_a_command_prints_does_not_mix_with_samples() {
    let output =
        fullclock(&["watch", "-i", "20ms", "--json", "--", "echo", "hello"]).output().unwrap();
    assert!(String::from_utf8(output.stderr).unwrap().contains("hello"));
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        serde_json::from_str::<serde_json::Value>(line).unwrap();
    }
}

#[test]
fn a_recording_shows_the_lines_that_were_printed_when_it_was_made() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("this.tape");
    let file = file.to_str().unwrap();
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let columns = ["--columns", "busy,ticks,interrupts:LOC"];
    let live =
        printed(&[&["watch", "-n", "4", "-i", "20ms", "--record", file][..], &columns].concat());
    let replayed = printed(&[&["watch", "--replay", file][..], &columns].concat());
    assert_eq!(lines(&live), lines(&replayed));
    assert!(refusal(&["watch", "--once", "--record", file]).contains("exists already"));
    let again = fullclock(&["watch", "--once", "-i", "20ms", "--record", file, "--force"])
        .output()
        .unwrap();
    assert_eq!(again.status.code(), Some(0));
}

#[test]
fn csv_has_one_first_line_and_is_the_same_from_a_recording() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("this.tape");
    let file = file.to_str().unwrap();
    let columns = ["--csv", "--columns", "busy,interrupts:LOC"];
    let live =
        printed(&[&["watch", "-n", "3", "-i", "20ms", "--record", file][..], &columns].concat());
    assert_eq!(live, printed(&[&["watch", "--replay", file][..], &columns].concat()));
    let mut lines = live.lines();
    assert_eq!(lines.next(), Some("time,metric,part,of,cpu,unit,value,missing"));
    let values: Vec<&str> = lines.collect();
    assert!(values.len() >= 6, "{live}");
    for line in values {
        assert!(line.contains("Z,busy,,cpu,") || line.contains("Z,interrupts,LOC,cpu,"), "{line}");
    }
}

#[test]
fn a_recording_that_is_cut_shows_what_is_left_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cut.tape");
    let path = file.to_str().unwrap();
    fullclock(&["watch", "-n", "4", "-i", "20ms", "--record", path]).output().unwrap();
    let whole = std::fs::read(&file).unwrap();
    std::fs::write(&file, &whole[..whole.len() - 10]).unwrap();
    let output = fullclock(&["watch", "--replay", path, "--columns", "busy"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().filter(|it| it.contains(" all ")).count(), 3, "{text}");
    assert_eq!(text.lines().filter(|it| it.starts_with("Time")).count(), 1, "{text}");
    assert!(!output.stderr.is_empty());
}

/// Prints a number, another two samples later, and one without a line end when it ends. `$1` is the recording, which grows with
/// each sample.
const CLIENT: &str = "
    sampled() {
        for i in 1 2 3; do
            was=$(stat -c %s \"$1\")
            while [ \"$(stat -c %s \"$1\")\" = \"$was\" ]; do sleep 0.01; done
        done
    }
    printf 'warming up\\rtps: 10\\r'; sampled \"$1\"
    echo 'PHASE 2, password=hunter2'; echo 'tps: 1,030.5' >&2; sampled \"$1\"
    printf 'tps: 50'";

/// Records `CLIENT`, printed in this format; what was printed, and what came through of the client.
fn record_client(file: &str, format: &str) -> (String, String) {
    let watch = ["watch", "-i", "50ms", "--columns", "busy", "--record", file, format];
    let heard = ["--metric", "tps: ([0-9.,]+)", "--mark", "^PHASE"];
    let command = ["--", "sh", "-c", CLIENT, "sh", file];
    let output = fullclock(&[&watch[..], &heard, &command].concat()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr))
}

#[test]
fn what_a_client_prints_is_in_the_interval_in_which_it_was_printed_and_on_the_tape() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("client.tape");
    let file = file.to_str().unwrap();
    let (live, through) = record_client(file, "--csv");
    let of_client: Vec<&str> = live.lines().filter(|it| it.contains("Z,client,,host,,,")).collect();
    let (missing, known): (Vec<&str>, Vec<&str>) =
        of_client.into_iter().partition(|it| it.ends_with("printed none in this interval"));
    let value = |line: &&str| line.split(',').nth(6).map(str::to_owned);
    let values: Vec<String> = known.iter().filter_map(value).collect();
    assert_eq!(values, ["10", "1030.5", "50"], "{live}");
    assert!(!missing.is_empty(), "{live}");
    for part in
        ["warming up\rtps: 10\r", "tps: 1,030.5\n", "tps: 50", "mark: PHASE 2, password=***"]
    {
        assert!(through.contains(part), "{through:?}");
    }
    assert_eq!(live, printed(&["watch", "--replay", file, "--columns", "busy", "--csv"]));
    let table = printed(&["watch", "--replay", file, "--columns", "busy"]);
    assert!(table.lines().next().unwrap().ends_with(" client"), "{table}");
    let kept = printed(&["watch", "--replay", file, "--json"]);
    assert!(kept.contains("mark: PHASE 2, password=***") && !kept.contains("hunter2"), "{kept}");
}

#[test]
fn json_has_the_numbers_of_a_client_with_their_unit() {
    let script = "echo 'progress: 1.0 s, 2616.0 tps, lat 1.5 ms stddev 0.4' >&2
        echo 'progress: 2.0 s, 2617.0 tps, lat 1.5 ms stddev 0.4' >&2";
    let watch = ["watch", "-i", "10s", "--json", "--columns", "busy", "--client", "pgbench"];
    let text = printed(&[&watch[..], &["--", "sh", "-c", script]].concat());
    let value: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    is_of(include_str!("../../../../schemas/sample-2.json"), &value);
    let client = &value["client"];
    assert_eq!(client["value"], 2616.5, "{client}");
    assert_eq!((&client["name"], &client["unit"]), (&"pgbench".into(), &"tps".into()), "{client}");
    assert_eq!(client["numbers"], 2, "{client}");
}

#[test]
fn lines_may_come_from_standard_input_and_from_a_file() {
    let watch = ["watch", "-i", "200ms", "-n", "1", "--csv", "--columns", "busy"];
    let metric = ["--metric", "n=([0-9]+)", "--metric-file"];
    let input = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(input.path(), "n=7\n").unwrap();
    let arguments = [&watch[..], &metric, &["-"]].concat();
    let output = fullclock(&arguments).stdin(input.reopen().unwrap()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains(",client,,host,,,7,\n"), "{text}");
    // What a file held before is not of this run.
    let text = printed(&[&watch[..], &metric, &[input.path().to_str().unwrap()]].concat());
    assert!(text.contains("printed none in this interval"), "{text}");
}

#[test]
fn what_cannot_be_listened_to_is_refused_before_anything_runs() {
    let refused = |options: &[&str], words: &str| {
        let text = refusal(&[&["watch", "--csv"][..], options].concat());
        assert!(text.contains(words), "{text}");
    };
    refused(&["--metric", "(", "--", "true"], "--metric \"(\": ");
    refused(&["--metric", "tps", "--", "true"], "it needs one group around the number");
    refused(&["--mark", "[", "--", "true"], "--mark \"[\": ");
    refused(&["--client", "nobody", "--", "true"], "pgbench");
    refused(&["--client", "pgbench"], "there is nothing to listen to: add a command");
    refused(&["--client", "pgbench", "--metric", "(1)", "--", "true"], "cannot be used with");
    refused(&["--client", "pgbench", "--replay", "x"], "cannot be used with");
    refused(&["--metric-file", "/dev/null"], "needs what to look for");
    let to_file = |file| ["--client", "pgbench", "--metric-file", file];
    refused(&to_file("/nowhere/log"), "cannot read /nowhere/log");
    refused(&to_file("/dev/null"), "/dev/null is neither a file nor a FIFO");
    refused(&[&to_file("-")[..], &["--", "true"]].concat(), "the command reads standard input");
}

#[test]
fn the_reader_of_a_pipe_may_leave() {
    let mut child = fullclock(&["watch", "-i", "10ms"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// Histories are bounded: what a sample leaves behind is gone after the next.
#[test]
fn memory_does_not_grow_with_the_number_of_samples() {
    let mut child = fullclock(&["watch", "-i", "2ms", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    // Without the pages of its own file, of which a build for tests has many.
    let mut kb_after = |n_samples| {
        let n_read = lines.by_ref().take(n_samples).map_while(Result::ok).count();
        assert_eq!(n_read, n_samples);
        let text = std::fs::read_to_string(Path::new(&status)).unwrap();
        let line = text.lines().find(|it| it.starts_with("RssAnon")).unwrap().to_owned();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
    };
    let (early, late) = (kb_after(100), kb_after(400));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(late < 8 * 1024, "{late} kB");
    assert!(late < early + 1024, "{early} kB, then {late} kB");
}

/// A wrapper that is ended does not end its children: they ignore Ctrl-C in the background, and one has a session of its own.
#[test]
fn what_a_command_has_started_ends_with_a_watch_that_is_ended() {
    let script = "sleep 1000 & echo child $!; (setsid sleep 1000 & echo child $!); wait";
    let mut watch = fullclock(&["watch", "--csv", "-i", "50ms", "--", "sh", "-c", script])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(watch.stderr.take().unwrap()).lines().map(Result::unwrap);
    let children: Vec<String> =
        lines.filter_map(|line| Some(line.strip_prefix("child ")?.to_owned())).take(2).collect();
    let pid = rustix::process::Pid::from_child(&watch);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    watch.wait().unwrap();
    assert_eq!(children.len(), 2);
    for child in children {
        assert!(!Path::new("/proc").join(&child).exists(), "{child} runs on");
    }
}

/// Two CPUs' worth of work at once would be another test's noise, so it runs alone.
mod alone {
    use super::*;
    use serde_json::Value;
    use std::process::{Child, Command};

    /// A program that takes a CPU until it is dropped.
    struct Intruder(Child);

    impl Intruder {
        fn start() -> Intruder {
            let mut gzip = Command::new("gzip");
            gzip.args(["-9", "-c", "/dev/zero"]).stdout(Stdio::null());
            Intruder(gzip.spawn().unwrap())
        }
    }

    impl Drop for Intruder {
        fn drop(&mut self) {
            self.0.kill().unwrap();
            self.0.wait().unwrap();
        }
    }

    #[test]
    fn a_recording_names_an_intruder_beside_the_client_and_says_what_the_client_printed() {
        let folder = tempfile::tempdir().unwrap();
        let tape = folder.path().join("run.tape");
        let tape = tape.to_str().unwrap();
        let intruder = Intruder::start();
        // Each turn of the client is a child that ends, and a number.
        let client = "for i in 1 2 3 4; do timeout 0.5 sha256sum /dev/zero; echo \"tps: $i\"; done";
        let metric = ["--metric", "tps: ([0-9.]+)"];
        let record = [
            &["watch", "--csv", "-i", "250ms", "--record", tape],
            &metric[..],
            &["--", "sh", "-c", client],
        ];
        let output = fullclock(&record.concat()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        drop(intruder);

        let text = printed(&["ledger", "--from", tape, "--by", "500ms", "--json"]);
        let found: Value = serde_json::from_str(&text).unwrap();
        is_of(include_str!("../../../../schemas/ledger-by-1.json"), &found);
        let pieces = found["pieces"].as_array().unwrap();
        assert!(pieces.len() >= 4, "{text}");
        let share = |who: &str| -> f64 {
            let tasks = pieces.iter().flat_map(|it| it["tasks"].as_array().unwrap());
            tasks.filter(|it| it["who"] == who).map(|it| it["run_s"].as_f64().unwrap()).sum()
        };
        let gzip = pieces.iter().filter(|it| {
            let tasks = it["tasks"].as_array().unwrap();
            tasks.iter().any(|it| {
                it["who"] == "other" && it["name"] == "gzip" && it["share"].as_f64() > Some(0.02)
            })
        });
        assert!(gzip.count() >= 4, "{text}");
        assert!(share("client") > 0.2 && share("other") > 0.2, "{text}");
        let numbers: Vec<f64> = pieces.iter().filter_map(|it| it["client"].as_f64()).collect();
        assert!(!numbers.is_empty() && numbers.iter().all(|it| (1.0..=4.0).contains(it)), "{text}");

        let ledger: Value =
            serde_json::from_str(&printed(&["ledger", "--from", tape, "--json"])).unwrap();
        let lines = ledger["lines"].as_array().unwrap();
        let of = |loss: &str, part: &str| {
            lines.iter().any(|it| {
                it["loss"] == loss && it["part"] == part && it["time_s"].as_f64() > Some(0.2)
            })
        };
        assert!(of("other-tasks", "gzip"), "{ledger}");
        assert!(!of("useful", "gzip"), "{ledger}");
    }

    #[test]
    fn pieces_are_a_table_a_page_and_csv_and_what_cannot_be_cut_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let tape = folder.path().join("idle.tape");
        let tape = tape.to_str().unwrap();
        printed(&["watch", "--csv", "-n", "4", "-i", "100ms", "--record", tape]);
        let by = ["ledger", "--from", tape, "--by", "200ms"];
        let text = printed(&by);
        assert!(text.contains("over time") && text.contains("idle"), "{text}");
        assert!(text.contains("No command was recorded"), "{text}");
        let page = printed(&[&by[..], &["--format", "html"]].concat());
        assert!(page.contains("<svg") && page.contains("time since the beginning"), "{page}");
        let csv = printed(&[&by[..], &["--csv"]].concat());
        assert!(csv.starts_with("from,length_s,quantity,who,product,name,value,unit,missing\n"));
        let refused = refusal(&["ledger", "--by", "1s"]);
        assert!(refused.contains("--from"), "{refused}");
        assert!(refusal(&["ledger", "--from", tape, "--by", "0s"]).contains("--by"));
    }
}
