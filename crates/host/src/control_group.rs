//! The control group that this process runs in.
//!
//! Source: Documentation/admin-guide/cgroup-v2.rst ("Processes") and cgroup-v1/cgroups.rst (1.2): a process number written to
//! `cgroup.procs` of a group moves that process with all its threads; what it starts later starts there.
#![expect(clippy::disallowed_methods, reason = "moves this process, and nothing else of the host")]

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

/// Where the kernel shows groups, of either version.
const GROUPS: &str = "/sys/fs/cgroup";

/// Moves this process to the group of that folder, which stays where it is and as it is.
///
/// Errors: it is no folder of a control group; the kernel or its owner refuses.
pub fn enter(folder: &Path) -> io::Result<()> {
    let real = folder.canonicalize()?;
    if !real.starts_with(GROUPS) || real == Path::new(GROUPS) {
        let text =
            format!("{} is no control group: those are folders in {GROUPS}", folder.display());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    let mut members = OpenOptions::new().write(true).open(real.join("cgroup.procs"))?;
    members.write_all(std::process::id().to_string().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_of_control_groups_can_be_entered() {
        for folder in ["/tmp", "/sys/fs/cgroup/../../kernel", "/sys/fs/cgroup"] {
            let refused = enter(Path::new(folder)).unwrap_err();
            assert!(refused.to_string().contains("no control group"), "{folder}: {refused}");
        }
        assert!(enter(Path::new("/sys/fs/cgroup/no/such/group")).is_err());
    }
}
