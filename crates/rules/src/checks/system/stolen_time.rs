//! Looks at how much of the time that a guest wanted to run its hypervisor gave to others.
//!
//! Source: proc_stat(5), `steal`; Documentation/virt/kvm/x86/msr.rst, MSR_KVM_STEAL_TIME. A hypervisor that does not
//! report it shows 0, and then nothing can be said.

use crate::check::{Check, Reference, Verdict};
use crate::commands;
use crate::finding::{Confidence, Finding};
use crate::hypervisors::less_steal;
use crate::loss_scale::Lost;
use crate::loss_scale::deviations::STOLEN;
use facts::site::STOLEN_TIME;
use facts::{HostView, Missing, Why};

pub(crate) const CHECK: Check = Check {
    id: "stolen-time",
    title: "the hypervisor runs others while this guest has work",
    doc: "\
## What it looks at
`steal` in /proc/stat, summed over all CPUs since boot, as a share of the time in which the CPUs had work: busy time
and stolen time together.

## Why it matters
A virtual CPU that is not run does not know it: locks stay held, the log writer stands still, and the guest's
own statistics show a query that took longer. At a share of 10 % every tenth microsecond of work waited for
the host, on average; in practice it comes in gaps of milliseconds, which is worse. From 1 % on it is visible in
the tail of commit times, at 5 % in the throughput, and at 10 % the machine is not the one that was ordered.

## When to leave it alone
On instances that are sold with CPU credits or a baseline it is the price of the instance type. It is an average since
boot: look at `st` in `vmstat 1` for today's. Most guests of VMware and Hyper-V read 0 whatever happens, so 0 is
no answer there; VMware's own tools show the wait as `vm.cpu.contention.cpu` (`vmware-toolbox-cmd stat raw text resources`).
",
    references: &[
        Reference {
            title: "proc_stat(5)",
            url: "https://man7.org/linux/man-pages/man5/proc_stat.5.html",
        },
        Reference {
            title: "Linux: KVM-specific MSRs, MSR_KVM_STEAL_TIME",
            url: "https://docs.kernel.org/virt/kvm/x86/msr.html",
        },
    ],
    run,
};

/// Below this share of the wanted time nothing is lost that can be measured.
const LEAST: f64 = 0.01;

/// Below this share of all time it is too little to make a percentage of: an idle guest.
const NOTICEABLE: f64 = 0.001;

fn run(host: &HostView) -> Verdict {
    if host.platform.is_bare_metal() {
        return Err(Missing::not_here("hypervisor", "the kernel runs on the hardware itself"));
    }
    plausible(host)?;
    let time = host.cpu_times.as_ref()?.sum();
    if time.steal == 0 {
        host.platform.tells_of_steal()?;
    }
    let free = time.idle.saturating_add(time.iowait);
    let wanted = time.total().saturating_sub(free);
    let share = time.steal as f64 / wanted.max(1) as f64;
    let of_all = time.steal as f64 / time.total().max(1) as f64;
    if share < host.thresholds.share_of(&STOLEN_TIME) {
        return Ok(Vec::new());
    }
    let Some(lost) = lost(share, of_all) else { return Ok(Vec::new()) };
    let message = format!(
        "{:.1} % of the time its CPUs had work for was given to others, on average since boot",
        100.0 * share
    );
    let finding = Finding::of_lost(lost, Confidence::High, message)
        .evidence(
            "/proc/stat",
            format!("steal {} of {} ticks, {free} idle", time.steal, time.total()),
        )
        .cost(format!("{:.1} % of the guest's speed", 100.0 * share), "steal / (busy + steal)")
        .command(&commands::STEAL, "")
        .fix_lasting(less_steal(&host.platform));
    Ok(vec![finding])
}

/// What a share of the wanted time, and of all time, is that was stolen; `None` where it is no matter.
pub(crate) fn lost(share: f64, of_all: f64) -> Option<Lost> {
    (share >= LEAST && of_all >= NOTICEABLE).then(|| Lost::of(share, true).but(&STOLEN))
}

/// Ticks of /proc/stat in a second (USER_HZ).
const TICKS_A_SECOND: u64 = 100;

/// Whether no CPU was without its processor for longer than the host has been up: counters of some hypervisors jump when a
/// guest is moved or resumed, and never come back.
fn plausible(host: &HostView) -> Result<(), Missing> {
    let Ok(uptime) = &host.kernel.uptime else { return Ok(()) };
    // The counters are read some time after the uptime.
    let most = uptime.as_secs().saturating_add(60).saturating_mul(TICKS_A_SECOND);
    let times = host.cpu_times.as_ref()?;
    match times.iter().find(|(_, it)| it.steal > most) {
        Some((cpu, it)) => Err(Missing {
            what: format!("the stolen time of CPU {cpu}"),
            why: Why::Failed(format!(
                "its counter is broken: {} s, and the host has been up for {} s",
                it.steal / TICKS_A_SECOND,
                uptime.as_secs()
            )),
        }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::{findings, verdict};

    const GUEST: &str = "//- /sys/class/dmi/id/sys_vendor\nQEMU\n";

    /// Two CPUs: so much busy, idle and stolen on each.
    fn host(busy: u32, idle: u32, steal: u32) -> String {
        let cpu = format!("{busy} 0 0 {idle} 0 0 0 {steal} 0 0");
        format!("{GUEST}//- /proc/stat\ncpu  9 9 9 9\ncpu0 {cpu}\ncpu1 {cpu}\n")
    }

    #[test]
    fn a_tenth_of_the_wanted_time_is_high() {
        assert_eq!(
            verdict(&CHECK, &host(850, 4000, 150)),
            "high: 15.0 % of the time its CPUs had work for was given to others, on average since boot"
        );
    }

    #[test]
    fn more_than_the_host_has_been_up_is_a_broken_counter() {
        let up =
            |seconds| host(850, 4000, 20_000) + &format!("//- /proc/uptime\n{seconds}.00 1.00\n");
        assert_eq!(
            verdict(&CHECK, &up(100)),
            "unknown: the stolen time of CPU 0 cannot be read: its counter is broken: 200 s, and the host has been up for 100 s"
        );
        assert!(verdict(&CHECK, &up(1000)).starts_with("high: "));
    }

    #[test]
    fn less_is_less_severe() {
        assert!(verdict(&CHECK, &host(940, 4000, 60)).starts_with("medium: 6.0 %"));
        assert!(verdict(&CHECK, &host(980, 4000, 20)).starts_with("low: 2.0 %"));
        assert_eq!(verdict(&CHECK, &host(995, 4000, 5)), "clean");
    }

    #[test]
    fn a_guest_that_hardly_ran_is_clean() {
        assert_eq!(verdict(&CHECK, &host(5, 100_000, 5)), "clean");
    }

    #[test]
    fn no_steal_is_no_answer_where_the_hypervisor_reports_none() {
        let vmware = |steal| {
            host(850, 4000, steal).replace(GUEST, "//- /sys/class/dmi/id/sys_vendor\nVMware, Inc.\n//- /sys/class/dmi/id/product_name\nVMware7,1\n")
        };
        assert_eq!(
            verdict(&CHECK, &vmware(0)),
            "unknown: stolen time: not available in a guest of VMware"
        );
        assert!(verdict(&CHECK, &vmware(150)).starts_with("high: "));
        assert_eq!(verdict(&CHECK, &host(850, 4000, 0)), "clean");
    }

    #[test]
    fn each_hypervisor_is_asked_for_time_in_its_own_words() {
        let lasting = |hypervisor: &str| {
            let host = host(850, 4000, 150).replace(GUEST, hypervisor);
            findings(&CHECK, &host).remove(0).fix.lasting.unwrap()
        };
        assert!(lasting(GUEST).contains("virsh vcpupin"));
        let vendor = |name: &str| lasting(&format!("//- /sys/class/dmi/id/sys_vendor\n{name}\n"));
        assert!(vendor("Amazon EC2").contains("CPU credits"));
        let xen = "//- /sys/hypervisor/type\nxen\n";
        assert!(lasting(xen).contains("xl sched-credit2"));
        let dom0 = lasting(&format!("{xen}//- /proc/xen/capabilities\ncontrol_d\n"));
        assert!(dom0.contains("dom0_vcpus_pin") && !dom0.contains("instance"), "{dom0}");
    }

    #[test]
    fn bare_metal_has_nobody_to_steal() {
        let host = host(850, 4000, 150)
            .replace(GUEST, "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : GenuineIntel\n");
        assert_eq!(
            verdict(&CHECK, &host),
            "not applicable: no hypervisor here: the kernel runs on the hardware itself"
        );
    }

    #[test]
    fn statistics_that_cannot_be_read_are_unknown() {
        assert_eq!(
            verdict(&CHECK, &format!("{GUEST}//- /proc/stat\n!denied\n")),
            "unknown: /proc/stat may not be read"
        );
    }
}
