//! What the kernel has for every CPU: topology, frequency, idle states, throttle counters, cooling devices.

use super::{Server, Tree};

const CPUS: &str = "/sys/devices/system/cpu";

pub(super) fn add(tree: &mut Tree, server: Server) {
    for cpu in server.cpus() {
        topology(tree, server, cpu);
        frequency(tree, cpu);
        idle_states(tree, cpu);
        throttling(tree, cpu);
        let folder = format!("{CPUS}/cpu{cpu}");
        tree.lines(
            &format!("{folder}/power"),
            &[("energy_perf_bias", "0"), ("pm_qos_resume_latency_us", "0"), ("control", "auto")],
        );
        if cpu > 0 {
            tree.line(format!("{folder}/online"), 1);
        }
        cooling_device(tree, cpu);
    }
}

fn topology(tree: &mut Tree, server: Server, cpu: u32) {
    let folder = format!("{CPUS}/cpu{cpu}/topology");
    let (core, package) = (server.core_list(cpu), server.package_list(server.package(cpu)));
    let core_id = server.core(cpu).to_string();
    let package_id = server.package(cpu).to_string();
    tree.lines(
        &folder,
        &[
            ("core_cpus_list", &core),
            ("thread_siblings_list", &core),
            ("package_cpus_list", &package),
            ("core_siblings_list", &package),
            ("die_cpus_list", &package),
            ("core_id", &core_id),
            ("physical_package_id", &package_id),
        ],
    );
}

/// intel_pstate in active mode, held at its maximum.
fn frequency(tree: &mut Tree, cpu: u32) {
    let folder = format!("{CPUS}/cpufreq/policy{cpu}");
    let own = cpu.to_string();
    tree.lines(
        &folder,
        &[
            ("affected_cpus", &own),
            ("related_cpus", &own),
            ("base_frequency", "2000000"),
            ("cpuinfo_max_freq", "3800000"),
            ("cpuinfo_min_freq", "800000"),
            ("cpuinfo_transition_latency", "0"),
            ("energy_performance_available_preferences", "default performance balance_performance"),
            ("energy_performance_preference", "performance"),
            ("scaling_available_governors", "performance powersave"),
            ("scaling_cur_freq", "3500000"),
            ("scaling_driver", "intel_pstate"),
            ("scaling_governor", "performance"),
            ("scaling_max_freq", "3800000"),
            ("scaling_min_freq", "800000"),
            ("scaling_setspeed", "<unsupported>"),
        ],
    );
    tree.link(format!("{CPUS}/cpu{cpu}/cpufreq"), format!("../cpufreq/policy{cpu}"));
}

fn idle_states(tree: &mut Tree, cpu: u32) {
    const STATES: [(&str, &str, &str, &str); 4] = [
        ("POLL", "CPUIDLE CORE POLL IDLE", "0", "0"),
        ("C1", "MWAIT 0x00", "1", "1"),
        ("C1E", "MWAIT 0x01", "2", "4"),
        ("C6", "MWAIT 0x20", "290", "800"),
    ];
    for (number, (name, description, latency, residency)) in STATES.into_iter().enumerate() {
        tree.lines(
            &format!("{CPUS}/cpu{cpu}/cpuidle/state{number}"),
            &[
                ("name", name),
                ("desc", description),
                ("latency", latency),
                ("residency", residency),
                ("disable", "0"),
                ("default_status", "enabled"),
                ("usage", "123456"),
                ("time", "987654321"),
            ],
        );
    }
}

fn throttling(tree: &mut Tree, cpu: u32) {
    for level in ["core", "package"] {
        for counter in ["count", "max_time_ms", "total_time_ms"] {
            let path = format!("{CPUS}/cpu{cpu}/thermal_throttle/{level}_throttle_{counter}");
            tree.line(path, 0);
        }
    }
}

/// ACPI makes one for every CPU.
fn cooling_device(tree: &mut Tree, cpu: u32) {
    let name = format!("cooling_device{cpu}");
    let folder = format!("/sys/devices/virtual/thermal/{name}");
    tree.lines(&folder, &[("type", "Processor"), ("cur_state", "0"), ("max_state", "3")]);
    let target = format!("../../devices/virtual/thermal/{name}");
    tree.link(format!("/sys/class/thermal/{name}"), target);
}
