//! Which CPUs there are, and which of them share a core and a package.
//!
//! Source: Documentation/admin-guide/cputopology.rst. `possible` is what the kernel made room for,
//! `present` what is plugged in, `online` what runs.

use crate::{CpuSet, Fact};

/// The CPUs of a host.
#[derive(Clone, Debug, PartialEq)]
pub struct Topology {
    /// CPUs that run. The one fact without which nothing can be judged per CPU.
    pub online: Fact<CpuSet>,
    /// CPUs that are plugged in.
    pub present: Fact<CpuSet>,
    /// Whether `present` comes from the folders of CPUs, and which of them run from the files `online` in these: of a copy
    /// of a host without the lists.
    pub is_by_folders: bool,
    /// CPUs that are plugged in and belong to nobody, of a mainframe (`configure` is 0).
    pub standby: CpuSet,
    /// Whether cores may use more than one of their threads: `on`, `off`, `forceoff`, `notsupported`,
    /// `notimplemented`; absent before Linux 4.19.
    pub smt_control: Fact<String>,
    /// CPUs that could ever be plugged in.
    pub possible: Fact<CpuSet>,
    /// The hardware threads of each core, by lowest CPU.
    pub cores: Fact<Vec<CpuSet>>,
    /// The CPUs of each package (socket), by lowest CPU.
    pub packages: Fact<Vec<CpuSet>>,
    /// The kinds of cores of a hybrid processor, `cpu_core` (performance) and `cpu_atom` (efficient);
    /// absent where all cores are alike.
    pub core_types: Fact<Vec<(String, CpuSet)>>,
}

impl Topology {
    /// The online CPUs; empty where unknown, for use in "n of m" only.
    pub fn n_online(&self) -> usize {
        self.online.as_ref().map_or(0, CpuSet::len)
    }

    /// Whether the processor mixes kinds of cores.
    pub fn is_hybrid(&self) -> bool {
        self.core_types.as_ref().is_ok_and(|types| types.len() > 1)
    }

    /// The kind of core `cpu` is, on a hybrid processor.
    pub fn core_type(&self, cpu: u32) -> Option<&str> {
        let types = self.core_types.as_ref().ok()?;
        types.iter().find(|(_, cpus)| cpus.contains(cpu)).map(|(name, _)| name.as_str())
    }

    /// The lowest CPU of the package of `cpu`; `cpu` itself where packages are not known.
    pub fn package_leader(&self, cpu: u32) -> u32 {
        group_of(&self.packages, cpu).and_then(CpuSet::first).unwrap_or(cpu)
    }

    /// The hardware threads of the core of `cpu`, itself included; `cpu` alone where cores are not known.
    pub fn core_of(&self, cpu: u32) -> CpuSet {
        group_of(&self.cores, cpu).cloned().unwrap_or_else(|| [cpu].into_iter().collect())
    }

    /// The CPUs of the package of `cpu`, itself included; `cpu` alone where packages are not known.
    pub fn package_of(&self, cpu: u32) -> CpuSet {
        group_of(&self.packages, cpu).cloned().unwrap_or_else(|| [cpu].into_iter().collect())
    }
}

fn group_of(groups: &Fact<Vec<CpuSet>>, cpu: u32) -> Option<&CpuSet> {
    groups.as_deref().unwrap_or_default().iter().find(|group| group.contains(cpu))
}
