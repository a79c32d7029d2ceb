//! What a database server says of itself, in trials and in recordings: with a PostgreSQL of the tests' own.

use crate::support::{fullclock, is_of, printed, refusal};
use serde_json::Value;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A server in a folder of its own, over a Unix socket.
struct Postgres {
    folder: tempfile::TempDir,
    server: Child,
}

/// The account that servers run under where these tests are root's.
const ACCOUNT: &str = "postgres";

impl Postgres {
    /// `None`, and a word about it, where PostgreSQL is not installed.
    fn start() -> Option<Postgres> {
        let Some(programs) = programs() else {
            println!("left out: PostgreSQL is not installed");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
        let home = folder.path().join("of-server");
        fs::create_dir(&home).unwrap();
        if let Some((uid, gid)) = account() {
            chown(&home, Some(uid), Some(gid)).unwrap();
        }
        let data = home.join("data");
        let create = run(&programs.join("initdb"), &home)
            .args(["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "-D"])
            .arg(&data)
            .status();
        assert!(create.unwrap().success());
        let server = run(&programs.join("postgres"), &home)
            .arg("-D")
            .arg(&data)
            .arg("-k")
            .arg(&home)
            .args([
                "-c",
                "listen_addresses=",
                "-c",
                "track_wal_io_timing=on",
                "-c",
                "autovacuum=off",
            ])
            .spawn()
            .unwrap();
        let postgres = Postgres { folder, server };
        let began = Instant::now();
        while !postgres.psql("SELECT 1").output().unwrap().status.success() {
            assert!(began.elapsed() < Duration::from_secs(60), "the server does not start");
            std::thread::sleep(Duration::from_millis(100));
        }
        Some(postgres)
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("of-server")
    }

    /// With a password that the server does not ask for, and that must be nowhere.
    fn dsn(&self) -> String {
        format!("host={} dbname=postgres user=postgres password={SECRET}", self.socket().display())
    }

    fn psql(&self, statements: &str) -> Command {
        let mut psql = Command::new("psql");
        psql.args(["-XAtqw", "-U", "postgres", "-d", "postgres", "-c", statements]);
        psql.arg("-h").arg(self.socket()).stdin(Stdio::null());
        psql
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let pid = i32::try_from(self.server.id()).unwrap();
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::QUIT).ok();
        self.server.wait().ok();
    }
}

const SECRET: &str = "S3KR1T77";

/// The newest folder of Debian's packages that has a server.
fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?;
    let folders = versions.map(|it| it.unwrap().path().join("bin"));
    folders.filter(|it| it.join("initdb").exists()).max()
}

/// The account's numbers; `None` where these tests are not root's.
fn account() -> Option<(u32, u32)> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let passwd = fs::read_to_string("/etc/passwd").unwrap();
    let line = passwd.lines().find(|it| it.starts_with(&format!("{ACCOUNT}:"))).unwrap();
    let fields: Vec<&str> = line.split(':').collect();
    Some((fields[2].parse().unwrap(), fields[3].parse().unwrap()))
}

fn run(program: &Path, home: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(home).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Some((uid, gid)) = account() {
        command.uid(uid).gid(gid);
    }
    command
}

/// A COPY of some seconds, then the index of what it loaded.
const LOAD: &str = "\
psql -XAtqw -U postgres -d postgres -h \"$1\" -c 'CREATE TABLE loaded (b text)'
psql -XAtqw -U postgres -d postgres -h \"$1\" -c \"
  COPY loaded FROM PROGRAM 'for i in 1 2 3 4; do seq -f SECRETTEXT%g 1 200000; sleep 1; done';\"
for i in 1 2 3; do
  psql -XAtqw -U postgres -d postgres -h \"$1\" -c 'CREATE INDEX ON loaded (md5(b), md5(b || 1))'
done";

#[test]
fn a_load_and_an_index_are_phases_of_the_recording_with_waits_and_log_writes() {
    let Some(server) = Postgres::start() else { return };
    let tape = server.folder.path().join("tape");
    let (tape, socket) = (tape.to_str().unwrap(), server.socket());
    let dsn = server.dsn();
    let run = [
        "watch", "--csv", "-i", "1s", "--record", tape, "--dsn", &dsn, "--", "sh", "-c", LOAD, "sh",
    ];
    let output = fullclock(&run).arg(&socket).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let notes = String::from_utf8(output.stderr).unwrap();
    let text = printed(&["ledger", "--from", tape, "--by", "1s", "--json"]);
    let value: Value = serde_json::from_str(&text).unwrap();
    is_of(include_str!("../../../../schemas/ledger-by-1.json"), &value);
    let pieces = value["pieces"].as_array().unwrap();
    let phases = pieces.iter().flat_map(|it| it["phases"].as_array().unwrap());
    let phases: Vec<&str> = phases.map(|it| it["text"].as_str().unwrap()).collect();
    let place = |wanted: &str| phases.iter().position(|it| it.starts_with(wanted));
    let (copy, index) = (place("COPY: begins").unwrap(), place("CREATE INDEX: begins").unwrap());
    assert!(copy < index, "{phases:?}");
    assert!(notes.contains("database: COPY: begins"), "{notes}");
    // The load writes log, and its session is active.
    let sum =
        |field: &str| pieces.iter().filter_map(|it| it["server"][field].as_u64()).sum::<u64>();
    assert!(sum("log_writes") > 0 && sum("log_bytes") > 10_000_000, "{text}");
    let waits =
        pieces.iter().flat_map(|it| it["server"]["wait_events"].as_array().into_iter().flatten());
    assert!(waits.count() > 0, "{text}");
    let table = printed(&["ledger", "--from", tape, "--by", "2s"]);
    assert!(table.contains("log writes/s") && table.contains("COPY: begins"), "{table}");
    let whole = printed(&["ledger", "--from", tape]);
    assert!(whole.contains("their wait events: "), "{whole}");
    // Neither passwords nor what statements say.
    let bytes = fs::read(tape).unwrap();
    for text in [&*table, &whole, &notes, &text, &String::from_utf8_lossy(&bytes)] {
        assert!(!text.contains(SECRET) && !text.contains("SECRETTEXT"), "{text}");
    }
}

#[test]
fn a_server_that_is_down_is_a_note_and_the_recording_goes_on() {
    if programs().is_none() {
        return;
    }
    let dsn = format!("host=/nowhere/at-all user=postgres password={SECRET}");
    let watch = ["watch", "--csv", "-n", "3", "-i", "1s", "--columns", "busy", "--dsn", &dsn];
    let output = fullclock(&watch).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let notes = String::from_utf8(output.stderr).unwrap();
    assert!(notes.contains("the database server cannot be read: psql failed"), "{notes}");
    assert!(!notes.contains(SECRET), "{notes}");
    assert!(
        refusal(&["watch", "--once", "--dsn", "nonsense"])
            .contains("--dsn: expected postgresql://")
    );
}

#[test]
fn commits_that_do_not_wait_for_the_log_take_fewer_syncs_each_and_the_comparison_says_so() {
    let Some(server) = Postgres::start() else { return };
    assert!(server.psql("CREATE TABLE t (a int)").status().unwrap().success());
    let script = server.folder.path().join("insert.sql");
    fs::write(&script, "INSERT INTO t VALUES (1);\n").unwrap();
    let side = |commits: &str| {
        format!(
            "env PGOPTIONS='-c synchronous_commit={commits}' pgbench -n -U postgres -h {} -f {} -t 200 postgres",
            server.socket().display(),
            script.display()
        )
    };
    let (on, off, dsn) = (side("on"), side("off"), server.dsn());
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().to_str().unwrap();
    let bench =
        ["bench", "-n", "8", "--vs", &on, &off, "--server", &dsn, "--results", results, "--json"];
    let text = printed(&bench);
    let value: Value = serde_json::from_str(&text).unwrap();
    is_of(include_str!("../../../../schemas/result-2.json"), &value);
    let log = &value["comparisons"][0]["log"];
    let per_commit = |arm: &str| {
        log[arm]["durable_writes"].as_f64().unwrap() / log[arm]["commits"].as_f64().unwrap()
    };
    assert!(per_commit("b") < per_commit("a") / 2.0, "{log:#}");
    assert!(log["a"]["time_s"].as_f64().unwrap() > 0.0, "{log:#}");
    let first = &value["trials"][0]["server_log"];
    assert!(
        first["after"]["counts"]["commits"].as_u64()
            > first["before"]["counts"]["commits"].as_u64()
    );
    let kept = value["file"].as_str().unwrap();
    let compared = printed(&["compare", kept]);
    assert!(compared.contains("log syncs per commit fell from "), "{compared}");
    for text in [&*text, &compared, &fs::read_to_string(kept).unwrap_or_default()] {
        assert!(!text.contains(SECRET), "{text}");
    }
}
