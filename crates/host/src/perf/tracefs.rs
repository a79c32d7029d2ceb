//! Where tracepoints are described: tracefs as it is mounted, or an instance of it that only this process can reach.
//!
//! fsmount(2) gives a mount that is in no mount namespace (Linux 5.2): it changes nothing that others see, and is gone with its
//! descriptor. It takes CAP_SYS_ADMIN, as mounting does.

use super::counters::tracepoint_folder;
use crate::Source;
use facts::Fact;
use rustix::fd::{AsRawFd as _, OwnedFd};
use rustix::io::Errno;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};

/// A folder of tracepoints, for as long as this lives.
#[derive(Debug)]
pub(super) struct Tracefs {
    /// `/sys/kernel/tracing/events`, or that folder of the own instance.
    pub(super) events: String,
    _own: Option<OwnedFd>,
}

impl Tracefs {
    /// The one that is mounted.
    pub(super) fn mounted(source: &dyn Source) -> Fact<Tracefs> {
        Ok(Tracefs { events: tracepoint_folder(source)?, _own: None })
    }

    /// The one that is mounted, or where none is, one of this process's own.
    ///
    /// Errors: why the mounted one cannot be used, where there can be no other.
    pub(super) fn mounted_or_own(source: &dyn Source) -> Fact<Tracefs> {
        Tracefs::mounted(source).or_else(|missing| Tracefs::own().map_err(|_| missing))
    }

    fn own() -> Result<Tracefs, Errno> {
        let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
        fsconfig_create(&context)?;
        let attributes = MountAttrFlags::MOUNT_ATTR_RDONLY
            | MountAttrFlags::MOUNT_ATTR_NOEXEC
            | MountAttrFlags::MOUNT_ATTR_NOSUID
            | MountAttrFlags::MOUNT_ATTR_NODEV;
        let mount = fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?;
        let events = format!("/proc/self/fd/{}/events", mount.as_raw_fd());
        Ok(Tracefs { events, _own: Some(mount) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Live;

    #[test]
    fn an_own_instance_has_the_kernels_tracepoints_and_is_mounted_nowhere() {
        let live = Live::this_machine();
        let source: &dyn Source = &live;
        let mounts = || source.text("/proc/self/mountinfo").unwrap();
        let before = mounts();
        // Only root may, and only of a kernel that has it.
        let Ok(own) = Tracefs::own() else { return };
        let format = source.text(&format!("{}/sched/sched_switch/format", own.events));
        assert!(format.unwrap().contains("prev_state"));
        assert_eq!(mounts(), before);
    }
}
