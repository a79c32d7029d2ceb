//! Commits of a process that may use a quarter of the CPU time that it takes otherwise: the disk is the same, and the log writer
//! waits. It takes root and a hierarchy of control groups with the CPU controller; where that is missing, the test says so and
//! passes.

use lab::commit::{Cause, Engine, Split, judge, open};
use lab::workload::{Scene, Settings};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::thread::sleep;
use std::time::Duration;

/// The kernel's default (Documentation/scheduler/sched-bwc.rst).
const PERIOD_US: u64 = 100_000;

/// The least quota that the kernel takes.
const LEAST_US: u64 = 1000;

/// Tells a process of this program that only the test below runs in it.
const OWN_PROCESS: &str = "COMMIT_QUOTA_PROCESS";

/// A group with this process in it, which leaves it and removes it in the end.
struct Group {
    folder: PathBuf,
    before: PathBuf,
    is_version_2: bool,
}

impl Group {
    fn enter() -> Option<Group> {
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
        let made = mounts.lines().find_map(|mount| {
            let mut fields = mount.split(' ').skip(1);
            let (root, kind, options) = (fields.next()?, fields.next()?, fields.next()?);
            let root = Path::new(root);
            match kind {
                "cgroup" if options.split(',').any(|it| it == "cpu") => Group::make(root, false),
                "cgroup2" => Group::make(root, true),
                _ => None,
            }
        });
        if made.is_none() {
            println!(
                "skipped: no control group with a CPU quota can be made here (root, CPU controller)"
            );
        }
        made
    }

    fn make(root: &Path, is_version_2: bool) -> Option<Group> {
        let own = fs::read_to_string("/proc/self/cgroup").unwrap();
        let own = own.lines().find_map(|line| {
            let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
            let is_it = if is_version_2 {
                controllers.is_empty()
            } else {
                controllers.split(',').any(|it| it == "cpu")
            };
            is_it.then(|| path.trim_start_matches('/').to_owned())
        })?;
        let folder = root.join(format!("fullclock-test-{}", std::process::id()));
        fs::create_dir(&folder).ok()?;
        let group = Group { folder, before: root.join(own), is_version_2 };
        // The group of version 2 has no quota where its root does not hand the controller out.
        let enters =
            group.allow(None) && group.write("cgroup.procs", &std::process::id().to_string());
        enters.then_some(group)
    }

    /// Lets it use that share of one CPU; `None` for all of them.
    fn allow(&self, share: Option<f64>) -> bool {
        let quota = share.map(|it| ((PERIOD_US as f64 * it) as u64).max(LEAST_US).to_string());
        if self.is_version_2 {
            let quota = quota.unwrap_or_else(|| "max".to_owned());
            self.write("cpu.max", &format!("{quota} {PERIOD_US}"))
        } else {
            self.write("cpu.cfs_quota_us", &quota.unwrap_or_else(|| "-1".to_owned()))
        }
    }

    fn write(&self, name: &str, value: &str) -> bool {
        fs::write(self.folder.join(name), value).is_ok()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Where it never entered, there is nothing to leave.
        let _stays =
            fs::write(self.before.join("cgroup.procs"), std::process::id().to_string()).is_err();
        fs::remove_dir(&self.folder).unwrap();
    }
}

/// Two seconds of commits.
fn measured(engine: &mut dyn Engine) -> Split {
    engine.start().unwrap();
    let before = engine.sample().unwrap();
    sleep(Duration::from_secs(2));
    let after = engine.sample().unwrap();
    engine.stop().unwrap();
    Split::between(&before, &after).unwrap()
}

/// Runs the test in another process: the quota is one of a process, and would hold other tests, too.
fn in_a_process_of_its_own() {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let name = "a_quota_lets_the_log_writer_wait_and_leaves_the_disk_alone";
    command.args(["--exact", &format!("commit_quota::alone::{name}"), "--nocapture"]);
    let output = command.env(OWN_PROCESS, "1").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{said}{errors}");
    println!("{said}");
}

mod alone {
    use super::*;

    #[test]
    fn a_quota_lets_the_log_writer_wait_and_leaves_the_disk_alone() {
        if std::env::var_os(OWN_PROCESS).is_none() {
            return in_a_process_of_its_own();
        }
        let Some(group) = Group::enter() else { return };
        let host = host::view(&host::Live::this_machine());
        let temporary = tempfile::tempdir_in("/var/tmp").unwrap();
        let stop = AtomicBool::new(false);
        let allowed = host::probe::allowed().unwrap();
        let scene =
            Scene { host: &host, allowed, temporary: temporary.path().to_owned(), stop: &stop };
        let settings = Settings { sessions: Some(64), ..Settings::default() };
        let mut engine = open(&settings, &scene).unwrap();
        let free = measured(&mut *engine);
        // Of a busy machine's CPUs it gets less than it could use; a quarter of that always binds.
        let cpu = free.commit.cpu.value().unwrap().as_secs_f64() * free.commits_per_second();
        assert!(group.allow(Some(cpu / 4.0)));
        let held = measured(&mut *engine);
        assert!(group.allow(None));
        drop(engine);

        let verdict = judge(("A", &free), ("B", &held));
        println!("{verdict:#?}\n{free:#?}\n{held:#?}");
        assert!(verdict.rate < 1.0);
        // Which of the two waits longer is the scheduler's to choose; that it is neither the disk nor their own work is not.
        let is_wait = matches!(
            verdict.cause,
            Cause::WriterWaits(..) | Cause::WriterComesLate(..) | Cause::SessionsWait(..)
        );
        assert!(is_wait, "{verdict:#?}");
        let waiting = |it: &Split| it.write.value().unwrap().waiting;
        assert!(waiting(&held) > waiting(&free));
    }
}
