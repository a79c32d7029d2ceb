//! Whether CPUs are so many that the whole host has what they have.

use facts::{CpuSet, HostView};
use std::collections::BTreeSet;

/// Whether these are many of the host's CPUs. Where nothing says how many it has, they are.
pub(crate) fn are_many(host: &HostView, cpus: &CpuSet) -> bool {
    are_many_of(host, cpus, &host.topology.online.clone().unwrap_or_default())
}

/// Whether these are at least half of `all`, or all of them that are of one kind (hybrid processors).
pub(crate) fn are_many_of(host: &HostView, cpus: &CpuSet, all: &CpuSet) -> bool {
    2 * cpus.len() >= all.len() || are_all_of_a_kind(host, cpus, all)
}

/// Whether so many CPUs, whichever they are, are many of the host's.
pub(crate) fn is_many(host: &HostView, n_cpus: f64) -> bool {
    2.0 * n_cpus >= host.topology.n_online() as f64
}

/// Whether all of `all` that are of some kind are among these.
pub(crate) fn are_all_of_a_kind(host: &HostView, cpus: &CpuSet, all: &CpuSet) -> bool {
    let kinds: BTreeSet<&str> =
        cpus.iter().filter_map(|cpu| host.topology.core_type(cpu)).collect();
    let n_of = |kind: &str, cpus: &CpuSet| {
        cpus.iter().filter(|&cpu| host.topology.core_type(cpu) == Some(kind)).count()
    };
    kinds.into_iter().any(|kind| n_of(kind, cpus) == n_of(kind, all))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::host_of;

    #[test]
    fn half_of_the_cpus_are_many_and_so_are_all_of_a_kind() {
        let host = host_of(
            "//- /sys/devices/system/cpu/online\n0-7\n//- /sys/devices/cpu_core/cpus\n0-1\n//- /sys/devices/cpu_atom/cpus\n2-7\n",
        );
        let many = |list: &str| are_many(&host, &CpuSet::parse_list(list).unwrap());
        assert_eq!([many("2-5"), many("0-1"), many("2,3,0,1")], [true; 3]);
        assert_eq!([many("0"), many("2-4"), many("0,2,3")], [false; 3]);
        assert!(are_many(&host_of(""), &CpuSet::default()));
    }
}
