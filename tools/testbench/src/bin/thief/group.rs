//! A control group with a CPU quota, in the hierarchy that the machine has: version 1
//! (Documentation/scheduler/sched-bwc.rst) or 2 (Documentation/admin-guide/cgroup-v2.rst).

use std::fs;
use std::path::{Path, PathBuf};
use std::process;

use anyhow::{Context as _, Result};

use crate::taken::Throttled;

/// The period of a quota, in microseconds: the kernel's default of 100 ms.
const PERIOD_US: u64 = 100_000;

/// A group of our own, removed with this value. It has to be empty by then.
#[derive(Debug)]
pub(crate) struct Group {
    folder: PathBuf,
    version: Version,
    /// The file that this made to hand out the CPU controller, which is undone with the group.
    enabled: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

impl Group {
    /// Makes a group that may use `percent` of one CPU.
    ///
    /// Errors: no hierarchy has the CPU controller, or it may not be changed.
    pub(crate) fn with_quota(percent: u8) -> Result<Group> {
        let mounts = fs::read_to_string("/proc/self/mounts").context("cannot read the mounts")?;
        let (root, version) = hierarchy(&mounts, |root| {
            fs::read_to_string(root.join("cgroup.controllers")).unwrap_or_default()
        })
        .context("no control group hierarchy has the CPU controller")?;
        let enabled = if version == Version::Two { enable_cpu(&root)? } else { None };
        let folder = root.join(format!("thief-{}", process::id()));
        let group = Group { folder, version, enabled };
        fs::create_dir(&group.folder)
            .with_context(|| format!("cannot make {}", group.folder.display()))?;
        let quota = PERIOD_US * u64::from(percent) / 100;
        match version {
            Version::One => {
                group.write("cpu.cfs_period_us", &PERIOD_US.to_string())?;
                group.write("cpu.cfs_quota_us", &quota.to_string())?;
            }
            Version::Two => group.write("cpu.max", &format!("{quota} {PERIOD_US}"))?,
        }
        Ok(group)
    }

    /// Moves a process into the group.
    pub(crate) fn take(&self, pid: u32) -> Result<()> {
        self.write("cgroup.procs", &pid.to_string())
    }

    /// What the quota has kept off the CPU since the group was made.
    pub(crate) fn throttled(&self) -> Result<Throttled> {
        let path = self.folder.join("cpu.stat");
        let text =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        throttled(&text, self.version)
            .with_context(|| format!("{} tells of no throttling: {text}", path.display()))
    }

    fn write(&self, name: &str, value: &str) -> Result<()> {
        let path = self.folder.join(name);
        fs::write(&path, value)
            .with_context(|| format!("cannot write {value} to {}", path.display()))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // What cannot be removed was not made, or is in use by somebody else's process.
        fs::remove_dir(&self.folder).unwrap_or_default();
        if let Some(controllers) = &self.enabled {
            fs::write(controllers, "-cpu").unwrap_or_default();
        }
    }
}

/// Where the CPU controller is: a version 1 mount with the option `cpu`, or a version 2 mount whose
/// `controllers` name it.
fn hierarchy(mounts: &str, controllers: impl Fn(&Path) -> String) -> Option<(PathBuf, Version)> {
    let named = |list: &str, separator: char| list.trim().split(separator).any(|it| it == "cpu");
    mounts.lines().find_map(|line| {
        let mut fields = line.split(' ').skip(1);
        let (folder, kind, options) = (Path::new(fields.next()?), fields.next()?, fields.next()?);
        match kind {
            "cgroup" if named(options, ',') => Some((folder.to_owned(), Version::One)),
            "cgroup2" if named(&controllers(folder), ' ') => {
                Some((folder.to_owned(), Version::Two))
            }
            _ => None,
        }
    })
}

/// Hands the CPU controller out to the groups below `root`; returns what to undo.
fn enable_cpu(root: &Path) -> Result<Option<PathBuf>> {
    let path = root.join("cgroup.subtree_control");
    let error = || format!("cannot hand out the CPU controller by {}", path.display());
    let enabled = fs::read_to_string(&path).with_context(error)?;
    if enabled.split_whitespace().any(|it| it == "cpu") {
        return Ok(None);
    }
    fs::write(&path, "+cpu").with_context(error)?;
    Ok(Some(path))
}

/// Version 1 counts nanoseconds, version 2 microseconds.
fn throttled(stat: &str, version: Version) -> Option<Throttled> {
    let field = |name: &str| {
        let value = stat.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
        value.trim().parse::<u64>().ok()
    };
    let ns = match version {
        Version::One => field("throttled_time")?,
        Version::Two => field("throttled_usec")?.checked_mul(1000)?,
    };
    Some(Throttled { periods: field("nr_throttled")?, ns })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_controller_is_found_in_either_version() {
        let both = "cgroup /sys/fs/cgroup/cpuset cgroup rw,cpuset 0 0\n\
                    cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,nosuid,cpu,cpuacct 0 0\n\
                    cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n";
        let one = (PathBuf::from("/sys/fs/cgroup/cpu,cpuacct"), Version::One);
        assert_eq!(hierarchy(both, |_| String::new()), Some(one));
        let two = (PathBuf::from("/sys/fs/cgroup"), Version::Two);
        let unified = "none /sys/fs/cgroup cgroup2 rw 0 0\n";
        assert_eq!(hierarchy(unified, |_| "cpuset cpu io\n".into()), Some(two));
        assert_eq!(hierarchy(unified, |_| "cpuset io\n".into()), None);
        assert_eq!(hierarchy("", |_| String::new()), None);
    }

    #[test]
    fn throttled_time_is_in_nanoseconds_whatever_the_kernel_counts() {
        let one = "nr_periods 9\nnr_throttled 7\nthrottled_time 350000123\n";
        let two = "usage_usec 1\nnr_periods 9\nnr_throttled 7\nthrottled_usec 350000\n";
        let throttled_ns = |text, version| throttled(text, version).map(|it| it.ns);
        assert_eq!(throttled_ns(one, Version::One), Some(350_000_123));
        assert_eq!(throttled_ns(two, Version::Two), Some(350_000_000));
        assert_eq!(throttled_ns("nr_throttled 7\n", Version::Two), None);
    }
}
