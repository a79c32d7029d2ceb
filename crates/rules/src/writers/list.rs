//! Who writes what.

use super::Knob::{Governor, MaxFrequency, MaxPercent, PowerLimit, Preference, Turbo};
use super::Values::{Configured, Cooling, CoolingByTable, Words};
use super::{Knob, Values, Writes};

const fn writes(
    program: &'static str,
    knob: Knob,
    values: Values,
    configured: &'static str,
    source: &'static str,
) -> Writes {
    Writes { program, knob, values, again: false, configured, source }
}

const fn again(it: Writes) -> Writes {
    Writes { again: true, ..it }
}

const TUNED_CPU: &str = "TuneD, tuned/plugins/plugin_cpu.py";
const TLP_CPU: &str = "TLP, func.d/10-tlp-func-cpu";
const AUTO: &str = "auto-cpufreq, auto_cpufreq/core.py";
const TCCD: &str = "tuxedo-control-center, src/service-app/classes/CpuWorker.ts";
const SYSTEM76: &str = "system76-power, src/daemon/profiles.rs";
const CPUPOWER: &str = "Linux, tools/power/cpupower: cpupower.service and its configuration";
const CPUFREQUTILS: &str = "Debian, cpufrequtils: its init script and /etc/default/cpufrequtils";

/// Who writes what.
pub const WRITES: &[Writes] = &[
    writes("tuned", MaxPercent, Configured, "max_perf_pct of tuned's active profile", TUNED_CPU),
    writes("tuned", Turbo, Configured, "no_turbo or boost of tuned's active profile", TUNED_CPU),
    writes("tuned", Governor, Configured, "governor of tuned's active profile", TUNED_CPU),
    writes(
        "tuned",
        Preference,
        Configured,
        "energy_performance_preference and energy_perf_bias of tuned's active profile",
        TUNED_CPU,
    ),
    writes(
        "tuned",
        MaxFrequency,
        Configured,
        "a [sysfs] or [script] section of tuned's active profile",
        "TuneD, tuned/plugins/plugin_sysfs.py",
    ),
    writes(
        "TLP",
        MaxFrequency,
        Configured,
        "CPU_SCALING_MAX_FREQ_ON_AC and _ON_BAT of TLP",
        TLP_CPU,
    ),
    writes("TLP", MaxPercent, Configured, "CPU_MAX_PERF_ON_AC and _ON_BAT of TLP", TLP_CPU),
    writes("TLP", Turbo, Configured, "CPU_BOOST_ON_AC and _ON_BAT of TLP", TLP_CPU),
    writes("TLP", Governor, Configured, "CPU_SCALING_GOVERNOR_ON_AC and _ON_BAT of TLP", TLP_CPU),
    writes(
        "TLP",
        Preference,
        Configured,
        "CPU_ENERGY_PERF_POLICY_ON_AC and _ON_BAT of TLP",
        TLP_CPU,
    ),
    writes("auto-cpufreq", MaxFrequency, Configured, "scaling_max_freq of auto-cpufreq.conf", AUTO),
    again(writes("auto-cpufreq", Turbo, Configured, "turbo of auto-cpufreq.conf", AUTO)),
    again(writes("auto-cpufreq", Governor, Configured, "governor of auto-cpufreq.conf", AUTO)),
    again(writes(
        "auto-cpufreq",
        Preference,
        Words(&["balance_power", "balance_performance"]),
        "auto-cpufreq, by the power supply",
        AUTO,
    )),
    writes(
        "power-profiles-daemon",
        Preference,
        Words(&["power", "balance_power", "balance_performance", "performance"]),
        "the power profile (`powerprofilesctl`)",
        "power-profiles-daemon, src/ppd-driver-intel-pstate.c and ppd-driver-amd-pstate.c",
    ),
    writes(
        "power-profiles-daemon",
        Governor,
        Words(&["powersave", "performance"]),
        "the power profile (`powerprofilesctl`)",
        "power-profiles-daemon, src/ppd-driver-amd-pstate.c",
    ),
    writes(
        "intel-lpmd",
        Preference,
        Configured,
        "the states in intel_lpmd_config.xml",
        "intel-lpmd, src/lpmd_misc.c",
    ),
    writes(
        "thermald",
        MaxPercent,
        Cooling,
        "thermald, by temperature",
        "thermal_daemon, src/thd_cdev_intel_pstate_driver.cpp",
    ),
    writes(
        "thermald",
        MaxFrequency,
        CoolingByTable,
        "thermald, by temperature",
        "thermal_daemon, src/thd_cdev_cpufreq.cpp",
    ),
    writes(
        "thermald",
        PowerLimit,
        Cooling,
        "thermald, by temperature or by the firmware's tables (DPTF)",
        "thermal_daemon, src/thd_cdev_rapl.cpp and thd_engine_adaptive.cpp",
    ),
    writes(
        "system76-power",
        MaxPercent,
        Words(&["50"]),
        "the power profile (`system76-power profile`)",
        SYSTEM76,
    ),
    writes(
        "system76-power",
        Turbo,
        Configured,
        "the power profile (`system76-power profile`)",
        SYSTEM76,
    ),
    writes(
        "system76-power",
        PowerLimit,
        Configured,
        "the power profile (`system76-power profile`)",
        SYSTEM76,
    ),
    again(writes(
        "tccd",
        Governor,
        Words(&["ondemand", "schedutil", "conservative", "powersave", "performance"]),
        "the profile of TUXEDO Control Center",
        TCCD,
    )),
    writes("tccd", MaxFrequency, Configured, "the profile of TUXEDO Control Center", TCCD),
    writes("tccd", Turbo, Configured, "the profile of TUXEDO Control Center", TCCD),
    writes("tccd", Preference, Configured, "the profile of TUXEDO Control Center", TCCD),
    writes("asusd", Preference, Configured, "the profile of asusd", "asusctl, asusd"),
    writes(
        "cpuspeed",
        Governor,
        Configured,
        "/etc/sysconfig/cpuspeed",
        "cpuspeed, its configuration",
    ),
    writes(
        "cpuspeed",
        MaxFrequency,
        Configured,
        "MAX_SPEED of /etc/sysconfig/cpuspeed",
        "cpuspeed, its configuration",
    ),
    writes("cpufreqd", Governor, Configured, "/etc/cpufreqd.conf", "cpufreqd.conf(5)"),
    writes("cpufreqd", MaxFrequency, Configured, "/etc/cpufreqd.conf", "cpufreqd.conf(5)"),
    again(writes(
        "powernowd",
        Governor,
        Words(&["userspace"]),
        "powernowd's options",
        "powernowd(8)",
    )),
    writes("gamemoded", Governor, Words(&["performance"]), "gamemode.ini", "GameMode, daemon/"),
    writes("geopmd", PowerLimit, Configured, "a session of GEOPM", "GEOPM, geopmd"),
    writes("cpupower.service", Governor, Configured, "cpupower's configuration", CPUPOWER),
    writes("cpupower.service", MaxFrequency, Configured, "cpupower's configuration", CPUPOWER),
    writes(
        "ondemand.service",
        Governor,
        Words(&["ondemand", "powersave", "interactive"]),
        "ondemand.service",
        "Ubuntu, package systemd: set-cpufreq",
    ),
    writes("cpufrequtils", Governor, Configured, "/etc/default/cpufrequtils", CPUFREQUTILS),
    writes(
        "cpufrequtils",
        MaxFrequency,
        Configured,
        "MAX_SPEED of /etc/default/cpufrequtils",
        CPUFREQUTILS,
    ),
];
