//! Looks at how often the processor held its clock down because it was too hot, against the time since boot.
//!
//! Source: drivers/thermal/intel/therm_throt.c (`thermal_throttle` in sysfs); Intel SDM vol. 3B, "Thermal
//! Monitoring and Protection". It cannot know when the events were, nor how low the clock went.

mod watched;

use crate::check::{Check, Reference, Verdict};
use crate::clock::heat;
use crate::commands;
use crate::finding::{Confidence, Finding, Severity};
use crate::loss_scale::{self, Lost};
use crate::plr;
use facts::cpu::throttling::Throttled;
use facts::msr::limit_reasons::Kind;
use facts::power::board::FirmwareThrottling;
use facts::{CpuSet, Elsewhere, HostView, Missing, PerCpu};
use std::time::Duration;

pub(crate) const CHECK: Check = Check {
    id: "thermal-throttling",
    title: "the processor holds its clock down because it is too hot",
    doc: "\
## What it looks at
`core_throttle_count` and `package_throttle_count` in `cpuN/thermal_throttle`, once for each core and package (the threads of
a core count the same events), and the time that goes with them, against the uptime. The severity follows the share of the
time; where the kernel does not count the time (before Linux 5.5), an event counts as a second. 100,000 events are high in
whatever time. On bare-metal POWER `throttle_stats/overtemp` of each chip. On a Raspberry Pi bits 3 and 19 of
`get_throttled`: too hot at the moment (medium), or at some time since boot (low). On Granite Rapids, Sierra Forest and later
servers, where these counters have nothing, the log of performance limit reasons (PLR) in debugfs: the die, single cores, or
a voltage regulator too hot, since boot or since somebody cleared the log, which is a note. Other processors, and Intel's
where firmware keeps the thermal interrupt, have no such counters: their heat is unknown. So is that of a host whose container runtime lays an
empty folder over them.

## Why it matters
At its temperature limit the processor lowers its clock, and when that is not enough stops it for more than half of
the time. A clogged filter, a failed fan or a hot aisle costs a database the clock exactly when it is
busiest. The kernel tells of it at most once in five minutes for each CPU, so the log shows a small part.
The counters see the processor's own sensors and nothing else: not PROCHOT# pulled by the board, not power and
current limits, not clock modulation. A server at a 25 % duty cycle has zeros here.

## When to leave it alone
A few events over weeks: a hot afternoon, a burst of vector code. On a laptop with a fan of a laptop. The
counters start at 0 with every boot and keep no dates: `fullclock audit --look 10s` sees whether they still grow, and is then
as severe as the share of that time (medium where no time is counted).
",
    references: &[
        Reference {
            title: "Linux: thermal_throttle in Documentation/ABI/testing/sysfs-devices-system-cpu",
            url: "https://docs.kernel.org/admin-guide/abi-testing.html",
        },
        Reference {
            title: "Intel SDM vol. 3B, Power and Thermal Management: Thermal Monitoring and Protection",
            url: "https://www.intel.com/content/www/us/en/developer/articles/technical/intel-sdm.html",
        },
    ],
    run,
};

fn run(host: &HostView) -> Verdict {
    host.platform.hides(WHAT)?;
    if let Some(live) = watched::finding(host) {
        return Ok(vec![live]);
    }
    let counters = &host.throttling;
    let (cores, packages) = (&counters.cores, &counters.packages);
    let uptime = host.kernel.uptime.as_ref().ok().copied();
    let core_of = |cpu| host.topology.core_of(cpu);
    let package_of = |cpu| host.topology.package_of(cpu);
    let judged: Vec<Judged<'_>> = throttled(cores, "core", &core_of, uptime)
        .chain(throttled(packages, "package", &package_of, uptime))
        .collect();
    let worst = judged.iter().max_by(|one, other| {
        let by_share = one.share.total_cmp(&other.share);
        by_share.then(one.throttled.events.cmp(&other.throttled.events))
    });
    if let Some(worst) = worst {
        return Ok(vec![finding(host, &judged, worst, uptime)]);
    }
    let is_counted = packages.known().next().is_some() || cores.known().next().is_some();
    match plr::findings(host, &[Kind::Heat]) {
        Ok(found) if !found.is_empty() || !is_counted => return Ok(found),
        Err(missing) if !missing.is_absence() && !is_counted => return Err(missing),
        _ => {}
    }
    if !is_counted {
        if let Ok(bits) = &host.board_power.throttled {
            return Ok(by_board(host, bits).into_iter().collect());
        }
        host.shows(WHAT, Elsewhere::Firmware)?;
    }
    cores.all_known().map_err(|missing| without_counters(host, missing))?;
    // Processors without a package sensor have no package counters.
    match packages.missing() {
        Some(missing) if !missing.is_absence() => Err(missing.into()),
        _ => Ok(Vec::new()),
    }
}

const WHAT: &str = "thermal throttling";

const COOLING: &str = "fix the cooling: fans, filters, heat sink, the fan policy in firmware or BMC, the temperature of the inlet air";

/// The firmware of a Raspberry Pi counts nothing: it says what is, and what was.
fn by_board(host: &HostView, bits: &FirmwareThrottling) -> Option<Finding> {
    let (severity, when) = match (bits.is_hot(), bits.was_hot()) {
        (true, _) => (Severity::Medium, "is too hot at this moment, and the firmware lowers"),
        (false, true) => {
            (Severity::Low, "was too hot at some time since boot, and the firmware lowered")
        }
        (false, false) => return None,
    };
    let cpus = host.topology.online.clone().unwrap_or_default();
    let message = format!("the processor {when} its clock");
    let finding = Finding::new(severity, Confidence::High, message);
    let finding = if bits.is_hot() { finding } else { finding.since_boot() };
    Some(
        finding
            .evidence(&bits.path, format!("{:x}", bits.bits))
            .on(cpus, host.topology.n_online())
            .command(&commands::THERMAL_ZONES, "")
            .fix_lasting("fix the cooling: a heat sink or a fan, air around the board"),
    )
}

/// A processor that has the sensor throttles itself whether the kernel counts it or not.
fn without_counters(host: &HostView, missing: &Missing) -> Missing {
    if let Ok(Some(container)) = &host.platform.container
        && missing.is_absence()
    {
        // Whether the host has counters that the container is not shown, nobody can tell from inside.
        return Missing::hidden(WHAT, format!("the container ({container})"));
    }
    let has_sensor = host.cpuinfo.as_ref().is_ok_and(|it| it.is_intel() && it.has("acpi"));
    if has_sensor && missing.is_absence() {
        return Missing::elsewhere(WHAT, Elsewhere::ThermalInterrupt);
    }
    missing.clone()
}

/// One counter that is not 0.
struct Judged<'a> {
    /// "core" or "package".
    level: &'static str,
    cpus: CpuSet,
    throttled: &'a Throttled,
    /// The share of the time for which it held the clock; 0 where that is unknown.
    share: f64,
}

/// `sharing` gives the CPUs that share the counter of one.
fn throttled<'a>(
    counters: &'a PerCpu<Throttled>,
    level: &'static str,
    sharing: &'a dyn Fn(u32) -> CpuSet,
    uptime: Option<Duration>,
) -> impl Iterator<Item = Judged<'a>> {
    counters.known().filter(|(_, it)| it.events > 0).map(move |(cpu, throttled)| Judged {
        level,
        cpus: sharing(cpu),
        throttled,
        share: lost(throttled, uptime, true).map_or(0.0, |it| it.share()),
    })
}

fn lost(throttled: &Throttled, uptime: Option<Duration>, are_many: bool) -> Option<Lost> {
    heat::lost(throttled.events, throttled.total.clone().ok(), uptime, are_many)
}

/// The share of the time since boot that was throttled.
fn share(throttled: &Throttled, uptime: Option<Duration>) -> Option<f64> {
    let total = *throttled.total.as_ref().ok()?;
    let share = total.as_secs_f64() / uptime?.as_secs_f64().max(1.0);
    Some(share.min(1.0))
}

fn is_as_bad(one: &Judged<'_>, worst: &Judged<'_>) -> bool {
    loss_scale::level(one.share) == loss_scale::level(worst.share)
}

fn finding(
    host: &HostView,
    judged: &[Judged<'_>],
    worst: &Judged<'_>,
    uptime: Option<Duration>,
) -> Finding {
    let Judged { level, throttled, .. } = worst;
    let events = throttled.events;
    let rate = heat::how_often(events, uptime);
    let message = format!("a {level} was too hot and held its clock down {rate}");
    let mut as_bad = CpuSet::default();
    for it in judged.iter().filter(|it| is_as_bad(it, worst)) {
        as_bad.extend(it.cpus.iter());
    }
    let confidence = if uptime.is_some() { Confidence::High } else { Confidence::Medium };
    let finding = match lost(throttled, uptime, loss_scale::are_many(host, &as_bad)) {
        Some(lost) => Finding::of_lost(lost, confidence, message),
        None => Finding::new(heat::severity(events, None), confidence, message),
    };
    let mut finding =
        finding.evidence(&throttled.path, events).on(as_bad, host.topology.n_online()).since_boot();
    if let (Some(share), Some(uptime)) = (share(throttled, uptime), uptime)
        && let Ok(total) = &throttled.total
        && !total.is_zero()
    {
        finding = finding
            .evidence(throttled.path.replace("_count", "_total_time_ms"), total.as_millis())
            .cost(
                format!("a lower clock for {:.2} % of the time", 100.0 * share),
                format!("{} s of {} s since boot", total.as_secs(), uptime.as_secs()),
            );
    }
    if finding.severity > Severity::Info {
        finding = finding.command(&commands::BMC_SENSORS, "").fix_lasting(COOLING);
    }
    finding
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::{XEON, findings, verdict};

    /// [`XEON`] with these counts on each of its two cores and on its package.
    fn host(cores: [&str; 2], package: &str, uptime: &str) -> String {
        let count = |cpu: usize, level: &str, count: &str| {
            let folder = format!("/sys/devices/system/cpu/cpu{cpu}/thermal_throttle");
            format!("//- {folder}/{level}_throttle_count\n{count}\n")
        };
        let cores = cores.into_iter().enumerate().map(|(cpu, it)| count(cpu, "core", it));
        let (cores, package) = (cores.collect::<String>(), count(0, "package", package));
        format!("{XEON}//- /proc/uptime\n{uptime} 0.0\n{cores}{package}")
    }

    #[test]
    fn two_thousand_events_an_hour_are_high() {
        assert_eq!(
            verdict(&CHECK, &host(["22034", "22034"], "27400", "36020.49")),
            "high: a package was too hot and held its clock down 27400 times in 10.0 h (2738.4 an hour) [all 4 CPUs]"
        );
    }

    #[test]
    fn a_few_events_over_weeks_are_a_note() {
        let host = host(["0", "3"], "0", "1814400.00");
        assert_eq!(
            verdict(&CHECK, &host),
            "info: a core was too hot and held its clock down 3 times in 504.0 h (0.0 an hour) [CPUs 1,3 (2 of 4)]"
        );
        assert!(findings(&CHECK, &host)[0].fix.look.is_empty());
    }

    #[test]
    fn an_event_right_after_boot_is_not_made_a_rate_of_hundreds() {
        assert!(verdict(&CHECK, &host(["0", "2"], "0", "60.00")).starts_with("info: "));
    }

    #[test]
    fn a_hundred_thousand_events_are_high_however_long_they_took() {
        assert!(verdict(&CHECK, &host(["0", "0"], "100000", "99999999.00")).starts_with("high: "));
    }

    #[test]
    fn long_throttling_counts_more_than_its_events() {
        let time =
            "//- /sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_total_time_ms\n";
        let host = format!("{}{time}180000000\n", host(["0", "3"], "0", "1814400.00"));
        assert!(verdict(&CHECK, &host).starts_with("medium: "));
        let cost = findings(&CHECK, &host).remove(0).cost.unwrap();
        assert_eq!(cost.estimate, "a lower clock for 9.92 % of the time");
        assert_eq!(cost.derivation, "180000 s of 1814400 s since boot");
    }

    #[test]
    fn without_the_uptime_a_count_is_no_rate() {
        assert_eq!(
            verdict(&CHECK, &host(["500", "0"], "0", "!absent")),
            "low: a core was too hot and held its clock down 500 times since boot (the uptime is unknown) [CPUs 0,2 (2 of 4)]"
        );
    }

    #[test]
    fn counters_say_enough_without_a_word_on_the_processor() {
        let host = host(["22034"; 2], "27400", "36020.49").replace("/proc/cpuinfo", "/proc/other");
        assert!(verdict(&CHECK, &host).starts_with("high: "));
    }

    #[test]
    fn heat_that_linux_does_not_count_is_unknown() {
        let amd = XEON.replace("GenuineIntel", "AuthenticAMD");
        let arm = "//- /proc/cpuinfo\nprocessor : 0\nCPU implementer : 0xc0\n";
        for host in [&amd, arm] {
            assert_eq!(
                verdict(&CHECK, host),
                "unknown: thermal throttling cannot be read: this program reads no interface to it on this processor"
            );
        }
    }

    #[test]
    fn in_a_container_the_firmware_is_not_blamed_for_counters_that_are_not_shown() {
        let masked = format!("{XEON}//- /sys/devices/system/cpu/cpu0/thermal_throttle/\n");
        assert_eq!(
            verdict(&CHECK, &masked),
            "unknown: /sys/devices/system/cpu/cpu0/thermal_throttle cannot be read: an empty folder is laid over it, \
             as runtimes of containers do; run fullclock on the host"
        );
        let docker = format!("{XEON}//- /.dockerenv\n\n");
        assert_eq!(
            verdict(&CHECK, &docker),
            "unknown: thermal throttling: not available in a guest of the container (docker)"
        );
    }

    #[test]
    fn the_on_chip_controller_of_a_power9_counts_heat() {
        let power9 = |events: &str| {
            let host = format!(
                "//- /proc/cpuinfo\nprocessor : 0\ncpu : POWER9, altivec supported\n//- /proc/uptime\n36000.0 0.0\n\
                 //- /sys/devices/system/cpu/online\n0-3\n\
                 //- /sys/devices/system/cpu/cpu0/topology/core_siblings_list\n0-3\n\
                 //- /sys/devices/system/cpu/cpu0/cpufreq/throttle_stats/overtemp\n{events}\n"
            );
            verdict(&CHECK, &host)
        };
        assert_eq!(
            power9("40"),
            "low: a package was too hot and held its clock down 40 times in 10.0 h (4.0 an hour) [all 4 CPUs]"
        );
        assert_eq!(power9("0"), "clean");
    }

    #[test]
    fn the_firmware_of_a_raspberry_pi_tells_of_heat() {
        let pi = |bits: &str| {
            let host = format!(
                "//- /proc/cpuinfo\nprocessor : 0\nCPU part : 0xd0b\n//- /sys/devices/system/cpu/online\n0-3\n\
                 //- /sys/devices/platform/soc/soc:firmware/get_throttled\n{bits}\n"
            );
            verdict(&CHECK, &host)
        };
        assert_eq!(
            pi("80008"),
            "medium: the processor is too hot at this moment, and the firmware lowers its clock [all 4 CPUs]"
        );
        assert!(pi("80000").starts_with("low: the processor was too hot"));
        assert_eq!(pi("50005"), "clean");
    }

    #[test]
    fn a_log_of_limits_tells_of_heat_that_is_not_counted_and_never_of_now() {
        let gnr = |counts: &str, status: &str| {
            let path = "/sys/kernel/debug/tpmi-0000:00:03.1/plr/domain0/status";
            let host = host([counts; 2], counts, "36020.49").replace(": 85", ": 173");
            verdict(&CHECK, &format!("{host}//- {path}\n{status}\n"))
        };
        let hot = "cpus PLATFORM\ncpu0 PLATFORM PLATFORM_HOT_VR\ncpu1 none";
        assert_eq!(
            gnr("0", hot),
            "info: a hot voltage regulator held the clock down at some time since boot, or since the log was cleared [CPU 0 (1 of 4)]"
        );
        assert!(gnr("!absent", hot).starts_with("info: "));
        assert_eq!(gnr("!absent", "cpus POWER\ncpu0 POWER"), "clean");
        assert_eq!(gnr("0", "!denied"), "clean");
        assert!(gnr("!absent", "!denied").contains("domain0/status may not be read"));
        assert!(gnr("22034", hot).starts_with("high: a package was too hot"));
    }

    #[test]
    fn zeros_are_clean() {
        assert_eq!(verdict(&CHECK, &host(["0", "0"], "0", "36020.49")), "clean");
    }

    #[test]
    fn a_core_that_cannot_be_read_is_unknown_where_the_others_are_silent() {
        assert_eq!(
            verdict(&CHECK, &host(["0", "!denied"], "0", "36020.49")),
            "unknown: /sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count may not be read"
        );
    }

    #[test]
    fn an_intel_processor_whose_kernel_does_not_count_is_unknown() {
        assert!(
            verdict(&CHECK, XEON)
                .starts_with("unknown: thermal throttling cannot be read: the kernel does not count it: firmware keeps")
        );
        // Without the flag there is no sensor.
        assert!(verdict(&CHECK, &XEON.replace("acpi ", "")).starts_with("not applicable: "));
    }
}
