//! `slow-clock`: what tasks lost because their CPU's clock was below its reference.
//!
//! See `ledger::clock` and `ledger::reference` for the two clocks, `ledger::causes` for what names a cause. A register or
//! setting is that of the moment when it was read, and may have changed in the interval.

use crate::ledger::amount::{part, signed};
use crate::ledger::books::Books;
use crate::ledger::causes::reasons;
use crate::ledger::work::work;
use crate::loss::{Entry, Kind, Loss};
use facts::{Fact, Hertz, Missing};

pub(super) const LOSS: Loss = Loss {
    id: "slow-clock",
    title: "slow clock",
    kind: Kind::Lost,
    help: "\
## What it is
The time of the requested tasks, times the share by which their CPU's clock was below its reference: the highest
that the hardware promises for so many active cores. Where the nominal clock is unknown, as in a guest, it is the highest
that was measured (of an interval of `serve` and `watch` in the last minute or two), and the ledger says so.

## How it is measured
By APERF / MPERF times the rate of the TSC; without them, by the chain probe, which times a chain of dependent
instructions on the CPU between the samples. Only evidence names a cause: a governor or limit that requested less, turbo
that is off, time throttled by heat or below a power limit in the interval, the processor's own limit reasons, idle cores
that stay in shallow states and so leave fewer turbo ratios; in a guest the hypervisor, where the clock moved while the
guest's own load did not. Each explains the clock as far down as it can have pushed it, and for no longer than it was
counted. On the servers from Haswell on, the first suspect of 'cause not visible' is vector code: the turbo ratios of
MSR 0x1AD hold for scalar and SSE code, and code that uses AVX2, AVX-512 or AMX runs below them by design.
The rest is 'cause not visible', or 'perhaps' something: that was there at a moment, was counted without its
time, or is a hint, and may explain any part of it or nothing. Thermal events, a governor that follows the load, a
preference for saving power, a limit reason that was seen at one end only, and one that the log of a server with TPMI (PLR) has
at the end and had not at the beginning are of this kind.

## What fixes it
What the findings beside the line say. The party is who can change it: operating system, firmware, management controller,
hypervisor, or only a better cooler.
",
    checks: &[
        "slow-governor",
        "capped-frequency",
        "power-saving-bias",
        "rival-tuner",
        "turbo-off",
        "turbo-headroom-lost",
        "no-frequency-driver",
        "mixed-frequency-settings",
        "low-power-limit",
        "bmc-power-cap",
        "prochot-asserted",
        "thermal-throttling",
        "power-limit-reached",
        "undervoltage",
        "clock-below-minimum",
        "clock-not-delivered",
        "clock-clipped-by-platform",
        "clamped-utilization",
    ],
    of_parts: &[],
    measure,
};

fn measure(books: &Books<'_>) -> Fact<Vec<Entry>> {
    let work = work(books)?;
    let clock = books.clock.as_ref()?;
    let reference = books.reference.as_ref().ok_or_else(|| Missing::absent("a reference clock"))?;
    let entry = |name: String, party, ns, more_ns| Entry {
        part: name,
        ns: signed(ns),
        method: clock.method,
        source: clock.source,
        uncertainty_ns: part(work.uncertainty_ns, ns, work.slow_ns).saturating_add(more_ns),
        interrupted_ns: None,
        party,
    };
    let depth = reference.clock.0.saturating_sub(clock.running.0);
    let mut entries = Vec::new();
    let (mut height, mut left) = (reference.clock, work.slow_ns);
    let reasons = reasons(books, clock.running);
    let rest = reasons.rest();
    for cause in reasons.causes {
        let foot = Hertz(cause.down_to.0.clamp(clock.running.0, height.0.max(clock.running.0)));
        let explained = part(work.slow_ns, height.0.saturating_sub(foot.0), depth).min(left);
        let ns = explained.min(cause.at_most_ns.unwrap_or(u64::MAX));
        if ns > 0 {
            // What is known to have been there for a part of the time may have taken less in it, unless it was all.
            let apart = cause.at_most_ns.map_or(0, |at_most| books.wall_ns.saturating_sub(at_most));
            entries.push(entry(cause.name, cause.party, ns, ns.min(apart)));
            left = left.saturating_sub(ns);
            height = Hertz(height.0.saturating_sub(part(depth, ns, work.slow_ns)).max(foot.0));
        }
    }
    if left > 0 {
        entries.push(entry(rest, None, left, 0));
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use crate::fixture::books::{SECOND, loss, replaced, without};

    fn with(change: (&str, &str)) -> String {
        loss("slow-clock", &replaced(SECOND, &[change]))
    }

    #[test]
    fn a_governor_that_holds_the_lowest_clock_explains_all_of_it() {
        assert_eq!(
            with(("scaling_governor\nperformance", "scaling_governor\npowersave")),
            "governor powersave 112.0 ms ±4.5 by counter, operating system <- slow-governor 0"
        );
    }

    #[test]
    fn a_limit_explains_the_clock_down_to_itself_and_no_further() {
        assert_eq!(
            with(("scaling_max_freq\n2000000", "scaling_max_freq\n1800000")),
            "cause not visible 56.0 ms ±2.2 by counter\nlimit scaling_max_freq 56.0 ms ±2.2 by counter, operating system <- capped-frequency 0"
        );
    }

    #[test]
    fn thermal_events_without_their_time_are_a_perhaps_of_nobody() {
        assert_eq!(
            with((
                "package_throttle_count\n0 0 0\n1 0 0\ntask 2 2 kipmi0 kernel 0 1",
                "package_throttle_count\n0 3 0\n1 0 0\ntask 2 2 kipmi0 kernel 0 1"
            )),
            "perhaps heat 112.0 ms ±4.5 by counter"
        );
    }

    /// The second, with CPU 0 throttled by heat for some milliseconds.
    fn hot(ms: &str) -> String {
        let columns = "Throttling core_throttle_count package_throttle_count\n";
        let text =
            SECOND.replace(columns, "Throttling core_throttle_count core_throttle_total_time_ms\n");
        replaced(
            &text,
            &[(
                "total_time_ms\n0 0 0\n1 0 0\ntask 2 2 kipmi0 kernel 0 1",
                &format!("total_time_ms\n0 1 {ms}\n1 0 0\ntask 2 2 kipmi0 kernel 0 1"),
            )],
        )
    }

    #[test]
    fn heat_explains_no_more_than_the_time_for_which_the_kernel_counted_it() {
        assert_eq!(
            loss("slow-clock", &hot("40")),
            "cause not visible 72.0 ms ±2.9 by counter\nheat 40.0 ms ±41.6 by counter, power and heat"
        );
        assert_eq!(
            loss("slow-clock", &hot("1000")),
            "heat 112.0 ms ±4.5 by counter, power and heat"
        );
    }

    /// The second, with a family of package 0 that read `before` and `after`.
    fn limited(family: &str, before: &str, after: &str) -> String {
        let with = |ends: &str, value: &str| {
            ends.replacen("Throttling", &format!("{family}\n0 {value}\nThrottling"), 1)
        };
        let (first, last) = SECOND.split_once("//- after").unwrap();
        format!("{}//- after{}", with(first, before), with(last, after))
    }

    #[test]
    fn a_power_limit_explains_no_more_than_the_time_below_it() {
        assert_eq!(
            loss("slow-clock", &limited("PowerLimited package", "7", "40007")),
            "cause not visible 72.0 ms ±2.9 by counter\na power limit 40.0 ms ±41.6 by counter, power and heat"
        );
        assert_eq!(
            loss("slow-clock", &limited("PowerLimited package", "7", "7")),
            "cause not visible 112.0 ms ±4.5 by counter"
        );
    }

    #[test]
    fn what_the_processor_logged_meanwhile_is_a_perhaps_and_what_it_had_logged_before_is_nothing() {
        // IA32_THERM_STATUS bit 3 is the log of PROCHOT.
        let logged =
            |before, after| loss("slow-clock", &limited("CoreLimits therm_status", before, after));
        assert_eq!(
            logged("0", "8"),
            "perhaps PROCHOT# from another device 112.0 ms ±4.5 by counter"
        );
        assert_eq!(logged("8", "8"), "cause not visible 112.0 ms ±4.5 by counter");
    }

    #[test]
    fn what_the_log_of_a_granite_rapids_has_anew_is_a_perhaps() {
        let status = "//- /sys/kernel/debug/tpmi-0000:00:03.1/plr/domain0/status";
        let host = format!("{SECOND}{status}\ncpus none\ncpu0 none\n");
        let text = replaced(
            &host,
            &[("model : 85", "model : 173"), ("observer 20", "observer 20\nafter status cpus RAS")],
        );
        let found = loss("slow-clock", &text);
        assert!(
            found.starts_with("perhaps its protection against hardware errors (RAS) 112.0 ms"),
            "{found}"
        );
    }

    #[test]
    fn a_governor_that_follows_the_load_and_was_seen_at_a_low_clock_is_a_perhaps() {
        let text = replaced(
            SECOND,
            &[
                ("scaling_governor\nperformance", "scaling_governor\nondemand"),
                ("scaling_cur_freq\n2000000", "scaling_cur_freq\n1600000"),
            ],
        );
        let found = loss("slow-clock", &text);
        assert!(found.starts_with("perhaps governor ondemand 112.0 ms ±4.5 by counter"), "{found}");
        assert!(!found.contains("operating system"), "{found}");
    }

    #[test]
    fn a_preference_for_saving_power_is_a_hint_and_so_a_perhaps_of_nobody() {
        let preferring = |preference: &str| {
            let file = "/sys/devices/system/cpu/cpufreq/policy0/energy_performance_preference";
            let text = replaced(SECOND, &[("acpi-cpufreq", "intel_pstate")]);
            loss("slow-clock", &format!("{text}//- {file}\n{preference}\n"))
        };
        assert_eq!(preferring("performance"), "cause not visible 112.0 ms ±4.5 by counter");
        for preference in ["power", "balance_power"] {
            assert_eq!(
                preferring(preference),
                format!(
                    "perhaps energy_performance_preference {preference} 112.0 ms ±4.5 by counter <- power-saving-bias 0"
                )
            );
        }
    }

    #[test]
    fn a_governor_that_was_another_one_at_the_end_is_a_perhaps() {
        let slow = ("scaling_governor\nperformance", "scaling_governor\npowersave");
        let changed = replaced(
            &replaced(SECOND, &[slow]),
            &[("observer 20", "observer 20\nafter scaling_governor performance")],
        );
        let found = loss("slow-clock", &changed);
        assert!(found.starts_with("perhaps governor powersave 112.0 ms"), "{found}");
    }

    #[test]
    fn cores_that_idle_in_a_shallow_state_take_the_turbo_of_a_smaller_number() {
        let registers = "//- /sys/devices/system/cpu/cpu0/topology/package_cpus_list\n0-1\n\
                         //- /dev/cpu/0/msr 0xce\n0xa0080001800\n\
                         //- /dev/cpu/0/msr 0x1ad\n0x2020202020202024\n\
                         //- /dev/cpu/0/msr 0x1ae\n0x1c1814100c080401\n";
        let deep = format!("{SECOND}{registers}");
        assert_eq!(loss("slow-clock", &deep), "cause not visible 311.1 ms ±2.5 by counter");
        let shallow = replaced(&deep, &[("1 0 0 985000", "1 0 985000 0")]);
        assert_eq!(
            loss("slow-clock", &shallow),
            "cause not visible 248.9 ms ±2.0 by counter\n\
             no turbo headroom: idle cores stay in shallow states 62.2 ms ±0.5 by counter, operating system"
        );
    }

    /// A guest with a probe that moves, and its CPU 0 idle for some milliseconds.
    fn guest(idle: &str) -> String {
        let guest = without(SECOND, "Clocks");
        let guest = replaced(
            &guest,
            &[
                ("observer 20", "observer 20\nclock 0 4200 4300 4400\nclock 1 4500"),
                ("trace 0 idle 310000000", &format!("trace 0 idle {idle}000000")),
                ("0 5000 100000 200000", &format!("0 0 0 {idle}000")),
                ("0 31 0 0 0 0", &format!("0 {} 0 0 0 0", &idle[..idle.len() - 1])),
            ],
        );
        let (counted, _) =
            guest.split_at(guest.find("//- /sys/devices/system/cpu/cpufreq").unwrap());
        format!("{counted}//- /sys/class/dmi/id/sys_vendor\nQEMU\n")
    }

    #[test]
    fn a_probe_speaks_where_no_counter_does_and_the_hypervisor_is_named_in_a_guest_of_steady_load()
    {
        assert_eq!(
            loss("slow-clock", &guest("10")),
            "the clock under this guest 24.9 ms ±12.4 by probe, hypervisor"
        );
    }

    #[test]
    fn a_guest_whose_own_load_came_and_went_may_have_moved_the_clock_itself() {
        assert_eq!(loss("slow-clock", &guest("310")), "cause not visible 24.9 ms ±12.4 by probe");
    }

    #[test]
    fn a_clock_that_stood_lower_on_one_cpu_than_on_another_has_not_moved() {
        let still = replaced(&guest("10"), &[("4200 4300 4400", "4300 4300 4300")]);
        let found = loss("slow-clock", &still);
        assert!(found.starts_with("cause not visible"), "{found}");
    }

    #[test]
    fn a_clock_at_its_reference_loses_nothing() {
        assert_eq!(with(("1112000000", "1390000000")), "0.0 ms by counter");
    }

    #[test]
    fn counters_that_stand_still_are_no_clock() {
        assert_eq!(
            loss(
                "slow-clock",
                &SECOND.replace("1112000000 1390000000", "0 0").replace("24000000 30000000", "0 0")
            ),
            "unknown: APERF, MPERF and TSC: found \"0 0 2000000000 more cycles\", expected a counter that moves while the CPU is busy"
        );
    }
}
