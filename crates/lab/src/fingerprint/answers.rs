//! Answers in a few words: one value for all CPUs or the CPUs of each value; limits of packages, uncores and control groups;
//! idle states; vulnerabilities.

use super::or_why;
use facts::cpu::cpufreq::Policy;
use facts::cpu::cpuidle::StateTable;
use facts::msr::Register;
use facts::power::limit::PowerLimit;
use facts::power::uncore::UncoreDomain;
use facts::system::cgroup::LimitedGroup;
use facts::{CpuSet, Fact, HostView, Microwatts, Missing, PerCpu, Why};
use std::collections::BTreeMap;
use std::fmt::Display;

/// `performance` where every CPU that was asked says so, else `performance on 0-15, powersave on 16-31`. Where no CPU
/// has a value, why not; where some have none, they and why come last.
pub(super) fn by_cpu<T>(values: &PerCpu<T>, word: impl Fn(&T) -> String) -> Fact<String> {
    let mut groups: BTreeMap<String, CpuSet> = BTreeMap::new();
    for (cpu, value) in values.known() {
        groups.entry(word(value)).or_default().insert(cpu);
    }
    let missing = values.missing();
    if groups.is_empty() {
        return Err(missing.cloned().unwrap_or_else(nobody_answered));
    }
    if let ([value], None) = (&*groups.keys().collect::<Vec<_>>(), missing) {
        return Ok((*value).clone());
    }
    let mut groups: Vec<(String, CpuSet)> = groups.into_iter().collect();
    // The groups in the order of their CPUs.
    groups.sort_by_key(|(_, cpus)| cpus.first());
    let mut words: Vec<String> =
        groups.into_iter().map(|(value, cpus)| format!("{value} on {cpus}")).collect();
    if let Some(why) = missing {
        let cpus: CpuSet =
            values.iter().filter(|(_, it)| it.is_err()).map(|(cpu, _)| cpu).collect();
        let kind = if why.is_absence() { "none" } else { "unknown" };
        words.push(format!("{kind} on {cpus} ({why})"));
    }
    Ok(words.join(", "))
}

/// A setting of the cpufreq policies, by the CPUs they drive.
pub(super) fn of_policies(host: &HostView, setting: fn(&Policy) -> Fact<String>) -> Fact<String> {
    let of = |policy: &Policy| {
        let value = setting(policy);
        policy.cpus.iter().map(|cpu| (cpu, value.clone())).collect::<Vec<_>>()
    };
    by_cpu(&host.cpufreq.policies.as_ref()?.iter().flat_map(of).collect(), String::clone)
}

/// A register, by the CPUs it was read on: one of each core or package, where they share it.
pub(super) fn of_register(
    host: &HostView,
    register: &Register,
    word: impl Fn(u64) -> String,
) -> Fact<String> {
    by_cpu(host.msrs.of(register)?, |it| word(*it))
}

/// Whether CPUs have none, or could not be asked, does not show.
fn nobody_answered() -> Missing {
    let why = Why::Failed("no CPU shows one".to_owned());
    Missing { what: "the value of a CPU".to_owned(), why }
}

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

/// `POLL C1 C1E C6` where all may be used, and `POLL C1 C1E C6:disabled` where one may not. Only states deeper than C1
/// are asked whether they are disabled.
pub(super) fn idle_states(tables: &[StateTable]) -> Fact<String> {
    let of = |table: &StateTable| {
        table.cpus.iter().map(|cpu| (cpu, of_cpu(table, cpu))).collect::<Vec<_>>()
    };
    by_cpu(&tables.iter().flat_map(of).collect(), String::clone)
}

fn of_cpu(table: &StateTable, cpu: u32) -> Fact<String> {
    let mut words = Vec::new();
    for state in &table.states {
        let mark = match state.disabled.get(cpu) {
            Some(Ok(true)) => ":disabled",
            Some(Err(why)) if !why.is_absence() => return Err(Missing::from(why)),
            Some(Ok(false) | Err(_)) | None => "",
        };
        words.push(format!("{}{mark}", state.name));
    }
    Ok(words.join(" "))
}

/// `vulnerability: spectre_v2` and the kernel's words. Where the kernel cannot be asked, one setting says why.
pub(super) fn vulnerabilities(host: &HostView) -> Vec<(String, String)> {
    match &host.vulnerabilities {
        Ok(known) => known
            .iter()
            .map(|it| (format!("vulnerability: {}", it.name), or_why(it.state.clone())))
            .collect(),
        Err(why) => vec![("vulnerabilities".to_owned(), or_why(Err(why.clone())))],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[(u32, Fact<u8>)]) -> String {
        let fact = by_cpu(&values.iter().cloned().collect(), u8::to_string);
        fact.unwrap_or_else(|why| format!("no value: {why}"))
    }

    #[test]
    fn cpus_that_agree_are_not_listed_and_those_that_differ_are() {
        assert_eq!(of(&[(0, Ok(6)), (1, Ok(6))]), "6");
        assert_eq!(of(&[(0, Ok(6)), (1, Ok(0)), (2, Ok(6))]), "6 on 0,2, 0 on 1");
    }

    #[test]
    fn a_cpu_that_cannot_be_read_does_not_vanish_among_its_neighbours() {
        let denied = || Err(Missing::denied("EPB"));
        assert_eq!(
            of(&[(0, Ok(6)), (1, denied()), (2, denied())]),
            "6 on 0, unknown on 1-2 (EPB may not be read)"
        );
        assert_eq!(of(&[(0, denied())]), "no value: EPB may not be read");
        assert_eq!(of(&[]), "no value: the value of a CPU cannot be read: no CPU shows one");
    }
}
