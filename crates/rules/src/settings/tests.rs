//! Tests of what every setting that writes a file must do, on one host for all of them.

use super::SETTINGS;
use crate::fixture::planned::{files, planned, planned_knowing};
use crate::setting::{Effect, Scope, Setting};

/// A host that has the file of every row below.
const HOST: &str = "
    present 0-2
    online 0-1
    cpu1/online 1
    cpu2/online 0
    amd_pstate/status active
    intel_pstate/status active
    intel_pstate/no_turbo 0
    intel_pstate/max_perf_pct 100
    intel_pstate/min_perf_pct 40
    cpufreq/policy0/affected_cpus 0
    cpufreq/policy0/scaling_driver intel_pstate
    cpufreq/policy0/scaling_governor schedutil
    cpufreq/policy0/scaling_available_governors performance schedutil
    cpufreq/policy0/schedutil/rate_limit_us 500
    cpufreq/policy0/cpuinfo_min_freq 1000000
    cpufreq/policy0/cpuinfo_max_freq 3600000
    cpufreq/policy0/scaling_min_freq 1000000
    cpufreq/policy0/scaling_max_freq 3600000
    cpufreq/policy0/energy_performance_preference balance_power
    cpufreq/policy0/energy_performance_available_preferences performance balance_power power
    cpu0/power/energy_perf_bias 6
    cpu0/power/pm_qos_resume_latency_us n/a
    intel_uncore_frequency/uncore00/min_freq_khz 800000
    intel_uncore_frequency/uncore00/max_freq_khz 2400000
    intel_uncore_frequency/uncore00/initial_min_freq_khz 800000
    intel_uncore_frequency/uncore00/initial_max_freq_khz 2400000
    cpuidle/current_governor ladder
    cpuidle/available_governors ladder menu teo
    cpu0/cpuidle/state0/name POLL
    cpu0/cpuidle/state0/latency 0
    cpu0/cpuidle/state0/disable 0
    cpu0/cpuidle/state1/name C6
    cpu0/cpuidle/state1/latency 133
    cpu0/cpuidle/state1/disable 0
    /dev/cpu_dma_latency !bytes 00943577
    /proc/cpuinfo processor : 0\\nvendor_id : GenuineIntel\\nflags : ida epb hwp hwp_epp
    /proc/interrupts CPU0 CPU1\\n24: 0 9 PCI-MSI eth0\\nLOC: 1 1
    /proc/irq/24/smp_affinity_list 0-1
    /proc/sys/kernel/nmi_watchdog 1
    /proc/sys/kernel/split_lock_mitigate 1
    /proc/sys/kernel/timer_migration 1
    /proc/sys/vm/stat_interval 1
    /proc/1/stat 1 (kipmi0) S 2 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 39 19 1 0 5
    /sys/devices/system/clocksource/clocksource0/current_clocksource hpet
    /sys/devices/system/clocksource/clocksource0/available_clocksource tsc hpet
    /sys/devices/virtual/workqueue/cpumask 3
    /sys/fs/cgroup/db.slice/cpuset.cpus.partition member
    /sys/fs/cgroup/db.slice/cpuset.cpus 1
    /sys/module/ipmi_si/parameters/kipmid_max_busy_us 0
";

/// The request, the write it plans, the value that undoes it (`-` where there is none), and values to refuse.
const ROWS: &str = "
    intel-pstate-status=passive | intel_pstate/status: active -> passive | active | off
    amd-pstate-status=guided | amd_pstate/status: active -> guided | active | disable
    governor=performance | cpufreq/policy0/scaling_governor: schedutil -> performance | schedutil | fast
    governor-tunable=rate_limit_us:0 | cpufreq/policy0/schedutil/rate_limit_us: 500 -> 0 | rate_limit_us:500 | rate_limit_us rate_limit_us:x
    turbo=off | intel_pstate/no_turbo: 0 -> 1 | on | 2 yes
    scaling-max=2GHz | cpufreq/policy0/scaling_max_freq: 3600000 -> 2000000 | max | fast 5GHz
    scaling-min=2GHz | cpufreq/policy0/scaling_min_freq: 1000000 -> 2000000 | min | slow 5GHz
    max-perf-pct=90 | intel_pstate/max_perf_pct: 100 -> 90 | 100 | 0 101 50%
    min-perf-pct=80 | intel_pstate/min_perf_pct: 40 -> 80 | 40 | -1 101 50%
    energy-performance-preference=power | cpufreq/policy0/energy_performance_preference: balance_power -> power | balance_power | 256 -1 Power
    energy-perf-bias=15@0 | cpu0/power/energy_perf_bias: 6 -> 15 | 6@0 | 16 -1
    uncore-max=2GHz | intel_uncore_frequency/uncore00/max_freq_khz: 2400000 -> 2000000 | max | fast 2.5GHz
    uncore-min=1GHz | intel_uncore_frequency/uncore00/min_freq_khz: 800000 -> 1000000 | min | slow 0.7GHz
    idle-governor=menu | cpuidle/current_governor: ladder -> menu | ladder | haltpoll
    idle-state=C6:off@0 | cpu0/cpuidle/state1/disable: 0 -> 1 | C6:on@0 | C6 C6:1 C7:off slower-than-20:off slower-than--1us:off
    resume-latency=50us@0 | cpu0/power/pm_qos_resume_latency_us: n/a -> 50 | none@0 | 0 0us 50 -1us 2147483647us n/a
    cpu-dma-latency=20us | /dev/cpu_dma_latency: none -> 20 | - | -1us 2000000001us 20ms
    cpu-online=on | cpu2/online: 0 -> 1 | - | yes on@9
    isolated-partition=db.slice | /sys/fs/cgroup/db.slice/cpuset.cpus.partition: member -> isolated | db.slice:member | : db.slice:on a/b ..
    irq-affinity=0 | /proc/irq/24/smp_affinity_list: 0-1 -> 0, if taken | - | 5 x
    workqueue-cpumask=0 | /sys/devices/virtual/workqueue/cpumask: 3 -> 1 | 0-1 | 0x 0x0 0xg x 40
    stat-interval=60 | /proc/sys/vm/stat_interval: 1 -> 60 | 1 | 0 -1 1s 2147484
    nmi-watchdog=off | /proc/sys/kernel/nmi_watchdog: 1 -> 0 | on | 2 yes
    timer-migration=off | /proc/sys/kernel/timer_migration: 1 -> 0 | on | 2 yes
    split-lock-mitigate=off | /proc/sys/kernel/split_lock_mitigate: 1 -> 0 | on | 2 yes
    clocksource=tsc | /sys/devices/system/clocksource/clocksource0/current_clocksource: hpet -> tsc | hpet | sundial
    kipmid-max-busy=100 | /sys/module/ipmi_si/parameters/kipmid_max_busy_us: 0 -> 100 | 0 | -1 x
";

/// A row of the table.
struct Row {
    setting: &'static Setting,
    value: &'static str,
    /// The file that is written, as `HOST` names it.
    place: &'static str,
    from: &'static str,
    to: &'static str,
    /// `, if taken` where the kernel may refuse the write; else empty.
    aim: &'static str,
    back: &'static str,
    nonsense: &'static str,
}

fn rows() -> impl Iterator<Item = Row> {
    let row = |line: &'static str| {
        let mut columns = line.split('|').map(str::trim);
        let (id, value) = columns.next()?.split_once('=')?;
        let (place, change) = columns.next()?.split_once(": ")?;
        let (from, to) = change.split_once(" -> ")?;
        let aim = &to[to.find(',').unwrap_or(to.len())..];
        let (to, setting) = (to.strip_suffix(aim)?, super::find(id)?);
        let (back, nonsense) = (columns.next()?, columns.next()?);
        Some(Row { setting, value, place, from, to, aim, back, nonsense })
    };
    ROWS.trim().lines().map(move |line| row(line).unwrap_or_else(|| panic!("{line}")))
}

impl Row {
    fn line(&self, from: &str, to: &str) -> String {
        format!("{}: {from} -> {to}{}", self.place, self.aim)
    }

    /// The host, with other text in the file of this row.
    fn host(&self, text: &str) -> String {
        let line = |line: &str| match line.trim().split_once(' ') {
            Some((name, _)) if name == self.place => format!("{name} {text}\n"),
            _ => format!("{line}\n"),
        };
        files(&HOST.lines().map(line).collect::<String>())
    }
}

/// The writes of a plan, without what it forgets and what it notes.
fn writes(plan: &str) -> String {
    plan.lines().filter(|it| it.contains(" -> ")).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_setting_writes_its_file_and_nothing_once_that_is_in_force() {
    for row in rows() {
        let plan = planned(row.setting, row.value, &files(HOST));
        assert_eq!(writes(&plan), row.line(row.from, row.to), "{plan}");
        // No file shows a request that is held open.
        if row.from != "none" {
            assert_eq!(planned(row.setting, row.value, &row.host(row.to)), "nothing");
        }
    }
}

#[test]
fn undoing_goes_back_to_what_was_there() {
    for row in rows().filter(|it| it.back != "-") {
        let back = planned_knowing(row.setting, row.back, &row.host(row.to));
        assert_eq!(writes(&back), row.line(row.to, row.from), "{}: {back}", row.setting.id);
    }
}

#[test]
fn nonsense_is_refused() {
    for row in rows() {
        for value in row.nonsense.split_whitespace().chain([""]) {
            let plan = planned(row.setting, value, &files(HOST));
            let Setting { id, takes, .. } = row.setting;
            let is_refused = ["value: ", "refused: "].iter().any(|it| plan.starts_with(it));
            assert!(is_refused, "{id}={value}: {plan}");
            if plan.starts_with(&format!("value: {id} takes ")) {
                assert!(plan.starts_with(&format!("value: {id} takes {takes}, not ")), "{plan}");
            }
        }
    }
}

/// Values that some settings take.
const VALUES: &str = "on off 0 1 60 50us 2GHz min max normal none any housekeeping isolated performance passive menu \
                      teo tsc poll C6:off rate_limit_us:0 postgres:0-1 tuned:stopped stopped 0-1 50%";

#[test]
fn where_nothing_was_read_no_setting_plans_a_write() {
    for setting in SETTINGS {
        let plan = |value| planned_knowing(setting, value, "fullclock capture 1\n");
        let plans: Vec<String> = VALUES.split_whitespace().map(plan).collect();
        // At least one of the values is one that it takes.
        let is_taken = |it: &String| !it.starts_with("value: ");
        assert!(plans.iter().any(is_taken), "{}: {plans:#?}", setting.id);
        assert!(plans.iter().all(|it| writes(it).is_empty()), "{}: {plans:#?}", setting.id);
    }
}

#[test]
fn no_setting_takes_a_value_without_a_meaning() {
    for setting in SETTINGS {
        for value in ["?", "~0", "on off"] {
            let plan = planned_knowing(setting, value, &files(HOST));
            let is_refused =
                ["value: ", "refused: ", "unknown: "].iter().any(|it| plan.starts_with(it));
            assert!(is_refused, "{}={value}: {plan}", setting.id);
        }
    }
}

#[test]
fn a_list_of_cpus_is_refused_by_what_is_of_the_whole_host() {
    for row in rows().filter(|it| it.setting.scope == Scope::Host) {
        let plan = planned(row.setting, &format!("{}@1", row.value), &files(HOST));
        let id = row.setting.id;
        assert_eq!(plan, format!("value: {id} is of the whole host: leave out @1"));
    }
}

#[test]
fn a_file_that_may_not_be_read_is_unknown_and_without_it_there_is_no_plan() {
    for row in rows() {
        let folder = if row.place.starts_with('/') { "" } else { "/sys/devices/system/cpu/" };
        assert_eq!(
            planned(row.setting, row.value, &row.host("!denied")),
            format!("unknown: {folder}{} may not be read", row.place)
        );
        let without = planned(row.setting, row.value, "");
        let says = ["refused: this kernel has no ", "refused: no CPU that is meant has "];
        let is_none = says.iter().any(|it| without.starts_with(it))
            || (without.starts_with("unknown: ") && without.ends_with(" does not exist"));
        assert!(is_none, "{}: {without}", row.setting.id);
    }
}

#[test]
fn whatever_a_tuner_may_take_back_as_it_stops_is_set_after_that() {
    let too_soon = SETTINGS.iter().filter(|it| {
        it.effect == Effect::AtOnce && it.id != "tuner" && !it.after.contains(&"tuner")
    });
    assert_eq!(too_soon.map(|it| it.id).collect::<Vec<_>>(), [""; 0]);
}
