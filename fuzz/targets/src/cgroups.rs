//! Files of control groups and of resctrl, and where /proc/PID/mountinfo says they are.

use facts::system::cgroup::{Mounts, Quota, Throttling, Version};
use facts::system::scheduler::{CpuTime, clamp, ext_state};
use facts::system::{partition, resctrl};

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
    if let Ok(time) = CpuTime::parse(text) {
        assert!(time.forced_share().is_none_or(|it| (0.0..=1.0).contains(&it)), "{time:?}");
    }
    assert!(clamp(text).map_or(true, |it| (0.0..=100.0).contains(&it)));
    let _ = (ext_state(text), partition::state(text));
    if let Ok(Some((line, numbers))) = resctrl::bandwidth(text) {
        assert_eq!(resctrl::bandwidth(&line), Ok(Some((line.clone(), numbers))));
    }
    let (mountinfo, cgroup) = text.split_once("\n\n").unwrap_or((text, "0::/system.slice\n"));
    if let Ok(mounts) = Mounts::parse(mountinfo) {
        let _ = mounts.folders(cgroup);
        assert!(mounts.points().count() <= mountinfo.lines().count(), "{mounts:?}");
    }
}
