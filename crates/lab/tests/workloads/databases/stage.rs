//! Where the tests of databases play: a temporary folder that servers' accounts can reach, and a way into the server.

use facts::{CpuSet, HostView};
use lab::failure::Failure;
use lab::trial::Outcome;
use lab::workload::{Ready, Scene, Settings};
use lab::workloads::WORKLOADS;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

pub(crate) struct Stage {
    pub(crate) temporary: PathBuf,
    pub(crate) allowed: CpuSet,
    host: HostView,
    stop: AtomicBool,
    _folder: Option<tempfile::TempDir>,
}

/// A test of the CPU test: a fraction of a second.
pub(crate) fn quick() -> Settings {
    Settings { iterations: Some(20_000), ..Settings::default() }
}

/// The names and units of figures.
pub(crate) fn figures(outcome: &Outcome) -> String {
    assert!(outcome.figures.iter().all(|it| it.value > 0.0), "{:?}", outcome.figures);
    assert!(outcome.elapsed_ns.value().is_some_and(|it| *it > 0));
    let figures = outcome.figures.iter().map(|it| format!("{} {}", it.name, it.unit));
    figures.collect::<Vec<_>>().join(", ")
}

/// Looks at a trial while the server works at it, then stops it.
pub(crate) fn while_it_runs<T: Send>(
    stage: &Stage,
    ready: &mut dyn Ready,
    look: impl FnOnce() -> T + Send,
) -> (T, Result<Outcome, Failure>) {
    std::thread::scope(|scope| {
        let looking = scope.spawn(|| {
            stage.wait_for_work();
            let seen = look();
            stage.stop.store(true, Ordering::Relaxed);
            seen
        });
        let trial = ready.trial(&stage.scene());
        (looking.join().unwrap(), trial)
    })
}

impl Stage {
    pub(crate) fn new() -> Stage {
        let folder = tempfile::Builder::new()
            .permissions(fs::Permissions::from_mode(0o755))
            .tempdir()
            .unwrap();
        Stage { _folder: Some(folder), ..Stage::within(PathBuf::new()) }.at_its_folder()
    }

    pub(crate) fn within(temporary: PathBuf) -> Stage {
        let host = host::view(&host::Captured::empty());
        let allowed = host::probe::allowed().unwrap();
        Stage { temporary, allowed, host, stop: AtomicBool::new(false), _folder: None }
    }

    fn at_its_folder(mut self) -> Stage {
        self.temporary = self._folder.as_ref().unwrap().path().to_owned();
        self
    }

    pub(crate) fn scene(&self) -> Scene<'_> {
        Scene {
            host: &self.host,
            allowed: self.allowed.clone(),
            temporary: self.temporary.clone(),
            stop: &self.stop,
        }
    }

    /// The workload, ready to run; `None`, and a word about it, where its programs are not installed.
    pub(crate) fn ready(&self, id: &str, settings: &Settings) -> Option<Box<dyn Ready>> {
        match self.prepared(id, settings) {
            Ok(ready) => Some(ready),
            Err(failure) if is_uninstalled(&failure) => None,
            Err(failure) => panic!("{failure}"),
        }
    }

    /// Why the workload cannot be made ready; `None` where its programs are not installed.
    pub(crate) fn refused(&self, id: &str, settings: &Settings) -> Option<String> {
        let failure = self.prepared(id, settings).err().unwrap();
        (!is_uninstalled(&failure)).then(|| failure.to_string())
    }

    fn prepared(&self, id: &str, settings: &Settings) -> Result<Box<dyn Ready>, Failure> {
        let workload = WORKLOADS.iter().find(|it| it.id == id).unwrap();
        workload.accepts(settings)?;
        (workload.prepare)(settings, &self.scene())
    }

    /// Lets trials run again after one was stopped.
    pub(crate) fn go_on(&self) {
        self.stop.store(false, Ordering::Relaxed);
    }

    /// What is in the temporary folder.
    pub(crate) fn left(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.temporary).unwrap();
        entries.map(|it| it.unwrap().file_name().to_string_lossy().into_owned()).collect()
    }

    /// The folder of the only server there is.
    pub(crate) fn server(&self) -> PathBuf {
        let [name] = self.left().try_into().unwrap();
        let name: String = name;
        self.temporary.join(name)
    }

    /// The temporary server of PostgreSQL as if it were the user's.
    pub(crate) fn dsn(&self) -> String {
        format!("host={} dbname=postgres user=fullclock", self.server().join("run").display())
    }

    /// Asks that server past the code under test.
    pub(crate) fn query(&self, statement: &str) -> String {
        let psql = Command::new("psql")
            .args(["-XAtqw", "-d", &self.dsn(), "-c", statement])
            .output()
            .unwrap();
        assert!(psql.status.success(), "{statement}: {}", String::from_utf8_lossy(&psql.stderr));
        String::from_utf8(psql.stdout).unwrap()
    }

    /// How many sessions work at a loop.
    pub(crate) fn n_working(&self) -> usize {
        let count =
            "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'DO %'";
        self.query(count).trim().parse().unwrap()
    }

    /// Waits until one does.
    pub(crate) fn wait_for_work(&self) {
        let began = Instant::now();
        while self.n_working() == 0 {
            assert!(began.elapsed() < Duration::from_secs(60), "nothing works");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Runs an ignored test of this binary in this folder until it says that it holds a server, then kills it.
    pub(crate) fn hold_and_kill(&self, test: &str) {
        let mut holder = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--ignored", "--nocapture"])
            .env("HELD_IN", &self.temporary)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(holder.stdout.take().unwrap()).lines();
        assert!(lines.map_while(Result::ok).any(|it| it == "held"), "it holds nothing");
        holder.kill().unwrap();
        holder.wait().unwrap();
    }
}

fn is_uninstalled(failure: &Failure) -> bool {
    let is_uninstalled = failure.to_string().contains("is installed here");
    if is_uninstalled {
        println!("left out: {failure}");
    }
    is_uninstalled
}
