//! The workloads of databases in real servers: temporary ones of the programs installed here. Where there are none,
//! each test says so and passes.

mod commit;
mod stage;

use facts::database::{Count, Look};
use lab::database::Monitor;
use lab::failure::Failure;
use lab::known::Known;
use lab::workload::Settings;
use stage::{Stage, figures, quick, while_it_runs};
use std::fs;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, chown};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// A minute of PL/pgSQL.
const LONG: u64 = 20_000_000;

#[test]
fn the_cpu_test_gives_the_right_answer_in_each_database_and_leaves_nothing() {
    for engine in ["postgresql", "mariadb"] {
        let stage = Stage::new();
        let settings = Settings { engine: Some(engine.to_owned()), ..quick() };
        let Some(mut ready) = stage.ready("plsql-loop", &settings) else { continue };
        let outcome = ready.trial(&stage.scene()).unwrap();
        assert_eq!(figures(&outcome), "elapsed s, double precision s", "{engine}");
        assert!(matches!(outcome.cpu_ns, Known::Value(1..)), "{engine}: {:?}", outcome.cpu_ns);
        assert!(format!("{:?}", ready.about()).contains("temporary"));
        drop(ready);
        assert_eq!(stage.left(), Vec::<String>::new(), "{engine}");
    }
}

#[test]
fn a_server_that_starts_leaves_the_temporary_tables_of_others_alone() {
    let stage = Stage::new();
    let settings = Settings { engine: Some("mariadb".to_owned()), ..quick() };
    let Some(running) = stage.ready("plsql-loop", &settings) else { return };
    let owner = fs::metadata(stage.server().join("data")).unwrap().uid();
    let table = std::env::temp_dir().join(format!("#sql-temptable-{}-1-1.MAI", std::process::id()));
    fs::write(&table, "").unwrap();
    chown(&table, Some(owner), None).unwrap();
    let started = stage.ready("plsql-loop", &settings);
    let is_there = fs::remove_file(&table).is_ok();
    assert!(is_there && started.is_some(), "{} is gone", table.display());
    drop((running, started));
    assert_eq!(stage.left(), Vec::<String>::new());
}

#[test]
fn a_mariadb_server_tells_of_its_sessions_and_of_its_log() {
    let stage = Stage::new();
    let settings = Settings { engine: Some("mariadb".to_owned()), ..quick() };
    let Some(running) = stage.ready("plsql-loop", &settings) else { return };
    let files = fs::read_dir(stage.server().join("run")).unwrap().flatten();
    let mut sockets = files.filter(|it| it.file_type().unwrap().is_socket()).map(|it| it.path());
    let mut monitor = Monitor::of(sockets.next().unwrap().to_str().unwrap()).unwrap();
    let rows = monitor.look(&AtomicBool::new(false)).unwrap();
    let look = Look::parse(&rows, 1, true);
    assert!(!look.is_hidden(), "{rows:?}");
    for count in [Count::Commits, Count::Bytes, Count::Writes, Count::WriteRequests] {
        assert!(look.log.get(count).is_some(), "{count:?}: {rows:?}");
    }
    drop(running);
    assert_eq!(stage.left(), Vec::<String>::new());
}

#[test]
fn sessions_stay_on_the_cpus_they_are_given() {
    let stage = Stage::new();
    let cpu = stage.allowed.last().unwrap();
    let settings = Settings { cpus: Some(cpu.to_string()), iterations: Some(LONG), ..quick() };
    let Some(mut ready) = stage.ready("plsql-loop", &settings) else { return };
    let seen = while_it_runs(&stage, &mut *ready, || {
        let backends = stage.query("SELECT pid FROM pg_stat_activity WHERE query LIKE 'DO %'");
        let status = fs::read_to_string(format!("/proc/{}/status", backends.trim())).unwrap();
        status.lines().find(|it| it.starts_with("Cpus_allowed_list:")).unwrap().to_owned()
    });
    assert_eq!(seen.0, format!("Cpus_allowed_list:\t{cpu}"));
    assert!(matches!(seen.1, Err(Failure::Stopped)));
}

#[test]
fn a_cpu_that_is_not_there_is_refused_and_nothing_stays() {
    let stage = Stage::new();
    let settings = Settings { cpus: Some("8191".to_owned()), ..quick() };
    let Some(failure) = stage.refused("plsql-loop", &settings) else { return };
    assert!(
        failure.starts_with("--cpus: cannot keep the server's session on CPU 8191"),
        "{failure}"
    );
    assert_eq!(stage.left(), Vec::<String>::new());
}

#[test]
fn a_build_is_timed_by_phases_and_its_rows_are_counted() {
    let stage = Stage::new();
    let settings = Settings { rows: Some(5000), ..Settings::default() };
    let Some(mut ready) = stage.ready("schema-build", &settings) else { return };
    for _ in 0..2 {
        let outcome = ready.trial(&stage.scene()).unwrap();
        assert_eq!(figures(&outcome), "elapsed s, load s, index s, statistics s");
        let values: Vec<f64> = outcome.figures.iter().map(|it| it.value).collect();
        assert!((values.iter().skip(1).sum::<f64>() - values[0]).abs() < 1e-6, "{values:?}");
    }
    drop(ready);
    assert_eq!(stage.left(), Vec::<String>::new());
}

#[test]
fn a_users_server_keeps_no_schema_of_ours_not_even_that_of_a_killed_run() {
    let stage = Stage::new();
    let Some(_server) = stage.ready("plsql-loop", &quick()) else { return };
    let ours = "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'fullclock%' ORDER BY 1";
    stage.query("CREATE SCHEMA fullclock_build_999999; CREATE SCHEMA fullclock_build_0;");
    stage.query("COMMENT ON SCHEMA fullclock_build_999999 IS 'made by fullclock'");
    let settings = Settings { rows: Some(100), dsn: Some(stage.dsn()), ..Settings::default() };
    let mut ready = stage.ready("schema-build", &settings).unwrap();
    assert_eq!(stage.query(ours).trim(), "fullclock_build_0", "the one without a mark is not ours");
    ready.trial(&stage.scene()).unwrap();
    drop(ready);
    assert_eq!(stage.query(ours).trim(), "fullclock_build_0");
}

#[test]
fn a_users_mariadb_is_reached_by_its_socket() {
    let stage = Stage::new();
    let mariadb = Settings { engine: Some("mariadb".to_owned()), ..quick() };
    let Some(_server) = stage.ready("plsql-loop", &mariadb) else { return };
    let dsn = format!("mysql://root@localhost/?socket={}", stage.server().join("run/s").display());
    let settings = Settings { dsn: Some(dsn.clone()), ..mariadb };
    let mut ready = stage.ready("plsql-loop", &settings).unwrap();
    let outcome = ready.trial(&stage.scene()).unwrap();
    assert!(matches!(outcome.cpu_ns, Known::Value(1..)), "{:?}", outcome.cpu_ns);
    assert!(ready.about().iter().any(|(name, value)| name == "server" && *value == dsn));
}

#[test]
fn a_role_without_rights_is_told_by_the_servers_own_words() {
    let stage = Stage::new();
    let Some(_server) = stage.ready("plsql-loop", &quick()) else { return };
    stage.query("CREATE ROLE weak LOGIN");
    let dsn = stage.dsn().replace("user=fullclock", "user=weak");
    let settings = Settings { dsn: Some(dsn.clone()), ..quick() };
    assert!(
        stage.ready("plsql-loop", &settings).unwrap().trial(&stage.scene()).is_ok(),
        "it needs no rights"
    );
    let settings = Settings { rows: Some(100), dsn: Some(dsn), ..Settings::default() };
    let failure =
        stage.ready("schema-build", &settings).unwrap().trial(&stage.scene()).unwrap_err();
    assert!(failure.to_string().contains("permission denied for database postgres"), "{failure}");
}

#[test]
fn a_server_that_refuses_or_is_not_there_is_said_so() {
    let stage = Stage::new();
    let Some(_server) = stage.ready("plsql-loop", &quick()) else { return };
    let dsn = |text: &str| Settings { dsn: Some(text.to_owned()), ..quick() };
    let wrong = stage.dsn().replace("user=fullclock", "user=nobody_at_all password=hidden-word");
    let refused = stage.refused("plsql-loop", &dsn(&wrong)).unwrap();
    assert!(
        refused.contains("role \"nobody_at_all\" does not exist")
            && !refused.contains("hidden-word"),
        "{refused}"
    );
    let refused = stage.refused("plsql-loop", &dsn("host=/nowhere user=x")).unwrap();
    assert!(refused.starts_with("psql failed, exit code 2: "), "{refused}");
    let elsewhere =
        Settings { dsn: Some("mysql://root@localhost".to_owned()), ..Settings::default() };
    let refused = stage.refused("schema-build", &elsewhere).unwrap();
    assert_eq!(refused, "--dsn names a server of MariaDB, which this does not run in");
}

#[test]
fn a_server_that_dies_meanwhile_is_a_failure_and_leaves_nothing() {
    let stage = Stage::new();
    let settings = Settings { iterations: Some(LONG), ..quick() };
    let Some(mut ready) = stage.ready("plsql-loop", &settings) else { return };
    let failure = std::thread::scope(|scope| {
        scope.spawn(|| {
            stage.wait_for_work();
            let pid = fs::read_to_string(stage.server().join("data/postmaster.pid")).unwrap();
            Command::new("kill").args(["-QUIT", pid.lines().next().unwrap()]).status().unwrap();
        });
        ready.trial(&stage.scene()).unwrap_err()
    });
    assert!(matches!(failure, Failure::Program { .. }), "{failure}");
    drop(ready);
    assert_eq!(stage.left(), Vec::<String>::new());
}

#[test]
fn a_trial_that_lasts_too_long_or_is_stopped_is_cancelled_in_a_users_server_too() {
    let stage = Stage::new();
    let Some(_server) = stage.ready("plsql-loop", &quick()) else { return };
    let settings = Settings { iterations: Some(LONG), dsn: Some(stage.dsn()), ..quick() };
    let mut ready = stage.ready("plsql-loop", &settings).unwrap();
    let (_, stopped) = while_it_runs(&stage, &mut *ready, || ());
    assert!(matches!(stopped, Err(Failure::Stopped)));
    drop(ready);
    assert_eq!(stage.n_working(), 0, "stopped");
    let settings = Settings { timeout: Some(Duration::from_secs(2)), ..settings };
    stage.go_on();
    let mut ready = stage.ready("plsql-loop", &settings).unwrap();
    let failure = ready.trial(&stage.scene()).unwrap_err().to_string();
    assert!(failure.contains("within 2 s") || failure.contains("statement timeout"), "{failure}");
    drop(ready);
    assert_eq!(stage.n_working(), 0, "timed out");
}

#[test]
fn nonsense_is_refused_before_anything_is_started() {
    let stage = Stage::new();
    let refused = |id: &str, settings: &Settings| stage.refused(id, settings).unwrap();
    let oracle = Settings { engine: Some("oracle".to_owned()), ..Settings::default() };
    assert_eq!(refused("plsql-loop", &oracle), "--engine oracle: expected postgresql or mariadb");
    assert_eq!(refused("schema-build", &oracle), "--engine oracle: expected postgresql");
    let none = Settings { iterations: Some(0), ..quick() };
    assert_eq!(refused("plsql-loop", &none), "--iterations 0: expected 1 to 2147483647");
    let secret = Settings { dsn: Some("db:secret".to_owned()), ..quick() };
    assert!(!refused("plsql-loop", &secret).contains("secret"));
    assert_eq!(stage.left(), Vec::<String>::new());
}

/// Not a test of its own: what the next one starts and kills.
#[test]
#[ignore = "waits to be killed"]
fn a_server_is_held() {
    let Some(temporary) = std::env::var_os("HELD_IN") else { return };
    let stage = Stage::within(temporary.into());
    let _server = stage.ready("plsql-loop", &quick());
    println!("\nheld");
    std::thread::sleep(Duration::from_secs(600));
}

#[test]
fn the_server_of_a_killed_owner_is_gone_after_the_next_start() {
    let stage = Stage::new();
    let Some(first) = stage.ready("plsql-loop", &quick()) else { return };
    drop(first);
    stage.hold_and_kill("databases::a_server_is_held");
    let left = stage.server();
    let pid = fs::read_to_string(left.join("data/postmaster.pid")).unwrap();
    let process = format!("/proc/{}", pid.lines().next().unwrap());
    assert!(fs::exists(&process).unwrap(), "it outlives its owner");
    let swept = lab::database::sweep(&stage.temporary);
    assert_eq!(swept.into_iter().map(Result::unwrap).collect::<Vec<_>>(), [left]);
    assert!(!fs::exists(&process).unwrap() || fs::read_link(format!("{process}/cwd")).is_err());
    assert_eq!(stage.left(), Vec::<String>::new());
}
