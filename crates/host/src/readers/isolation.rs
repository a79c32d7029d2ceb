//! Reads which CPUs are isolated and, only where some are, which interrupts and threads may disturb them.

use super::processes::kernel_threads;
use crate::Source;
use facts::cpu::topology::Topology;
use facts::system::boot_line::BootLine;
use facts::system::interrupts::Interrupts;
use facts::system::isolation::{Isolation, RcuThread, allowed_cpus, asked, callbacks_of};
use facts::system::process::Process;
use facts::{CpuSet, Fact, Missing};

pub(super) fn read(
    source: &dyn Source,
    boot_line: &Fact<BootLine>,
    topology: &Topology,
    interrupts: &Fact<Interrupts>,
    processes: &Fact<Vec<Process>>,
) -> Isolation {
    let list = |path: &str| source.parsed(path, CpuSet::parse_list);
    let unread = || Missing::not_here("disturbed CPU", "no CPU is isolated");
    let mut isolation = Isolation {
        asked: boot_line
            .as_ref()
            .map(|it| asked(it, last_possible(topology)))
            .map_err(Clone::clone),
        isolated: list("/sys/devices/system/cpu/isolated"),
        nohz_full: list("/sys/devices/system/cpu/nohz_full"),
        partitions: list("/sys/fs/cgroup/cpuset.cpus.isolated"),
        interrupt_affinities: Err(unread()),
        rcu_threads: Err(unread()),
    };
    if isolation.kept_free().is_ok() {
        isolation.interrupt_affinities = interrupt_affinities(source, interrupts);
        isolation.rcu_threads = rcu_threads(source, processes);
    }
    isolation
}

/// The last CPU that the kernel has room for; where that is not known, the last that runs.
fn last_possible(topology: &Topology) -> u32 {
    let sets = [&topology.possible, &topology.present, &topology.online];
    sets.iter().find_map(|set| set.as_ref().ok()?.last()).unwrap_or(0)
}

/// A large machine has thousands of interrupts, most of which never happen.
fn interrupt_affinities(
    source: &dyn Source,
    interrupts: &Fact<Interrupts>,
) -> Fact<Vec<(u32, Fact<CpuSet>)>> {
    let taken = interrupts.as_ref()?.devices().filter(|(_, line)| line.total() > 0);
    let affinity = |number| {
        source.parsed(&format!("/proc/irq/{number}/smp_affinity_list"), CpuSet::parse_list)
    };
    Ok(taken.map(|(number, _)| (number, affinity(number))).collect())
}

fn rcu_threads(source: &dyn Source, processes: &Fact<Vec<Process>>) -> Fact<Vec<RcuThread>> {
    let thread = |process: &Process| {
        let pid = process.pid;
        let of_cpu = callbacks_of(&process.name)?;
        let allowed = source.parsed(&format!("/proc/{pid}/status"), allowed_cpus);
        Some(RcuThread { pid, of_cpu, allowed })
    };
    Ok(kernel_threads(processes)?.into_iter().filter_map(thread).collect())
}
