//! Looks at the limits of the uncore's clock: mesh or ring, last-level cache, the way to memory.
//!
//! Source: Documentation/admin-guide/pm/intel_uncore_frequency_scaling.rst. It cannot know a limit that firmware
//! had set before the driver was loaded: then the driver's `initial_max_freq_khz` is low as well.

use crate::check::{Check, Reference, Verdict};
use crate::finding::{Confidence, Finding, Severity};
use facts::power::uncore::UncoreDomain;
use facts::{Hertz, HostView, Missing};

pub(crate) const CHECK: Check = Check {
    id: "uncore-capped",
    title: "the clock of caches and memory paths is limited",
    doc: "\
## What it looks at
`max_freq_khz` of every domain in /sys/devices/system/cpu/intel_uncore_frequency against `initial_max_freq_khz`, what
the firmware allowed at boot; and whether the lower limit has been raised to the upper one.

## Why it matters
The last-level cache, the mesh or ring between cores and the way to memory have a clock of their own. A database
misses its caches all the time; a slower uncore makes every miss, every lock that moves between cores and every
remote access longer, while the cores' clock looks perfect.

## When to leave it alone
An uncore pinned at its maximum (lower limit = upper limit) is a choice: steady latency, paid with power that the
cores' turbo could have used. That is only a note here. tuned's latency profiles do it on purpose.
",
    references: &[Reference {
        title: "Linux: Intel Uncore Frequency Scaling",
        url: "https://docs.kernel.org/admin-guide/pm/intel_uncore_frequency_scaling.html",
    }],
    run,
};

/// Below this share of the maximum, latency of the last-level cache grows by more than a quarter: it
/// follows the clock.
const MUCH: f64 = 0.8;

fn run(host: &HostView) -> Verdict {
    let mut capped: Vec<Limits<'_>> = Vec::new();
    let mut pinned: Vec<Limits<'_>> = Vec::new();
    for domain in host.uncore.as_ref()? {
        let limits = Limits::of(domain)?;
        if limits.max < limits.initial_max {
            capped.push(limits);
        } else if limits.min == limits.max {
            pinned.push(limits);
        }
    }
    Ok([capped_finding(&capped), pinned_finding(&pinned)].into_iter().flatten().collect())
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
        counted(domains.len()),
        worst.max,
        100.0 * share,
        worst.initial_max
    );
    let finding = Finding::new(severity, Confidence::High, message)
        .evidence(worst.domain.path("max_freq_khz"), worst.max.khz())
        .evidence(worst.domain.path("initial_max_freq_khz"), worst.initial_max.khz())
        .fix_lasting("stop what sets it (a tuned profile, a boot script, pepc); the driver starts with the firmware's limit");
    Some(domains.iter().fold(finding, |finding, it| {
        finding.fix_now(format!(
            "echo {} > {}",
            it.initial_max.khz(),
            it.domain.path("max_freq_khz")
        ))
    }))
}

fn pinned_finding(domains: &[Limits<'_>]) -> Option<Finding> {
    let first = domains.first()?;
    let message = format!("the uncore of {} is pinned at {}", counted(domains.len()), first.max);
    Some(
        Finding::new(Severity::Info, Confidence::High, message)
            .evidence(first.domain.path("min_freq_khz"), first.min.khz())
            .evidence(first.domain.path("max_freq_khz"), first.max.khz()),
    )
}

fn counted(domains: usize) -> String {
    if domains == 1 { "1 domain".to_owned() } else { format!("{domains} domains") }
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
    fn a_host_without_the_driver_is_not_judged() {
        assert!(
            verdict(&CHECK, "//- /sys/devices/system/cpu/online\n0\n")
                .starts_with("not applicable: ")
        );
    }
}
