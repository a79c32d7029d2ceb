//! Looks for isolated CPUs that still run RCU callbacks, their own or those of others.
//!
//! Sources: Documentation/admin-guide/kernel-per-CPU-kthreads.rst, rcuo; kernel/rcu/tree_nocb.h. It cannot
//! know how many callbacks a CPU makes: one that never enters the kernel makes none.

use super::housekeeping;
use crate::boot_edit;
use crate::check::{Check, Reference, Verdict};
use crate::commands;
use crate::finding::{Confidence, Finding, Severity};
use facts::system::isolation::Purpose;
use facts::{CpuSet, HostView, Missing};

pub(crate) const CHECK: Check = Check {
    id: "rcu-callbacks-on-isolated",
    title: "isolated CPUs run RCU callbacks",
    doc: "\
## What it looks at
The isolated CPUs that are neither in `rcu_nocbs=` nor in `nohz_full=`, which implies it; and whether the threads
`rcuop/N` that run the callbacks of the others may do so on an isolated CPU.

## Why it matters
The kernel frees much of its memory through RCU: closed files, sockets, dentries. Without offloading, a CPU
frees what it let go of in a softirq at its own timer tick, in the middle of whatever runs there. With it, the
callbacks run in threads, which may be sent anywhere. `nohz_full` CPUs are offloaded by themselves, and
kernels since 5.9 keep the threads off them; with `isolcpus=` alone neither is so.

## When to leave it alone
On CPUs that make many system calls: an offloaded CPU pays a lock and a wake-up for each batch of callbacks. Where
all CPUs but one are isolated, that one has to run everybody's callbacks.
",
    references: &[
        Reference {
            title: "Linux: Reducing OS jitter due to per-CPU kthreads, rcuo",
            url: "https://docs.kernel.org/admin-guide/kernel-per-CPU-kthreads.html",
        },
        Reference {
            title: "Linux: NO_HZ, RCU Implications",
            url: "https://docs.kernel.org/timers/no_hz.html#rcu-implications",
        },
    ],
    run,
};

fn run(host: &HostView) -> Verdict {
    let isolated = host.isolation.kept_free()?;
    let offloaded = offloaded(host)?;
    let own = isolated.minus(&offloaded);
    let mut findings = Vec::new();
    if !own.is_empty() {
        findings.push(not_offloaded(host, &own));
    }
    match (guests(host, &isolated, &offloaded), findings.is_empty()) {
        (Ok(guests), _) => findings.extend(guests),
        (Err(missing), true) => return Err(missing),
        (Err(_), false) => {}
    }
    Ok(findings)
}

/// The CPUs whose callbacks run in threads.
fn offloaded(host: &HostView) -> Result<CpuSet, Missing> {
    let isolation = &host.isolation;
    let mut cpus = isolation.tickless()?;
    if let Ok(config) = &host.kernel.config {
        if !config.has("RCU_NOCB_CPU") {
            return Ok(cpus);
        }
        // The first is of 5.19 and later and counts only without a list, the second of kernels before 4.12.
        let by_default = config.has("RCU_NOCB_CPU_DEFAULT_ALL") || config.has("RCU_NOCB_CPU_ALL");
        if by_default && isolation.written_for(Purpose::Rcu).is_empty() && cpus.is_empty() {
            return host.topology.possible.clone();
        }
    }
    cpus.extend(isolation.asked_for(Purpose::Rcu)?.iter());
    Ok(cpus)
}

fn not_offloaded(host: &HostView, own: &CpuSet) -> Finding {
    let message = "RCU callbacks of isolated CPUs run on those CPUs: not in rcu_nocbs";
    let isolation = &host.isolation;
    let asked: Vec<String> = [Purpose::Domain, Purpose::Tick, Purpose::Rcu]
        .map(|purpose| isolation.written_for(purpose))
        .into_iter()
        .filter(|written| !written.is_empty())
        .collect();
    let mut finding = Finding::new(Severity::Low, Confidence::High, message)
        .on(own.clone(), host.topology.n_online());
    if !asked.is_empty() {
        finding = finding.evidence("/proc/cmdline", asked.join(" "));
    }
    // A second list would take the place of the first.
    let mut list = own.clone();
    list.extend(isolation.asked_for(Purpose::Rcu).iter().flat_map(CpuSet::iter));
    let parameter = format!("`rcu_nocbs={list}` on the boot line");
    match &host.kernel.config {
        Ok(config) if !config.has("RCU_NOCB_CPU") => finding
            .evidence(config.path.as_str(), "no CONFIG_RCU_NOCB_CPU=y")
            .fix_lasting(format!("a kernel built with CONFIG_RCU_NOCB_CPU, and {parameter}")),
        _ => boot_edit::named(finding).fix_by("rcu-nocbs", list.to_string()).fix_lasting(parameter),
    }
}

/// The threads that may bring other CPUs' callbacks to isolated ones. Once one CPU is offloaded the kernel
/// has such a thread for every CPU; those of the others do nothing.
fn guests(
    host: &HostView,
    isolated: &CpuSet,
    offloaded: &CpuSet,
) -> Result<Option<Finding>, Missing> {
    let threads = host.isolation.rcu_threads.as_ref()?;
    let threads = threads.iter().filter(|thread| offloaded.contains(thread.of_cpu));
    let mut welcome = CpuSet::default();
    let mut n_guests = 0;
    let mut example = None;
    for thread in threads {
        match &thread.allowed {
            Ok(allowed) if !allowed.and(isolated).is_empty() => {
                welcome.extend(allowed.and(isolated).iter());
                n_guests += 1;
                example = example.or(Some((thread.pid, allowed)));
            }
            Ok(_) => {}
            // A thread that has ended since it was listed.
            Err(missing) if missing.is_absence() => {}
            Err(missing) => return Err(missing.clone()),
        }
    }
    let Some((pid, allowed)) = example else { return Ok(None) };
    let message = match n_guests {
        1 => "a thread that runs RCU callbacks may run on isolated CPUs".to_owned(),
        n => format!("{n} threads that run RCU callbacks may run on isolated CPUs"),
    };
    let elsewhere = housekeeping(host, isolated);
    let mut finding = Finding::new(Severity::Info, Confidence::High, message)
        .on(welcome, host.topology.n_online())
        .evidence(format!("/proc/{pid}/status"), format!("Cpus_allowed_list: {allowed}"));
    if !elsewhere.is_empty() {
        finding = finding
            .command(&commands::RCU_AFFINITY, elsewhere.to_string())
            .fix_lasting("the same from a service at every boot");
    }
    Ok(Some(finding))
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::verdict;

    /// Four CPUs of which 2 and 3 are isolated, booted with `line`, and the kernel threads in `threads`.
    fn host(line: &str, threads: &str) -> String {
        format!(
            "//- /sys/devices/system/cpu/online\n0-3\n//- /sys/devices/system/cpu/isolated\n2-3\n\
             //- /sys/devices/system/cpu/nohz_full\n\n//- /proc/cmdline\n{line}\n\
             //- /proc/2/stat\n2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 2 0\n{threads}"
        )
    }

    fn thread(pid: u32, name: &str, allowed: &str) -> String {
        format!(
            "//- /proc/{pid}/stat\n{pid} ({name}) S 2 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 2 0\n\
             //- /proc/{pid}/status\nName:\t{name}\nCpus_allowed_list:\t{allowed}\n"
        )
    }

    #[test]
    fn isolated_cpus_that_are_not_offloaded_run_their_own_callbacks() {
        assert_eq!(
            verdict(&CHECK, &host("isolcpus=2,3 rcu_nocbs=3", "")),
            "low: RCU callbacks of isolated CPUs run on those CPUs: not in rcu_nocbs [CPU 2 (1 of 4)]"
        );
    }

    #[test]
    fn offloaded_cpus_are_clean() {
        assert_eq!(verdict(&CHECK, &host("isolcpus=2,3 rcu_nocbs=2-3", "")), "clean");
        let threads = thread(20, "rcuop/2", "0-1") + &thread(21, "rcuos/3", "0-1");
        assert_eq!(verdict(&CHECK, &host("isolcpus=2,3 rcu_nocbs=2-3", &threads)), "clean");
    }

    #[test]
    fn a_thread_of_a_cpu_that_is_not_offloaded_does_nothing() {
        let threads = thread(20, "rcuop/0", "0-3");
        assert_eq!(verdict(&CHECK, &host("isolcpus=2,3 rcu_nocbs=2-3", &threads)), "clean");
    }

    #[test]
    fn a_kernel_without_offloading_ignores_the_list() {
        let config =
            "//- /proc/sys/kernel/osrelease\n6.6.31\n//- /boot/config-6.6.31\nCONFIG_HZ=250\n";
        let host = host("isolcpus=2,3 rcu_nocbs=2-3", config);
        assert!(verdict(&CHECK, &host).ends_with("[CPUs 2-3 (2 of 4)]"));
    }

    #[test]
    fn threads_that_may_come_to_an_isolated_cpu_are_a_note() {
        let threads = thread(20, "rcuop/2", "0-3") + &thread(21, "rcuop/3", "0-1");
        assert_eq!(
            verdict(&CHECK, &host("isolcpus=2,3 rcu_nocbs=2-3", &threads)),
            "info: a thread that runs RCU callbacks may run on isolated CPUs [CPUs 2-3 (2 of 4)]"
        );
    }

    #[test]
    fn a_thread_that_cannot_be_asked_is_unknown() {
        let threads = thread(20, "rcuop/2", "0-1") + "//- /proc/20/status\n!denied\n";
        assert_eq!(
            verdict(&CHECK, &host("isolcpus=2,3 rcu_nocbs=2-3", &threads)),
            "unknown: /proc/20/status may not be read"
        );
    }

    #[test]
    fn a_host_that_isolates_nothing_has_nothing_to_judge() {
        assert!(verdict(&CHECK, "//- /proc/cmdline\nquiet\n").starts_with("not applicable: "));
    }
}
