//! Passwords that users type: none is printed, stored or journaled, whatever the command. And files that the program obeys.

use crate::support::{changes_settings, fullclock, is_of, printed, refusal};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Output;
use tempfile::TempDir;

const SECRET: &str = "S3KR1T77";

/// Commands with a secret that end at once and succeed.
const SPELLINGS: [&[&str]; 9] = [
    &["true", "postgres://me:S3KR1T77@db1/x"],
    &["true", "host=db1 password=S3KR1T77"],
    &["env", "PGPASSWORD=S3KR1T77", "true"],
    &["sh", "-c", "MYSQL_PWD=S3KR1T77 true"],
    &["true", "--password", "S3KR1T77"],
    &["sh", "-c", "true mysql -uroot -pS3KR1T77 x"],
    &["true", "curl", "-sSu", "me:S3KR1T77", "http://db1"],
    &["true", "sqlcmd", "-PS3KR1T77"],
    &["env", "DB_PW=S3KR1T77", "true"],
];

/// A folder that results, state and the home are in.
struct Session {
    folder: TempDir,
}

impl Session {
    fn new() -> Session {
        Session { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    /// Runs the binary; whatever comes of it, the secret is nowhere.
    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = fullclock(arguments);
        command.env("HOME", self.folder.path()).env_remove("XDG_STATE_HOME");
        let output = command.output().unwrap();
        let said = [&output.stdout[..], &output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        assert!(!said.contains(SECRET), "{arguments:?}: {said}");
        is_nowhere_below(self.folder.path());
        output
    }

    /// Runs the binary, which refuses the command and says where its password goes.
    fn refuses(&self, arguments: &[&str]) {
        let output = self.run(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains("PGPASSFILE") && said.contains("***"), "{arguments:?}: {said}");
    }
}

fn is_nowhere_below(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            is_nowhere_below(&path);
        } else if !path.ends_with("plan.toml") {
            let bytes = fs::read(&path).unwrap();
            let is_there = bytes.windows(SECRET.len()).any(|it| it == SECRET.as_bytes());
            assert!(!is_there, "{}", path.display());
        }
    }
}

/// The command as one text.
fn text(words: &[&str]) -> String {
    shlex::try_join(words.iter().copied()).unwrap()
}

#[test]
fn a_password_in_a_command_whose_trials_are_kept_is_refused_and_nowhere() {
    let session = Session::new();
    let (results, state) = (session.path("results"), session.path("state"));
    let plan = session.path("plan.toml");
    for spelling in SPELLINGS {
        let kept = ["--results", &results];
        let bench = ["bench", "-n", "3", "-q"];
        session.refuses(&[&bench[..], &kept, &["--"], spelling].concat());
        let side = text(spelling);
        session.refuses(&[&bench[..], &kept, &["--vs", &side, "true"]].concat());
        let study = ["experiment", "load=idle,all-cores", "-w", &side, "--state-dir", &state];
        session.refuses(&[&study[..], &kept].concat());
        fs::write(
            &plan,
            format!("workloads = [{side:?}]\n[factors]\nload = ['idle', 'all-cores']\n"),
        )
        .unwrap();
        session.refuses(&[&["experiment", &plan, "--state-dir", &state][..], &kept].concat());
    }
}

#[test]
fn a_password_in_a_proof_is_refused_before_the_journal_has_it() {
    let _settings = changes_settings();
    if !host::ownership::is_root() {
        return;
    }
    let session = Session::new();
    let state = session.path("state");
    for spelling in SPELLINGS {
        let workload = format!("command -- {}", text(spelling));
        let words =
            ["apply", "--prove", &workload, "cpu-dma-latency=1000000", "--state-dir", &state];
        session.refuses(&words);
    }
}

#[test]
fn a_command_without_a_password_is_not_refused() {
    let session = Session::new();
    let results = session.path("results");
    let command = ["sh", "-c", "true mysqldump x | true pigz -p8"];
    printed(&[&["bench", "-n", "3", "-q", "--results", &results, "--"][..], &command].concat());
}

#[test]
fn a_password_in_a_result_of_an_earlier_version_is_not_shown() {
    let session = Session::new();
    let results = session.path("results");
    let kept = ["--results", results.as_str()];
    printed(
        &[&["bench", "-n", "3", "-q"][..], &kept, &["--", "true", "postgres://db1/x"]].concat(),
    );
    let is_result = |it: &std::path::PathBuf| it.extension().is_some_and(|it| it == "json");
    let mut files = fs::read_dir(&results).unwrap().map(|it| it.unwrap().path());
    let path = files.find(is_result).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let earlier = text.replace("postgres://db1/x", "postgres://me:S3KR1T77@db1/x");
    assert!(text != earlier);
    fs::write(&path, earlier).unwrap();
    let path = path.to_str().unwrap();
    for more in [&[][..], &["--json"]] {
        let shown = printed(&[&["compare", path, path][..], more].concat());
        assert!(!shown.contains(SECRET), "{shown}");
    }
}

#[test]
fn a_command_that_is_only_measured_runs_and_its_password_is_not_shown() {
    let session = Session::new();
    let tape = session.path("watch.tape");
    for spelling in [SPELLINGS[0], SPELLINGS[3]] {
        let output = session.run(&[&["ledger", "--json", "--"], spelling].concat());
        let ledger = serde_json::from_slice(&output.stdout).unwrap();
        is_of(include_str!("../../../../schemas/ledger-2.json"), &ledger);
        let watch = ["watch", "--csv", "--record", &tape, "--force", "--"];
        let output = session.run(&[&watch[..], spelling].concat());
        assert!(output.status.success(), "{output:?}");
    }
}

#[test]
fn an_error_that_repeats_words_of_the_user_repeats_no_password() {
    let session = Session::new();
    let url = "postgres://me:S3KR1T77@db1/x";
    for words in [
        &["race", "--nodes", url, "--nodes", "ssh:db2"][..],
        &["race", "--node", "postgres://me:S3KR1T77@db1/x?a=b", "--node", "b=embedded"],
        &["race", "--node", "a=embedded,password=S3KR1T77", "--node", "b=embedded"],
        &["bench", url],
        &["bench", "--password=S3KR1T77"],
        &["bench", "-n", "password=S3KR1T77"],
        &["bench", "--vs", "pgbench 'postgres://me:S3KR1T77@db1", "true"],
        &["ledger", "--", "PGPASSWORD=S3KR1T77 pgbench"],
        &["watch", "--", "PGPASSWORD=S3KR1T77 pgbench"],
        &["experiment", url],
        &["plan", url],
        &["--host", "/nowhere/password=S3KR1T77"],
        &["explain", url],
    ] {
        let output = session.run(words);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("***"), "{words:?}: {output:?}");
    }
}

#[test]
fn a_plan_of_an_experiment_that_others_can_write_is_refused() {
    let session = Session::new();
    let (plan, ran) = (session.path("plan.toml"), session.path("ran"));
    let text = format!(
        "workloads = ['command --cpus 0 -- touch {ran}']\n[factors]\nload = ['idle', 'all-cores']\n"
    );
    fs::write(&plan, text).unwrap();
    fs::set_permissions(&plan, Permissions::from_mode(0o666)).unwrap();
    let error = refusal(&["experiment", &plan, "--state-dir", &session.path("state")]);
    assert!(error.contains("others can write it (mode 666): chmod go-w it"), "{error}");
    assert!(!Path::new(&ran).exists());
    fs::set_permissions(&plan, Permissions::from_mode(0o600)).unwrap();
    let study = ["experiment", &plan, "-n", "6", "--state-dir", &session.path("state")];
    printed(&[&study[..], &["--results", &session.path("results"), "-q"]].concat());
    assert!(Path::new(&ran).exists());
}
