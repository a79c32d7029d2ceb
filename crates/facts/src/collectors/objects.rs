//! What belongs together in /proc and /sys: folders that one driver fills at once, and what every kernel has.

use super::pattern::{fits, name_fits};

/// A folder that one driver fills, all at once.
struct Object {
    /// Which folders, as a pattern.
    folder: &'static str,
    /// Files that each one has. Where a copy holds them all, it holds the folder as it was.
    always: &'static [&'static str],
    /// Patterns of files of the same driver that one may lack. Files of others and folders are not among them: each is
    /// collected by itself.
    optional: &'static [&'static str],
}

/// drivers/cpufreq/cpufreq.c: `default_attrs`, and what `cpufreq_add_dev_interface` adds with them, of the driver too.
const POLICY: &[&str] = &[
    "affected_cpus",
    "cpuinfo_max_freq",
    "cpuinfo_min_freq",
    "scaling_driver",
    "scaling_governor",
    "scaling_max_freq",
    "scaling_min_freq",
];
const POLICY_OPTIONAL: &[&str] = &[
    "amd_pstate_*",
    "auto_*",
    "base_frequency",
    "bios_limit",
    "boost",
    "cpb",
    // Not cpuinfo_cur_freq: only root may read it (mode 0400), and a copy that others made lacks it.
    "cpuinfo_avg_freq",
    "cpuinfo_transition_latency",
    "energy_performance_*",
    "freqdomain_cpus",
    "perf_limited",
    "scaling_*",
];

const OBJECTS: &[Object] = &[
    Object {
        folder: "/sys/devices/system/cpu/cpufreq/policy#",
        always: POLICY,
        optional: POLICY_OPTIONAL,
    },
    Object {
        folder: "/sys/devices/system/cpu/cpu#/cpufreq",
        always: POLICY,
        optional: POLICY_OPTIONAL,
    },
    // drivers/base/cpu.c: cpu_root_attrs, and the folder's own `uevent`.
    Object {
        folder: "/sys/devices/system/cpu",
        always: &["kernel_max", "offline", "online", "possible", "present", "uevent"],
        optional: &["isolated", "nohz_full"],
    },
    // drivers/base/topology.c.
    Object {
        folder: "/sys/devices/system/cpu/cpu#/topology",
        always: &["core_id", "core_siblings_list", "physical_package_id", "thread_siblings_list"],
        optional: &["*_cpus_list", "die_id"],
    },
    // drivers/thermal/intel/therm_throt.c.
    Object {
        folder: "/sys/devices/system/cpu/cpu#/thermal_throttle",
        always: &["core_throttle_count"],
        optional: &["core_*", "package_*"],
    },
    // drivers/cpuidle/sysfs.c.
    Object {
        folder: "/sys/devices/system/cpu/cpu#/cpuidle/state#",
        always: &["desc", "latency", "name", "time", "usage"],
        optional: &["default_status", "disable", "residency"],
    },
    Object {
        folder: "/sys/devices/system/cpu/cpuidle",
        always: &["current_driver", "current_governor_ro"],
        optional: &["current_governor"],
    },
    // drivers/cpufreq/intel_pstate.c, amd-pstate.c.
    Object {
        folder: "/sys/devices/system/cpu/intel_pstate",
        always: &["max_perf_pct", "min_perf_pct", "no_turbo"],
        optional: &["hwp_dynamic_boost", "status"],
    },
    Object {
        folder: "/sys/devices/system/cpu/amd_pstate",
        always: &["status"],
        optional: &["dynamic_epp", "prefcore"],
    },
    // drivers/powercap/powercap_sys.c.
    Object {
        folder: "/sys/class/powercap/intel-rapl*",
        always: &["constraint_0_name", "constraint_0_power_limit_uw", "enabled", "name"],
        optional: &["constraint_*"],
    },
    // drivers/pci/pci-sysfs.c.
    Object {
        folder: "/sys/devices/**/*:??:??.?",
        always: &["class", "config", "device", "irq", "vendor"],
        optional: PCI_OPTIONAL,
    },
    Object {
        folder: "/sys/bus/pci/devices/*",
        always: &["class", "config", "device", "irq", "vendor"],
        optional: PCI_OPTIONAL,
    },
    // drivers/firmware/dmi-id.c, which leaves out what the firmware does not tell.
    Object {
        folder: "/sys/class/dmi/id",
        always: &["modalias"],
        optional: &["bios_*", "chassis_*", "product_*", "sys_vendor"],
    },
    // net/core/net-sysfs.c; net/wireless/core.c makes the link.
    Object {
        folder: "/sys/class/net/*",
        always: &["carrier", "duplex", "flags", "ifindex", "mtu", "operstate", "speed", "type"],
        optional: &["phy80211"],
    },
    // kernel/cgroup/cgroup.c: cgroup_base_files; the files of a controller are there where it is enabled.
    Object {
        folder: "/sys/fs/cgroup/**",
        always: &["cgroup.controllers", "cgroup.procs", "cgroup.subtree_control"],
        optional: &[
            "cpu.max",
            "cpu.max.burst",
            "cpu.uclamp.*",
            "cpuset.cpus.isolated",
            "cpuset.cpus.partition",
        ],
    },
    // kernel/sysctl.c, kernel/watchdog.c, kernel/time/timer.c.
    Object {
        folder: "/proc/sys/kernel",
        always: &["osrelease", "ostype", "panic", "pid_max", "version"],
        optional: &["nmi_watchdog", "split_lock_mitigate", "timer_migration", "watchdog_cpumask"],
    },
];

const PCI_OPTIONAL: &[&str] = &[
    "current_link_speed",
    "current_link_width",
    "max_link_speed",
    "max_link_width",
    "numa_node",
    "physfn",
];

/// Whether the object in `folder` has no `name`: of a copy of it that `holds` these names.
pub fn lacks(folder: &str, name: &str, mut holds: impl FnMut(&str) -> bool) -> bool {
    let may_lack = |it: &&Object| {
        !it.always.contains(&name)
            && it.optional.iter().any(|pattern| name_fits(pattern, name))
            && fits(it.folder, folder)
    };
    let objects = OBJECTS.iter().filter(may_lack);
    objects.into_iter().any(|it| it.always.iter().all(|name| holds(name)))
}

/// What no running kernel lacks, as far as this program asks for it.
const OF_EVERY_KERNEL: &[&str] = &[
    "/proc",
    "/proc/#/stat",
    "/proc/cmdline",
    "/proc/cpuinfo",
    "/proc/interrupts",
    "/proc/loadavg",
    "/proc/self",
    "/proc/self/mountinfo",
    "/proc/stat",
    "/proc/sys/kernel/osrelease",
    "/proc/uptime",
    "/sys",
    "/sys/class",
    "/sys/class/net",
    "/sys/devices",
    "/sys/devices/system",
    "/sys/devices/system/clocksource/clocksource0/*",
    "/sys/devices/system/cpu",
    "/sys/devices/system/cpu/cpu#",
    "/sys/devices/system/cpu/cpu#/topology",
    "/sys/devices/system/cpu/online",
    "/sys/devices/system/cpu/possible",
    "/sys/devices/system/cpu/present",
];

/// Whether a copy without `path` was not made completely, whatever else it holds. The folder of a CPU counts: collectors
/// take those of some CPUs only.
pub fn is_of_every_kernel(path: &str) -> bool {
    OF_EVERY_KERNEL.iter().any(|pattern| fits(pattern, path))
}

/// Folders that always hold something: an empty one was made by hand, or to be filled later.
const NEVER_EMPTY: &[&str] = &[
    "/*",
    "/proc/#",
    "/proc/sys/*",
    "/sys/*",
    "/sys/devices/system/*",
    "/sys/devices/system/clocksource/clocksource0",
    "/sys/devices/system/cpu/cpu#",
    "/sys/devices/system/cpu/cpu#/cpufreq",
    "/sys/devices/system/cpu/cpu#/topology",
    "/sys/devices/system/cpu/cpufreq/policy#",
    "/sys/devices/system/node/node#",
];

/// Whether the folder at `path` holds something on every kernel that has it.
pub fn is_never_empty(path: &str) -> bool {
    NEVER_EMPTY.iter().any(|pattern| fits(pattern, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY0: &str = "/sys/devices/system/cpu/cpufreq/policy0";

    #[test]
    fn a_policy_lacks_a_file_where_all_that_each_has_is_there() {
        assert!(lacks(POLICY0, "bios_limit", |it| POLICY.contains(&it)));
        assert!(!lacks(POLICY0, "bios_limit", |it| it == "scaling_governor"));
        assert!(!lacks(POLICY0, "cpuinfo_cur_freq", |it| POLICY.contains(&it)));
        assert!(!lacks("/sys/devices/somewhere", "bios_limit", |_| true));
    }

    #[test]
    fn what_each_has_and_what_others_make_is_never_lacked() {
        assert!(!lacks(POLICY0, "scaling_max_freq", |_| true));
        assert!(!lacks(POLICY0, "throttle_stats", |_| true));
        assert!(!lacks("/sys/devices/system/cpu", "cpuidle", |_| true));
    }

    #[test]
    fn every_kernel_has_a_boot_line_and_not_every_one_a_policy() {
        assert!(is_of_every_kernel("/proc/cmdline") && is_of_every_kernel("/proc/17/stat"));
        assert!(!is_of_every_kernel(POLICY0));
        assert!(is_never_empty("/sys/devices/system/cpu") && is_never_empty("/sys/class"));
        assert!(!is_never_empty("/sys/devices/system/cpu/cpufreq"));
    }
}
