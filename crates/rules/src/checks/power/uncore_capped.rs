//! Looks at the limits of the uncore's clock: mesh or ring, last-level cache, the way to memory.
//!
//! Source: Documentation/admin-guide/pm/intel_uncore_frequency_scaling.rst. It cannot know a limit that firmware
//! had set before the driver was loaded: then the driver's `initial_max_freq_khz` is low as well.

mod light_load;

use crate::check::{Check, Reference, Verdict};
use crate::finding::{Confidence, Finding, Severity};
use facts::msr::{intel, ratios};
use facts::power::uncore::UncoreDomain;
use facts::quantity::counted_all;
use facts::{Elsewhere, Hertz, HostView, IfPresent, Missing};

pub(crate) const CHECK: Check = Check {
    id: "uncore-capped",
    title: "the clock of caches and memory paths is limited",
    doc: "\
## What it looks at
`max_freq_khz` of every domain in /sys/devices/system/cpu/intel_uncore_frequency against `initial_max_freq_khz`, what the
firmware allowed at boot; and whether the lower limit has been raised to the upper one. Without the driver, MSR 0x620 shows
the latter only; Granite Rapids and Sierra Forest have no such register, and are unknown without intel_uncore_frequency_tpmi.
There also efficiency latency control: the clock to which the uncore may fall at light load (`elc_floor_freq_khz`, below
`elc_low_threshold_percent` of its CPUs' time), and the load above which it is chosen for latency
(`elc_high_threshold_percent`, where `elc_high_threshold_enable` is 1).

## Why it matters
The last-level cache, the mesh or ring between cores and the way to memory have a clock of their own. A database
misses its caches all the time; a slower uncore makes every miss, every lock that moves between cores and every
remote access longer, while the cores' clock looks perfect.

## When to leave it alone
An uncore pinned at its maximum (lower limit = upper limit) is a choice: steady latency, paid with power that the cores'
turbo could have used. That is only a note here, and so is a floor for light load: firmware sets it to save power, and only
work that comes in short bursts on an idle machine waits for it. Its defaults are thresholds of 11 % and 95 %, and 1200 MHz
for cores and memory, 800 MHz for I/O. It is low where the high threshold is off in a whole package, so that no load makes
the uncore give latency first. A floor of 0, and a package with a high threshold of 0 that counts, are the firmware's Latency
Optimized Mode, and clean.
",
    references: &[
        Reference {
            title: "Linux: Intel Uncore Frequency Scaling",
            url: "https://docs.kernel.org/admin-guide/pm/intel_uncore_frequency_scaling.html",
        },
        Reference {
            title: "Intel PCM: Latency Optimized Mode in Xeon 6 Processors",
            url: "https://github.com/intel/pcm/blob/master/doc/LATENCY-OPTIMIZED-MODE.md",
        },
        Reference {
            title: "Intel SDM vol. 4, MSR_UNCORE_RATIO_LIMIT (0x620)",
            url: "https://www.intel.com/sdm",
        },
    ],
    run,
};

/// Below this share of the maximum, latency of the last-level cache grows by more than a quarter: it
/// follows the clock.
const MUCH: f64 = 0.8;

fn run(host: &HostView) -> Verdict {
    host.platform.hides("the uncore's clock")?;
    let Some(domains) = host.uncore.if_present()? else { return pinned_by_register(host) };
    let mut unknown: Option<&Missing> = None;
    let mut capped: Vec<Limits<'_>> = Vec::new();
    let mut pinned: Vec<Limits<'_>> = Vec::new();
    for domain in domains {
        match Limits::of(domain) {
            Ok(limits) if limits.max < limits.initial_max => capped.push(limits),
            Ok(limits) if limits.min == limits.max => pinned.push(limits),
            Ok(_) => {}
            Err(missing) => unknown = unknown.or(Some(missing)),
        }
    }
    let findings = [capped_finding(&capped), pinned_finding(&pinned)];
    let findings: Vec<Finding> =
        findings.into_iter().flatten().chain(light_load::findings(domains)).collect();
    match unknown {
        Some(missing) if findings.is_empty() => Err(missing.into()),
        _ => Ok(findings),
    }
}

/// A domain whose limits are all known.
struct Limits<'a> {
    domain: &'a UncoreDomain,
    min: Hertz,
    max: Hertz,
    initial_max: Hertz,
}

impl Limits<'_> {
    fn of(domain: &UncoreDomain) -> Result<Limits<'_>, &Missing> {
        Ok(Limits {
            domain,
            min: *domain.min.as_ref()?,
            max: *domain.max.as_ref()?,
            initial_max: *domain.initial_max.as_ref()?,
        })
    }
}

fn capped_finding(domains: &[Limits<'_>]) -> Option<Finding> {
    let worst = domains.iter().min_by_key(|it| it.max)?;
    let share = worst.max.share_of(worst.initial_max);
    let severity = if share < MUCH { Severity::Medium } else { Severity::Low };
    let message = format!(
        "the uncore of {} may run at {} at most, {:.0} % of the {} that firmware allows",
        counted_all(domains, "domain"),
        worst.max,
        100.0 * share,
        worst.initial_max
    );
    let finding = Finding::new(severity, Confidence::High, message)
        .evidence(worst.domain.path("max_freq_khz"), worst.max.khz())
        .evidence(worst.domain.path("initial_max_freq_khz"), worst.initial_max.khz())
        .fix_lasting("stop what sets it (a tuned profile, a boot script, pepc); the driver starts with the firmware's limit");
    let named = domains.iter().map(|it| it.domain.path("max_freq_khz"));
    Some(named.fold(finding, Finding::names).fix_by("uncore-max", "max"))
}

fn pinned_finding(domains: &[Limits<'_>]) -> Option<Finding> {
    let first = domains.first()?;
    let message =
        format!("the uncore of {} is pinned at {}", counted_all(domains, "domain"), first.max);
    Some(
        Finding::new(Severity::Info, Confidence::High, message)
            .evidence(first.domain.path("min_freq_khz"), first.min.khz())
            .evidence(first.domain.path("max_freq_khz"), first.max.khz()),
    )
}

/// Servers whose uncore is set by TPMI and not by MSR 0x620 (drivers/platform/x86/intel/uncore-frequency).
const BY_TPMI: [u32; 4] = [0xad, 0xae, 0xaf, 0xdd];

/// The register does not hold what the hardware could do, so it shows a pinned clock and no more.
fn pinned_by_register(host: &HostView) -> Verdict {
    if let Ok(info) = &host.cpuinfo
        && info.is_intel()
        && info.family == 6
        && BY_TPMI.contains(&info.model)
    {
        return Err(Missing::elsewhere("the uncore's clock", Elsewhere::UncoreTpmi));
    }
    let values = host.msrs.of(&intel::UNCORE_RATIO_LIMIT)?;
    let is_pinned =
        |value: u64| matches!(ratios::uncore(value), (min, max) if min == max && max > 0);
    let Some((cpu, &value)) = values.known().find(|(_, value)| is_pinned(**value)) else {
        values.all_known()?;
        return Ok(Vec::new());
    };
    let clock = Hertz::from_mhz(100 * ratios::uncore(value).1);
    let message = format!("the uncore of CPU {cpu}'s package is pinned at {clock}");
    let path = intel::UNCORE_RATIO_LIMIT.path(cpu);
    let finding = Finding::new(Severity::Info, Confidence::Medium, message);
    Ok(vec![finding.evidence(path, format!("{value:#x}"))])
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::verdict;

    fn domain(name: &str, min: &str, max: &str, initial_max: &str) -> String {
        let file = format!("//- /sys/devices/system/cpu/intel_uncore_frequency/{name}");
        format!(
            "{file}/min_freq_khz\n{min}\n{file}/max_freq_khz\n{max}\n{file}/initial_max_freq_khz\n{initial_max}\n"
        )
    }

    #[test]
    fn a_limit_below_the_firmwares_is_found() {
        let host = domain("package_00_die_00", "1200000", "1400000", "2400000")
            + &domain("package_01_die_00", "1200000", "2400000", "2400000");
        assert_eq!(
            verdict(&CHECK, &host),
            "medium: the uncore of 1 domain may run at 1400 MHz at most, 58 % of the 2400 MHz that firmware allows"
        );
    }

    #[test]
    fn a_pinned_uncore_is_a_note() {
        assert_eq!(
            verdict(&CHECK, &domain("package_00_die_00", "2800000", "2800000", "2800000")),
            "info: the uncore of 1 domain is pinned at 2800 MHz"
        );
    }

    #[test]
    fn the_firmwares_range_is_clean() {
        assert_eq!(verdict(&CHECK, &domain("uncore00", "800000", "2200000", "2200000")), "clean");
    }

    #[test]
    fn a_limit_that_may_not_be_read_is_unknown() {
        assert_eq!(
            verdict(&CHECK, &domain("uncore00", "800000", "!denied", "2200000")),
            "unknown: /sys/devices/system/cpu/intel_uncore_frequency/uncore00/max_freq_khz may not be read"
        );
    }

    #[test]
    fn one_limit_that_may_not_be_read_does_not_hide_another() {
        let host = domain("uncore00", "800000", "!denied", "2200000")
            + &domain("uncore01", "800000", "1800000", "2200000");
        assert!(verdict(&CHECK, &host).starts_with("low: "));
    }

    #[test]
    fn without_the_driver_the_register_shows_a_pinned_clock() {
        let host = |limit| {
            format!(
                "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 79\n\
                 //- /sys/devices/system/cpu/online\n0\n//- /dev/cpu/0/msr 0xce\n0x20080c3bf2811800\n\
                 //- /dev/cpu/0/msr 0x620\n{limit}\n"
            )
        };
        assert_eq!(
            verdict(&CHECK, &host("0x1c1c")),
            "info: the uncore of CPU 0's package is pinned at 2800 MHz"
        );
        assert_eq!(verdict(&CHECK, &host("0xc1d")), "clean");
    }

    #[test]
    fn a_granite_rapids_without_its_driver_is_unknown() {
        for model in [0xad, 0xaf] {
            let host = format!(
                "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : {model}\n\
                 //- /sys/devices/system/cpu/online\n0\n"
            );
            assert_eq!(
                verdict(&CHECK, &host),
                "unknown: the uncore's clock cannot be read: the driver intel_uncore_frequency_tpmi is not loaded"
            );
        }
    }

    #[test]
    fn a_host_without_the_driver_is_not_judged() {
        assert!(
            verdict(&CHECK, "//- /sys/devices/system/cpu/online\n0\n")
                .starts_with("not applicable: ")
        );
    }
}
