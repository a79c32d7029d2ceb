//! Looks for a clock source that takes microseconds to read where nanoseconds are to be had.
//!
//! Source: Documentation/timers/timekeeping.rst; arch/x86/include/asm/vdso/gettimeofday.h has the clocks that are read without a
//! system call, and when they are not (vread_pvclock, vread_hvclock). How often a database asks for the time is not known here.

use crate::boot_line;
use crate::check::{Check, Reference, Verdict};
use crate::commands;
use crate::finding::{Confidence, Finding, Severity};
use crate::hypervisors::{fast_clock, fast_clock_on_xen};
use crate::settings::clocksource::is_tsc_steady;
use facts::system::kernel::CLOCKSOURCE_FOLDER;
use facts::{HostView, Missing};

pub(crate) const CHECK: Check = Check {
    id: "slow-clocksource",
    title: "telling the time takes a system call and a slow device",
    doc: "\
## What it looks at
`current_clocksource` and `available_clocksource` of clocksource0: whether the clock in use is one that programs
read by themselves (tsc, arch_sys_counter and their like), or a device that the kernel has to ask (hpet, acpi_pm, pit), or
no clock at all (jiffies). Programs read kvm-clock and hyperv_clocksource_tsc_page by themselves only while the hypervisor
marks its time as stable (PVCLOCK_TSC_STABLE_BIT, TscSequence above 0), and ask the kernel otherwise. No file shows the
mark, so the verdict on these two is unknown: `fullclock bench timer` measures it. A reading that costs as much as
`fullclock bench syscall` asks the kernel.

## Why it matters
Databases ask for the time before and after every wait. With tsc that takes some 20 to 40 ns in user space. With
hpet or acpi_pm it takes a system call and a read across the chipset, on which all CPUs queue: PostgreSQL's
manual measures 723 ns with acpi_pm in place of 36 ns, and an EXPLAIN ANALYZE of 116 ms in place of 17 ms. A
PostgreSQL cluster on EC2 spent its CPU time in the xen clock source until it was given tsc. The kernel falls back to a slow clock when it finds the TSC unstable, and then also keeps the tick on nohz_full CPUs.

## When to leave it alone
Where the kernel log shows that the TSC really is wrong (`Marking clocksource 'tsc' as unstable`): a slow clock is
better than a wrong one. Firmware updates cure most of these; `tsc=reliable` only hides it.
",
    references: &[
        Reference {
            title: "Linux: Clock sources, Clock events, sched_clock() and delay timers",
            url: "https://docs.kernel.org/timers/timekeeping.html",
        },
        Reference {
            title: "PostgreSQL: pg_test_timing, Changing Time Sources",
            url: "https://www.postgresql.org/docs/17/pgtesttiming.html",
        },
        Reference {
            title: "Heap: Running a database on EC2? Your clock could be slowing you down",
            url: "https://www.heap.io/blog/running-a-database-on-ec2-your-clock-could-be-slowing-you-down",
        },
        Reference {
            title: "Linux: kernel parameters clocksource= and tsc=",
            url: "https://docs.kernel.org/admin-guide/kernel-parameters.html",
        },
    ],
    run,
};

fn run(host: &HostView) -> Verdict {
    let current = host.clocksource.current.as_ref()?;
    if let Some(mark) = mark_of(current) {
        return Err(Missing::shown_by_timer(format!("the stability mark of {current} ({mark})")));
    }
    let Some((mut severity, kind)) = slowness(current) else { return Ok(Vec::new()) };
    if current == "xen" && !host.clocksource.offers("tsc") {
        severity = Severity::Low;
    }
    let mut finding = Finding::new(
        severity,
        Confidence::High,
        format!("clock source {current} {kind}: {}", why(host)),
    )
    .evidence(format!("{CLOCKSOURCE_FOLDER}/current_clocksource"), current);
    if let Ok(available) = &host.clocksource.available {
        finding = finding
            .evidence(format!("{CLOCKSOURCE_FOLDER}/available_clocksource"), available.join(" "));
    }
    if let Some(asked) = asked_in_vain(host) {
        finding = finding.evidence("/proc/cmdline", asked);
    }
    if current == "acpi_pm" {
        finding = finding.cost(
            "some 0.7 µs for each reading of the time, in place of 0.04 µs",
            "PostgreSQL's manual, pg_test_timing: 723 ns with acpi_pm, 36 ns with tsc on an i7-860",
        );
    }
    Ok(vec![with_fix(host, finding)])
}

/// The mark of a hypervisor without which each reading of its clock is a system call (vread_pvclock and vread_hvclock of
/// arch/x86/include/asm/vdso/gettimeofday.h). It lies in a page that is shared with the hypervisor.
fn mark_of(clock: &str) -> Option<&'static str> {
    match clock {
        "kvm-clock" => Some("PVCLOCK_TSC_STABLE_BIT"),
        "hyperv_clocksource_tsc_page" => Some("TscSequence"),
        _ => None,
    }
}

/// How bad a clock is; `None` for a good one, and for those of other architectures, of which each has its
/// right one.
fn slowness(clock: &str) -> Option<(Severity, &'static str)> {
    match clock {
        "hpet" | "acpi_pm" | "pit" => {
            Some((Severity::High, "takes a system call and a device read"))
        }
        "jiffies" | "refined-jiffies" => Some((Severity::High, "moves only with the tick")),
        // No vDSO reads it on older kernels and hypervisors; tsc is what EC2 recommends in its place.
        "xen" => Some((Severity::Medium, "takes a system call on most hosts")),
        // An intercepted register, where the TSC page would need no exit.
        "hyperv_clocksource_msr" => Some((Severity::Low, "takes an exit to the hypervisor")),
        _ => None,
    }
}

fn why(host: &HostView) -> String {
    if let Some(chosen) = boot_choice(host) {
        format!("{chosen} on the boot line")
    } else if let Some(asked) = asked_in_vain(host) {
        format!("the boot line asks for tsc in vain ({asked})")
    } else if let Some(better) = better(host) {
        format!("{better} is available")
    } else if host.clocksource.offers("tsc") {
        "tsc is available, but the kernel does not know it to be stable here".to_owned()
    } else if host.clocksource.available.is_ok() {
        "tsc is not available, the kernel has found it unstable or missing".to_owned()
    } else {
        "whether tsc is available is unknown".to_owned()
    }
}

/// The boot parameter that asked for it.
fn boot_choice(host: &HostView) -> Option<String> {
    let line = host.kernel.boot_line.as_ref().ok()?;
    match (line.value("clocksource"), line.value("tsc")) {
        (Some(name), _) if !is_fast(name) => Some(format!("clocksource={name}")),
        (_, Some("unstable")) => Some("tsc=unstable".to_owned()),
        _ if line.has("notsc") => Some("notsc".to_owned()),
        _ => None,
    }
}

/// The boot parameters that ask for the TSC, which is not in use all the same.
fn asked_in_vain(host: &HostView) -> Option<String> {
    let line = host.kernel.boot_line.as_ref().ok()?;
    let asks = [("clocksource", "tsc"), ("tsc", "reliable")];
    let asked = asks.iter().filter(|(name, value)| line.value(name) == Some(value));
    let asked: Vec<String> = asked.map(|(name, value)| format!("{name}={value}")).collect();
    (!asked.is_empty()).then(|| asked.join(" "))
}

fn is_fast(clock: &str) -> bool {
    slowness(clock).is_none()
}

/// A clock that is offered, needs no system call, and keeps its speed.
fn better(host: &HostView) -> Option<&'static str> {
    let available = host.clocksource.available.as_ref().map(|it| it.join(" ")).unwrap_or_default();
    let is_steady = |it: &str| it != "tsc" || is_tsc_steady(host, &available);
    ["tsc", "kvm-clock", "hyperv_clocksource_tsc_page"]
        .into_iter()
        .find(|it| host.clocksource.offers(it) && is_steady(it))
}

fn with_fix(host: &HostView, finding: Finding) -> Finding {
    let finding = match better(host) {
        Some(_) => finding.fix_by("clocksource", "best"),
        None => finding.command(&commands::KERNEL_LOG, "-i -E 'tsc|clocksource'"),
    };
    match (boot_choice(host), better(host)) {
        (Some(chosen), _) => finding.fix_lasting(boot_line::without(host, &chosen)),
        (None, _) if host.clocksource.current.as_ref().is_ok_and(|it| it == "xen") => {
            finding.fix_lasting(fast_clock_on_xen(&host.platform))
        }
        (None, Some(better)) if asked_in_vain(host).is_none() => {
            finding.fix_lasting(format!("clocksource={better} on the boot line"))
        }
        (None, _) => finding.fix_lasting(fast_clock(&host.platform)),
    }
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::{findings, verdict};

    fn host(current: &str, available: &str, boot_line: &str) -> String {
        let folder = "//- /sys/devices/system/clocksource/clocksource0";
        format!(
            "{folder}/current_clocksource\n{current}\n{folder}/available_clocksource\n{available}\n\
             //- /proc/cmdline\n{boot_line}\n"
        )
    }

    #[test]
    fn hpet_in_place_of_an_unstable_tsc_is_high() {
        assert_eq!(
            verdict(&CHECK, &host("hpet", "hpet acpi_pm", "quiet")),
            "high: clock source hpet takes a system call and a device read: tsc is not available, the kernel has found it unstable or missing"
        );
    }

    #[test]
    fn a_choice_on_the_boot_line_is_named() {
        assert_eq!(
            verdict(&CHECK, &host("acpi_pm", "tsc hpet acpi_pm", "clocksource=acpi_pm")),
            "high: clock source acpi_pm takes a system call and a device read: clocksource=acpi_pm on the boot line"
        );
    }

    #[test]
    fn a_choice_of_tsc_that_did_not_help_is_named_and_not_advised() {
        let host = host("hpet", "hpet acpi_pm", "ro clocksource=tsc tsc=reliable");
        assert_eq!(
            verdict(&CHECK, &host),
            "high: clock source hpet takes a system call and a device read: the boot line asks for tsc in vain (clocksource=tsc tsc=reliable)"
        );
        let finding = findings(&CHECK, &host).remove(0);
        assert_eq!(finding.evidence[2].value, "clocksource=tsc tsc=reliable");
        assert!(!finding.fix.lasting.unwrap().contains("boot line"));
    }

    #[test]
    fn each_hypervisor_is_spoken_of_in_its_own_words() {
        let lasting = |vendor: &str, product: &str| {
            let dmi = "//- /sys/class/dmi/id";
            let host = host("acpi_pm", "acpi_pm", "")
                + &format!("{dmi}/sys_vendor\n{vendor}\n{dmi}/product_name\n{product}\n");
            findings(&CHECK, &host).remove(0).fix.lasting.unwrap()
        };
        assert!(lasting("VMware, Inc.", "VMware7,1").contains("ESXi"));
        assert!(lasting("OxVM", "Propolis-based bhyve").contains("bhyve"));
        assert!(lasting("Microsoft Corporation", "Virtual Machine").contains("Hyper-V"));
        assert!(lasting("QEMU", "Standard PC").contains("invtsc"));
        assert!(lasting("Amazon EC2", "t3.micro").contains("Nitro"));
        assert!(lasting("Xen", "HVM domU").contains("tsc_mode=\"native\""));
        let bare = host("hpet", "hpet", "")
            + "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : GenuineIntel\nflags : tsc\n";
        let bare = findings(&CHECK, &bare).remove(0).fix.lasting.unwrap();
        assert!(bare.contains("firmware") && !bare.contains("guest"), "{bare}");
    }

    #[test]
    fn a_better_clock_that_is_at_hand_is_named() {
        assert_eq!(
            verdict(&CHECK, &host("xen", "xen tsc hpet", "")),
            "medium: clock source xen takes a system call on most hosts: tsc is available, but the kernel does not know it to be stable here"
        );
    }

    #[test]
    fn tsc_is_not_advised_to_a_guest_of_xen_and_is_where_hpet_was_chosen_by_hand() {
        let fix =
            |current, available| findings(&CHECK, &host(current, available, "")).remove(0).fix;
        let xen = fix("xen", "xen tsc hpet");
        assert!(xen.now.is_empty() && xen.apply.is_empty(), "{xen:?}");
        assert!(xen.lasting.unwrap().starts_with("on the Xen host, the TSC as Xen's own"));
        // The flags are no promise of Xen's, whichever clock is in use.
        let flags = "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : GenuineIntel\nflags : hypervisor constant_tsc nonstop_tsc\n";
        let xen = findings(&CHECK, &(host("hpet", "xen tsc hpet", "") + flags)).remove(0).fix;
        assert!(xen.now.is_empty() && xen.apply.is_empty(), "{xen:?}");
        assert!(!xen.lasting.unwrap().contains("clocksource="));
        let bare = host("hpet", "tsc hpet", "")
            + "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : GenuineIntel\nflags : tsc\n";
        let fix = findings(&CHECK, &bare).remove(0).fix;
        assert_eq!(fix.apply, ["clocksource=best"]);
    }

    #[test]
    fn the_control_domain_of_xen_is_told_what_xen_can_do() {
        let dom0 = host("xen", "xen tsc hpet", "")
            + "//- /sys/hypervisor/type\nxen\n//- /proc/xen/capabilities\ncontrol_d\n";
        let lasting = findings(&CHECK, &dom0).remove(0).fix.lasting.unwrap();
        assert!(lasting.contains("on Xen's boot line (not Linux's)"), "{lasting}");
    }

    #[test]
    fn a_xen_guest_that_has_no_other_clock_is_low() {
        assert!(verdict(&CHECK, &host("xen", "xen", "")).starts_with("low: "));
    }

    #[test]
    fn every_hosts_own_fast_clock_is_clean() {
        for clock in ["tsc", "arch_sys_counter", "timebase", "tod", "riscv_clocksource", "Constant"]
        {
            assert_eq!(verdict(&CHECK, &host(clock, clock, "")), "clean", "{clock}");
        }
    }

    #[test]
    fn whether_a_hypervisors_clock_needs_the_kernel_is_unknown() {
        assert_eq!(
            verdict(&CHECK, &host("kvm-clock", "kvm-clock tsc acpi_pm", "")),
            "unknown: the stability mark of kvm-clock (PVCLOCK_TSC_STABLE_BIT) cannot be read: no file shows it"
        );
        let page = verdict(&CHECK, &host("hyperv_clocksource_tsc_page", "", ""));
        assert!(
            page.starts_with("unknown: the stability mark of hyperv_clocksource_tsc_page"),
            "{page}"
        );
    }

    #[test]
    fn a_clock_that_cannot_be_read_is_unknown() {
        assert_eq!(
            verdict(&CHECK, &host("!denied", "tsc", "")),
            "unknown: /sys/devices/system/clocksource/clocksource0/current_clocksource may not be read"
        );
    }
}
