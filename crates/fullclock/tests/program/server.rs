//! `--server`: a whole database server, connections that come and go included, is a part of what is measured.

use crate::support::{fullclock, install, printed, refusal};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A PostgreSQL server of the test's own.
struct Database {
    server: Child,
    run: PathBuf,
    _folder: tempfile::TempDir,
}

/// The account of servers, where this is root, under which they do not run.
fn account() -> Option<(u32, u32)> {
    let passwd = fs::read_to_string("/etc/passwd").unwrap();
    let line = passwd.lines().find(|it| it.starts_with("postgres:"))?;
    let mut fields = line.split(':').skip(2).map(|it| it.parse().unwrap());
    rustix::process::geteuid().is_root().then(|| (fields.next().unwrap(), fields.next().unwrap()))
}

/// A program of PostgreSQL.
fn program(name: &str) -> Option<Command> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let folders = versions.map(|it| it.path().join("bin")).chain([PathBuf::from("/usr/bin")]);
    let path = folders.map(|it| it.join(name)).find(|it| it.exists())?;
    let mut command = Command::new(path);
    if let Some((user, group)) = account() {
        command.uid(user).gid(group);
    }
    command.current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Some(command)
}

impl Database {
    /// Starts one with tables for pgbench; `None`, and a word about it, where it is not installed.
    fn start() -> Option<Database> {
        let (Some(mut initdb), Some(mut postgres)) = (program("initdb"), program("postgres"))
        else {
            println!("left out: PostgreSQL is not installed here");
            return None;
        };
        let folder = tempfile::Builder::new()
            .permissions(fs::Permissions::from_mode(0o755))
            .tempdir()
            .unwrap();
        let (data, run) = (folder.path().join("data"), folder.path().join("run"));
        for it in [&data, &run] {
            fs::create_dir(it).unwrap();
            fs::set_permissions(it, fs::Permissions::from_mode(0o700)).unwrap();
            if let Some((user, group)) = account() {
                chown(it, Some(user), Some(group)).unwrap();
            }
        }
        let made = initdb.arg("-D").arg(&data).args(["-U", "tester", "-A", "trust", "-N"]).status();
        assert!(made.unwrap().success());
        postgres.arg("-D").arg(&data).arg("-k").arg(&run);
        let server = postgres.args(["-c", "listen_addresses=", "-c", "fsync=off"]).spawn().unwrap();
        let database = Database { server, run, _folder: folder };
        let began = Instant::now();
        while !database.pgbench(&["-i", "-s", "1", "-q"]).status().unwrap().success() {
            assert!(began.elapsed() < Duration::from_secs(120), "the server does not answer");
            sleep(Duration::from_millis(200));
        }
        Some(database)
    }

    fn pid(&self) -> String {
        self.server.id().to_string()
    }

    fn dsn(&self) -> String {
        format!("host={} dbname=postgres user=tester", self.run.display())
    }

    fn pgbench(&self, arguments: &[&str]) -> Command {
        let mut command = program("pgbench").unwrap();
        command.arg("-h").arg(&self.run).args(["-U", "tester"]).args(arguments).arg("postgres");
        command
    }

    /// Clients that connect, query once and go, until this is dropped.
    fn connecting(&self) -> Ended {
        Ended(self.pgbench(&["-C", "-S", "-n", "-c", "2", "-T", "120"]).spawn().unwrap())
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // SIGQUIT: it ends its children and gives back its shared memory.
        let pid = rustix::process::Pid::from_child(&self.server);
        rustix::process::kill_process(pid, rustix::process::Signal::QUIT).unwrap();
        self.server.wait().unwrap();
    }
}

/// Ends a process that a test started.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// The time of the lines of a loss whose part begins with this, in seconds.
fn time_of(ledger: &Value, loss: &str, part: &str) -> f64 {
    let lines = ledger["lines"].as_array().unwrap().iter();
    let is_it =
        |it: &&Value| it["loss"] == loss && it["part"].as_str().unwrap_or("").starts_with(part);
    lines.filter(is_it).filter_map(|it| it["time_s"].as_f64()).sum()
}

/// The lines of a ledger that have time: loss, part and seconds.
fn spent(ledger: &Value) -> Vec<String> {
    let lines = ledger["lines"].as_array().unwrap().iter();
    let lines = lines.filter(|it| it["time_s"].as_f64().is_some_and(|it| it > 0.0));
    lines.map(|it| format!("{} {} {}", it["loss"], it["part"], it["time_s"])).collect()
}

/// The ledger of a server whose clients connect, query and go: most of its time is that
/// of backends that have ended.
#[track_caller]
fn backends_are_useful_work(selection: &str, trace: &str) -> Value {
    let arguments = ["ledger", "--json", "-d", "2s", "--trace", trace, "--server", selection];
    let ledger: Value = serde_json::from_str(&printed(&arguments)).unwrap();
    let useful = time_of(&ledger, "useful", "PostgreSQL");
    let gone = time_of(&ledger, "useful", "PostgreSQL backend");
    let (lines, notes) = (spent(&ledger), &ledger["notes"]);
    let whose = format!("{selection} {trace}");
    assert!(useful > 0.0 && gone > useful / 2.0, "{whose}: {lines:#?} {notes:#}");
    ledger
}

#[test]
fn connections_that_come_and_go_are_useful_work_of_the_server() {
    let Some(database) = Database::start() else { return };
    let _client = database.connecting();
    for (selection, trace) in
        [(database.pid(), "never"), (database.pid(), "auto"), (database.dsn(), "never")]
    {
        backends_are_useful_work(&selection, trace);
    }
}

#[test]
fn the_number_of_a_postmaster_gets_a_hint_and_that_of_a_backend_is_refused() {
    let Some(database) = Database::start() else { return };
    let pid = database.pid();
    let text = printed(&["ledger", "-d", "200ms", "--trace", "never", "--pid", &pid]);
    assert!(text.replace('\n', " ").contains(&format!("--server {pid}")), "{text}");
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
    let child = children.split_ascii_whitespace().next().unwrap();
    let refused = refusal(&["ledger", "--server", child]);
    let refused = refused.replace('\n', " ");
    assert!(refused.contains(&format!("--server {pid} takes the whole server")), "{refused}");
}

#[test]
fn what_is_no_server_is_refused_in_words() {
    assert!(refusal(&["ledger", "--server", "postgres"]).contains("PostgreSQL is postgresql"));
    assert!(
        refusal(&["ledger", "--server", "4194305"]).contains("there is no process of that number")
    );
    assert!(
        refusal(&["ledger", "--server", "/sys/fs/cgroup/no/such"])
            .contains("no such control group")
    );
    let secret = refusal(&["ledger", "--server", "postgresql://me:S3KR1T77@a@b/x"]);
    assert!(secret.contains("--server") && !secret.contains("S3KR1T77"), "{secret}");
    let refused = refusal(&["bench", "--no-save", "--server", "oracle", "--", "true"]);
    assert!(refused.contains("no process of Oracle"), "{refused}");
    assert!(refusal(&["bench", "cpu-loop", "--server", "1"]).contains("--server"));
}

/// A bench of pgbench, as JSON.
fn bench(database: &Database, server: &[&str]) -> Value {
    let run = database.run.display().to_string();
    let command = ["--", "pgbench", "-h", &run, "-U", "tester", "-S", "-n", "-T", "2", "postgres"];
    let options = ["bench", "--json", "--no-save", "-q", "-n", "2", "--metric", r"tps = ([0-9.]+)"];
    let output = fullclock(&[&options, server, &command].concat()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The names in the doubt about other tasks.
fn others(result: &Value) -> Vec<String> {
    let doubts = result["doubts"].as_array().unwrap().iter();
    let of = doubts.filter(|it| it["doubt"] == "other-load").filter_map(|it| it["by"].as_array());
    of.flatten().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
}

/// A program of that name that never sleeps.
fn spinner(folder: &Path, name: &str) -> Ended {
    let path = folder.join(name);
    install(Path::new("/bin/sh"), &path);
    Ended(Command::new(path).args(["-c", "while :; do :; done"]).spawn().unwrap())
}

/// Other tests have servers, too: the product selects them all, and they are in a doubt
/// about the whole machine.
mod alone {
    use super::*;

    #[test]
    fn the_product_takes_connections_that_come_and_go() {
        let Some(database) = Database::start() else { return };
        let _client = database.connecting();
        let ledger = backends_are_useful_work("postgresql", "auto");
        let useful = time_of(&ledger, "useful", "PostgreSQL");
        let others = time_of(&ledger, "other-tasks", "postgres");
        assert!(others < useful / 10.0, "{ledger:#}");
    }

    #[test]
    fn a_server_under_test_is_work_and_an_intruder_is_named() {
        let Some(database) = Database::start() else { return };
        let quiet = bench(&database, &["--server", &database.pid()]);
        for trial in quiet["trials"].as_array().unwrap() {
            let server = &trial["server"];
            assert!(server["cpu_ns"].as_u64() > Some(0), "{trial:#}");
            // On full CPUs a connection may end before it was read again.
            let wait = &server["wait_ns"];
            let is_short =
                wait["missing"].as_str().is_some_and(|it| it.contains("too short to be read"));
            assert!(wait.as_u64().is_some() || is_short, "{trial:#}");
            let parts = trial["surroundings"]["ledger"].as_array().unwrap().iter();
            let mut others = parts.filter(|it| it["loss"] == "other-tasks");
            let is_server = |it: &Value| {
                let part = it["part"].as_str().unwrap_or("");
                // Other servers of this machine are idle.
                part.starts_with("postgres") && it["share"].as_f64() > Some(0.01)
            };
            assert!(!others.any(is_server), "{trial:#}");
        }
        assert!(quiet["summaries"][0]["server"]["cpu_per_s"].as_f64() > Some(0.0), "{quiet:#}");
        // A backend that lives on after each trial is read at its end.
        let others_client = Ended(database.pgbench(&["-S", "-n", "-T", "120"]).spawn().unwrap());
        let unnamed = bench(&database, &[]);
        drop(others_client);
        let hint = |it: &Value| it["doubt"] == "other-load" && it["server"] == "postgresql";
        assert!(unnamed["doubts"].as_array().unwrap().iter().any(hint), "{:#}", unnamed["doubts"]);
        let folder = tempfile::tempdir().unwrap();
        let _intruder = spinner(folder.path(), "intruder");
        let disturbed = bench(&database, &["--server", &database.pid()]);
        let names = others(&disturbed);
        assert!(names.iter().any(|it| it == "intruder"), "{names:?}");
    }
}
