//! A control group of a test's own with a CPU quota.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A control group with a CPU quota, which is removed in the end.
pub(crate) struct Group {
    pub(crate) folder: PathBuf,
    is_version_2: bool,
}

impl Group {
    /// With so many microseconds of each tenth of a second. `None` where no group with a quota can be made: that takes root, and
    /// a hierarchy with the CPU controller.
    pub(crate) fn make(quota: u32) -> Option<Group> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("fullclock-test-{}-{number}", std::process::id());
        let made = mounts.lines().find_map(|mount| {
            let fields: Vec<&str> = mount.split(' ').collect();
            let [_, root, kind, options, ..] = fields[..] else { return None };
            let has_cpu = options.split(',').any(|it| it == "cpu");
            let is_version_2 = kind == "cgroup2";
            if !(is_version_2 || kind == "cgroup" && has_cpu) {
                return None;
            }
            let folder = Path::new(root).join(&name);
            fs::create_dir(&folder).ok()?;
            let group = Group { folder, is_version_2 };
            group.allow(Some(quota)).then_some(group)
        });
        if made.is_none() {
            println!("skipped: no control group with a CPU quota can be made here");
        }
        made
    }

    /// So many microseconds of each tenth of a second; `None` for all.
    pub(crate) fn allow(&self, quota: Option<u32>) -> bool {
        let (name, text) = if self.is_version_2 {
            ("cpu.max", quota.map_or("max".to_owned(), |it| it.to_string()) + " 100000")
        } else {
            ("cpu.cfs_quota_us", quota.map_or("-1".to_owned(), |it| it.to_string()))
        };
        fs::write(self.folder.join(name), text).is_ok()
    }

    /// The share of the periods in which it ran that ended with its tasks stopped.
    pub(crate) fn throttled(&self) -> f64 {
        let text = fs::read_to_string(self.folder.join("cpu.stat")).unwrap();
        let count = |name: &str| -> f64 {
            let line = text.lines().find_map(|it| it.strip_prefix(name)?.strip_prefix(' '));
            line.unwrap().parse().unwrap()
        };
        count("nr_throttled") / count("nr_periods").max(1.0)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let deadline = Instant::now() + Duration::from_secs(30);
        // Whoever is in it is about to end.
        while fs::remove_dir(&self.folder).is_err() && Instant::now() < deadline {
            sleep(Duration::from_millis(20));
        }
    }
}
