//! A control group with a CPU quota that this program makes for itself, and removes.
//!
//! Of version 1 it is made below the group that this process is in, of version 2 below the nearest ancestor that hands the CPU
//! controller to its children: a group with processes in it cannot (Documentation/admin-guide/cgroup-v2.rst, "No Internal Process
//! Constraint"). Nothing else of the host is changed. Its folder is locked (flock(2)) for as long as its maker lives: the kernel
//! gives the lock back however that process ends, and a later start removes groups whose lock is free.
//!
//! Source: Documentation/scheduler/sched-bwc.rst, Documentation/admin-guide/cgroup-v2.rst ("CPU Interface Files").
#![expect(
    clippy::disallowed_methods,
    reason = "makes and removes its own group, and moves this process"
)]

use crate::process::enter_control_group;
use crate::{Live, Source};
use facts::Fact;
use facts::system::cgroup::{Folders, Mounts, Version};
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::Duration;

/// How the names of its groups begin.
const PREFIX: &str = "fullclock-quota-";

/// The kernel's default period, in microseconds.
const PERIOD_US: u64 = 100_000;

/// How long, and how often, a group is asked to go: processes that have just ended are in it for some milliseconds.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(20);

/// A group with a quota, which this process is in. Dropping it moves the process back and removes the group.
#[derive(Debug)]
pub struct QuotaGroup {
    folder: PathBuf,
    /// The group that the process came from.
    home: PathBuf,
    /// Held until the group is gone.
    _lock: File,
}

impl QuotaGroup {
    /// Makes a group that may use as much time as `n_cpus` CPUs have, and moves this process there; what it starts later starts there.
    ///
    /// Errors: no group can be made here, and what to do; the kernel refuses the quota, as where the group above has less.
    pub fn enter(n_cpus: f64) -> io::Result<QuotaGroup> {
        let live = Live::this_machine();
        let source: &dyn Source = &live;
        let own = own_folders(source).map_err(|it| io::Error::other(it.to_string()))?;
        let (version, home, parent) = place(source, &own)?;
        let (folder, lock) = make(&parent).map_err(|error| refused(&parent, &error))?;
        let made = QuotaGroup { folder, home, _lock: lock };
        made.limit(version, n_cpus)?;
        enter_control_group(&made.folder)?;
        Ok(made)
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn limit(&self, version: Version, n_cpus: f64) -> io::Result<()> {
        let quota_us = (n_cpus * PERIOD_US as f64).round() as u64;
        let set = |name: &str, value: String| {
            let file = self.folder.join(name);
            fs::write(&file, &value).map_err(|error| {
                let text = format!("cannot write {value} to {}: {error}", file.display());
                io::Error::new(error.kind(), text)
            })
        };
        match version {
            Version::V1 => {
                set("cpu.cfs_period_us", PERIOD_US.to_string())?;
                set("cpu.cfs_quota_us", quota_us.to_string())
            }
            Version::V2 => set("cpu.max", format!("{quota_us} {PERIOD_US}")),
        }
    }
}

impl Drop for QuotaGroup {
    fn drop(&mut self) {
        // What cannot be removed is tried again at the next start.
        let left = fs::write(self.home.join("cgroup.procs"), std::process::id().to_string());
        let _stays = left.and_then(|()| remove(&self.folder)).is_err();
    }
}

/// Removes the groups, on the way to the one that this process is in, whose maker is gone. Gives those removed, and of the
/// others why not.
pub fn sweep() -> Vec<io::Result<PathBuf>> {
    let live = Live::this_machine();
    let folders = own_folders(&live).unwrap_or_default();
    folders.iter().flat_map(|(_, folder)| sweep_in(Path::new(folder))).collect()
}

fn sweep_in(parent: &Path) -> Vec<io::Result<PathBuf>> {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten().map(|it| it.path());
    let abandoned = entries.filter_map(|it| abandoned(&it).map(|lock| (it, lock)));
    let removed = |(folder, _lock): (PathBuf, File)| {
        remove(&folder).map(|()| folder.clone()).map_err(|error| {
            let text = format!("cannot remove the control group {}: {error}", folder.display());
            io::Error::new(error.kind(), text)
        })
    };
    abandoned.map(removed).collect()
}

/// The lock of a group that this user's fullclock made, and whose maker is gone.
fn abandoned(folder: &Path) -> Option<File> {
    let is_named = folder.file_name()?.to_str()?.starts_with(PREFIX);
    let about = fs::symlink_metadata(folder).ok()?;
    let is_own = about.is_dir() && about.uid() == rustix::process::geteuid().as_raw();
    if !(is_named && is_own) {
        return None;
    }
    let lock = File::open(folder).ok()?;
    lock.try_lock().ok()?;
    Some(lock)
}

/// The groups that this process is in, and those above them.
fn own_folders(source: &dyn Source) -> Fact<Folders> {
    let mounts = source.parsed("/proc/self/mountinfo", Mounts::parse)?;
    source.parsed("/proc/self/cgroup", |text| mounts.folders(text))
}

/// The group that this process is in, and the one to make another in.
fn place(source: &dyn Source, own: &Folders) -> io::Result<(Version, PathBuf, PathBuf)> {
    let of = |version| own.iter().rev().filter(move |it| it.0 == version).map(|it| &it.1);
    if let Some(home) = of(Version::V1).next() {
        return Ok((Version::V1, home.into(), home.into()));
    }
    let Some(home) = of(Version::V2).next() else {
        let text = "this process is in no control group that is mounted here";
        return Err(io::Error::new(ErrorKind::Unsupported, text));
    };
    let hands_out = |folder: &&String| {
        let controllers = source.text(&format!("{folder}/cgroup.subtree_control"));
        controllers.is_ok_and(|it| it.split_whitespace().any(|it| it == "cpu"))
    };
    let parent = of(Version::V2).find(hands_out).ok_or_else(|| {
        let root = of(Version::V2).next_back().unwrap_or(home);
        let text = format!(
            "no control group above this process hands out the CPU controller; \
             `echo +cpu > {root}/cgroup.subtree_control` lets it"
        );
        io::Error::new(ErrorKind::Unsupported, text)
    })?;
    Ok((Version::V2, home.into(), parent.into()))
}

/// Makes a group and takes its lock. A sweep that finds it before it is locked takes it away, and another one is made.
fn make(parent: &Path) -> io::Result<(PathBuf, File)> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    const TRIES: u32 = 3;
    let mut last = io::Error::from(ErrorKind::NotFound);
    for _ in 0..TRIES {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = parent.join(format!("{PREFIX}{}-{count}", std::process::id()));
        fs::create_dir(&folder)?;
        let locked = File::open(&folder).and_then(|lock| {
            lock.try_lock()?;
            fs::symlink_metadata(&folder)?;
            Ok(lock)
        });
        match locked {
            Ok(lock) => return Ok((folder, lock)),
            Err(error) => last = error,
        }
        // It is another's to remove, or gone.
        let _gone = fs::remove_dir(&folder).is_err();
    }
    Err(last)
}

fn refused(parent: &Path, error: &io::Error) -> io::Error {
    let advice = match error.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "; run it as root, or name a group that you may enter"
        }
        _ => "",
    };
    let text = format!("cannot make a control group in {}: {error}{advice}", parent.display());
    io::Error::new(error.kind(), text)
}

/// Removes a group once nothing is in it.
///
/// Errors: something stays in it.
fn remove(folder: &Path) -> io::Result<()> {
    let mut waited = Duration::ZERO;
    loop {
        match fs::remove_dir(folder) {
            Err(error) if error.kind() == ErrorKind::ResourceBusy && waited < PATIENCE => {
                sleep(PAUSE);
                waited += PAUSE;
            }
            removed => return removed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Captured;

    fn placed(excerpt: &str) -> Result<String, String> {
        let source = Captured::excerpt(excerpt).unwrap();
        let own = own_folders(&source).map_err(|it| it.to_string())?;
        let (version, home, parent) = place(&source, &own).map_err(|it| it.to_string())?;
        Ok(format!("{version:?} {} {}", home.display(), parent.display()))
    }

    const V2: &str = "//- /proc/self/mountinfo\n31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n\
                      //- /proc/self/cgroup\n0::/user.slice/session-1.scope\n";

    #[test]
    fn version_1_makes_it_in_the_own_group() {
        let mounts = "//- /proc/self/mountinfo\n\
                      32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
                      41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n\
                      //- /proc/self/cgroup\n1:cpu:/jobs/7\n0::/x\n";
        let expected = "V1 /sys/fs/cgroup/cpu/jobs/7 /sys/fs/cgroup/cpu/jobs/7".to_owned();
        assert_eq!(placed(mounts), Ok(expected));
    }

    #[test]
    fn version_2_makes_it_where_the_controller_is_handed_out() {
        let handed =
            |folder: &str| format!("{V2}//- {folder}/cgroup.subtree_control\ncpu memory\n");
        let home = "/sys/fs/cgroup/user.slice/session-1.scope";
        for parent in ["/sys/fs/cgroup", "/sys/fs/cgroup/user.slice"] {
            assert_eq!(placed(&handed(parent)), Ok(format!("V2 {home} {parent}")));
        }
        let refused = placed(V2).unwrap_err();
        assert!(
            refused.contains("`echo +cpu > /sys/fs/cgroup/cgroup.subtree_control`"),
            "{refused}"
        );
    }

    #[test]
    fn only_groups_of_its_own_whose_maker_is_gone_are_swept() {
        let parent = tempfile::tempdir().unwrap();
        let (held, lock) = make(parent.path()).unwrap();
        for name in ["other", "fullclock-quota-1-0"] {
            fs::create_dir(parent.path().join(name)).unwrap();
        }
        let swept: Vec<PathBuf> = sweep_in(parent.path()).into_iter().flatten().collect();
        assert_eq!(swept, [parent.path().join("fullclock-quota-1-0")]);
        assert!(held.exists() && parent.path().join("other").exists());
        drop(lock);
        assert_eq!(sweep_in(parent.path()).len(), 1);
        assert!(!held.exists());
    }
}
