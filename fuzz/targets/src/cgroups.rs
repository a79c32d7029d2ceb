//! Files of control groups, and where /proc/PID/mountinfo says they are.

use facts::system::cgroup::{Mounts, Quota, Throttling, Version};

pub(crate) fn run(input: &[u8]) {
    let text = crate::text(input);
    if let Ok(Some(quota)) = Quota::parse(text) {
        assert!(quota.n_cpus() >= 0.0, "{quota:?}");
    }
    for version in [Version::V1, Version::V2] {
        if let Ok(throttling) = Throttling::parse(text, version) {
            assert!(throttling.share() >= 0.0, "{throttling:?}");
        }
    }
    let (mountinfo, cgroup) = text.split_once("\n\n").unwrap_or((text, "0::/system.slice\n"));
    if let Ok(mounts) = Mounts::parse(mountinfo) {
        let _ = mounts.folders(cgroup);
        assert!(mounts.points().count() <= mountinfo.lines().count(), "{mounts:?}");
    }
}
