//! Cases that people reported in public: what the audit of each must say, and what it must not.

use crate::expectation::{Expectation, clean};
use rules::finding::Severity::{Critical, High, Info, Low, Medium};

/// What the audit of the case with this name must and must not say; `None` where no check knows its kind yet.
pub(crate) fn of(id: &str) -> Option<Expectation> {
    of_clock_source(id)
        .or_else(|| of_held_clock(id))
        .or_else(|| of_other_loss(id))
        .or_else(|| without_driver(id))
}

/// Clock sources that cost a system call.
fn of_clock_source(id: &str) -> Option<Expectation> {
    Some(match id {
        "06-tsc-unstable-hpet" => clean().finds("slow-clocksource", High).says_not("kvm-clock"),
        "07-guest-acpi-pm" => {
            clean().finds("slow-clocksource", High).says("bhyve").says_not("kvm-clock")
        }
        "08-guest-tsc-reliable-already" => clean()
            .finds("slow-clocksource", High)
            .says("in vain (clocksource=tsc tsc=reliable)")
            .says_not("on the boot line: "),
        "45-vmware-acpi-pm" => {
            clean().finds("slow-clocksource", High).says("ESXi").says_not("kvm-clock")
        }
        _ => return None,
    })
}

/// Clocks below what was asked for.
fn of_held_clock(id: &str) -> Option<Expectation> {
    Some(match id {
        "03-power9-occ-reset" => clean()
            .finds("prochot-asserted", High)
            .finds_between("slow-governor", Info..=Low)
            .says("occ_reset = 1")
            .says("43 % of the clock, while it lasts")
            .says_not("up to 43 %"),
        "04-cix-pll-stuck" => clean()
            .finds("clock-not-delivered", High)
            .says("ref:746123548456952 del:600147015590292")
            .says("level 804, where 3150 is nominal")
            .says_not("80 %"),
        "10-230mhz-readout-misread" => {
            clean().finds("clock-below-minimum", High).says("% of the clock").diagnosed("At least 88 % of the clock is lost on all 4 CPUs, and the cause is unknown: it may be clock modulation,")
        }
        "14-amd-policy-400" => clean()
            .finds("capped-frequency", High)
            .says("scaling-max=max")
            .says_not("max-perf-pct")
            .says_not("energy-perf-bias=")
            .diagnosed("Up to 91 % of the clock can be lost on all 16 CPUs: scaling_max_freq (400 MHz), a Linux setting, holds it down"),
        // The other kind of core is held as well, above its minimum.
        "33-400mhz-under-800-hybrid" => {
            clean().finds("clock-below-minimum", High).may_find("clock-not-delivered").diagnosed("At least 50 % of the clock is lost on all 24 CPUs, and the cause is unknown: it may be")
        }
        "38-power-limit-notifications" => clean()
            .finds_between("power-limit-reached", Info..=Info)
            .says("14 times in 72.0 h (0.2 an hour)"),
        "39-max-perf-pct-40" => clean()
            .finds("capped-frequency", High)
            .says("thermald runs here")
            .says_not("TLP")
            .says_not("max-perf-pct=100")
            .diagnosed("Up to 60 % of the clock can be lost on all 4 CPUs: probably thermald (900) holds it down by max_perf_pct (40 %). Fix the cooling."),
        "44-acpi-limit-1500-of-2801" => clean()
            .finds("capped-frequency", High)
            .finds_between("slow-governor", Info..=Low)
            .says_not("scaling-max")
            .diagnosed("Up to 46 % of the clock can be lost on all 8 CPUs: firmware holds it down by bios_limit (1500 MHz)."),
        "49-performance-governor-at-low-clock" => {
            clean().finds("clock-not-delivered", High).says("33 % of the clock").diagnosed("33 % of the clock is lost on all 4 CPUs, and the cause is unknown: it may be under-voltage or firmware.")
        }
        "50-rpi-undervoltage" => {
            clean().finds("undervoltage", High).says("under-voltage").says("get_throttled = 50005").diagnosed("Under-voltage holds the clock down on all 4 CPUs.")
        }
        "51-pcc-cpufreq-dl580" => {
            clean().finds("slow-governor", Medium).never(&["turbo-off"]).says("OS Control Mode").diagnosed("Up to 52 % of the clock can be lost on all 120 CPUs: the frequency governor (ondemand under pcc-cpufreq), a Linux setting, holds it down.")
        }
        "min-a" => {
            clean().finds("capped-frequency", High).finds_between("slow-governor", Info..=Low).diagnosed("Up to 46 % of the clock can be lost on CPU 0: scaling_max_freq (1500 MHz), a Linux setting, holds it down")
        }
        "min-b" => clean().finds("clock-not-delivered", High).diagnosed("71 % of the clock is lost on CPU 0, and the cause is unknown: it may be"),
        "min-e" => clean().finds("clock-not-delivered", High).diagnosed("Up to 92 % of the clock is lost on CPU 0, and the cause is unknown: it may be"),
        "min-pcc" => clean().never(&["turbo-off"]),
        "min-pl0" => clean().finds("low-power-limit", Critical).diagnosed("The long-term power limit of the package (0 W of 205 W) can hold the clock down; who set it is unknown."),
        _ => return None,
    })
}

/// Time that something else takes, links, and CPUs that are not used as they were meant to.
fn of_other_loss(id: &str) -> Option<Expectation> {
    Some(match id {
        "22b-kipmi0-no-schedstat" => {
            clean().finds_between("kipmid-busy", Medium..=High).says("at least 54 %")
        }
        "27-quota-91-percent-exporter" => clean()
            .finds_between("cgroup-quota-throttling", Medium..=High)
            .says("ipmi_exporter (4242)")
            .says("91.0 %"),
        "28-cx6dx-in-gen3-x8" => clean()
            .finds("slot-narrower-than-ports", Medium)
            .says("carries 63 Gb/s, less than its port ens1f0 alone (100 Gb/s)"),
        "29-rpi-cm4-cx3-x1" => clean()
            .finds_between("slot-narrower-than-ports", Low..=Low)
            .says("carries 4 Gb/s, less than its port enp1s0 alone (10 Gb/s)"),
        "34-aws-c6-disabled" => clean().finds_between("turbo-headroom-lost", Low..=Low),
        "42-aws-isolcpus-0" => {
            clean().finds("isolated-without-nohz-full", Low).says_not("nohz_full=0")
        }
        "37-cppc-fie-thread" => clean()
            .finds("busy-kernel-threads", Medium)
            .may_find("slow-governor")
            .says("cppc_fie")
            .says("has taken 30 % of a CPU")
            .says("Linux 6.1"),
        "42b-ubuntu-kernel-without-nohz-full" => {
            clean().finds("isolated-without-nohz-full", Low).says("CONFIG_NO_HZ_FULL")
        }
        "46-bundle-with-kernel-log" => clean()
            .finds("kernel-log", Medium)
            .says("gave up the TSC as unstable")
            .says("3.9 days after boot")
            .says("39112 events")
            .says("took a split_lock trap")
            .says("hrtimer: interrupt took 6663395 ns")
            .says("limited by 8.0 GT/s PCIe x8 link"),
        "54-smt-forceoff" => clean()
            .finds("offline-cpus", Info)
            .says("mitigations=auto,nosmt")
            .says_not("cpu-online="),
        "min-steal" => clean().never(&["stolen-time"]).not_judged("stolen-time"),
        _ => return None,
    })
}

/// Hosts on which no driver drives the clock.
fn without_driver(id: &str) -> Option<Expectation> {
    Some(match id {
        "18-amd-no-cpufreq-driver" => clean()
            .finds("no-frequency-driver", Low)
            .says("amd_pstate=active on the boot line finds no CPPC in the firmware")
            .says("modprobe acpi-cpufreq")
            .says_not("Dell")
            .says_not("HPE"),
        "19-arm64-no-cpufreq" => clean()
            .finds("no-frequency-driver", Info)
            .says("CPPC enabled in the firmware's setup")
            .says("CONFIG_ACPI_CPPC_CPUFREQ"),
        _ => return None,
    })
}
