//! Which of the online CPUs is asked for what several of them share.

use crate::Source;
use facts::cpu::topology::Topology;
use facts::msr::Scope;
use facts::{CpuSet, Fact, HostView, Missing};

/// The online CPUs by core or by package, each group by its lowest; each CPU by itself where that is not known.
pub(super) fn groups(scope: Scope, topology: &Topology, online: &CpuSet) -> Vec<CpuSet> {
    let mut left = online.clone();
    let mut groups = Vec::new();
    while let Some(cpu) = left.first() {
        let group = match scope {
            Scope::Thread => [cpu].into_iter().collect(),
            Scope::Core => topology.core_of(cpu),
            Scope::Package => topology.package_of(cpu),
        };
        groups.push(group.and(&left));
        left = left.minus(&group);
    }
    groups
}

/// The same for registers, of which nothing may be read where it is not known who shares them: one would be taken for
/// many.
///
/// Errors: the reason for which that is not known.
pub(super) fn leaders(scope: Scope, topology: &Topology, online: &CpuSet) -> Fact<Vec<u32>> {
    match scope {
        Scope::Thread => Ok(()),
        Scope::Core => topology.cores.as_ref().map(|_| ()),
        Scope::Package => topology.packages.as_ref().map(|_| ()),
    }?;
    let leaders: Vec<u32> =
        groups(scope, topology, online).iter().filter_map(CpuSet::first).collect();
    if leaders.is_empty() { Err(Missing::absent("an online CPU")) } else { Ok(leaders) }
}

/// Whether what one CPU of a package says is said of all of it: packages of several dies (Cascade Lake-AP) have a copy
/// of every register in each die (arch/x86/events/rapl.c).
///
/// Errors: a package of Intel's has several dies.
pub(super) fn of_one_die(source: &dyn Source, host: &HostView, leaders: &[u32]) -> Fact<()> {
    if !host.cpuinfo.as_ref()?.is_intel() {
        return Ok(());
    }
    for &cpu in leaders {
        let file = format!("/sys/devices/system/cpu/cpu{cpu}/topology/die_cpus_list");
        // Linux before 5.3 knows no dies, and nobody asks a processor of several for its registers then.
        let Ok(die) = source.parsed(&file, CpuSet::parse_list) else { continue };
        if die != host.topology.package_of(cpu) {
            let because = format!("{file} says that a package has several dies");
            return Err(Missing::not_here("one register for each package", because));
        }
    }
    Ok(())
}
