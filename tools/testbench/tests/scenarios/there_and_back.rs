//! Every setting that the emulated machine has: applied, seen in force by another reader, reverted, and everything that may
//! be written is as it was before.

use crate::boots::CHANGED;

/// One setting, on `machines::half_isolated`.
struct Case {
    /// Shell that goes before.
    before: &'static str,
    /// What is asked of `fullclock apply`.
    asked: &'static str,
    /// Another reader, in shell.
    reader: &'static str,
    /// What it reads while the setting is in force.
    reads: &'static str,
}

const fn case(asked: &'static str, reader: &'static str, reads: &'static str) -> Case {
    Case { before: "", asked, reader, reads }
}

/// Reads by another path than the one that is written, where there is one.
const CASES: &[Case] = &[
    case("governor=powersave", "cat $cpus/cpu?/cpufreq/scaling_governor", "powersave powersave"),
    case("governor=ondemand", "cat $cpus/cpufreq/policy?/scaling_governor", "ondemand ondemand"),
    case(
        "governor-tunable=rate_limit_us:5000",
        "cat $cpus/cpufreq/schedutil/rate_limit_us",
        "5000",
    ),
    case("scaling-min=2133MHz@1", "cat $cpus/cpu?/cpufreq/scaling_min_freq", "1600000 2133000"),
    case("scaling-max=2133MHz", "cat $cpus/cpu?/cpufreq/scaling_max_freq", "2133000 2133000"),
    case("idle-state=C1:off@0", "cat $cpus/cpu?/cpuidle/state1/disable", "1 0"),
    case("idle-governor=ladder", "cat $cpus/cpuidle/current_governor_ro", "ladder"),
    case("resume-latency=50us@1", "cat $cpus/cpu?/power/pm_qos_resume_latency_us", "0 50"),
    case("cpu-dma-latency=20us", "od -An -td4 /dev/cpu_dma_latency", "20"),
    case("stat-interval=10", "sysctl -n vm.stat_interval", "10"),
    case("timer-migration=off", "sysctl -n kernel.timer_migration", "0"),
    case("split-lock-mitigate=off", "sysctl -n kernel.split_lock_mitigate", "0"),
    Case {
        before: "echo hpet >/sys/devices/system/clocksource/clocksource0/current_clocksource",
        asked: "clocksource=best",
        reader: "cat /sys/devices/system/clocksource/clocksource0/current_clocksource",
        reads: "tsc",
    },
    case("irq-affinity=housekeeping", "cat /proc/irq/4/smp_affinity", "1"),
    case("workqueue-cpumask=0-1", "cat /sys/devices/virtual/workqueue/cpumask", "3"),
    Case {
        before: "sleep 1000 & sleeper=$!",
        asked: "process-affinity=sleep:1",
        reader: "taskset -p $sleeper | sed 's/.*: //'",
        reads: "2",
    },
    case("kipmid-max-busy=200", "cat /sys/module/ipmi_si/parameters/kipmid_max_busy_us", "200,200"),
    case("kernel-thread-affinity=0", "taskset -p $(pidof kswapd0) | sed 's/.*: //'", "1"),
    case("cpu-online=off@1 --i-know", "cat $cpus/online", "0"),
    Case {
        // Before Linux 6.2 a change of cpusets forgets which CPUs a task was bound to.
        before: "taskset -p 3 $sleeper >&2; group db.slice 1",
        asked: "isolated-partition=db.slice",
        reader: "cat /sys/fs/cgroup/db.slice/cpuset.cpus.partition; taskset -p $sleeper | sed 's/.*: //'",
        reads: "isolated 1",
    },
    case("--profile database-latency", "cat $cpus/cpu1/cpufreq/scaling_governor", "performance"),
];

/// The step that does it all, a line of output a case.
pub(crate) fn script() -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
    let line = |case: &Case| {
        let words = [case.before, case.asked, case.reader].map(quoted).join(" ");
        format!("there_and_back {words}\n")
    };
    let lines: String = CASES.iter().map(line).collect();
    lines + "kill $sleeper\n"
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn every_setting_is_in_force_when_applied_and_leaves_no_trace_when_reverted() {
    let output = CHANGED.step("there and back").unwrap_or_else(|error| panic!("{error:#}"));
    let lines: Vec<&str> = output.stdout.lines().collect();
    let expected: Vec<String> =
        CASES.iter().map(|it| format!("{}|0|{}|1|0|0|", it.asked, it.reads)).collect();
    assert_eq!(lines, expected, "{}", output.stderr);
}
