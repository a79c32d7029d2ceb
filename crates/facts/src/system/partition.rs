//! Partitions of cpusets: CPUs that a control group keeps for itself, and, where it is isolated, outside of the scheduler's domains.
//!
//! Sources: Documentation/admin-guide/cgroup-v2.rst, "cpuset.cpus.partition"; kernel/cgroup/cpuset.c (`cpuset_partition_show`). A partition
//! that cannot be made stays requested: the file reads `isolated invalid (Cpu list in cpuset.cpus not exclusive)`. `isolated` is there
//! since Linux 6.1, `cpuset.cpus.isolated` of the root group since 6.7.

use crate::parse::{Expected, trimmed};
use crate::{CpuSet, Missing};

/// The partitions of a host.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Partitions {
    /// Those that are requested, groups above before those in them.
    pub list: Vec<Partition>,
    /// The first reason why some group could not be looked at.
    pub missing: Option<Missing>,
}

impl Partitions {
    /// The CPUs of isolated partitions that are in force.
    pub fn isolated(&self) -> CpuSet {
        let in_force = self.list.iter().filter(|it| it.is_isolated && it.invalid.is_none());
        in_force.flat_map(|it| it.cpus.iter()).collect()
    }
}

/// A group that is, or is to be, a partition.
#[derive(Clone, Debug, PartialEq)]
pub struct Partition {
    /// Its folder.
    pub folder: String,
    /// Whether it is to be outside of the scheduler's domains, and not only a domain of its own.
    pub is_isolated: bool,
    /// Why it is not in force, in the kernel's words; empty on kernels that do not say.
    pub invalid: Option<String>,
    /// The CPUs that it has: `cpuset.cpus.effective`; empty where unknown.
    pub cpus: CpuSet,
    /// The CPUs that it is to have, `cpuset.cpus`; empty where unknown.
    pub wanted: CpuSet,
}

/// What `cpuset.cpus.partition` says: whether it is isolated, and why it is not in force. `None` of a member of the partition above.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// `isolated`, not `root`.
    pub is_isolated: bool,
    /// As [`Partition::invalid`].
    pub invalid: Option<String>,
}

/// Parses `cpuset.cpus.partition`.
pub fn state(text: &str) -> Result<Option<State>, Expected> {
    const STATE: Expected = Expected("member, root or isolated");
    let text = trimmed(text);
    let (kind, rest) = text.split_once(' ').unwrap_or((text, ""));
    let is_isolated = match kind {
        "member" => return Ok(None),
        "root" => false,
        "isolated" => true,
        _ => return Err(STATE),
    };
    let invalid = match rest {
        "" => None,
        _ => {
            let reason = rest.strip_prefix("invalid").ok_or(STATE)?.trim();
            let inner = reason.strip_prefix('(').and_then(|it| it.strip_suffix(')'));
            Some(inner.unwrap_or(reason).to_owned())
        }
    };
    Ok(Some(State { is_isolated, invalid }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_has_the_kernels_reason() {
        let of = |text: &str| state(text).map(|it| it.map(|it| (it.is_isolated, it.invalid)));
        assert_eq!(of("member\n"), Ok(None));
        assert_eq!(of("isolated\n"), Ok(Some((true, None))));
        assert_eq!(of("root\n"), Ok(Some((false, None))));
        assert_eq!(of("root invalid\n"), Ok(Some((false, Some(String::new())))));
        assert_eq!(
            of("isolated invalid (Parent is not a partition root)\n"),
            Ok(Some((true, Some("Parent is not a partition root".into()))))
        );
        assert!(of("").is_err() && of("isolated x").is_err() && of("threaded").is_err());
    }
}
