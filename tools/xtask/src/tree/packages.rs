//! What the kernel has for every package: power limits, and the limits of the uncore's clock.

use super::{Server, Tree};

pub(super) fn add(tree: &mut Tree, server: Server) {
    for package in 0..server.n_packages {
        let zone = format!("intel-rapl:{package}");
        let folder = format!("/sys/devices/virtual/powercap/intel-rapl/{zone}");
        tree.line(format!("{folder}/name"), format!("package-{package}"));
        tree.lines(
            &folder,
            &[
                ("enabled", "1"),
                ("constraint_0_name", "long_term"),
                ("constraint_0_power_limit_uw", "350000000"),
                ("constraint_0_max_power_uw", "350000000"),
                ("constraint_0_time_window_us", "999424"),
                ("constraint_1_name", "short_term"),
                ("constraint_1_power_limit_uw", "420000000"),
                ("constraint_1_max_power_uw", "764000000"),
                ("constraint_1_time_window_us", "1952"),
            ],
        );
        let target = format!("../../devices/virtual/powercap/intel-rapl/{zone}");
        tree.link(format!("/sys/class/powercap/{zone}"), target);
        tree.lines(
            &format!("/sys/devices/system/cpu/intel_uncore_frequency/package_{package:02}_die_00"),
            &[
                ("initial_min_freq_khz", "800000"),
                ("initial_max_freq_khz", "2500000"),
                ("min_freq_khz", "800000"),
                ("max_freq_khz", "2500000"),
                ("current_freq_khz", "2200000"),
            ],
        );
    }
}
