//! Reads which CPUs there are, how they are grouped, which are isolated, and what may disturb those.
//!
//! The list of a group is read from its first CPU only: a machine of 1,024 CPUs has 16 packages to ask about.

use super::partitions;
use crate::Source;
use facts::cpu::cpuinfo::CpuInfo;
use facts::cpu::topology::Topology;
use facts::system::cpu_times::CpuTimes;
use facts::system::interrupts::Interrupts;
use facts::system::isolation::{RcuThread, allowed_cpus, asked, callbacks_of};
use facts::system::process::{Process, kernel_threads};
use facts::{CpuSet, Fact, HostView, Missing, Why, parse};

const CPUS: &str = "/sys/devices/system/cpu";

/// Which CPUs there are.
pub(super) fn read_cpus(source: &dyn Source, host: &mut HostView) {
    let list = |name: &str| source.parsed(&format!("{CPUS}/{name}"), CpuSet::parse_list);
    let (present, online) = (list("present"), list("online"));
    let lists_are_left_out =
        |it: &Fact<CpuSet>| matches!(it, Err(Missing { why: Why::NotCollected, .. }));
    let folders = match &host.cpuinfo {
        Ok(info) if lists_are_left_out(&present) && info.is_x86() => by_folders(source, info),
        _ => None,
    };
    // Without sysfs, the CPUs of /proc/cpuinfo are the online ones.
    let online = online.or_else(|missing| match (&folders, &host.cpuinfo) {
        (Some(folders), _) => Ok(folders.online.clone()),
        (None, Ok(info)) if !info.clocks.is_empty() => Ok(listed(info)),
        _ => Err(missing),
    });
    let topology = &mut host.topology;
    topology.is_by_folders = folders.is_some();
    topology.present = folders.map_or(present, |it| Ok(it.present));
    topology.standby = standby(source, &topology.present, &online);
    topology.smt_control = source.parsed(&format!("{CPUS}/smt/control"), parse::line);
    topology.possible = list("possible");
    topology.core_types = core_types(source);
    topology.online = online;
}

/// The CPUs of a copy that has their folders and no lists.
struct Folders {
    present: CpuSet,
    online: CpuSet,
}

/// On x86 each CPU that is plugged in has a folder, and one that can be unplugged a file `online` in it
/// (arch/x86/kernel/topology.c, drivers/base/cpu.c). `None` where no such file was collected.
fn by_folders(source: &dyn Source, info: &CpuInfo) -> Option<Folders> {
    let listed = listed(info);
    let (mut present, mut online) = (CpuSet::default(), CpuSet::default());
    let mut n_files = 0;
    for cpu in source.numbered(CPUS, "cpu").ok()? {
        let file = source.parsed(&format!("{CPUS}/cpu{cpu}/online"), parse::switch);
        n_files += usize::from(file.is_ok());
        // The CPU that the machine started with has none. An offline one always has.
        let runs = match file {
            Ok(runs) => runs,
            Err(_) if listed.contains(cpu) => true,
            Err(_) => continue,
        };
        if runs {
            online.insert(cpu);
        }
        present.insert(cpu);
    }
    (n_files > 0).then_some(Folders { present, online })
}

/// The CPUs that /proc/cpuinfo lists.
fn listed(info: &CpuInfo) -> CpuSet {
    info.clocks.iter().map(|(cpu, _)| cpu).collect()
}

/// Which of them share a core and a package.
pub(super) fn read_groups(source: &dyn Source, host: &mut HostView) {
    let Topology { online, cores, packages, .. } = &mut host.topology;
    *cores = groups(source, online, &["core_cpus_list", "thread_siblings_list"]);
    *packages = groups(source, online, &["package_cpus_list", "core_siblings_list"]);
}

/// The offline CPUs that are not configured (arch/s390/kernel/smp.c); nobody else has the file.
fn standby(source: &dyn Source, present: &Fact<CpuSet>, online: &Fact<CpuSet>) -> CpuSet {
    let (Ok(present), Ok(online)) = (present, online) else { return CpuSet::default() };
    let configured = |cpu| source.parsed(&format!("{CPUS}/cpu{cpu}/configure"), parse::switch);
    present.minus(online).iter().filter(|&cpu| configured(cpu) == Ok(false)).collect()
}

/// Splits the online CPUs into the groups that one of `files` names; the second is its name before
/// Linux 5.3.
fn groups(source: &dyn Source, online: &Fact<CpuSet>, files: &[&str; 2]) -> Fact<Vec<CpuSet>> {
    let mut left = online.clone()?;
    let mut groups = Vec::new();
    while let Some(cpu) = left.first() {
        let read = |file: &str| {
            source.parsed(&format!("{CPUS}/cpu{cpu}/topology/{file}"), CpuSet::parse_list)
        };
        let mut group = read(files[0]).or_else(|_| read(files[1]))?;
        // A list that leaves out its own CPU would keep us here forever.
        group.insert(cpu);
        left = left.minus(&group);
        groups.push(group);
    }
    Ok(groups)
}

/// On a hybrid processor each kind of core has a PMU of its own, which lists its CPUs
/// (Documentation/ABI/testing/sysfs-bus-event_source-devices; intel `cpu_core` and `cpu_atom`).
fn core_types(source: &dyn Source) -> Fact<Vec<(String, CpuSet)>> {
    let cpus = |name: &str| source.parsed(&format!("/sys/devices/{name}/cpus"), CpuSet::parse_list);
    let mut types = Vec::new();
    let mut missing = None;
    for name in ["cpu_core", "cpu_atom", "cpu_lowpower"] {
        match cpus(name) {
            Ok(cpus) => types.push((name.to_owned(), cpus)),
            Err(reason) => missing = missing.or(Some(reason)),
        }
    }
    missing.filter(|_| types.is_empty()).map_or(Ok(types), Err)
}

/// Which CPUs are isolated.
pub(super) fn read_isolated(source: &dyn Source, host: &mut HostView) {
    let list = |path: &str| source.parsed(path, CpuSet::parse_list);
    let boot_line = host.kernel.boot_line.as_ref();
    let isolation = &mut host.isolation;
    isolation.asked =
        boot_line.map(|it| asked(it, last_possible(&host.topology))).map_err(Clone::clone);
    isolation.isolated = list("/sys/devices/system/cpu/isolated");
    isolation.nohz_full = list("/sys/devices/system/cpu/nohz_full");
    partitions::read(source, host);
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
    source.parsed("/proc/interrupts", Interrupts::parse)
}

/// Reads the CPU times since boot.
pub(super) fn read_cpu_times(source: &dyn Source) -> Fact<CpuTimes> {
    source.parsed("/proc/stat", CpuTimes::parse)
}
