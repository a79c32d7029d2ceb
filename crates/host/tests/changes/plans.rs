//! Plans of several settings, and the hosts they are for.

use facts::change::{Group, Target, Write};
use std::collections::BTreeMap;

/// A plan, and the files of a host that it is made for.
pub(crate) struct Plan {
    pub(crate) groups: Vec<Group>,
    pub(crate) files: BTreeMap<String, Vec<u8>>,
}

pub(crate) fn named(name: &str) -> Plan {
    match name {
        "clocks" => clocks(),
        "files" => files(),
        "registers" => registers(),
        "tunables" => tunables(),
        "latency" => latency(),
        _ => panic!("no plan is named {name}"),
    }
}

fn of_no_setting() -> Plan {
    let boot = ("/proc/sys/kernel/random/boot_id".to_owned(), b"first\n".to_vec());
    Plan { groups: Vec::new(), files: [boot].into() }
}

impl Plan {
    fn group(&mut self, setting: &str, canary: bool, writes: Vec<Write>) {
        let (setting, value) = (setting.to_owned(), "x".to_owned());
        self.groups.push(Group { setting, value, canary, writes });
    }

    /// A control that holds `from`, and its write.
    fn control(&mut self, path: &str, from: &str, to: &str) -> Write {
        self.files.insert(path.to_owned(), format!("{from}\n").into_bytes());
        Write::of(Target::control(path), from, to)
    }
}

/// Three settings of eight policies, and the whole host's.
fn clocks() -> Plan {
    let mut plan = of_no_setting();
    for (setting, file, from, to) in [
        ("governor", "scaling_governor", "powersave", "performance"),
        ("scaling-max", "scaling_max_freq", "2000000", "3400000"),
        ("scaling-min", "scaling_min_freq", "800000", "2000000"),
    ] {
        let path = |policy| format!("/sys/devices/system/cpu/cpufreq/policy{policy}/{file}");
        let writes = (0..8).map(|it| plan.control(&path(it), from, to)).collect();
        plan.group(setting, false, writes);
    }
    let write = plan.control("/proc/sys/vm/stat_interval", "1", "120");
    plan.group("stat-interval", false, vec![write]);
    plan
}

/// A file that is replaced, two that are created, one of them in a folder of its own, and one that is removed.
fn files() -> Plan {
    let mut plan = of_no_setting();
    let write = plan.control("/proc/sys/kernel/timer_migration", "1", "0");
    plan.group("timer-migration", false, vec![write]);
    let old = "# ours, of another day\nvm.stat_interval = 5\n";
    for path in ["/etc/sysctl.d/90-fullclock.conf", "/etc/modprobe.d/fullclock.conf"] {
        plan.files.insert(path.to_owned(), old.as_bytes().to_vec());
    }
    plan.files.insert("/etc/sysctl.d/10-theirs.conf".to_owned(), b"# theirs\n".to_vec());
    let replaced = Write::of(
        Target::file("/etc/sysctl.d/90-fullclock.conf"),
        old,
        "kernel.timer_migration = 0\n",
    );
    let mut removed = Write::of(Target::file("/etc/modprobe.d/fullclock.conf"), old, "");
    removed.to = None;
    let created = ["/etc/sysctl.d/91-fullclock.conf", "/etc/fullclock/boot.toml"].map(|path| {
        let mut write = Write::of(Target::file(path), "", "a = 1\n");
        write.from = None;
        write
    });
    plan.group("persist", false, vec![replaced, removed]);
    plan.group("persist-more", false, created.into());
    plan
}

/// Clock modulation cleared, one CPU first, and bits of another register set.
fn registers() -> Plan {
    let mut plan = of_no_setting();
    for cpu in 0..4_u32 {
        let mut bytes = vec![0; 0x1fc + 8];
        bytes[0x19a..][..8].copy_from_slice(&(0x14 | u64::from(cpu) << 8).to_ne_bytes());
        bytes[0x1fc..][..8].copy_from_slice(&(0x4000 | u64::from(cpu) << 20).to_ne_bytes());
        plan.files.insert(format!("/dev/cpu/{cpu}/msr"), bytes);
    }
    let cleared = |cpu: u32| {
        let target = Target::Register { cpu, address: 0x19a, mask: 0x1f };
        Write::of(target, format!("{:#x}", 0x14 | cpu << 8), format!("{:#x}", cpu << 8))
    };
    let set = |cpu: u32| {
        let target = Target::Register { cpu, address: 0x1fc, mask: 0b10 };
        Write::of(
            target,
            format!("{:#x}", 0x4000 | cpu << 20),
            format!("{:#x}", 0x4002 | cpu << 20),
        )
    };
    // The canary has to be a CPU that there is, so that it can answer.
    plan.group("clock-modulation", true, (0..4).map(cleared).collect());
    plan.group("c1e", false, (0..4).map(set).collect());
    plan
}

/// A governor that takes its tunables along, a place that is written twice, and one that is refused.
fn tunables() -> Plan {
    let mut plan = of_no_setting();
    let threshold = "/sys/devices/system/cpu/cpufreq/ondemand/up_threshold";
    plan.files.insert(threshold.to_owned(), b"95\n".to_vec());
    let policy = "/sys/devices/system/cpu/cpufreq/policy0";
    let governor = plan.control(&format!("{policy}/scaling_governor"), "ondemand", "powersave");
    let preference = format!("{policy}/energy_performance_preference");
    let preference = plan.control(&preference, "balance_power", "balance_performance");
    let again = Write::of(governor.target.clone(), "powersave", "performance");
    let forgotten = Write::forgotten(Target::control(threshold), "95");
    let refused =
        Write::of(Target::control("/proc/irq/9/smp_affinity_list"), "0-3", "0-1").if_taken();
    plan.group("preference", false, vec![forgotten, governor, preference, again, refused]);
    let write = plan.control("/proc/sys/kernel/nmi_watchdog", "1", "0");
    plan.group("nmi-watchdog", false, vec![write]);
    plan
}

/// A request that a process keeps, between two others.
fn latency() -> Plan {
    let mut plan = of_no_setting();
    let before = plan.control("/proc/sys/vm/stat_interval", "1", "120");
    plan.group("stat-interval", false, vec![before]);
    plan.group("latency-request", false, vec![Write::of(Target::LatencyRequest, "none", "20")]);
    let after = plan.control("/proc/sys/kernel/split_lock_mitigate", "1", "0");
    plan.group("split-lock-mitigate", false, vec![after]);
    plan
}
