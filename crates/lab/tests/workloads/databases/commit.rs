//! Commits in real servers.

use crate::databases::stage::Stage;
use lab::failure::Failure;
use lab::trial::Outcome;
use lab::workload::Settings;
use std::fs;
use std::process::Command;

fn sessions(engine: Option<&str>) -> Settings {
    Settings { sessions: Some(2), engine: engine.map(str::to_owned), ..Settings::default() }
}

fn names(outcome: &Outcome) -> Vec<&str> {
    outcome.figures.iter().map(|it| it.name).collect()
}

#[test]
fn commits_are_counted_and_split_in_each_database_and_leave_nothing() {
    // Of log writes, MariaDB 10.8 and later tells how many there were.
    for (engine, n_told) in [("postgresql", 4), ("mariadb", 3)] {
        let stage = Stage::new();
        let Some(mut ready) = stage.ready("commit", &sessions(Some(engine))) else { continue };
        for _ in 0..2 {
            let outcome = ready.trial(&stage.scene()).unwrap();
            let expected = ["commits", "log writes", "commits a log write", "log write"];
            assert_eq!(names(&outcome)[..n_told], expected[..n_told], "{engine}");
            assert!(names(&outcome).contains(&"commit, session's CPU time"), "{engine}");
            assert!(outcome.figures.iter().take(n_told).all(|it| it.value > 0.0), "{outcome:?}");
        }
        let about = format!("{:?}", ready.about());
        let is_told = ["every commit kept safe on disk", "in memory: nothing is durable"];
        assert!(is_told.iter().any(|it| about.contains(it)), "{about}");
        drop(ready);
        assert_eq!(stage.left(), Vec::<String>::new(), "{engine}");
    }
}

#[test]
fn a_users_server_keeps_no_table_of_ours_and_all_of_its_own() {
    let stage = Stage::new();
    let Some(_server) = stage.ready("commit", &sessions(Some("postgresql"))) else { return };
    stage.query("CREATE SCHEMA fullclock_commit_0; CREATE TABLE fullclock_commit_0.session_0 ()");
    let ours = "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'fullclock%' ORDER BY 1";
    let kept = stage.query(ours);
    let settings = Settings { dsn: Some(stage.dsn()), ..sessions(None) };
    let mut ready = stage.ready("commit", &settings).unwrap();
    ready.trial(&stage.scene()).unwrap();
    assert_ne!(stage.query(ours), kept);
    drop(ready);
    assert_eq!(stage.query(ours), kept);
}

#[test]
fn a_role_that_may_make_no_schema_is_told_by_the_servers_own_words() {
    let stage = Stage::new();
    let Some(_server) = stage.ready("commit", &sessions(Some("postgresql"))) else { return };
    stage.query("CREATE ROLE weak LOGIN");
    let dsn = stage.dsn().replace("user=fullclock", "user=weak");
    let refused = stage.refused("commit", &Settings { dsn: Some(dsn), ..sessions(None) }).unwrap();
    assert!(refused.contains("permission denied for database postgres"), "{refused}");
}

#[test]
fn a_server_that_dies_while_it_commits_is_a_failure_and_leaves_nothing() {
    let stage = Stage::new();
    let Some(mut ready) = stage.ready("commit", &sessions(Some("postgresql"))) else { return };
    let failure = std::thread::scope(|scope| {
        scope.spawn(|| {
            stage.wait_for_work();
            let pid = fs::read_to_string(stage.server().join("data/postmaster.pid")).unwrap();
            Command::new("kill").args(["-QUIT", pid.lines().next().unwrap()]).status().unwrap();
        });
        // A trial of a second may be over before the server is.
        std::iter::repeat_with(|| ready.trial(&stage.scene())).find_map(Result::err).unwrap()
    });
    assert!(matches!(failure, Failure::Program { .. }), "{failure}");
    drop(ready);
    assert_eq!(stage.left(), Vec::<String>::new());
}

#[test]
fn settings_that_cannot_be_are_refused_before_anything_is_started() {
    let stage = Stage::new();
    let refused = |settings: Settings| stage.refused("commit", &settings).unwrap();
    let expected = "--sessions 0: expected 1 to 4096";
    assert_eq!(refused(Settings { sessions: Some(0), ..Settings::default() }), expected);
    let engine = refused(sessions(Some("oracle")));
    assert_eq!(engine, "--engine oracle: expected embedded or postgresql or mariadb");
    let dsn = Some("host=/nowhere".to_owned());
    let both = refused(Settings { dsn, ..sessions(Some("embedded")) });
    assert_eq!(both, "--dsn names a server, and --engine embedded needs none");
    let cpus = Settings { cpus: Some("0".to_owned()), ..sessions(Some("postgresql")) };
    assert!(refused(cpus).contains("start the server there"));
    assert_eq!(stage.left(), Vec::<String>::new());
}
