//! Limits of packages, uncores and control groups, each in a few words.

use facts::power::limit::PowerLimit;
use facts::power::uncore::UncoreDomain;
use facts::system::cgroup::LimitedGroup;
use facts::{Fact, Microwatts};
use std::fmt::Display;

/// `package-0: long 150 W, short 180 W`.
pub(super) fn power_limits(limits: &[PowerLimit]) -> Fact<String> {
    let words = limits.iter().map(|it| {
        let exact =
            |it: &Fact<Microwatts>| part(&it.clone().map(|it| format!("{} W", it.0 as f64 / 1e6)));
        let long = exact(&it.long_term);
        let short = exact(&it.short_term);
        let enabled = if it.enabled == Ok(false) { ", not enabled" } else { "" };
        let copy = if it.is_memory_mapped() { " (memory-mapped)" } else { "" };
        format!("{}{copy}: long {long}, short {short}{enabled}", it.name)
    });
    Ok(words.collect::<Vec<_>>().join("; "))
}

/// `package_00_die_00: 800 MHz to 2400 MHz`.
pub(super) fn uncore(domains: &[UncoreDomain]) -> Fact<String> {
    let words = domains.iter().map(|it| {
        let name = it.folder.rsplit('/').next().unwrap_or_default();
        format!("{name}: {} to {}", part(&it.min), part(&it.max))
    });
    Ok(words.collect::<Vec<_>>().join("; "))
}

/// `2 CPUs for this program`; the groups' folders would name containers.
pub(super) fn quotas(groups: &[LimitedGroup]) -> Fact<String> {
    let mut words: Vec<String> = groups.iter().map(quota).collect();
    words.sort();
    words.dedup();
    Ok(if words.is_empty() { "none here".to_owned() } else { words.join(", ") })
}

fn quota(group: &LimitedGroup) -> String {
    let program = group.holds_us.then_some("this program");
    let mut holders: Vec<&str> =
        program.into_iter().chain(group.databases.iter().map(|(_, product)| *product)).collect();
    holders.dedup();
    let period = group.quota.period.as_millis();
    format!("{} CPUs in {period} ms for {}", group.quota.n_cpus(), holders.join(" and "))
}

/// A part of a value, where its other parts may be known.
fn part<T: Display>(fact: &Fact<T>) -> String {
    match fact {
        Ok(value) => value.to_string(),
        Err(why) if why.is_absence() => "none".to_owned(),
        Err(why) => format!("unknown ({why})"),
    }
}
