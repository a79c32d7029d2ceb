//! Made-up hosts on which programs run that write settings.

use super::*;
use crate::fixture::host_of;
use facts::system::tuners::{BOOT_UNITS, TUNERS};

#[test]
fn every_program_is_known_and_every_setter_writes_something() {
    let is_tuner = |name: &str| TUNERS.iter().any(|it| it.name == name);
    for it in WRITES {
        let is_known = is_tuner(it.program) || BOOT_UNITS.contains(&it.program);
        assert!(is_known, "{}", it.program);
        assert!(!it.configured.is_empty() && !it.source.is_empty(), "{}", it.program);
        let alike =
            WRITES.iter().filter(|other| other.program == it.program && other.knob == it.knob);
        assert_eq!(alike.count(), 1, "{} {:?}", it.program, it.knob);
    }
    for name in TUNERS.iter().filter(|it| it.is_setter).map(|it| it.name).chain(BOOT_UNITS) {
        assert!(WRITES.iter().any(|it| it.program == name), "{name}");
    }
}

fn host(processes: &[&str], more: &str) -> HostView {
    let stat = |(pid, name): (usize, &&str)| {
        format!(
            "//- /proc/{pid}/stat\n{pid} ({name}) S 1 1 1 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 500\n"
        )
    };
    let processes: String = (900..).zip(processes).map(stat).collect();
    host_of(&format!(
        "//- /proc/1/stat\n1 (init) S 0 1 1 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 5\n{processes}{more}"
    ))
}

fn named(host: &HostView, knob: Knob, value: &str) -> String {
    let all = writers(host, knob, value).unwrap();
    all.iter().map(|it| it.named.as_str()).collect::<Vec<_>>().join(" or ")
}

fn held(host: &HostView, knob: Knob, value: &str) -> (Option<String>, bool) {
    let finding =
        Finding::new(crate::severity::Severity::Low, crate::finding::Confidence::High, "x");
    let held = attributed(finding, knob, writers(host, knob, value).as_deref()).held;
    (held.program, held.is_certain)
}

#[test]
fn each_program_is_a_candidate_for_what_it_writes_alone() {
    let all = host(
        &["tuned", "auto-cpufreq", "power-profiles-", "intel_lpmd", "thermald"],
        "//- /run/tlp/\nrun_state\n",
    );
    assert_eq!(named(&all, MaxFrequency, "400000"), "tuned (900) or auto-cpufreq (901) or TLP");
    assert_eq!(named(&all, MaxPercent, "40"), "tuned (900) or thermald (904) or TLP");
    assert_eq!(named(&all, Turbo, "1"), "tuned (900) or auto-cpufreq (901) or TLP");
    assert_eq!(named(&all, PowerLimit, "15000000"), "thermald (904)");
    assert_eq!(
        named(&all, Preference, "power"),
        "tuned (900) or power-profiles-daemon (902) or intel-lpmd (903) or TLP"
    );
    let balanced = named(&all, Preference, "balance_power");
    assert!(balanced.contains("auto-cpufreq (901)"), "{balanced}");
    assert_eq!(named(&all, Governor, "ondemand"), "tuned (900) or auto-cpufreq (901) or TLP");
}

#[test]
fn what_only_one_writes_again_and_again_is_certainly_its_own() {
    let one = host(&["auto-cpufreq"], "");
    assert_eq!(
        held(&one, Preference, "balance_power"),
        (Some("auto-cpufreq (900)".to_owned()), true)
    );
    // Its configuration says which governor, and a person may have written a limit.
    assert_eq!(held(&one, Governor, "powersave"), (Some("auto-cpufreq (900)".to_owned()), false));
    assert_eq!(held(&one, MaxFrequency, "400000"), (Some("auto-cpufreq (900)".to_owned()), false));
    let two = host(&["auto-cpufreq", "tuned"], "");
    assert!(!held(&two, Preference, "balance_power").1);
    assert_eq!(held(&host(&["postgres"], ""), MaxFrequency, "400000"), (None, false));
}

#[test]
fn a_profile_that_asks_for_another_governor_and_cooling_without_a_table_are_ruled_out() {
    let tuned = host(&["tuned"], "//- /etc/tuned/active_profile\nthroughput-performance\n");
    assert_eq!(named(&tuned, Governor, "ondemand"), "");
    // No profile that TuneD ships limits a clock.
    assert_eq!(named(&tuned, MaxFrequency, "400000"), "");
    let own = host(&["tuned"], "//- /etc/tuned/active_profile\nour-racks\n");
    assert_eq!(named(&own, MaxFrequency, "400000"), "tuned (900)");
    let policy = "//- /sys/devices/system/cpu/online\n0\n//- /sys/devices/system/cpu/cpufreq/policy0/affected_cpus\n0\n";
    let table = "//- /sys/devices/system/cpu/cpufreq/policy0/scaling_available_frequencies\n2000000 1000000\n";
    assert_eq!(named(&host(&["thermald"], policy), MaxFrequency, "1"), "");
    let with_table = host(&["thermald"], &format!("{policy}{table}"));
    assert_eq!(named(&with_table, MaxFrequency, "1"), "thermald (900)");
}

#[test]
fn a_unit_of_the_boot_is_a_candidate_and_where_nothing_is_known_the_usual_ones_are_named() {
    let unit = host(
        &[],
        "//- /etc/systemd/system/multi-user.target.wants/cpupower.service -> /usr/lib/systemd/system/cpupower.service\n",
    );
    assert_eq!(named(&unit, MaxFrequency, "1"), "cpupower.service, at boot");
    let unknown = host_of("//- /proc/\n!denied\n");
    assert!(writers(&unknown, MaxPercent, "40").is_none());
    let look = where_to_look(MaxPercent, writers(&unknown, MaxPercent, "40").as_deref());
    assert_eq!(
        look,
        "find what writes it: max_perf_pct of tuned's active profile; CPU_MAX_PERF_ON_AC and _ON_BAT of TLP"
    );
}
