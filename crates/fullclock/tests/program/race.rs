//! `fullclock race` and `fullclock agent`: nodes of this machine, agents that listen, and what is lost and found again.

use crate::support::group::Group;
use crate::support::{found, fullclock, install_script, is_of, printed, refusal, unwrapped};
use lab::known::Known;
use lab::race::Summing;
use lab::race::protocol::PROTOCOL;
use lab::record::{Arm, Record};
use lab::trial::{Better, Figure, Reading, Share, Trial, TrialContext};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// What a race says of itself; its exit code is 0.
fn result(output: &Output) -> Value {
    assert!(output.status.success(), "{output:?}");
    let value = serde_json::from_slice(&output.stdout).unwrap();
    is_of(include_str!("../../../../schemas/result-2.json"), &value);
    value
}

fn raced(arguments: &[&str]) -> Output {
    fullclock(&[&["race", "--no-save", "-i", "200ms", "--json"], arguments].concat())
        .output()
        .unwrap()
}

/// When each interval of a node began, in milliseconds.
fn began_ms(record: &Value, arm: u64) -> Vec<u64> {
    let trials = record["trials"].as_array().unwrap();
    let of_arm = trials.iter().filter(|it| it["arm"] == json!(arm));
    of_arm.map(|it| it["began_ns"].as_u64().unwrap() / 1_000_000).collect()
}

/// How many intervals a recording has, which is whole.
fn n_intervals(recording: &Path) -> usize {
    let file = recording.to_str().unwrap();
    let shown =
        fullclock(&["watch", "--replay", file, "--json", "--columns", "busy"]).output().unwrap();
    assert!(shown.status.success() && shown.stderr.is_empty(), "{shown:?}");
    shown.stdout.iter().filter(|it| **it == b'\n').count()
}

/// The names of the recordings in that folder, without the id that they begin with.
fn recordings_in(results: &Path) -> Vec<String> {
    let names = fs::read_dir(results).unwrap().flatten().map(|it| it.file_name());
    let names = names.filter_map(|it| it.into_string().ok()).filter(|it| it.ends_with(".tape"));
    let mut names: Vec<String> = names.map(|it| it.split_once('.').unwrap().1.to_owned()).collect();
    names.sort();
    names
}

/// What stands for ssh: it runs the command here, as a login on another machine would, and writes what it was asked to `asked`
/// in the same folder. Gives the PATH that it is found by.
fn ssh(folder: &Path) -> String {
    let (ssh, asked) = (folder.join("ssh"), folder.join("asked"));
    let binary = env!("CARGO_BIN_EXE_fullclock");
    let script = format!(
        "#!/bin/sh\necho \"$@\" > {}\nwhile [ $1 != fullclock ]; do shift; done; shift\nexec {binary} \"$@\"\n",
        asked.display()
    );
    install_script(&script, &ssh);
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap())
}

/// An agent that listens, and ends with its test.
struct Agent {
    child: Child,
    address: String,
    token: PathBuf,
}

impl Agent {
    fn start(folder: &Path) -> Agent {
        let token = folder.join("agent.token");
        let arguments =
            ["agent", "--listen", "127.0.0.1:0", "--token-file", token.to_str().unwrap()];
        let mut child = fullclock(&arguments).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.split_once("listening at ").unwrap().1.split(';').next().unwrap();
        Agent { child, address: address.to_owned(), token }
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(&self.address).unwrap()
    }

    /// What it answers to this, until it says no more.
    fn answer(&self, said: &str) -> String {
        let mut stream = self.connect();
        stream.write_all(said.as_bytes()).unwrap();
        let mut answer = String::new();
        // A connection may also be reset.
        stream.read_to_string(&mut answer).ok();
        answer
    }

    fn race(&self, arguments: &[&str]) -> Output {
        let token = ["--token-file", self.token.to_str().unwrap()];
        raced(&[&token, arguments].concat())
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // Some tests end it themselves.
        self.child.kill().ok();
        self.child.wait().unwrap();
    }
}

#[test]
fn nodes_of_this_machine_race_at_the_same_time_and_are_compared() {
    let output =
        raced(&["--node", "old=embedded", "--node", "new=embedded,sessions=2", "-d", "3s"]);
    let record = result(&output);
    let names: Vec<&str> =
        record["arms"].as_array().unwrap().iter().filter_map(|it| it["name"].as_str()).collect();
    assert_eq!(names, ["old", "new"]);
    assert_eq!(record["is_complete"], true);
    for arm in [0, 1] {
        let began = began_ms(&record, arm);
        assert!(began.len() >= 5 && began.is_sorted(), "{began:?}");
    }
    // After the place comes what the engine says.
    let sessions = |at: usize| record["arms"][at]["about"][1][1].clone();
    assert_eq!([sessions(0), sessions(1)], [json!("8"), json!("2")]);
    assert_eq!(record["comparisons"].as_array().unwrap().len(), 1);
}

#[test]
fn a_race_is_kept_like_any_result() {
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().to_str().unwrap();
    let nodes = ["race", "--node", "a=embedded", "--node", "b=embedded", "-d", "2s", "-i", "200ms"];
    let text = printed(&[&nodes[..], &["--results", results]].concat());
    assert!(text.contains("commits/s") && text.contains("kept in"), "{text}");
    let kept = fs::read_dir(folder.path()).unwrap().flatten().map(|it| it.path());
    let kept: Vec<PathBuf> =
        kept.filter(|it| it.extension().is_some_and(|it| it == "json")).collect();
    let [file] = &kept[..] else { panic!("{kept:?}") };
    // What the machine did meanwhile is beside it, and goes with it.
    let (id, recording) =
        (file.file_stem().unwrap().to_str().unwrap(), file.with_extension("tape"));
    assert!(text.contains(recording.to_str().unwrap()), "{text}");
    assert!(n_intervals(&recording) >= 2);
    // The clock of busy CPUs is recorded, by counters or by the probe: without it, work would be unexplained.
    let from = ["ledger", "--from", recording.to_str().unwrap(), "--json"];
    let ledger: Value = serde_json::from_str(&printed(&from)).unwrap();
    let is_useful = |it: &&Value| it["kind"] == "useful";
    let lines = ledger["lines"].as_array().unwrap();
    let useful = lines.iter().find(is_useful).unwrap();
    assert!(useful["share"].as_f64().is_some_and(|it| it > 0.05), "{useful:#}");
    let ticket = printed(&["compare", file.to_str().unwrap(), "--format", "markdown"]);
    assert!(ticket.contains("| commits/s |"), "{ticket}");
    printed(&["history", "--results", results, "remove", id]);
    assert!(!file.exists() && !recording.exists());
}

#[test]
fn a_race_is_one_page_without_the_intervals_that_a_terminal_gets() {
    let nodes = ["race", "--node", "a=embedded", "--node", "b=embedded", "-d", "2s", "-i", "200ms"];
    let page = printed(&[&nodes[..], &["--no-save", "--format", "html"]].concat());
    assert!(page.starts_with("<!DOCTYPE html>"), "{page}");
    assert!(page.contains("<h1>fullclock race of a and b</h1>"), "{page}");
}

#[test]
fn nodes_that_cannot_begin_say_why_and_leave_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let missing = format!("b=embedded,folder={}/none", folder.path().display());
    let why = refusal(&["race", "--no-save", "--node", "a=embedded", "--node", &missing]);
    assert!(why.contains("node b") && why.contains("/none"), "{why}");
    let why =
        refusal(&["race", "--no-save", "--node", "a=embedded", "--node", "b=embedded,cgroup=/tmp"]);
    assert!(why.contains("no control group"), "{why}");
    let nodes = ["--node", "a=embedded", "--node", "b=agent:127.0.0.1:1"];
    let token = folder.path().join("t");
    let at = ["race", "--no-save", "--token-file", token.to_str().unwrap()];
    let why = refusal(&[&at[..], &nodes].concat());
    assert!(why.contains("cannot read the token"), "{why}");
    fs::write(&token, "secret\n").unwrap();
    let why = refusal(&[&at[..], &nodes].concat());
    assert!(why.contains("cannot reach the agent at 127.0.0.1:1"), "{why}");
}

#[test]
fn ssh_starts_the_agent_of_another_machine() {
    let folder = tempfile::tempdir().unwrap();
    let nodes = [
        "race",
        "--no-save",
        "--json",
        "--nodes",
        "ssh:root@db1,ssh:db2",
        "-d",
        "2s",
        "-i",
        "200ms",
    ];
    let record = result(&fullclock(&nodes).env("PATH", ssh(folder.path())).output().unwrap());
    assert_eq!([&record["arms"][0]["name"], &record["arms"][1]["name"]], ["db1", "db2"]);
    let asked = fs::read_to_string(folder.path().join("asked")).unwrap();
    assert!(
        asked.starts_with("-o BatchMode=yes") && asked.contains("fullclock agent --stdio"),
        "{asked}"
    );
}

#[test]
fn an_agent_races_for_who_has_its_token_and_for_one_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let agent = Agent::start(folder.path());
    let far = format!("b=agent:{}", agent.address);
    let record = result(&agent.race(&["--node", "a=embedded", "--node", &far, "-d", "2s"]));
    assert!(began_ms(&record, 1).len() >= 3, "{record:#}");

    let both = format!("a=agent:{}", agent.address);
    let refused = agent.race(&["--node", &both, "--node", &far]);
    let why = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(2) && why.contains("in another race"), "{why}");

    let other = folder.path().join("other");
    fs::write(&other, "0".repeat(64)).unwrap();
    let nodes = ["--node", "a=embedded", "--node", &far, "--token-file", other.to_str().unwrap()];
    let refused = raced(&nodes);
    let why = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(2) && why.contains("the token is not"), "{why}");
}

#[test]
fn an_agent_tells_strangers_nothing_and_outlives_them() {
    let folder = tempfile::tempdir().unwrap();
    let agent = Agent::start(folder.path());
    let token = fs::read_to_string(&agent.token).unwrap();
    let hello = |protocol: u32, token: &str| {
        json!({"hello": {"protocol": protocol, "version": "9.9", "token": token.trim()}})
            .to_string()
            + "\n"
    };
    assert_eq!(agent.answer("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), "");
    assert!(agent.answer("\"time\"\n").contains("begins with hello"));
    assert!(agent.answer(&hello(1, "guess")).contains("the token is not"));
    let (own, next) = (PROTOCOL.version, PROTOCOL.version + 1);
    assert!(agent.answer(&hello(next, &token)).contains(&format!("speaks version {next}")));
    // One that tells its machine with hello.
    assert!(agent.answer(&hello(1, &token)).contains("use one version of fullclock"));
    let answer = agent.answer(&hello(own, "guess"));
    assert!(!answer.contains("machine") && !answer.contains("protocol"), "{answer}");
    assert!(agent.answer("{\"join\":{\"session\":\"0\"}}\n").contains("begins with hello"));
    // Who says nothing, or half a line, holds a connection for a while and nobody else.
    let silent: Vec<TcpStream> = (0..100).map(|_| agent.connect()).collect();
    for mut stream in &silent[..50] {
        stream.write_all(b"{\"hello\":").unwrap();
    }
    let far = format!("b=agent:{}", agent.address);
    result(&agent.race(&["--node", "a=embedded", "--node", &far, "-d", "2s"]));
    let mut closed = &silent[0];
    // It is closed in the end, by no word or a reset.
    assert!(closed.read(&mut [0; 1]).map_or(true, |it| it == 0));
}

#[test]
fn agents_listen_to_their_own_machine_only() {
    let why = refusal(&["agent", "--listen", "0.0.0.0:0"]);
    assert!(why.contains("ssh"), "{why}");
}

/// Passes one connection after the other on to an agent, and can cut the one there is.
struct Proxy {
    address: String,
    open: &'static Mutex<Vec<TcpStream>>,
}

impl Proxy {
    fn to(agent: &str) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let open: &'static Mutex<Vec<TcpStream>> = Box::leak(Box::default());
        let agent = agent.to_owned();
        std::thread::spawn(move || {
            for near in listener.incoming().flatten() {
                let far = TcpStream::connect(&agent).unwrap();
                let ways = [(near.try_clone().unwrap(), far.try_clone().unwrap()), (far, near)];
                for (mut from, mut to) in ways {
                    open.lock().unwrap().push(from.try_clone().unwrap());
                    std::thread::spawn(move || {
                        // However it ends, the other way ends with it.
                        std::io::copy(&mut from, &mut to).ok();
                        to.shutdown(Shutdown::Both).ok();
                    });
                }
            }
        });
        Proxy { address, open }
    }

    fn cut(&self) {
        for stream in self.open.lock().unwrap().drain(..) {
            stream.shutdown(Shutdown::Both).ok();
        }
    }
}

#[test]
fn a_connection_that_is_lost_costs_no_interval() {
    let folder = tempfile::tempdir().unwrap();
    let agent = Agent::start(folder.path());
    let proxy = Proxy::to(&agent.address);
    let far = format!("b=agent:{}", proxy.address);
    let results = folder.path().join("results");
    let output = std::thread::scope(|scope| {
        let race = scope.spawn(|| {
            let token = ["--token-file", agent.token.to_str().unwrap()];
            let kept =
                ["--results", results.to_str().unwrap(), "-d", "8s", "-i", "200ms", "--json"];
            let nodes = ["race", "--node", "a=embedded", "--node", &far];
            fullclock(&[&nodes[..], &token, &kept].concat()).output().unwrap()
        });
        journal_in(&results);
        proxy.cut();
        race.join().unwrap()
    });
    let record = result(&output);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("trying again") && said.contains("connected again"), "{said}");
    let began = began_ms(&record, 1);
    // Who was not heard for a second was all the same at work, as the other one was, on the same machine.
    let near = began_ms(&record, 0);
    assert!(longest(&began) < 3 * longest(&near).max(300), "{near:?} {began:?}");
    assert!(began.last().unwrap() > &5000, "{began:?}");
    // Nor a sample of what its machine did.
    assert_eq!(recordings_in(&results), ["b.tape", "tape"]);
    let file = Path::new(record["file"].as_str().unwrap());
    assert!(n_intervals(&file.with_extension("b.tape")) >= 5);
}

/// The longest time between two intervals that follow each other, none of which is there twice.
fn longest(began_ms: &[u64]) -> u64 {
    assert!(began_ms.windows(2).all(|it| it[0] < it[1]), "{began_ms:?}");
    began_ms.windows(2).map(|it| it[1] - it[0]).max().unwrap()
}

/// The nodes that a race has started.
fn nodes_of(race: u32) -> Vec<u32> {
    let pids = fs::read_dir("/proc").unwrap().flatten();
    let pids = pids.filter_map(|it| it.file_name().to_str()?.parse::<u32>().ok());
    let is_node = |pid: &u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let mut fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        let (state, parent) = (fields.next(), fields.next());
        parent == Some(&race.to_string()) && state != Some("Z")
    };
    pids.filter(is_node).collect()
}

fn kill(pid: u32) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

/// Asks a race to end, as Ctrl-C does.
fn interrupt(race: &Child) {
    let pid = rustix::process::Pid::from_child(race);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
}

/// The journal of the race that is under way there, once it has some intervals.
fn journal_in(results: &Path) -> PathBuf {
    found(|| {
        let entries = fs::read_dir(results).ok()?.flatten().map(|it| it.path());
        let mut journals = entries.filter(|it| it.extension().is_some_and(|it| it == "trials"));
        journals.find(|it| fs::read_to_string(it).unwrap_or_default().lines().count() > 6)
    })
}

/// A race of two nodes of this machine under way, and the journal that it writes.
fn under_way(results: &Path, duration: &str) -> (Child, PathBuf) {
    let nodes =
        ["race", "--node", "a=embedded", "--node", "b=embedded", "-i", "200ms", "-d", duration];
    let race =
        fullclock(&[&nodes[..], &["--json", "--results", results.to_str().unwrap()]].concat())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
    let journal = journal_in(results);
    (race, journal)
}

#[test]
fn a_node_that_is_killed_is_started_again_and_the_race_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let (race, _) = under_way(folder.path(), "8s");
    let nodes = nodes_of(race.id());
    assert_eq!(nodes.len(), 2, "{nodes:?}");
    kill(nodes[0]);
    let output = race.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr.clone()).unwrap();
    assert!(said.contains("the agent is gone") && said.contains("connected again"), "{said}");
    let record = result(&output);
    for arm in [0, 1] {
        let began = began_ms(&record, arm);
        assert!(longest(&began) > 0 && began.last().unwrap() > &5000, "{began:?}");
    }
    let trials = record["trials"].as_array().unwrap();
    let marked = trials.iter().filter(|it| it["marks"][0]["mark"] == "restarted");
    assert_eq!(marked.count(), 1, "{record:#}");
}

#[test]
fn a_node_elsewhere_that_begins_anew_has_another_recording() {
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results");
    let nodes = ["race", "--nodes", "ssh:db1,ssh:db2", "-i", "200ms", "-d", "8s", "--json"];
    let race = fullclock(&[&nodes[..], &["--results", results.to_str().unwrap()]].concat())
        .env("PATH", ssh(folder.path()))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begun = ["db1.tape", "db2.tape", "tape"];
    journal_in(&results);
    assert_eq!(recordings_in(&results), begun);
    kill(nodes_of(race.id())[0]);
    let record = result(&race.wait_with_output().unwrap());
    let anew = recordings_in(&results).into_iter().filter(|it| !begun.contains(&&**it));
    assert!(matches!(&*anew.collect::<Vec<_>>()[0], "db1.2.tape" | "db2.2.tape"));
    let found = record["recordings"].as_array().unwrap();
    assert_eq!(found.len(), 4, "{found:?}");
    // That of the node that was killed may have the first sample only; all of them are whole.
    let lengths: Vec<usize> =
        found.iter().map(|it| n_intervals(Path::new(it.as_str().unwrap()))).collect();
    assert!(lengths.iter().filter(|it| **it >= 1).count() >= 3, "{lengths:?}");
}

#[test]
fn a_race_that_is_killed_leaves_no_node_and_keeps_what_it_had() {
    let folder = tempfile::tempdir().unwrap();
    let (mut race, journal) = under_way(folder.path(), "1m");
    let nodes = nodes_of(race.id());
    assert_eq!(nodes.len(), 2, "{nodes:?}");
    race.kill().unwrap();
    race.wait().unwrap();
    found(|| {
        let is_gone = |it: &u32| {
            let stat = fs::read_to_string(format!("/proc/{it}/stat")).unwrap_or_default();
            // Nobody may take leave of who has lost its parent.
            stat.rsplit(')')
                .next()
                .is_none_or(|it| it.is_empty() || it.trim_start().starts_with('Z'))
        };
        nodes.iter().all(is_gone).then_some(())
    });
    assert!(journal.exists());
    let listed =
        fullclock(&["history", "--results", folder.path().to_str().unwrap()]).output().unwrap();
    let text = String::from_utf8(listed.stdout).unwrap();
    assert!(text.contains("race") && text.contains("cut short"), "{text}");
}

#[test]
fn a_node_that_is_killed_as_the_race_ends_does_not_go_on_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (race, _) = under_way(folder.path(), "3s");
    let nodes = nodes_of(race.id());
    kill(nodes[0]);
    let began = Instant::now();
    let output = race.wait_with_output().unwrap();
    assert!(began.elapsed() < Duration::from_secs(45), "{output:?}");
    let record: Value = serde_json::from_slice(&output.stdout).unwrap();
    // Either it came back in time, or the result says that it did not.
    assert_eq!(record["is_complete"], output.status.success(), "{output:?}");
}

#[test]
fn an_agent_that_is_asked_to_end_ends_its_race_first() {
    let folder = tempfile::tempdir().unwrap();
    let mut agent = Agent::start(folder.path());
    let far = format!("b=agent:{}", agent.address);
    let (token, results) = (agent.token.clone(), folder.path().join("results"));
    let race = fullclock(&[
        "race",
        "--node",
        "a=embedded",
        "--node",
        &far,
        "-i",
        "200ms",
        "--json",
        "-d",
        "5s",
    ])
    .arg("--token-file")
    .arg(token)
    .arg("--results")
    .arg(&results)
    .stdout(Stdio::piped())
    .stderr(Stdio::piped())
    .spawn()
    .unwrap();
    journal_in(&results);
    let pid = rustix::process::Pid::from_child(&agent.child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert!(agent.child.wait().unwrap().success());
    let output = race.wait_with_output().unwrap();
    // What there was is printed, and that a node ended is said.
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("node b"), "{said}");
    assert!(serde_json::from_slice::<Value>(&output.stdout).unwrap()["trials"].is_array());
}

#[test]
fn ctrl_c_ends_a_race_and_says_what_there_is() {
    let folder = tempfile::tempdir().unwrap();
    let (race, _) = under_way(folder.path(), "1m");
    interrupt(&race);
    let output = race.wait_with_output().unwrap();
    let record = result(&output);
    assert_eq!(record["is_complete"], false);
    let doubts = record["doubts"].as_array().unwrap();
    assert!(doubts.iter().any(|it| it["doubt"] == "cut-short"), "{doubts:?}");
}

mod alone {
    use super::*;

    /// The means of figures over the trials of an arm of which all are known.
    fn means<const N: usize>(record: &Value, arm: u64, names: [&str; N]) -> [f64; N] {
        let of_arm =
            record["trials"].as_array().unwrap().iter().filter(|it| it["arm"] == json!(arm));
        // Of an interval in which a part is unknown, the others are of no use.
        let values = |trial: &Value| {
            let figures = trial["figures"].as_array()?;
            let value = |name: &&str| {
                figures.iter().find(|it| it["name"] == json!(name))?["value"].as_f64()
            };
            names.iter().map(value).collect::<Option<Vec<f64>>>()
        };
        let known: Vec<Vec<f64>> = of_arm.filter_map(values).collect();
        assert!(!known.is_empty(), "no {names:?}: {record:#}");
        std::array::from_fn(|at| known.iter().map(|it| it[at]).sum::<f64>() / known.len() as f64)
    }

    #[test]
    fn a_quota_of_a_database_is_the_cause_and_the_disk_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let nodes = ["race", "--node", "a=postgresql", "--node", "b=postgresql,quota=10%"];
        let results = ["--results", folder.path().to_str().unwrap()];
        let rest = ["--sessions", "4", "-i", "500ms", "-d", "12s"];
        let output = fullclock(&[&nodes[..], &results, &rest].concat()).output().unwrap();
        let said = String::from_utf8(output.stderr.clone()).unwrap();
        // Root, a hierarchy of control groups and PostgreSQL's server are not everywhere.
        if !output.status.success() {
            assert!(said.contains("control group") || said.contains("is installed here"), "{said}");
            println!("skipped: {said}");
            return;
        }
        let text = unwrapped(&String::from_utf8(output.stdout).unwrap());
        let cause = "b's server is throttled by a CPU quota: 0.1 CPUs in 100 ms, in ";
        assert!(text.contains(cause) && text.contains("; raise the quota of "), "{text}");
        assert!(!text.contains("the disk is slower"), "{text}");
        let mut entries = fs::read_dir(folder.path()).unwrap().flatten().map(|it| it.path());
        let file = entries.find(|it| it.extension().is_some_and(|it| it == "json"));
        let record = serde_json::from_slice(&fs::read(file.unwrap()).unwrap()).unwrap();
        let names = ["log write", "log write, in the call", "log write, waiting for a CPU"];
        let [whole, in_call, waiting] = means(&record, 1, names);
        assert!((in_call + waiting - whole).abs() < 0.01 * whole, "{in_call} {waiting} {whole}");
        assert!(in_call < waiting, "{in_call} us in the call, {waiting} us waiting");
    }

    /// Every race removes the groups of killed ones when it starts: no other may start meanwhile.
    #[test]
    fn a_group_goes_with_its_node_however_a_race_ends_and_at_the_next_start_where_that_was_killed()
    {
        let folder = tempfile::tempdir().unwrap();
        let Some((race, group)) = under_quota(folder.path(), "1m") else { return };
        interrupt(&race);
        race.wait_with_output().unwrap();
        assert!(!group.exists(), "after Ctrl-C: {}", group.display());

        let (mut race, group) = under_quota(folder.path(), "1m").unwrap();
        race.kill().unwrap();
        race.wait().unwrap();
        // The node notices, and takes it away.
        found(|| (!group.exists()).then_some(()));

        let (mut race, group) = under_quota(folder.path(), "1m").unwrap();
        let nodes = nodes_of(race.id());
        race.kill().unwrap();
        nodes.into_iter().for_each(kill);
        race.wait().unwrap();
        assert!(group.exists());
        let short = ["--node", "a=embedded", "--node", "b=embedded", "-d", "1s"];
        let said = String::from_utf8(raced(&short).stderr).unwrap();
        assert!(!group.exists(), "{said}");
        assert!(said.contains("of a run that was killed"), "{said}");
    }

    #[test]
    fn a_quota_that_is_lifted_in_the_middle_is_marked_and_the_node_recovers() {
        let Some(group) = Group::make(25_000) else { return };
        let held = format!("b=embedded,cgroup={}", group.folder.display());
        let folder = tempfile::tempdir().unwrap();
        let nodes = ["race", "--node", "a=embedded", "--node", &held, "--sessions", "16"];
        let mut race = fullclock(&[&nodes[..], &["-i", "200ms", "-d", "2m", "--json"]].concat());
        race.arg("--results").arg(folder.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let race = race.spawn().unwrap();
        let journal = journal_in(folder.path());
        let n_of_b = || fs::read_to_string(&journal).unwrap().matches("\"arm\":1,").count();
        found(|| (n_of_b() >= 15).then_some(()));
        assert!(group.allow(None));
        let n_held = n_of_b();
        found(|| (n_of_b() >= n_held + 15).then_some(()));
        interrupt(&race);
        let output = race.wait_with_output().unwrap();
        let record = result(&output);
        let of_b = record["trials"].as_array().unwrap().iter().filter(|it| it["arm"] == 1);
        let (mut lifted, mut rates) = (false, [(0.0, 0.0); 2]);
        for trial in of_b {
            let rate = trial["figures"][0]["value"].as_f64().unwrap_or(0.0);
            let (sum, n) = &mut rates[usize::from(lifted)];
            (*sum, *n) = (*sum + rate, *n + 1.0);
            let marks = trial["marks"].as_array().into_iter().flatten();
            lifted |= marks
                .clone()
                .any(|it| it["mark"] == "quota" && it["from"] == 0.25 && it["to"].is_null());
        }
        assert!(lifted, "no mark of the quota");
        let [held, free] = rates.map(|(sum, n)| sum / n);
        assert!(held * 1.1 < free, "{held} commits a second with the quota, {free} without");
    }
}

/// The group that each node with a quota has made, by its race's nodes.
fn groups_of(race: u32) -> Vec<PathBuf> {
    let own = |pid: u32| {
        let groups = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
        let is_quota = |it: &&str| it.contains("/fullclock-quota-");
        groups.lines().find(is_quota).and_then(|it| it.rsplit(':').next()).map(str::to_owned)
    };
    let found = nodes_of(race).into_iter().filter_map(own);
    found.filter_map(|it| folder_of(it.trim_start_matches('/'))).collect()
}

/// The folder of a control group, wherever its hierarchy is mounted.
fn folder_of(group: &str) -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    let mut points = mounts
        .lines()
        .filter(|it| it.starts_with("cgroup"))
        .filter_map(|it| it.split(' ').nth(1).map(|point| Path::new(point).join(group)));
    points.find(|it| it.join("cpu.stat").exists())
}

/// A race of a node without a quota and one with, in which the group is there; `None` where none can be made here.
fn under_quota(results: &Path, duration: &str) -> Option<(Child, PathBuf)> {
    let nodes = ["race", "--node", "a=embedded", "--node", "b=embedded,quota=20%", "-i", "200ms"];
    let rest = ["-d", duration, "--json", "--results", results.to_str().unwrap()];
    let mut race = fullclock(&[&nodes[..], &rest].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let group = found(|| match race.try_wait().unwrap() {
        Some(_) => Some(None),
        None => groups_of(race.id()).pop().map(Some),
    });
    match group {
        Some(group) => Some((race, group)),
        None => {
            let said = String::from_utf8(race.wait_with_output().unwrap().stderr).unwrap();
            assert!(said.contains("quota=") && said.contains("control group"), "{said}");
            println!("skipped: {said}");
            None
        }
    }
}

#[test]
fn a_quota_throttles_its_node_alone_is_in_the_result_and_its_group_is_gone_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let Some((race, group)) = under_quota(folder.path(), "4s") else { return };
    let record = result(&race.wait_with_output().unwrap());
    assert!(!group.exists(), "{}", group.display());
    let [a, b] = [&record["arms"][0], &record["arms"][1]];
    assert!(a["throttling"].is_null() && a["host"] == b["host"], "{a:#}");
    let throttling = &b["throttling"];
    let count = |key: &str| throttling[key].as_u64().unwrap();
    assert_eq!(throttling["quota_cpus"], json!(0.2));
    assert!(count("throttled_periods") > 0 && count("stopped_ns") > 0, "{throttling:#}");
    assert!(count("periods") >= count("throttled_periods") && count("periods") <= 60);
    // It is one of the node's settings, and none of the other's.
    assert!(b["machine"].to_string().contains("0.2 CPUs"), "{b:#}");
    assert!(
        !a["machine"].to_string().contains("0.2 CPUs")
            && !record["machine"].to_string().contains("0.2 CPUs")
    );
}

#[test]
fn a_change_of_a_quota_is_a_mark_of_the_node_in_that_group_and_of_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let Some((race, group)) = under_quota(folder.path(), "6s") else { return };
    journal_in(folder.path());
    let version_1 = group.join("cpu.cfs_quota_us");
    if version_1.exists() {
        fs::write(version_1, "30000").unwrap();
    } else {
        fs::write(group.join("cpu.max"), "30000 100000").unwrap();
    }
    let record = result(&race.wait_with_output().unwrap());
    let trials = record["trials"].as_array().unwrap();
    let marked: Vec<&Value> =
        trials.iter().filter(|it| it["marks"][0]["mark"] == "quota").collect();
    let [marked] = &marked[..] else { panic!("{marked:#?}") };
    assert_eq!((&marked["arm"], &marked["marks"][0]["to"]), (&json!(1), &json!(0.3)));
}

#[test]
fn legs_start_the_nodes_anew_and_are_judged_together() {
    let nodes = ["--node", "a=embedded", "--node", "b=embedded,sessions=2"];
    let output = raced(&[&nodes[..], &["--legs", "4", "-d", "2s"]].concat());
    let said = String::from_utf8(output.stderr.clone()).unwrap();
    assert!(said.contains("4 legs of 2s take 8s") && said.contains("leg 4 of 4"), "{said}");
    let record = result(&output);
    assert_eq!(record["legs"], json!({"planned": 4, "ended": 4}));
    for arm in 0..2 {
        let trials =
            record["trials"].as_array().unwrap().iter().filter(|it| it["arm"] == json!(arm));
        let legs: BTreeSet<u64> = trials.map(|it| it["block"].as_u64().unwrap()).collect();
        assert_eq!(legs, BTreeSet::from([1, 2, 3, 4]));
        let began = began_ms(&record, arm);
        assert!(began.is_sorted() && began.last() > Some(&6000), "{began:?}");
    }
    let compared = &record["comparisons"][0];
    assert_eq!((told_legs(compared), &compared["race"]["pieces"]), (4, &json!([])));
    assert_ne!(compared["verdict"]["is"], "described");
}

#[test]
fn ctrl_c_after_some_legs_judges_those_that_are_whole() {
    let nodes = ["--node", "a=embedded", "--node", "b=embedded", "--legs", "9", "-d", "1s"];
    let mut race =
        fullclock(&[&["race", "--no-save", "-i", "200ms", "--json"], &nodes[..]].concat());
    let mut race = race.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(race.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|it| it.contains("leg 3 of 9")));
    interrupt(&race);
    drop(std::thread::spawn(move || lines.for_each(drop)));
    let record = result(&race.wait_with_output().unwrap());
    assert_eq!((&record["legs"]["ended"], &record["is_complete"]), (&json!(2), &json!(false)));
    let compared = &record["comparisons"][0];
    assert_eq!(compared["verdict"]["is"], "too-few", "{compared:#}");
    assert_eq!(told_legs(compared), 2);
}

/// The legs of a comparison: those that are judged, and those before or in which another test changed a setting of this machine.
fn told_legs(compared: &Value) -> u64 {
    let legs = &compared["race"]["legs"];
    legs["each"].as_array().unwrap().len() as u64 + legs["marked"].as_u64().unwrap()
}

#[test]
fn a_folder_in_memory_is_told_before_the_race() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let option = format!("b=embedded,folder={}", folder.path().display());
    let said = raced(&["--node", "a=embedded,folder=/var/tmp", "--node", &option, "-d", "1s"]);
    let said = String::from_utf8(said.stderr).unwrap();
    assert!(said.contains("b: ") && said.contains("is in memory"), "{said}");
    assert!(!said.contains("/var/tmp is in memory"), "{said}");
}

/// An interval of a second, with as many ledger lines and metrics as a server has.
fn second_of_day(arm: usize, at: u64) -> Trial {
    let wobble = |by: u64| (at * by % 401) as f64;
    let share = |it: u64| Share {
        loss: format!("loss-{}", it % 40),
        part: format!("part {it}"),
        share: Known::Value(wobble(it) / 1e5),
    };
    let reading = |it: u64| Reading {
        metric: format!("metric-{}", it % 40),
        part: format!("part {it}"),
        value: Known::Value(wobble(it)),
    };
    let mut trial = Trial::of_one_task(arm, 1, 1.0);
    trial.began_ns = Known::Value(at * 1_000_000_000);
    trial.outcome.figures.edit(|it| {
        let rate = it[0].clone();
        let named = |name: &str, unit: &str, value: f64, better| {
            let (name, unit) = (name.to_owned(), unit.to_owned());
            Figure { name, unit, value, better }
        };
        let commits = 17_000.0 + wobble(7919 * (arm as u64 + 1));
        *it = vec![
            named("commits", "1/s", commits, Better::Higher),
            named("log writes", "1/s", commits / 8.0, Better::Higher),
            named("commit", "us", 8e6 / commits, rate.better),
        ];
    });
    trial.surroundings = Known::Value(TrialContext {
        cpus: "0-63".to_owned(),
        window_ns: 1_000_000_000,
        ledger: (0..60).map(share).collect(),
        unexplained: 0.01,
        metrics: (0..150).map(reading).collect(),
    });
    trial
}

/// A result of two nodes that raced for a day, as a race keeps it.
fn day(id: &str) -> Record {
    let length = Duration::from_secs(86_400);
    let nodes = ["a", "b"].map(|it| Arm::of(it, "commit")).to_vec();
    let mut record = Record { id: id.to_owned(), is_complete: true, ..Record::of(nodes) };
    let mut summing = [(); 2].map(|()| Summing::of(length, Duration::from_secs(1)));
    for at in 0..length.as_secs() {
        for (arm, summing) in summing.iter_mut().enumerate() {
            record.trials.extend(summing.push(second_of_day(arm, at)));
        }
    }
    record.trials.extend(summing.iter_mut().filter_map(Summing::finish));
    record
}

/// `cargo test --release` with `--ignored a_day`; the memory by time(1).
#[test]
#[ignore = "makes two results of a day, which takes a minute"]
fn two_races_of_a_day_are_compared_in_5_seconds() {
    let folder = tempfile::tempdir().unwrap();
    let files = ["one-race", "two-race"].map(|id| {
        let file = folder.path().join(format!("{id}.json"));
        let record = day(id);
        assert!(record.trials.len() <= 2 * 1024, "{} trials", record.trials.len());
        fs::write(&file, serde_json::to_vec(&record).unwrap()).unwrap();
        file.to_str().unwrap().to_owned()
    });
    let began = Instant::now();
    printed(&["compare", &files[0], &files[1]]);
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    let one = printed(&["compare", &files[0], "--json"]);
    let compared: Value = serde_json::from_str(&one).unwrap();
    assert_eq!(compared["comparisons"][0]["race"]["intervals"], json!(86_400));
}
