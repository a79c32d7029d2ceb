//! Registers and logs of processors with the fault, and without it.

use super::CHECK;
use crate::fixture::{XEON, verdict};

/// [`XEON`] with these values of 0x19C on its two cores, 0x1B1 and 0x64F.
fn host(cores: [&str; 2], package: &str, reasons: &str) -> String {
    format!(
        "{XEON}//- /dev/cpu/0/msr 0x19c\n{}\n//- /dev/cpu/1/msr 0x19c\n{}\n\
         //- /dev/cpu/0/msr 0x1b1\n{package}\n//- /dev/cpu/0/msr 0x64f\n{reasons}\n",
        cores[0], cores[1]
    )
}

const COOL: &str = "0x88450000";

#[test]
fn prochot_from_outside_is_high_on_the_threads_of_its_core() {
    assert_eq!(
        verdict(&CHECK, &host([COOL, "0x881f000c"], COOL, "0x0")),
        "high: PROCHOT# from another device holds the clock down at this moment [CPUs 1,3 (2 of 4)]"
    );
}

#[test]
fn one_signal_in_several_registers_is_one_finding() {
    let all = host(["0x881f000c", "0x881f000c"], "0x881f000c", "0x10001");
    assert_eq!(verdict(&CHECK, &all).lines().count(), 1);
    assert_eq!(crate::fixture::findings(&CHECK, &all)[0].evidence.len(), 3);
}

#[test]
fn a_limit_of_the_management_controller_is_pointed_at() {
    let pulled = host([COOL, "0x881f000c"], COOL, "0x0");
    let limit = "//- /dev/ipmi0 0x2c 0x01 dc 01\n00 dc 01 05 02 00 01 07\n\
                 //- /dev/ipmi0 0x2c 0x03 dc 00 00\n00 dc 00 00 11 f4 01 70 17 00 00 00 00 01 00\n";
    let lasting =
        |text: &str| crate::fixture::findings(&CHECK, text).remove(0).fix.lasting.unwrap();
    let pointing = lasting(&(pulled.clone() + limit));
    let begins =
        "the management controller holds the board to 500 W: see bmc-power-cap; or fix what";
    assert!(pointing.starts_with(begins), "{pointing}");
    assert!(!lasting(&pulled).contains("bmc-power-cap"));
}

#[test]
fn a_log_is_no_state_and_has_no_date() {
    assert_eq!(
        verdict(&CHECK, &host([COOL, "0x881f0008"], COOL, "0x0")),
        "low: PROCHOT# from another device held the clock down at some time since boot, or since the log was cleared [CPUs 1,3 (2 of 4)]"
    );
}

#[test]
fn a_limit_of_current_is_told_from_its_log_and_a_power_limit_is_another_checks() {
    assert_eq!(
        verdict(&CHECK, &host([COOL; 2], COOL, "0x01000080")),
        "low: the voltage regulator's design current holds the clock down at this moment [all 4 CPUs]\n\
         info: an electrical or another constraint held the clock down at some time since boot, or since the log was cleared [all 4 CPUs]"
    );
    assert_eq!(verdict(&CHECK, &host([COOL; 2], COOL, "0x0c000400")), "clean");
}

#[test]
fn heat_at_the_moment_is_medium() {
    assert!(verdict(&CHECK, &host(["0x88000003", COOL], COOL, "0x0")).starts_with("medium: "));
}

#[test]
fn a_critical_temperature_is_a_matter_of_cooling_and_not_of_power_supplies() {
    let hot = host(["0x88000010", COOL], COOL, "0x0");
    let finding = crate::fixture::findings(&CHECK, &hot).remove(0);
    assert_eq!(finding.message, "a critical temperature holds the clock down at this moment");
    assert_eq!(finding.fix.lasting.unwrap(), "fix the cooling; see thermal-throttling");
    assert!(finding.fix.look[0].contains("type Fan"));
}

#[test]
fn a_processor_without_limit_reasons_says_it_in_its_thermal_status() {
    let sapphire_rapids = host(["0x88451000", COOL], COOL, "0x0").replace(": 85", ": 143");
    assert_eq!(
        verdict(&CHECK, &sapphire_rapids),
        "low: a current limit holds the clock down at this moment [CPUs 0,2 (2 of 4)]"
    );
    assert_eq!(verdict(&CHECK, &host(["0x88451000", COOL], COOL, "0x0")), "clean");
}

#[test]
fn limit_reasons_that_nobody_decodes_are_never_clean() {
    let sapphire_rapids = host([COOL; 2], COOL, "0x10001").replace(": 85", ": 143");
    assert_eq!(
        verdict(&CHECK, &sapphire_rapids),
        "unknown: core limit reasons (MSR 0x64f) cannot be read: the bits of family 6, model 143 are unknown to this program"
    );
    let pulled = host(["0x881f000c", COOL], COOL, "0x0").replace(": 85", ": 143");
    assert!(verdict(&CHECK, &pulled).starts_with("high: PROCHOT#"));
}

#[test]
fn turbo_rules_are_no_fault() {
    assert_eq!(verdict(&CHECK, &host([COOL; 2], COOL, "0x30003000")), "clean");
}

#[test]
fn a_register_that_may_not_be_read_is_unknown() {
    assert_eq!(
        verdict(&CHECK, &host([COOL, "!denied"], COOL, "0x0")),
        "unknown: /dev/cpu/1/msr 0x19c may not be read"
    );
}

#[test]
fn a_processor_that_shows_it_elsewhere_is_unknown_and_never_free_of_it() {
    let of = |vendor: &str| {
        verdict(&CHECK, &host([COOL; 2], COOL, "0x0").replace("GenuineIntel", vendor))
    };
    for vendor in ["AuthenticAMD", "HygonGenuine"] {
        assert!(of(vendor).starts_with("unknown: PROCHOT# cannot be read: EPYC"), "{}", of(vendor));
    }
    let other =
        "unknown: PROCHOT# cannot be read: this program reads no interface to it on this processor";
    let arm = "//- /proc/cpuinfo\nprocessor : 0\nCPU implementer : 0xc0\n";
    assert_eq!(verdict(&CHECK, arm), other);
    let s390 = "//- /proc/cpuinfo\nvendor_id : IBM/S390\n";
    assert_eq!(verdict(&CHECK, s390), other);
}

#[test]
fn the_on_chip_controller_of_a_power9_tells_its_reasons() {
    let power9 = |reasons: &[(&str, u64)]| {
        let cpuinfo = "//- /proc/cpuinfo\nprocessor : 0\ncpu : POWER9, altivec supported\n\
                       //- /sys/devices/system/cpu/online\n0-3\n\
                       //- /sys/devices/system/cpu/cpu0/topology/core_siblings_list\n0-3\n";
        let file = |(name, count): &(&str, u64)| {
            format!("//- /sys/devices/system/cpu/cpu0/cpufreq/throttle_stats/{name}\n{count}\n")
        };
        verdict(&CHECK, &(cpuinfo.to_owned() + &reasons.iter().map(file).collect::<String>()))
    };
    let quiet = [("supply_fault", 0), ("powercap", 0), ("overcurrent", 0), ("occ_reset", 0)];
    assert_eq!(power9(&quiet), "clean");
    let mut loud = quiet;
    loud[0].1 = 3;
    assert_eq!(
        power9(&loud),
        "low: a failed power supply lowered the highest clock 3 times since boot [all 4 CPUs]"
    );
    // It cost turbo alone.
    let turbo = [&loud[..], &[("turbo_stat", 3), ("sub_turbo_stat", 0)]].concat();
    assert_eq!(
        power9(&turbo),
        "info: a failed power supply lowered the highest clock 3 times since boot, and never below the nominal one [all 4 CPUs]"
    );
    assert!(
        power9(&[])
            .starts_with("unknown: PROCHOT# cannot be read: this program reads no interface")
    );
}

#[test]
fn a_controller_that_has_not_raised_the_clock_again_holds_it_where_busy_cpus_are_at_the_lowest() {
    let power9 = |clock: &str, n_raised: u32, idle: u32| {
        let cpu = "/sys/devices/system/cpu";
        let stats = format!("{cpu}/cpu0/cpufreq/throttle_stats");
        let counts = ["supply_fault", "powercap", "overcurrent"];
        let zeros: String = counts.iter().map(|it| format!("//- {stats}/{it}\n0\n")).collect();
        let policy = format!("//- {cpu}/cpufreq/policy0");
        format!(
            "//- /proc/cpuinfo\nprocessor : 0\ncpu : POWER9, altivec supported\nclock : {clock}MHz\n\
             //- {cpu}/online\n0\n//- {cpu}/cpu0/topology/core_siblings_list\n0\n\
             {policy}/affected_cpus\n0\n{policy}/cpuinfo_min_freq\n2154000\n\
             {policy}/cpuinfo_max_freq\n3800000\n{policy}/scaling_max_freq\n3800000\n\
             {zeros}//- {stats}/occ_reset\n1\n//- {stats}/unthrottle\n{n_raised}\n//- {stats}/sub_turbo_stat\n1\n\
             //- /proc/stat\ncpu0 1000 0 0 {idle} 0 0 0 0 0 0\n"
        )
    };
    let held = power9("2154.000000", 0, 3000);
    assert_eq!(
        verdict(&CHECK, &held),
        "high: firmware holds the clock at 2154 MHz of 3800 MHz since a reset of the on-chip controller (OCC) [CPU 0 (1 of 1)]"
    );
    let finding = crate::fixture::findings(&CHECK, &held).remove(0);
    assert_eq!(finding.cost.unwrap().estimate, "43 % of the clock, while it lasts");
    assert!(finding.fix.lasting.unwrap().contains("/sys/firmware/opal/msglog"));
    for other in [
        power9("3800.000000", 0, 3000),
        power9("2154.000000", 1, 3000),
        power9("2154.000000", 0, 1_000_000),
    ] {
        assert!(verdict(&CHECK, &other).starts_with("low: "), "{}", verdict(&CHECK, &other));
    }
}

#[test]
fn the_log_of_a_granite_rapids_says_who_held_the_clock_since_boot() {
    let gnr = |status: &str| {
        let host = host([COOL; 2], COOL, "0x0").replace(": 85", ": 173");
        let path = "/sys/kernel/debug/tpmi-0000:00:03.1/plr/domain0/status";
        verdict(&CHECK, &format!("{host}//- {path}\n{status}\n"))
    };
    assert_eq!(gnr("cpus none\ncpu0 none\ncpu1 none"), "clean");
    // Power and heat have checks of their own.
    assert_eq!(gnr("cpus POWER THERMAL\ncpu0 POWER POWER_FAST_RAPL THERMAL\ncpu1 none"), "clean");
    let since = "held the clock down at some time since boot, or since the log was cleared";
    assert_eq!(
        gnr("cpus MISC CURRENT\ncpu0 PLATFORM PLATFORM_PROCHOT MISC\ncpu1 CURRENT"),
        format!(
            "low: PROCHOT# from another device {since} [CPU 0 (1 of 4)]\n\
             low: software outside of Linux (the management controller) {since} [CPU 0 (1 of 4)]\n\
             info: a limit of electrical current or peak power {since} [CPU 1 (1 of 4)]"
        )
    );
    assert_eq!(
        gnr("!denied"),
        "unknown: /sys/kernel/debug/tpmi-0000:00:03.1/plr/domain0/status may not be read"
    );
}

#[test]
fn a_signal_that_is_pulled_now_is_not_told_again_of_the_log() {
    let host = host([COOL, "0x881f000c"], COOL, "0x0").replace(": 85", ": 173");
    let path = "/sys/kernel/debug/tpmi-0000:00:03.1/plr/domain0/status";
    let status = "cpus PLATFORM RAS\ncpu1 PLATFORM PLATFORM_PROCHOT RAS";
    let verdict = verdict(&CHECK, &format!("{host}//- {path}\n{status}\n"));
    let lines: Vec<&str> = verdict.lines().collect();
    assert_eq!(lines.len(), 2, "{verdict}");
    assert!(lines[0].starts_with("high: PROCHOT#") && lines[1].contains("(RAS)"), "{verdict}");
}

#[test]
fn a_granite_rapids_whose_log_is_not_shown_is_unknown_with_what_shows_it() {
    let gnr = host([COOL; 2], COOL, "0x0").replace(": 85", ": 173");
    assert!(verdict(&CHECK, &gnr).starts_with("unknown: performance limit reasons (PLR) cannot"));
}
