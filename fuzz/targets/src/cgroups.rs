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
    let _ = Mounts::parse(mountinfo).map(|mounts| mounts.folders(cgroup));
}
