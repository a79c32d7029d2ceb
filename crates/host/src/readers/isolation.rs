//! Reads which CPUs are isolated, what may disturb them, and what each CPU has done since boot.

use super::processes::kernel_threads;
use crate::Source;
use facts::cpu::topology::Topology;
use facts::system::cpu_times::CpuTimes;
use facts::system::interrupts::Interrupts;
use facts::system::isolation::{RcuThread, allowed_cpus, asked, callbacks_of};
use facts::system::process::Process;
use facts::{CpuSet, Fact, HostView, Missing};

/// Which CPUs are isolated.
pub(super) fn read_cpus(source: &dyn Source, host: &mut HostView) {
    let list = |path: &str| source.parsed(path, CpuSet::parse_list);
    let boot_line = host.kernel.boot_line.as_ref();
    let isolation = &mut host.isolation;
    isolation.asked =
        boot_line.map(|it| asked(it, last_possible(&host.topology))).map_err(Clone::clone);
    isolation.isolated = list("/sys/devices/system/cpu/isolated");
    isolation.nohz_full = list("/sys/devices/system/cpu/nohz_full");
    isolation.partitions = list("/sys/fs/cgroup/cpuset.cpus.isolated");
}

/// The interrupts and threads that may disturb isolated CPUs; read only if there are any.
pub(super) fn read_disturbers(source: &dyn Source, host: &mut HostView) {
    let isolation = &mut host.isolation;
    if isolation.kept_free().is_ok() {
        isolation.interrupt_affinities = interrupt_affinities(source, &host.interrupts);
        isolation.rcu_threads = rcu_threads(source, &host.processes);
    } else {
        let unread = || Missing::not_here("disturbed CPU", "no CPU is isolated");
        isolation.interrupt_affinities = Err(unread());
        isolation.rcu_threads = Err(unread());
    }
}

/// The highest possible CPU of the kernel; if unknown, the highest that is present or online.
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

/// Reads the interrupts of each CPU since boot.
pub(super) fn read_interrupts(source: &dyn Source) -> Fact<Interrupts> {
    source.of_every_kernel(source.parsed("/proc/interrupts", Interrupts::parse))
}

/// Reads the CPU times since boot.
pub(super) fn read_cpu_times(source: &dyn Source) -> Fact<CpuTimes> {
    source.of_every_kernel(source.parsed("/proc/stat", CpuTimes::parse))
}
