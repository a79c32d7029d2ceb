//! `fullclock mcp` as a client meets it: lines of JSON on its standard input and output, written by hand.

use crate::support::{found, fullclock, install};
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A server that sends nothing for this long hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// What an answer may have.
const LONGEST: usize = 10_000;

/// A server, the lines that it answers, and a folder of results of its own.
struct Client {
    child: Child,
    to: Option<ChildStdin>,
    from: Receiver<Value>,
    results: TempDir,
    n_asked: u64,
}

impl Client {
    /// A server that was greeted.
    fn greeted() -> Client {
        let mut client = Client::silent();
        client.greet();
        client
    }

    /// A server to which nothing was said.
    fn silent() -> Client {
        Client::of(|results| fullclock(&["mcp", "--no-config", "--results", results]))
    }

    fn of(command: impl FnOnce(&str) -> Command) -> Client {
        let results = tempfile::tempdir().unwrap();
        let mut command = command(results.path().to_str().unwrap());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let to = child.stdin.take();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (said, from) = channel();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                // Nothing but the protocol is on standard output.
                if said.send(serde_json::from_str(&line).unwrap()).is_err() {
                    break;
                }
            }
        });
        Client { child, to, from, results, n_asked: 0 }
    }

    fn say(&mut self, line: &str) {
        writeln!(self.to.as_mut().unwrap(), "{line}").unwrap();
    }

    fn hear(&self) -> Value {
        self.from.recv_timeout(PATIENCE).unwrap()
    }

    fn greet(&mut self) -> Value {
        let greeting = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } });
        let answer = self.request("initialize", &greeting);
        self.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        answer["result"].clone()
    }

    /// Sends a request, and says by which id it is answered.
    fn ask(&mut self, method: &str, params: &Value) -> u64 {
        self.n_asked += 1;
        let id = self.n_asked;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.say(&request.to_string());
        id
    }

    /// The answer to a request, the only one that is open.
    fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = self.ask(method, params);
        let answer = self.hear();
        assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!(id)), "{answer:#}");
        answer
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.request("tools/call", &json!({ "name": tool, "arguments": arguments }))
    }

    /// What a tool answers.
    fn text(&mut self, tool: &str, arguments: &Value) -> String {
        let answer = self.call(tool, arguments);
        assert_eq!(answer["result"]["isError"], false, "{tool} {arguments}: {answer:#}");
        content(&answer)
    }

    /// What a tool says where it fails.
    fn failure(&mut self, tool: &str, arguments: &Value) -> String {
        let answer = self.call(tool, arguments);
        assert_eq!(answer["result"]["isError"], true, "{tool} {arguments}: {answer:#}");
        content(&answer)
    }

    fn interrupt(&self) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    }

    /// How it ends, and what it said on standard error.
    fn end(mut self) -> (ExitStatus, String) {
        let status = found(|| self.child.try_wait().unwrap());
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (status, said)
    }

    /// It ends with 0 and says nothing.
    fn ends_well(self) {
        let (status, said) = self.end();
        assert_eq!((status.code(), &*said), (Some(0), ""));
    }
}

/// The one text of an answer, which is bounded and holds nothing that a terminal obeys.
fn content(answer: &Value) -> String {
    let [block] = &answer["result"]["content"].as_array().unwrap()[..] else {
        panic!("{answer:#}")
    };
    assert_eq!(block["type"], "text");
    let text = block["text"].as_str().unwrap();
    assert!(text.len() <= LONGEST, "{} bytes: {text}", text.len());
    assert!(!text.contains(|it: char| it.is_control() && it != '\n'), "{text:?}");
    text.to_owned()
}

/// A result with eight trials, as bench writes it.
fn keep(folder: &Path, id: &str, seconds: f64) {
    let trial = |n: u32| {
        let value = seconds * (1.0 + f64::from(n % 3) / 1e4);
        let ns = (value * 1e9) as u64;
        json!({ "number": n, "arm": 0, "block": n, "began_ns": 0, "elapsed_ns": ns, "cpu_ns": ns, "tasks": 1,
            "figures": [{ "name": "elapsed", "unit": "s", "value": value, "better": "lower" }], "clock": { "missing": "nobody looked" },
            "surroundings": { "cpus": "1", "window_ns": 1, "ledger": [], "unexplained": 0.0, "metrics": [] } })
    };
    let record = json!({ "format": 1, "id": id, "version": "0.1.0", "began": "2026-11-20T15:43:05Z",
        "arms": [{ "name": "A", "workload": "cpu-loop", "settings": { "cpus": "1" }, "about": [] }],
        "machine": { "scaling_governor": "performance" }, "trials": (1..=8).map(trial).collect::<Vec<_>>(), "doubts": [],
        "is_complete": true });
    fs::write(folder.join(format!("{id}.json")), record.to_string() + "\n").unwrap();
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|it| it.unwrap().file_name());
    let mut names: Vec<String> = entries.map(|it| it.into_string().unwrap()).collect();
    names.sort();
    names
}

const TWO_GOVERNORS: &str = "tests/fixtures/two-governors.host";

#[test]
fn the_server_says_that_it_only_reads_and_what_to_ask_first() {
    let mut client = Client::silent();
    let said = client.greet();
    assert_eq!(said["protocolVersion"], "2025-06-18");
    assert_eq!(said["serverInfo"]["name"], "fullclock");
    assert_eq!(said["capabilities"], json!({ "tools": {} }));
    let instructions = said["instructions"].as_str().unwrap();
    assert!(instructions.contains("only reads") && instructions.contains("Begin with `audit`"));
}

#[test]
fn the_tools_are_these_six_and_each_of_them_reads() {
    let mut client = Client::greeted();
    let listed = client.request("tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["audit", "explain", "plan", "ledger", "history", "compare"]);
    for tool in tools {
        let hints = &tool["annotations"];
        assert_eq!(
            (&hints["readOnlyHint"], &hints["openWorldHint"]),
            (&json!(true), &json!(false))
        );
        assert!(tool["description"].as_str().unwrap().len() > 80, "{tool:#}");
        assert_eq!(tool["inputSchema"]["type"], "object");
        jsonschema::validator_for(&tool["inputSchema"]).unwrap();
    }
    // There is nothing else to ask for, either.
    for method in ["resources/list", "prompts/list"] {
        assert_eq!(client.request(method, &json!({}))["error"]["code"], -32601);
    }
}

#[test]
fn an_audit_names_findings_and_one_of_them_has_its_evidence() {
    let mut client = Client::greeted();
    let audit = client.text("audit", &json!({ "path": TWO_GOVERNORS }));
    let line = audit.lines().find(|it| it.starts_with("slow-governor")).unwrap();
    assert!(line.contains("MEDIUM") || line.contains("HIGH"), "{audit}");
    assert!(!audit.contains("scaling_governor ="), "{audit}");
    let of_one = json!({ "path": TWO_GOVERNORS, "finding": "slow-governor" });
    let finding = client.text("audit", &of_one);
    assert!(finding.contains("scaling_governor ="), "{finding}");
    let explained = client.text("explain", &json!({ "subject": "slow-governor" }));
    assert!(explained.starts_with("slow-governor: "), "{explained}");
    let plan = client.text("plan", &json!({ "path": TWO_GOVERNORS, "what": ["slow-governor"] }));
    assert!(plan.contains("governor") && plan.contains("performance"), "{plan}");
    let here = client.text("audit", &json!({}));
    assert!(here.starts_with("fullclock audit of this machine\n"), "{here}");
    client.text("plan", &json!({}));
    let said = client.failure("plan", &json!({ "what": ["governor=fastest", "no-such=1"] }));
    assert!(said.contains("no-such"), "{said}");
}

#[test]
fn ids_and_pasted_lines_are_explained() {
    let mut client = Client::greeted();
    let ids = client.text("explain", &json!({}));
    assert!(ids.contains("slow-governor") && ids.contains("cpu-loop"), "{ids}");
    let line =
        "[ 1.0] CPU3: Core temperature above threshold, cpu clock throttled (total events = 7)";
    let said = client.text("explain", &json!({ "subject": line }));
    assert!(said.contains("thrott"), "{said}");
    let said = client.failure("explain", &json!({ "subject": "slow-governer" }));
    assert!(said.contains("slow-governor"), "{said}");
}

#[test]
fn a_ledger_takes_as_long_as_it_was_told_and_no_more_than_a_minute() {
    let mut client = Client::greeted();
    let ledger = client.text("ledger", &json!({ "seconds": 1, "cpus": "0" }));
    assert!(ledger.starts_with("fullclock ledger of this machine: 1."), "{ledger}");
    for seconds in [json!(0), json!(61), json!(u64::MAX)] {
        let said = client.failure("ledger", &json!({ "seconds": seconds }));
        assert!(said.contains("expected 1 to 60"), "{said}");
    }
    for arguments in [
        json!({ "seconds": -1 }),
        json!({ "seconds": 1e300 }),
        json!({ "seconds": "5" }),
        json!({ "trace": "sometimes" }),
        json!({ "cpus": "0-" }),
        json!({ "cpus": "99999" }),
        json!({ "pids": [4_000_000_000_u32] }),
        json!({ "spin": true }),
    ] {
        client.failure("ledger", &arguments);
    }
}

#[test]
fn results_are_listed_and_compared_and_the_folder_stays_as_it_was() {
    let mut client = Client::greeted();
    let none = client.text("history", &json!({}));
    assert!(none.contains("No results."), "{none}");
    keep(client.results.path(), "20-a", 1.0);
    keep(client.results.path(), "20-b", 1.3);
    // Trials of a run that was killed: a command that writes makes a result of them.
    fs::write(client.results.path().join("20-k.trials"), "{}").unwrap();
    let before = names(client.results.path());
    let listed = client.text("history", &json!({ "workload": "cpu-loop" }));
    assert!(listed.contains("20-a") && listed.contains("20-b"), "{listed}");
    let one = client.text("history", &json!({ "id": "20-a" }));
    assert!(one.contains("scaling_governor") && one.contains("performance"), "{one}");
    let compared = client.text("compare", &json!({ "a": "20-a", "b": "20-b" }));
    assert!(compared.contains("20-a") && compared.contains("30"), "{compared}");
    assert_eq!(names(client.results.path()), before);
    for (tool, arguments) in [
        ("history", json!({ "id": "20-" })),
        ("history", json!({ "id": "../../etc/passwd" })),
        ("history", json!({ "count": 0 })),
        ("compare", json!({ "a": "20-a", "b": "20-z" })),
        ("compare", json!({ "b": "20-a" })),
    ] {
        client.failure(tool, &arguments);
    }
    assert_eq!(names(client.results.path()), before);
}

#[test]
fn a_long_answer_says_how_much_was_left_out() {
    let mut client = Client::greeted();
    for n in 0..100 {
        keep(client.results.path(), &format!("20-{n:03}-{}", "x".repeat(90)), 1.0);
    }
    let listed = client.text("history", &json!({ "count": 100 }));
    assert!(listed.trim_end().ends_with("`workload`, or for one by `id`]"), "{listed}");
    assert!(listed.contains(" more lines are left out: "), "{listed}");
}

#[test]
fn nonsense_is_answered_and_the_next_question_too() {
    let mut client = Client::silent();
    client.say("{ this is no JSON");
    client.greet();
    for line in ["", "\u{0}\u{1}", "{\"jsonrpc\":\"2.0\",", "[[[[", "\"tools/list\\"] {
        client.say(line);
    }
    client.say(&format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{}\"}}", "x".repeat(3 << 20)));
    let unknown = client.call("apply", &json!({}));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown:#}");
    assert!(unknown["error"]["message"].as_str().unwrap().contains("audit, explain"));
    let none = client.request("tools/destroy", &json!({}));
    assert_eq!(none["error"]["code"], -32601, "{none:#}");
    for arguments in [json!({ "path": 7 }), json!({ "finding": ["a"] }), json!({ "root": "/" })] {
        let said = client.failure("audit", &arguments);
        assert!(said.contains("the arguments make no sense"), "{said}");
    }
    for path in ["/nowhere", "/etc/hostname", "/dev/zero", "/dev/tty", "/", ""] {
        let audit = client.call("audit", &json!({ "path": path, "finding": "slow-governor" }));
        assert!(audit["result"]["isError"].is_boolean(), "{path}: {audit:#}");
    }
    assert!(client.failure("audit", &json!({ "finding": "no-such" })).contains("no-such"));
    client.text("explain", &json!({ "subject": "ticks" }));
}

#[test]
fn what_a_host_calls_itself_is_text_and_passwords_are_not_repeated() {
    let mut client = Client::greeted();
    let file = client.results.path().join("odd.host");
    let odd = fs::read_to_string(TWO_GOVERNORS).unwrap()
        + "//- /proc/sys/kernel/osrelease\n6.1\u{1b}]0;x\u{7}\u{202e}evil\n";
    fs::write(&file, odd).unwrap();
    let audit = client.text("audit", &json!({ "path": file }));
    assert!(!audit.contains('\u{202e}'), "{audit}");
    for (tool, arguments) in [
        ("history", json!({ "id": "postgres://me:S3KR1T77@db1/x" })),
        ("audit", json!({ "path": "/nowhere/password=S3KR1T77" })),
        ("plan", json!({ "what": ["password=S3KR1T77"] })),
    ] {
        let said = client.failure(tool, &arguments);
        assert!(!said.contains("S3KR1T77"), "{said}");
    }
}

#[test]
fn an_ordinary_user_is_told_what_is_denied_and_what_would_help() {
    let folder = tempfile::tempdir().unwrap();
    let binary = folder.path().join("fullclock");
    install(Path::new(env!("CARGO_BIN_EXE_fullclock")), &binary);
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let user = ["--reuid=65533", "--regid=65533", "--clear-groups"];
    let works = Command::new("setpriv").args(user).arg("true").status();
    if !works.is_ok_and(|it| it.success()) {
        println!("skipped: setpriv(1) of util-linux does not work here");
        return;
    }
    let mut client = Client::of(|results| {
        let mut command = Command::new("setpriv");
        command.args(user).arg(&binary).args(["mcp", "--no-config", "--results", results]);
        command.current_dir("/");
        command
    });
    client.greet();
    let audit = client.text("audit", &json!({}));
    assert!(audit.contains("Unknown, which is not clean") && audit.contains("root"), "{audit}");
    let said = client.text("audit", &json!({ "finding": "kernel-log" }));
    assert!(said.contains("Unknown (denied)"), "{said}");
    let ledger = client.text("ledger", &json!({ "seconds": 1 }));
    assert!(ledger.contains("unknown"), "{ledger}");
    // What it may not read is a failure with its reason.
    fs::set_permissions(client.results.path(), Permissions::from_mode(0o700)).unwrap();
    let said = client.failure("history", &json!({}));
    assert!(said.to_lowercase().contains("permission denied"), "{said}");
}

#[test]
fn it_ends_with_its_client() {
    let mut silent = Client::silent();
    silent.to = None;
    silent.ends_well();
    let mut client = Client::greeted();
    let id = client.ask("tools/call", &json!({ "name": "explain", "arguments": {} }));
    client.to = None;
    assert_eq!(client.hear()["id"], id, "what was asked before is answered");
    client.ends_well();
}

#[test]
fn a_call_that_is_taken_back_ends_and_leaves_room_for_others() {
    let mut client = Client::greeted();
    let ledger = json!({ "name": "ledger", "arguments": { "seconds": 60 } });
    let began = Instant::now();
    // As many as are worked on at the same time.
    for _ in 0..2 {
        let id = client.ask("tools/call", &ledger);
        let taken_back = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
        client.say(&taken_back.to_string());
    }
    client.text("explain", &json!({ "subject": "ticks" }));
    assert!(began.elapsed() < Duration::from_secs(40), "{:?}", began.elapsed());
}

#[test]
fn an_interrupt_ends_it_while_it_measures() {
    let mut client = Client::greeted();
    client.ask("tools/call", &json!({ "name": "ledger", "arguments": { "seconds": 60 } }));
    // Calls are begun in the order in which they come.
    client.text("explain", &json!({ "subject": "ticks" }));
    let began = Instant::now();
    client.interrupt();
    client.ends_well();
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
}

#[test]
fn a_person_is_told_what_starts_it_and_options_that_mean_nothing_are_refused() {
    let output = fullclock(&["mcp", "--json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("standard output is the protocol"), "{said}");
    let mut early = Client::silent();
    early.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    let (status, said) = early.end();
    assert_eq!(status.code(), Some(2));
    assert!(said.contains("did not begin with `initialize`"), "{said}");
}
