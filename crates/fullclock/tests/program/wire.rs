//! `fullclock net server` and `net client` as users meet them: both as processes, over the loopback interface.

use crate::support::{fullclock, install_script, is_of, printed, refusal};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;
use tempfile::TempDir;

const TEST: &str = include_str!("../../../../schemas/net-test-2.json");

/// A server that ends with its test.
struct Server {
    child: Child,
    address: String,
    token: PathBuf,
    _folder: TempDir,
}

impl Server {
    fn start(options: &[&str]) -> Server {
        Server::of(&mut fullclock(&[]), options)
    }

    fn of(fullclock: &mut Command, options: &[&str]) -> Server {
        let folder = tempfile::tempdir().unwrap();
        let token = folder.path().join("net.token");
        let first =
            ["net", "server", "--listen", "127.0.0.1:0", "--token-file", token.to_str().unwrap()];
        let arguments = [&first, options].concat();
        let mut child = fullclock.args(arguments).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.split_once("listening at ").unwrap().1.split(';').next().unwrap();
        Server { child, address: address.to_owned(), token, _folder: folder }
    }

    fn client(&self, options: &[&str]) -> Command {
        let token = self.token.to_str().unwrap();
        let first = ["net", "client", &self.address, "--token-file", token];
        fullclock(&[&first, options].concat())
    }

    fn printed(&self, options: &[&str]) -> String {
        let output = self.client(options).output().unwrap();
        assert!(output.status.success(), "{options:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn refusal(&self, options: &[&str]) -> String {
        said(&self.client(options).output().unwrap())
    }

    /// What it answers to this, until it says no more.
    fn answer(&self, said: &[u8]) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.write_all(said).unwrap();
        let mut answer = String::new();
        // A connection may also be reset.
        stream.read_to_string(&mut answer).ok();
        answer
    }

    /// A client that measures for ten minutes, from when it is the one that the server serves.
    fn occupied(&self) -> Child {
        let mut patience = Duration::from_millis(50);
        loop {
            let child = self.client(&["-d", "10m", "--sizes", "64"]).stdout(Stdio::piped()).spawn();
            let mut child = child.unwrap();
            sleep(patience);
            let other = self.client(&["-n", "1", "--sizes", "2"]).output().unwrap();
            let is_busy = String::from_utf8_lossy(&other.stderr).contains("serves a client at");
            if is_busy && child.try_wait().unwrap().is_none() {
                return child;
            }
            // The other one was quicker.
            child.kill().unwrap();
            child.wait().unwrap();
            patience *= 2;
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Some tests end it themselves.
        self.child.kill().ok();
        self.child.wait().unwrap();
    }
}

/// What somebody says who could not do it.
fn said(output: &Output) -> String {
    assert_eq!((output.status.code(), &output.stdout[..]), (Some(2), &b""[..]), "{output:?}");
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Asks a process to end, as Ctrl-C does.
fn interrupt(child: &Child) {
    let pid = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
}

/// A client of many sizes, 300 ms each, that is interrupted behind one of them: later on a machine that is busy.
fn interrupted_between_sizes(server: &Server, options: &[&str]) -> Output {
    let mut patience = Duration::from_secs(1);
    loop {
        let mut client = server.client(options);
        let child = client.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        sleep(patience);
        interrupt(&child);
        let output = child.wait_with_output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        let is_early = errors.contains("interrupted before the first message size was over");
        if !is_early || patience > Duration::from_secs(4) {
            return output;
        }
        patience *= 2;
    }
}

fn curve(folder: &Path, text: &str) -> Value {
    let file = folder.join("saved.txt");
    std::fs::write(&file, text).unwrap();
    let read = ["net", "curve", file.to_str().unwrap(), "--json"];
    serde_json::from_str(&printed(&read)).unwrap()
}

#[test]
fn throughput_is_counted_where_it_arrives_in_both_directions_and_curve_reads_it() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    for (test, title) in [("write-bw", "TCP_Write BW Test"), ("read-bw", "TCP_Read BW Test")] {
        let options = ["--test", test, "--sizes", "64,65536", "-n", "300", "--streams", "2"];
        let read = curve(folder.path(), &server.printed(&options));
        assert_eq!(read["test"], title);
        for (at, bytes) in [(0, 64), (1, 65536)] {
            let point = &read["bandwidth"]["points"][at];
            assert_eq!((&point["bytes"], &point["iterations"]), (&bytes.into(), &600.into()));
        }
        let csv = server.printed(&[&options[..], &["--csv"]].concat());
        assert_eq!(curve(folder.path(), &csv)["bandwidth"]["points"][1]["iterations"], 600);
    }
}

#[test]
fn latency_is_counted_by_round_trip_and_curve_reads_it() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let text = server.printed(&["--test", "latency", "--sizes", "2,4096", "-n", "200"]);
    let read = curve(folder.path(), &text);
    assert_eq!(read["test"], "TCP_Ping-Pong Latency Test");
    assert_eq!(read["latency"]["points"][1]["iterations"], 200);
}

#[test]
fn data_are_of_their_schema_and_name_both_ends() {
    let server = Server::start(&[]);
    for test in ["write-bw", "read-bw", "latency"] {
        let options = ["--test", test, "--sizes", "1024", "-d", "20ms", "--json"];
        let value: Value = serde_json::from_str(&server.printed(&options)).unwrap();
        is_of(TEST, &value);
        assert_eq!(
            (&value["test"], &value["server"]),
            (&test.into(), &server.address.as_str().into())
        );
        let point = &value["points"][0];
        assert!(point["client"][0]["elapsed_s"].as_f64() > Some(0.0), "{value:#}");
        assert!(point["server"][0]["elapsed_s"].as_f64() > Some(0.0), "{value:#}");
        let is_there = |name: &str| !point[name].is_null();
        assert_eq!(
            (is_there("latency"), is_there("bandwidth")),
            (test == "latency", test != "latency")
        );
    }
}

#[test]
fn both_ends_keep_a_ledger_that_adds_up_and_say_what_they_went_over() {
    let server = Server::start(&[]);
    let options = ["--sizes", "64,65536", "-d", "300ms", "--json"];
    let value: Value = serde_json::from_str(&server.printed(&options)).unwrap();
    is_of(TEST, &value);
    for (at, end) in ["client", "server"].into_iter().enumerate() {
        let ledger = &value["ledgers"][at];
        assert_eq!(ledger["end"], end);
        let shares =
            ledger["lines"].as_array().unwrap().iter().filter_map(|it| it["share"].as_f64());
        let sum = shares.sum::<f64>() + ledger["unexplained"].as_f64().unwrap();
        assert!((sum - 1.0).abs() < 1e-6, "{ledger:#}");
        assert!(ledger["wall_s"].as_f64() > Some(0.6), "{ledger:#}");
        let place = &value["placements"][at];
        assert_eq!((&place["end"], &place["device"]), (&end.into(), &"lo".into()));
        let why = place["adapter"]["missing"].as_str().unwrap();
        assert!(why.contains("adapter behind lo"), "{why}");
    }
    let text = server.printed(&["--sizes", "64", "-d", "100ms"]);
    assert!(
        text.contains("time went to") && text.contains("both ends: the data went over lo"),
        "{text}"
    );
}

#[test]
fn what_is_sent_without_a_copy_says_so_and_is_refused_where_nothing_is_sent_so() {
    let server = Server::start(&[]);
    let of = |when: &str, test: &str| {
        let options =
            ["--sizes", "64,65536", "-n", "20", "--test", test, "--zero-copy", when, "--json"];
        let value: Value = serde_json::from_str(&server.printed(&options)).unwrap();
        is_of(TEST, &value);
        [0, 1].map(|at| value["points"][at]["zero_copy"].as_bool().unwrap())
    };
    for test in ["write-bw", "read-bw"] {
        assert_eq!((of("on", test), of("off", test)), ([true; 2], [false; 2]));
        assert!(!of("auto", test)[0]);
    }
    assert_eq!(of("auto", "latency"), [false; 2]);
    let refused = server.refusal(&["--test", "latency", "--zero-copy", "on"]);
    assert!(refused.contains("--zero-copy is for throughput over TCP"), "{refused}");
}

#[test]
fn a_report_is_a_page_that_names_no_token_and_what_cannot_be_written_is_told_before_measuring() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.html");
    let file = path.to_str().unwrap();
    server.printed(&["--sizes", "64,65536", "-n", "50", "-o", file]);
    let again = ["--test", "latency", "--sizes", "64", "-n", "50", "-o", file];
    let refused = server.refusal(&again);
    assert!(refused.contains("report.html exists; name another file or replace it"), "{refused}");
    server.printed(&[&again[..], &["--force"]].concat());
    let page = std::fs::read_to_string(&path).unwrap();
    assert!(page.contains("net client") && page.contains("--test latency"), "{page}");
    assert!(
        !page.contains("--token-file")
            && !page.contains("report.html")
            && !page.contains("--force"),
        "{page}"
    );
    let token = std::fs::read_to_string(&server.token).unwrap();
    assert!(!page.contains(token.trim()));
    let refused = server.refusal(&["-d", "10m", "-o", "/nowhere/report.html"]);
    assert!(refused.contains("cannot write /nowhere/report.html"), "{refused}");
}

#[test]
fn an_interrupted_client_writes_its_report_and_says_what_is_not_in_it() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.html");
    let options = ["-d", "300ms", "--sizes", "all", "-o", path.to_str().unwrap()];
    assert!(interrupted_between_sizes(&server, &options).status.success());
    let page = std::fs::read_to_string(&path).unwrap();
    assert!(page.contains("of 23 message sizes were measured"), "{page}");
}

#[test]
fn all_sizes_go_through_from_2_bytes_to_8_mib() {
    let server = Server::start(&[]);
    let options = ["-n", "3", "--sizes", "all", "--json"];
    let value: Value = serde_json::from_str(&server.printed(&options)).unwrap();
    let points = value["points"].as_array().unwrap();
    let sizes: Vec<u64> = points.iter().filter_map(|it| it["bytes"].as_u64()).collect();
    assert_eq!(sizes, (1..=23).map(|it| 1 << it).collect::<Vec<u64>>());
    assert!(points.iter().all(|it| it["iterations"] == 3), "{value:#}");
}

#[test]
fn each_end_works_on_the_cpus_that_it_was_given() {
    let cpu = host::probe::allowed().unwrap().last().unwrap();
    let server = Server::start(&["--cpus", &cpu.to_string()]);
    let cpus = cpu.to_string();
    let options = ["-n", "10", "--sizes", "64", "--streams", "2", "--cpus", &cpus, "--json"];
    let value: Value = serde_json::from_str(&server.printed(&options)).unwrap();
    for end in ["client", "server"] {
        for thread in value["points"][0][end].as_array().unwrap() {
            assert_eq!(thread["cpu"], cpu, "{value:#}");
        }
    }
    let absent = ["-n", "10", "--sizes", "64", "--cpus", "8191"];
    assert!(server.refusal(&absent).contains("CPU 8191"));
    let elsewhere = Server::start(&["--cpus", "8191"]);
    let refused = elsewhere.refusal(&["-n", "10", "--sizes", "64"]);
    assert!(refused.contains("the server says: CPU 8191"), "{refused}");
}

#[test]
fn who_does_not_know_the_token_is_refused() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("other");
    std::fs::write(&other, "0123\n").unwrap();
    let other = other.to_str().unwrap();
    let with = |file: &str| refusal(&["net", "client", &server.address, "--token-file", file]);
    assert!(with(other).contains("the token is not the server's; --token-file names a copy"));
    assert!(with("/nowhere").contains("the server made a token; copy its file here"));
}

#[test]
fn another_version_is_told_which_is_which() {
    let server = Server::start(&[]);
    let token = std::fs::read_to_string(&server.token).unwrap();
    let hello = format!(
        "{{\"hello\":{{\"protocol\":9,\"version\":\"7.0\",\"token\":\"{}\"}}}}\n",
        token.trim()
    );
    let answer = server.answer(hello.as_bytes());
    assert!(answer.contains("the client is fullclock 7.0 and speaks version 9"), "{answer}");
    // One that knows no ledgers.
    let answer = server.answer(hello.replace(":9,", ":1,").as_bytes());
    assert!(answer.contains("speaks version 1") && answer.contains("use one version"), "{answer}");
}

#[test]
fn a_second_client_is_told_who_is_served_and_comes_when_the_first_one_was_killed() {
    let server = Server::start(&[]);
    let mut first = server.occupied();
    first.kill().unwrap();
    first.wait().unwrap();
    let one = ["-n", "1", "--sizes", "2"];
    while !server.client(&one).output().unwrap().status.success() {
        sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_client_whose_server_is_killed_says_so() {
    let mut server = Server::start(&[]);
    let mut first = server.occupied();
    server.child.kill().unwrap();
    let mut printed = String::new();
    first.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
    assert_eq!((first.wait().unwrap().code(), printed.as_str()), (Some(2), ""));
    let refused = server.refusal(&["-n", "1"]);
    assert!(refused.contains("nothing listens at"), "{refused}");
    assert!(refused.contains("start `fullclock net server --listen"), "{refused}");
}

#[test]
fn an_interrupted_client_prints_the_sizes_that_are_over() {
    let server = Server::start(&[]);
    let options = ["--csv", "-d", "300ms", "--sizes", "all"];
    let output = interrupted_between_sizes(&server, &options);
    assert!(output.status.success(), "{output:?}");
    let n_lines = output.stdout.iter().filter(|it| **it == b'\n').count();
    assert!((2..24).contains(&n_lines), "{output:?}");
}

#[test]
fn a_server_that_is_told_to_end_says_so_to_its_client() {
    let mut server = Server::start(&[]);
    let first = server.occupied();
    interrupt(&server.child);
    assert!(server.child.wait().unwrap().success());
    assert_eq!(first.wait_with_output().unwrap().status.code(), Some(2));
}

#[test]
fn a_server_ends_once_nobody_was_there_for_its_timeout() {
    let mut server = Server::start(&["--timeout", "200ms"]);
    assert!(server.child.wait().unwrap().success());
}

#[test]
fn strangers_are_told_what_this_is_and_do_no_harm() {
    let server = Server::start(&[]);
    let answer = server.answer(b"GET / HTTP/1.1\r\nHost: db2\r\n\r\n");
    assert!(answer.contains("this is a server of `fullclock net`"), "{answer}");
    assert!(server.answer(&[b'['; 1024]).contains("too long"));
    assert!(server.answer(b"{\"join\":{\"session\":\"0123\"}}\n").contains("no such session"));
    // One that says nothing stays until its time is up, and keeps nobody away.
    let _silent = TcpStream::connect(&server.address).unwrap();
    server.printed(&["-n", "1", "--sizes", "2"]);
}

#[test]
fn whoever_answers_something_else_is_no_server() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap().to_string();
    let web = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.read_exact(&mut [0; 16]).unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
        // What was not read would reset the connection before its answer is read.
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        stream.read_to_end(&mut Vec::new()).ok();
    });
    let folder = tempfile::tempdir().unwrap();
    let token = folder.path().join("token");
    std::fs::write(&token, "0123\n").unwrap();
    let refused = refusal(&["net", "client", &at, "--token-file", token.to_str().unwrap()]);
    assert!(refused.contains("is no `fullclock net server`"), "{refused}");
    web.join().unwrap();
}

/// A folder with a program of perftest that says this where it is asked for its version; theirs end with 1 then.
fn perftest(says: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let script = format!("#!/bin/sh\necho '{says}'\nexit 1\n");
    install_script(&script, &folder.path().join("ib_read_bw"));
    folder
}

#[test]
fn without_perftest_the_package_is_named_on_the_end_that_lacks_it() {
    let server = Server::start(&[]);
    let nothing = tempfile::tempdir().unwrap();
    let rdma = ["--transport", "rdma", "--test", "read-bw"];
    let said_with = |path: &Path| said(&server.client(&rdma).env("PATH", path).output().unwrap());
    let refused = said_with(nothing.path());
    assert!(refused.contains("ib_read_bw is not installed here: it is of the package perftest"));
    let refused = said_with(perftest("2.1, or newer").path());
    assert!(refused.contains("prints \"2.1, or newer\" and not `Version: 6.06`"), "{refused}");
}

#[test]
fn a_server_without_perftest_says_so() {
    let nothing = tempfile::tempdir().unwrap();
    let server = Server::of(fullclock(&[]).env("PATH", nothing.path()), &[]);
    let token = std::fs::read_to_string(&server.token).unwrap();
    let hello = json!({ "hello": {
        "protocol": lab::net::protocol::PROTOCOL.version,
        "version": env!("CARGO_PKG_VERSION"),
        "token": token.trim(),
    }});
    let task = json!({ "prepare": { "transport": "rdma", "test": "read-bw", "streams": 1 }});
    let answer = server.answer(format!("{hello}\n{task}\n").as_bytes());
    assert!(answer.contains("ib_read_bw is not installed here"), "{answer}");
}

#[test]
fn bad_options_say_what_is_right() {
    let of = |options: &[&str]| refusal(&[&["net", "client", "127.0.0.1"], options].concat());
    assert!(of(&["--sizes", "3"]).contains("powers of two from 2 to 8388608"));
    assert!(of(&["-d", "11m"]).contains("at most 10m"));
    assert!(of(&["-n", "0"]).contains("1.."));
    assert!(of(&["-n", "5", "-d", "1s"]).contains("cannot be used with"));
    assert!(of(&["--streams", "65"]).contains("64"));
    assert!(of(&["--csv", "--json"]).contains("cannot be used with"));
    assert!(of(&["--root", "/"]).contains("a test needs two machines that run"));
    assert!(of(&["--transport", "pigeons"]).contains("tcp"));
    let task = ["--test", "send-bw"];
    assert!(of(&task).contains("write-bw is what send-bw is over RDMA"), "{}", of(&task));
    assert!(of(&["--transport", "rdma", "-n", "4"]).contains('5'));
    let task = ["--transport", "rdma", "--test", "latency", "-d", "1s"];
    assert!(of(&task).contains("-n"), "{}", of(&task));
    assert!(refusal(&["net", "server", "--listen", "here"]).contains("--listen"));
}
