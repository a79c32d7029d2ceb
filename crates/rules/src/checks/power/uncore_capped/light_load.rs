//! How far the uncore may fall while few CPUs work: efficiency latency control (ELC).
//!
//! Sources: Documentation/admin-guide/pm/intel_uncore_frequency_scaling.rst, "Efficiency vs. Latency Tradeoff": a floor below the lower
//! limit is ignored; intel/pepc, pepcdata/tpmi/gnr/ufs.yml, for the registers: above the high threshold the clock is chosen for latency;
//! intel/pcm, scripts/bhs-power-mode.sh, for the values of firmware's two modes. It sets the thresholds on dies of I/O only, so those of any
//! domain are taken for those of its package.

use super::MUCH;
use crate::finding::{Confidence, Finding, Severity};
use facts::Hertz;
use facts::power::uncore::UncoreDomain;
use facts::quantity::counted_all;
use std::collections::BTreeMap;

/// A domain whose clock may fall far.
struct Slow<'a> {
    domain: &'a UncoreDomain,
    lowest: Hertz,
    max: Hertz,
    percent: u64,
}

/// What domains have in common: what is in them, and whether a high load makes a difference.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Class<'a> {
    agents: &'a [String],
    is_for_any_load: bool,
}

/// A finding for the domains with the same agents: those of cores and memory apart from those of I/O.
pub(super) fn findings(domains: &[UncoreDomain]) -> Vec<Finding> {
    let mut classes: BTreeMap<Class<'_>, Vec<Slow<'_>>> = BTreeMap::new();
    for slow in domains.iter().filter_map(slow) {
        let of_package = || domains.iter().filter(|it| are_of_one_package(it, slow.domain));
        if of_package().any(UncoreDomain::is_for_latency) {
            continue;
        }
        let counts = of_package().any(|it| it.high_load_counts == Ok(true));
        let class = Class {
            agents: slow.domain.agents.as_deref().unwrap_or_default(),
            is_for_any_load: slow.domain.high_load_counts == Ok(false) && !counts,
        };
        classes.entry(class).or_default().push(slow);
    }
    classes.iter().filter_map(|(class, slow)| finding(class, slow)).collect()
}

/// Who may not read the number of a package takes all domains for those of one.
fn are_of_one_package(one: &UncoreDomain, other: &UncoreDomain) -> bool {
    one.package.as_ref().ok() == other.package.as_ref().ok()
}

fn slow(domain: &UncoreDomain) -> Option<Slow<'_>> {
    let floor = *domain.light_load_floor.as_ref().ok().filter(|it| it.0 > 0)?;
    let percent = *domain.light_load_percent.as_ref().ok()?;
    let max = *domain.max.as_ref().ok()?;
    let lowest = domain.min.as_ref().map_or(floor, |min| floor.max(*min));
    let is_low = percent > 0 && lowest.share_of(max) < MUCH;
    is_low.then_some(Slow { domain, lowest, max, percent })
}

fn finding(class: &Class<'_>, slow: &[Slow<'_>]) -> Option<Finding> {
    let Slow { domain, lowest, max, percent } = slow.iter().min_by_key(|it| it.lowest)?;
    let agents = match class.agents.join(", ") {
        none if none.is_empty() => none,
        agents => format!(" ({agents})"),
    };
    let n = counted_all(slow, "domain");
    let (severity, any_load) = match class.is_for_any_load {
        true => {
            (Severity::Low, ", and no load makes it give latency first (the high threshold is off)")
        }
        false => (Severity::Info, ""),
    };
    let message = format!(
        "the uncore of {n}{agents} may fall to {lowest} of {max} while less than {percent} % of its CPUs' time is busy{any_load}"
    );
    let mut finding = Finding::new(severity, Confidence::High, message);
    for (file, value) in [
        ("elc_floor_freq_khz", domain.light_load_floor.as_ref().map(|it| it.khz()).ok()),
        ("elc_low_threshold_percent", Some(*percent)),
        (
            "elc_high_threshold_enable",
            domain.high_load_counts.as_ref().map(|it| u64::from(*it)).ok(),
        ),
        ("elc_high_threshold_percent", domain.high_load_percent.as_ref().ok().copied()),
        ("current_freq_khz", domain.current.as_ref().map(|it| it.khz()).ok()),
    ] {
        if let Some(value) = value {
            finding = finding.evidence(domain.path(file), value);
        }
    }
    Some(finding.fix_lasting(
        "where work that comes in short bursts has to be answered at once: \"Latency Optimized Mode\" (or Efficiency Latency Control) in the firmware's setup, paid with power",
    ))
}

#[cfg(test)]
mod tests {
    use super::super::CHECK;
    use crate::fixture::{findings, verdict};

    /// One cluster: lower limit, floor, low threshold, high threshold, whether that counts, and more files.
    fn cluster(
        number: u32,
        [min, floor, low, high, counts]: [&str; 5],
        more: &[(&str, &str)],
    ) -> String {
        let folder =
            format!("//- /sys/devices/system/cpu/intel_uncore_frequency/uncore{number:02}");
        let files = [
            ("min_freq_khz", min),
            ("max_freq_khz", "2400000"),
            ("initial_max_freq_khz", "2400000"),
            ("elc_floor_freq_khz", floor),
            ("elc_low_threshold_percent", low),
            ("elc_high_threshold_percent", high),
            ("elc_high_threshold_enable", counts),
        ];
        files
            .iter()
            .chain(more)
            .map(|(file, value)| format!("{folder}/{file}\n{value}\n"))
            .collect()
    }

    const DEFAULT: [&str; 5] = ["800000", "1200000", "11", "95", "1"];

    #[test]
    fn the_firmwares_default_is_a_note() {
        let host = cluster(
            0,
            DEFAULT,
            &[("agent_types", "core cache memory"), ("current_freq_khz", "1200000")],
        ) + &cluster(1, DEFAULT, &[("agent_types", "core cache memory")])
            + &cluster(2, ["800000", "800000", "11", "95", "1"], &[("agent_types", "io")]);
        assert_eq!(
            verdict(&CHECK, &host),
            "info: the uncore of 2 domains (core, cache, memory) may fall to 1200 MHz of 2400 MHz while less than 11 % of its CPUs' time is busy\n\
             info: the uncore of 1 domain (io) may fall to 800 MHz of 2400 MHz while less than 11 % of its CPUs' time is busy"
        );
        let found = findings(&CHECK, &host).remove(0);
        assert_eq!(found.evidence.last().map(|it| &*it.value), Some("1200000"));
        assert!(found.fix.lasting.unwrap().contains("Latency Optimized Mode"));
    }

    #[test]
    fn a_kernel_that_names_no_agents_has_one_finding() {
        let host = cluster(0, DEFAULT, &[]) + &cluster(1, DEFAULT, &[]);
        assert!(
            verdict(&CHECK, &host)
                .starts_with("info: the uncore of 2 domains may fall to 1200 MHz")
        );
    }

    #[test]
    fn a_high_threshold_that_is_off_is_low() {
        assert_eq!(
            verdict(&CHECK, &cluster(0, ["800000", "800000", "30", "95", "0"], &[])),
            "low: the uncore of 1 domain may fall to 800 MHz of 2400 MHz while less than 30 % of its CPUs' time is busy, \
             and no load makes it give latency first (the high threshold is off)"
        );
    }

    #[test]
    fn without_a_threshold_with_a_high_limit_and_for_latency_it_is_clean() {
        for it in [
            ["800000", "800000", "0", "95", "1"],
            ["2200000", "800000", "11", "95", "1"],
            ["800000", "2200000", "11", "95", "1"],
            // "Latency Optimized Mode", and a Clearwater Forest (intel/pepc cwf0).
            ["800000", "1200000", "11", "0", "1"],
            ["800000", "0", "0", "0", "1"],
        ] {
            assert_eq!(verdict(&CHECK, &cluster(0, it, &[])), "clean", "{it:?}");
        }
    }

    #[test]
    fn the_mode_of_a_package_is_that_of_its_dies_of_io() {
        let package = |number: &'static str| [("package_id", number)];
        let latency = ["800000", "0", "0", "0", "1"];
        let off = ["800000", "800000", "11", "95", "0"];
        let host = cluster(0, DEFAULT, &package("0"))
            + &cluster(1, latency, &package("0"))
            + &cluster(2, off, &package("1"))
            + &cluster(3, DEFAULT, &package("1"));
        assert_eq!(
            verdict(&CHECK, &host),
            "info: the uncore of 2 domains may fall to 800 MHz of 2400 MHz while less than 11 % of its CPUs' time is busy"
        );
    }

    #[test]
    fn what_cannot_be_read_is_no_finding() {
        for refused in ["!denied", "!failed Input/output error", ""] {
            let host = cluster(0, ["800000", refused, "11", "95", "1"], &[]);
            assert_eq!(verdict(&CHECK, &host), "clean", "{refused}");
        }
        let host =
            cluster(0, ["800000", "1200000", "11", "!failed Input/output error", "!absent"], &[]);
        assert!(verdict(&CHECK, &host).starts_with("info: "));
    }
}
