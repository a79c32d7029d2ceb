//! Looks for CPUs that are plugged in and switched off.
//!
//! Source: Documentation/admin-guide/cputopology.rst and cpu-hotplug documentation: CPUs that are only *possible* were
//! never there. It cannot know who switched one off, or that a licence asked for it.

use crate::check::{Check, Reference, Verdict};
use crate::commands;
use crate::finding::{Confidence, Finding, Severity};
use facts::cpu::cpuinfo::CpuInfo;
use facts::{CpuSet, HostView, Missing};

pub(crate) const CHECK: Check = Check {
    id: "offline-cpus",
    title: "CPUs are plugged in but offline",
    doc: "\
## What it looks at
The CPUs in /sys/devices/system/cpu/present that are not in `online`; in a copy of an x86 host without these lists the
file `online` of each CPU. CPUs that are only `possible` (room for
hotplug) are not looked at, nor standby CPUs of a mainframe. On a Xeon Gold or Platinum also whether every core has
its second thread. On POWER a lower level of multithreading (`ppc64_cpu --smt=2`) keeps the further threads of every core
offline, and newer kernels show it as a number in `smt/control`: it is a choice, and only noted.

## Why it matters
An offline CPU does no work, and everything sized by the number of CPUs (parallel query, connection pools, buffer
partitions) is sized for the others. It happens by a forgotten test, by `maxcpus=` or `nosmt` on the boot line, or when CPUs
were added to a running guest and never brought online.

## When to leave it alone
Where hyper-threads are off on purpose, for security or for steadier latency: then every second CPU is offline
and this check only notes it. Where a licence counts online CPUs.
",
    references: &[
        Reference {
            title: "Linux: CPU hotplug in the Kernel",
            url: "https://docs.kernel.org/core-api/cpu_hotplug.html",
        },
        Reference {
            title: "Linux: How CPU topology info is exported via sysfs",
            url: "https://docs.kernel.org/admin-guide/cputopology.html",
        },
    ],
    run,
};

/// From this share of the CPUs on, their absence costs some percent of the machine.
const MANY: f64 = 0.10;

fn run(host: &HostView) -> Verdict {
    match (offline(host), threads_off(host)) {
        (Ok(findings), Some(threads)) if findings.is_empty() => Ok(vec![threads]),
        (Err(_), Some(threads)) => Ok(vec![threads]),
        (verdict, _) => verdict,
    }
}

fn offline(host: &HostView) -> Verdict {
    let present = host.topology.present.as_ref()?;
    let online = host.topology.online.as_ref()?;
    let offline = present.minus(online).minus(&host.topology.standby);
    if offline.is_empty() {
        return Ok(Vec::new());
    }
    // lxcfs puts a list of its own over `online`: the CPUs that the container may use.
    if let Ok(Some(container)) = &host.platform.container {
        return Err(Missing::hidden(
            "which CPUs are offline",
            format!("the container ({container})"),
        ));
    }
    let share = offline.len() as f64 / present.len().max(1) as f64;
    let (severity, because) = match explanation(host, &offline, online) {
        Some((severity, because)) => (severity, format!(": {because}")),
        None if share >= MANY => (Severity::Medium, String::new()),
        None => (Severity::Low, String::new()),
    };
    let finding =
        Finding::new(severity, Confidence::High, format!("plugged in, but offline{because}"));
    let mut finding = match offline.first() {
        Some(cpu) if host.topology.is_by_folders => {
            finding.evidence(format!("/sys/devices/system/cpu/cpu{cpu}/online"), 0)
        }
        _ => finding
            .evidence("/sys/devices/system/cpu/present", present)
            .evidence("/sys/devices/system/cpu/online", online),
    };
    if severity > Severity::Info {
        // The kernel refuses the threads that smt/control keeps off, one by one (`cpu_smt_allowed` in kernel/cpu.c).
        finding = match host.topology.smt_control.as_deref() {
            Ok("off" | "forceoff") => finding.command(&commands::SMT_ON, ""),
            _ => finding.names("/sys/devices/system/cpu/cpu*/online").fix_by_on(
                "cpu-online",
                "on",
                offline.clone(),
            ),
        };
        finding = finding.fix_lasting("whatever takes them offline at boot: maxcpus= on the boot line, a service, a udev rule that leaves hot-added CPUs alone");
    }
    Ok(vec![finding.on(offline, present.len())])
}

/// How many threads of each core are online, where every core has the same first ones: cores of 8, 4 or 2 threads, whose
/// numbers follow each other (arch/powerpc/include/asm/cputhreads.h).
fn threads_online(present: &CpuSet, online: &CpuSet) -> Option<usize> {
    let of_cores = |n_threads: u32| {
        let mut levels = present.iter().filter(|cpu| cpu % n_threads == 0).map(|first| {
            let core: CpuSet = (first..first.saturating_add(n_threads)).collect();
            let is_whole = core.minus(present).is_empty();
            let n_online = core.and(online).len();
            let are_first = core.iter().take(n_online).all(|cpu| online.contains(cpu));
            (is_whole && are_first && n_online > 0).then_some(n_online)
        });
        let level = levels.next().flatten()?;
        let is_same = levels.all(|it| it == Some(level));
        (is_same && present.len().is_multiple_of(n_threads as usize)).then_some(level)
    };
    [8, 4, 2].into_iter().find_map(of_cores)
}

/// Hyper-threading that firmware has switched off: the threads are not even present. Only where the name says
/// that the processor has it: every Xeon Gold and Platinum does, other models come with and without.
fn threads_off(host: &HostView) -> Option<Finding> {
    let name = &host.cpuinfo.as_ref().ok()?.model_name;
    let lower = name.to_ascii_lowercase();
    let has_threads =
        lower.contains("xeon") && (lower.contains("gold") || lower.contains("platinum"));
    let cores = host.topology.cores.as_ref().ok()?;
    let is_alone = cores.len() > 1 && cores.iter().all(|threads| threads.len() == 1);
    if !has_threads || !is_alone || !host.platform.is_bare_metal() {
        return None;
    }
    let first = cores.first().and_then(CpuSet::first)?;
    Some(
        Finding::new(
            Severity::Info,
            Confidence::Medium,
            "hyper-threading is off in firmware: one thread for each core",
        )
        .evidence("model name in /proc/cpuinfo", name)
        .evidence(format!("/sys/devices/system/cpu/cpu{first}/topology/core_cpus_list"), first),
    )
}

/// The boot parameter that leaves one thread of each core: `nosmt`, or a mitigation that takes it along
/// (Documentation/admin-guide/kernel-parameters.txt and hw-vuln/l1tf.rst).
fn asks_for_one_thread(host: &HostView) -> Option<String> {
    let line = host.kernel.boot_line.as_ref().ok()?;
    let mut asked = line.parameters().filter_map(|(name, value)| {
        let by_mitigation = || {
            let words = || value.unwrap_or_default().split(',');
            words().any(|it| it == "nosmt") || name == "l1tf" && words().eq(["full", "force"])
        };
        (name == "nosmt" || by_mitigation())
            .then(|| value.map_or(name.to_owned(), |value| format!("{name}={value}")))
    });
    asked.next()
}

/// A reason that is written somewhere.
fn explanation(host: &HostView, offline: &CpuSet, online: &CpuSet) -> Option<(Severity, String)> {
    let smt = host.topology.smt_control.as_deref().unwrap_or_default();
    let is_off = matches!(smt, "off" | "forceoff");
    // With one thread of each core online, the others are as many, or twice or three times as many.
    if is_off && offline.len().is_multiple_of(online.len().max(1)) {
        let by = asks_for_one_thread(host)
            .map_or(String::new(), |it| format!(" by {it} on the boot line"));
        return Some((Severity::Info, format!("simultaneous multithreading is {smt}{by}")));
    }
    // A number since Linux 6.6 (include/linux/cpu_smt.h); before that, POWER shows none at all.
    let level: Option<usize> = smt.parse().ok();
    let is_power = host.cpuinfo.as_ref().is_ok_and(CpuInfo::is_power);
    let mut present = offline.clone();
    present.extend(online.iter());
    if (is_power || level.is_some())
        && let Some(n_threads) = threads_online(&present, online)
        && level.is_none_or(|level| level == n_threads)
    {
        let text = format!("simultaneous multithreading is at level {n_threads}");
        return Some((Severity::Info, text));
    }
    let line = host.kernel.boot_line.as_ref().ok()?;
    let n_cpus = line.value("maxcpus")?;
    Some((Severity::Low, format!("maxcpus={n_cpus} on the boot line")))
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::verdict;

    fn host(present: &str, online: &str, more: &str) -> String {
        let folder = "//- /sys/devices/system/cpu";
        format!("{folder}/present\n{present}\n{folder}/online\n{online}\n{more}")
    }

    #[test]
    fn one_of_many_cpus_is_low_and_a_quarter_medium() {
        assert_eq!(
            verdict(&CHECK, &host("0-15", "0-3,5-15", "")),
            "low: plugged in, but offline [CPU 4 (1 of 16)]"
        );
        assert_eq!(
            verdict(&CHECK, &host("0-15", "0-11", "")),
            "medium: plugged in, but offline [CPUs 12-15 (4 of 16)]"
        );
    }

    #[test]
    fn siblings_without_multithreading_are_a_note() {
        let smt = "//- /sys/devices/system/cpu/smt/control\nforceoff\n";
        assert_eq!(
            verdict(&CHECK, &host("0-63", "0-31", smt)),
            "info: plugged in, but offline: simultaneous multithreading is forceoff [CPUs 32-63 (32 of 64)]"
        );
        for parameter in ["nosmt=force", "mitigations=auto,nosmt", "l1tf=full,force"] {
            let line = format!("{smt}//- /proc/cmdline\nro {parameter} quiet\n");
            let found = verdict(&CHECK, &host("0-63", "0-31", &line));
            assert!(
                found.contains(&format!("is forceoff by {parameter} on the boot line")),
                "{found}"
            );
        }
        assert!(verdict(&CHECK, &host("0-63", "0-29", smt)).starts_with("medium: "));
    }

    #[test]
    fn a_lower_level_of_multithreading_is_a_choice_and_no_fault() {
        let power9 = "//- /proc/cpuinfo\nprocessor : 0\ncpu : POWER9, altivec supported\n";
        assert_eq!(
            verdict(&CHECK, &host("0-15", "0-1,8-9", power9)),
            "info: plugged in, but offline: simultaneous multithreading is at level 2 [CPUs 2-7,10-15 (12 of 16)]"
        );
        assert!(verdict(&CHECK, &host("0-7", "0-1,4-5", power9)).starts_with("info: "));
        // One core has lost a thread of its own, or all of them.
        assert!(verdict(&CHECK, &host("0-15", "0-1,8", power9)).starts_with("medium: "));
        assert!(verdict(&CHECK, &host("0-15", "0-7", power9)).starts_with("medium: "));
        let number = "//- /sys/devices/system/cpu/smt/control\n2\n";
        assert!(verdict(&CHECK, &host("0-15", "0-1,8-9", number)).starts_with("info: "));
        assert!(verdict(&CHECK, &host("0-15", "0-3,8-11", number)).starts_with("medium: "));
    }

    #[test]
    fn threads_that_firmware_hides_are_a_note_where_the_model_has_them() {
        let box_of = |name: &str| {
            let core = "//- /sys/devices/system/cpu/cpu";
            let cores =
                format!("{core}0/topology/core_cpus_list\n0\n{core}1/topology/core_cpus_list\n1\n");
            let cpuinfo =
                "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : GenuineIntel\nmodel name : ";
            host("0-1", "0-1", &format!("{cores}{cpuinfo}{name}\n"))
        };
        assert_eq!(
            verdict(&CHECK, &box_of("Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz")),
            "info: hyper-threading is off in firmware: one thread for each core"
        );
        assert_eq!(verdict(&CHECK, &box_of("Intel(R) Xeon(R) 6746E")), "clean");
    }

    #[test]
    fn a_boot_parameter_that_explains_it_is_named() {
        assert_eq!(
            verdict(&CHECK, &host("0-15", "0-7", "//- /proc/cmdline\nmaxcpus=8\n")),
            "low: plugged in, but offline: maxcpus=8 on the boot line [CPUs 8-15 (8 of 16)]"
        );
    }

    #[test]
    fn possible_and_standby_cpus_are_not_missed() {
        assert_eq!(
            verdict(&CHECK, &host("0-15", "0-15", "//- /sys/devices/system/cpu/possible\n0-127\n")),
            "clean"
        );
        let standby = "//- /sys/devices/system/cpu/cpu3/configure\n0\n";
        assert_eq!(verdict(&CHECK, &host("0-3", "0-2", standby)), "clean");
    }

    #[test]
    fn what_a_container_shows_as_online_may_be_its_own_share() {
        assert_eq!(
            verdict(&CHECK, &host("0-15", "0-3", "//- /run/systemd/container\nlxc\n")),
            "unknown: which CPUs are offline: not available in a guest of the container (lxc)"
        );
    }

    #[test]
    fn a_copy_without_the_lists_has_a_file_of_each_cpu() {
        let copy = |files: [&str; 3]| {
            let cpu = "//- /sys/devices/system/cpu/cpu";
            let of = |(n, state): (usize, &str)| format!("{cpu}{}/online\n{state}\n", n + 1);
            let files: String = files.into_iter().enumerate().map(of).collect();
            let cpuinfo = "//- /proc/cpuinfo\nvendor_id : GenuineIntel\nflags : sse2\n\nprocessor : 0\ncpu MHz : 2100\nprocessor : 1\ncpu MHz : 2100\n";
            let head = "fullclock capture 1 (imported)";
            verdict(&CHECK, &format!("{head}\n{cpuinfo}{cpu}0/topology/core_id\n0\n{files}"))
        };
        assert_eq!(copy(["1", "0", "0"]), "medium: plugged in, but offline [CPUs 2-3 (2 of 4)]");
        assert_eq!(copy(["1", "1", "1"]), "clean");
        assert!(copy(["!denied"; 3]).starts_with("unknown: "));
    }

    #[test]
    fn a_list_that_cannot_be_read_is_unknown() {
        assert_eq!(
            verdict(&CHECK, &host("!denied", "0-3", "")),
            "unknown: /sys/devices/system/cpu/present may not be read"
        );
    }
}
