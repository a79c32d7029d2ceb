//! Looks for device interrupts on isolated CPUs: those that came, and those that may come.
//!
//! Sources: Documentation/core-api/irq/irq-affinity.rst; kernel/irq/{proc,manage}.c; isolcpus=managed_irq in
//! Documentation/admin-guide/kernel-parameters.rst. Counts are since boot: it cannot know whether an
//! interrupt that came still comes.

use super::housekeeping;
use crate::check::{Check, Reference, Verdict};
use crate::finding::{Confidence, Finding, Severity};
use facts::site::ISOLATED_INTERRUPTS;
use facts::system::interrupts::Interrupt;
use facts::system::isolation::Purpose;
use facts::{CpuSet, Fact, HostView, Missing};

pub(crate) const CHECK: Check = Check {
    id: "irqs-on-isolated",
    title: "devices interrupt isolated CPUs",
    doc: "\
## What it looks at
How often devices have interrupted the isolated CPUs since boot (`/proc/interrupts`), and which active interrupts may
be delivered there (`/proc/irq/N/smp_affinity_list`).

## Why it matters
Isolation is about processes: `isolcpus=` and `nohz_full=` leave interrupts where they are. A network card or an
NVMe drive that interrupts the isolated CPU takes it away for microseconds each time, softirqs included.
Multi-queue devices spread one interrupt over every CPU and the kernel manages those by itself: their affinity
cannot be written, only `isolcpus=managed_irq,` (Linux 5.6 and later) keeps them away.

## When to leave it alone
Where the interrupt belongs to the work of the isolated CPU: a thread that submits to its own NVMe queue, or polls its
own network queue, is served best on that CPU.
",
    references: &[
        Reference {
            title: "Linux: SMP IRQ affinity",
            url: "https://docs.kernel.org/core-api/irq/irq-affinity.html",
        },
        Reference {
            title: "Linux: boot parameters isolcpus=managed_irq and irqaffinity",
            url: "https://docs.kernel.org/admin-guide/kernel-parameters.html",
        },
    ],
    run,
};

/// An interrupt and its cache misses take some microseconds; at 100 a second that is about as much as the
/// timer tick takes, which is worth removing.
const MANY_PER_SECOND: f64 = 100.0;
/// Fewer than this are rare enough to leave alone.
const SOME_PER_SECOND: f64 = 1.0;
/// Setting up the devices of a machine takes some hundreds, before anything could move them away.
const OF_SETTING_UP: u64 = 1000;

fn run(host: &HostView) -> Verdict {
    let isolated = host.isolation.kept_free()?;
    let interrupts = host.interrupts.as_ref()?;
    let seconds = host.kernel.uptime.as_ref()?.as_secs_f64().max(1.0);
    let mut came: Vec<(u64, u32, &Interrupt)> = interrupts
        .devices()
        .map(|(number, line)| (line.on_all(&isolated), number, line))
        .filter(|&(count, ..)| count > 0)
        .collect();
    came.sort_by_key(|&(count, number, _)| (std::cmp::Reverse(count), number));
    let count = came.iter().fold(0u64, |sum, &(count, ..)| sum.saturating_add(count));
    let per_second = count as f64 / seconds;
    let least = host.thresholds.of(&ISOLATED_INTERRUPTS);
    if per_second >= SOME_PER_SECOND.max(least) && count > OF_SETTING_UP {
        return Ok(vec![have_come(host, &isolated, &came, per_second)]);
    }
    Ok(may_come(host, &isolated)?.into_iter().collect())
}

fn have_come(
    host: &HostView,
    isolated: &CpuSet,
    came: &[(u64, u32, &Interrupt)],
    per_second: f64,
) -> Finding {
    /// As many as are worth reading; the file has the rest.
    const SHOWN: usize = 3;
    let hit: CpuSet = came
        .iter()
        .flat_map(|(.., line)| line.cpus().and(isolated).iter().collect::<Vec<_>>())
        .collect();
    let many = per_second >= MANY_PER_SECOND * hit.len() as f64;
    let severity = if many { Severity::Medium } else { Severity::Low };
    let worst = came.first().map_or(String::new(), |(_, number, line)| {
        format!(", most of them IRQ {number} {}", line.device()).trim_end().to_owned()
    });
    let message = format!(
        "devices interrupted isolated CPUs {per_second:.0} times a second since boot{worst}"
    );
    let mut finding =
        Finding::new(severity, Confidence::High, message).on(hit, host.topology.n_online());
    for (count, number, line) in came.iter().take(SHOWN) {
        let what = format!("{number}: {count} on isolated CPUs ({})", line.description);
        finding = finding.evidence("/proc/interrupts", what);
    }
    moved_away(host, isolated, finding)
}

/// Active interrupts that may be delivered to isolated CPUs and to others. Those of isolated CPUs alone are
/// the queues that belong to them.
fn may_come(host: &HostView, isolated: &CpuSet) -> Result<Option<Finding>, Missing> {
    let affinities = host.isolation.interrupt_affinities.as_ref()?;
    let strays = |(number, affinity): &(u32, Fact<CpuSet>)| {
        let affinity = affinity.as_ref().ok()?;
        let stray = !affinity.and(isolated).is_empty() && !affinity.minus(isolated).is_empty();
        stray.then(|| (*number, affinity.clone()))
    };
    let strays: Vec<(u32, CpuSet)> = affinities.iter().filter_map(strays).collect();
    let Some((number, affinity)) = strays.first() else {
        let unknown = affinities.iter().filter_map(|(_, affinity)| affinity.as_ref().err());
        // An interrupt whose device is gone has no folder any more.
        return match unknown.into_iter().find(|missing| !missing.is_absence()) {
            Some(missing) => Err(missing.clone()),
            None => Ok(None),
        };
    };
    let message = format!(
        "{} of {} active device interrupts may be delivered to isolated CPUs",
        strays.len(),
        affinities.len()
    );
    let cpus =
        strays.iter().flat_map(|(_, it)| it.and(isolated).iter().collect::<Vec<_>>()).collect();
    let finding = Finding::new(Severity::Info, Confidence::High, message)
        .on(cpus, host.topology.n_online())
        .evidence(format!("/proc/irq/{number}/smp_affinity_list"), affinity);
    Ok(Some(moved_away(host, isolated, finding)))
}

fn moved_away(host: &HostView, isolated: &CpuSet, finding: Finding) -> Finding {
    let elsewhere = housekeeping(host, isolated);
    if elsewhere.is_empty() {
        return finding;
    }
    let (managed, since) = managed_irq(host, isolated);
    finding.names("/proc/irq/*/smp_affinity_list").fix_by("irq-affinity", "housekeeping").fix_lasting(format!(
        "`irqaffinity={elsewhere}`{managed} on the boot line; irqbalance leaves the CPUs of isolcpus= and nohz_full= alone by itself, unless /etc/sysconfig/irqbalance or \
         /etc/default/irqbalance sets IRQBALANCE_BANNED_CPUS or IRQBALANCE_BANNED_CPULIST; an interrupt that the kernel manages refuses to be moved (EIO){since}"
    ))
}

/// The parameter that keeps managed interrupts away as " and `isolcpus=...`" where this kernel has it, and else a note on which kernels have it.
fn managed_irq(host: &HostView, isolated: &CpuSet) -> (String, &'static str) {
    /// 11ea68f553e2, "genirq, sched/isolation: Isolate from handling managed interrupts". A kernel before drops the list with a flag that it
    /// does not know (`housekeeping_isolcpus_setup`: "isolcpus: Error, unknown flag"), and before 4.15 it knows none.
    const SINCE: (u32, u32) = (5, 6);
    let in_force = host.isolation.asked_for(Purpose::ManagedIrq);
    if in_force.is_ok_and(|cpus| isolated.minus(&cpus).is_empty()) {
        return (String::new(), "");
    }
    if !host.kernel.version().is_ok_and(|it| it >= SINCE) {
        let note =
            "; `isolcpus=managed_irq,` exists since Linux 5.6; older kernels ignore the whole list";
        return (String::new(), note);
    }
    // Without `domain` the parameter would no longer keep processes away.
    let domain =
        if host.isolation.written_for(Purpose::Domain).is_empty() { "" } else { "domain," };
    (format!(" and `isolcpus=managed_irq,{domain}{isolated}`"), "")
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::{findings, verdict};

    /// Four CPUs of which 2 and 3 are isolated, up for 1000 s; IRQ 24 came `count` times to CPU 2.
    fn host(line: &str, count: &str, affinity: &str) -> String {
        format!(
            "//- /sys/devices/system/cpu/online\n0-3\n//- /sys/devices/system/cpu/isolated\n2-3\n\
             //- /sys/devices/system/cpu/nohz_full\n\n//- /proc/cmdline\n{line}\n\
             //- /proc/uptime\n1000.00 900.00\n//- /proc/interrupts\nCPU0 CPU1 CPU2 CPU3\n\
             24: 9 0 {count} 0 PCI-MSI 512000-edge eth0-TxRx-2\nLOC: 5 5 5 5 Local timer interrupts\n\
             //- /proc/irq/24/smp_affinity_list\n{affinity}\n"
        )
    }

    #[test]
    fn many_interrupts_on_an_isolated_cpu_are_medium() {
        assert_eq!(
            verdict(&CHECK, &host("isolcpus=2,3", "2500000", "2")),
            "medium: devices interrupted isolated CPUs 2500 times a second since boot, most of them IRQ 24 eth0-TxRx-2 [CPU 2 (1 of 4)]"
        );
        assert!(verdict(&CHECK, &host("isolcpus=2,3", "2500", "2")).starts_with("low: "));
    }

    #[test]
    fn the_interrupts_of_setting_up_devices_are_forgiven() {
        let booted = host("isolcpus=2,3", "300", "0-1").replace("1000.00 900.00", "5.00 1.00");
        assert_eq!(verdict(&CHECK, &booted), "clean");
    }

    #[test]
    fn interrupts_that_may_come_are_a_note() {
        assert_eq!(
            verdict(&CHECK, &host("isolcpus=2,3", "0", "0-3")),
            "info: 1 of 1 active device interrupts may be delivered to isolated CPUs [CPUs 2-3 (2 of 4)]"
        );
    }

    #[test]
    fn managed_irq_is_advised_only_to_kernels_that_know_it() {
        let lasting = |release: &str| {
            let kernel = format!("//- /proc/sys/kernel/osrelease\n{release}\n");
            let host = host("isolcpus=2,3", "0", "0-3") + &kernel;
            findings(&CHECK, &host).remove(0).fix.lasting.unwrap()
        };
        assert!(
            lasting("5.6.0").contains(" and `isolcpus=managed_irq,domain,2-3` on the boot line")
        );
        for release in ["3.10.0-1160.el7.x86_64", "5.5.19", "!denied"] {
            let lasting = lasting(release);
            assert!(lasting.starts_with("`irqaffinity=0-1` on the boot line"), "{lasting}");
            let note = "`isolcpus=managed_irq,` exists since Linux 5.6; older kernels ignore the whole list";
            assert!(lasting.contains(note), "{lasting}");
        }
    }

    #[test]
    fn interrupts_that_stay_away_are_clean() {
        assert_eq!(verdict(&CHECK, &host("isolcpus=2,3", "0", "0-1")), "clean");
    }

    #[test]
    fn the_queue_of_an_isolated_cpu_belongs_there() {
        assert_eq!(verdict(&CHECK, &host("isolcpus=2,3", "12", "2")), "clean");
    }

    #[test]
    fn counts_that_cannot_be_read_are_unknown() {
        let host = host("isolcpus=2,3", "0", "0-1") + "//- /proc/interrupts\n!denied\n";
        assert_eq!(verdict(&CHECK, &host), "unknown: /proc/interrupts may not be read");
    }

    #[test]
    fn a_host_that_isolates_nothing_has_nothing_to_judge() {
        assert!(verdict(&CHECK, "//- /proc/cmdline\nquiet\n").starts_with("not applicable: "));
    }
}
