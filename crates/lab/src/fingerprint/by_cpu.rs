//! One value for all CPUs, or the CPUs of each.

use facts::cpu::cpufreq::Policy;
use facts::msr::Register;
use facts::{CpuSet, Fact, HostView, Missing, PerCpu, Why};
use std::collections::BTreeMap;

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
