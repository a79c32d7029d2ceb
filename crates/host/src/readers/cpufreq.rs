//! Reads the cpufreq policies.

use crate::Source;
use facts::cpu::cpufreq::{Cpufreq, Policy};
use facts::cpu::topology::Topology;
use facts::{CpuSet, Fact, Hertz, HostView, Missing, parse};

const CPUS: &str = "/sys/devices/system/cpu";

/// Which policies there are, their CPUs and drivers.
pub(super) fn read_policies(source: &dyn Source, host: &mut HostView) {
    host.cpufreq.policies = policies(source, &host.topology);
}

/// The limits of every policy, and of what they are limits.
pub(super) fn read_limits(source: &dyn Source, host: &mut HostView) {
    let Cpufreq { policies, table, boost, cppc_nominal } = &mut host.cpufreq;
    if let Ok(policies) = policies {
        let mut rest = policies.iter_mut();
        if let Some(first) = rest.next() {
            read_limits_of(source, first, None);
            rest.for_each(|it| read_limits_of(source, it, Some(first)));
        }
    }
    *table = self::table(source, policies);
    *boost = source.parsed(&format!("{CPUS}/cpufreq/boost"), parse::switch);
    *cppc_nominal = self::cppc_nominal(source, policies);
}

/// Who chooses the clock of every policy, by which preference, and which. The clock is read where a governor may keep it
/// low, and where /proc/cpuinfo does not show it.
pub(super) fn read_governors(source: &dyn Source, host: &mut HostView) {
    let clocks = host.cpuinfo.as_ref().map(|it| &it.clocks);
    let is_shown = |cpu| clocks.is_ok_and(|it| matches!(it.get(cpu), Some(Ok(_))));
    for policy in host.cpufreq.policies.iter_mut().flatten() {
        let line = |file: &str| source.parsed(&policy.path(file), parse::line);
        let (governor, preference) =
            (line("scaling_governor"), line("energy_performance_preference"));
        (policy.governor, policy.preference) = (governor, preference);
        let path = policy.path("scaling_cur_freq");
        policy.scaling_cur = if may_be_slowed(policy) || !policy.cpus.iter().all(is_shown) {
            source.parsed(&path, parse::kilohertz)
        } else {
            Err(Missing::not_here(path, "no governor slows this policy"))
        };
    }
}

/// Whether its governor may choose a lower clock than there is: neither `performance` nor that of a driver which chooses
/// the clock itself.
fn may_be_slowed(policy: &Policy) -> bool {
    policy.drives_itself() != Ok(true) && policy.governor.as_deref() != Ok("performance")
}

/// Like CPUs have like tables, so the first policy's will do.
fn table(source: &dyn Source, policies: &Fact<Vec<Policy>>) -> Fact<Vec<Hertz>> {
    match policies.as_ref()?.first() {
        Some(first) => {
            source.parsed(&first.path("scaling_available_frequencies"), parse::kilohertz_list)
        }
        None => Err(Missing::absent(format!("{CPUS}/cpufreq/policy0"))),
    }
}

/// In MHz, and 0 where the firmware does not say (drivers/acpi/cppc_acpi.c).
fn cppc_nominal(source: &dyn Source, policies: &Fact<Vec<Policy>>) -> Fact<Hertz> {
    let cpu = policies.as_ref()?.first().and_then(|it| it.cpus.first()).unwrap_or(0);
    let path = format!("{CPUS}/cpu{cpu}/acpi_cppc/nominal_freq");
    match source.parsed(&path, parse::number)? {
        0 => Err(Missing::not_here(path, "the firmware leaves it at 0")),
        mhz => Ok(Hertz::from_mhz(mhz)),
    }
}

/// Every policy, from its own folder; on kernels before 4.3 from the CPUs' folders, one for each set of
/// CPUs that share one.
fn policies(source: &dyn Source, topology: &Topology) -> Fact<Vec<Policy>> {
    let folder = format!("{CPUS}/cpufreq");
    let numbers = source.numbered(&folder, "policy").unwrap_or_default();
    if !numbers.is_empty() {
        let is_one_each = is_one_each(&numbers, topology);
        let mut policies: Vec<Policy> = Vec::with_capacity(numbers.len());
        for number in numbers {
            let folder = format!("{folder}/policy{number}");
            let own = is_one_each.then(|| CpuSet::from_iter([number]));
            let cpus = own.unwrap_or_else(|| cpus(source, &folder));
            policies.push(policy(source, folder, cpus, policies.first()));
        }
        return Ok(policies);
    }
    let online = topology.online.as_ref()?;
    let mut found = Vec::new();
    let mut seen = CpuSet::default();
    let mut missing = None;
    for cpu in online.iter() {
        let folder = format!("{CPUS}/cpu{cpu}/cpufreq");
        match source.list(&folder) {
            Ok(names) if names.iter().any(|it| it.starts_with("scaling_")) => {
                if !seen.contains(cpu) {
                    let cpus = cpus(source, &folder);
                    let policy = policy(source, folder, cpus, found.first());
                    seen.extend(policy.cpus.iter());
                    found.push(policy);
                }
            }
            Ok(_) => missing = missing.or(Some(Missing::absent(folder))),
            Err(reason) => missing = missing.or(Some(reason)),
        }
    }
    match missing {
        Some(reason) if found.is_empty() => Err(reason),
        _ => Ok(found),
    }
}

/// Whether every online CPU has a policy of its own: there are as many, and each has an online CPU's number,
/// so that their `affected_cpus` need not be read.
fn is_one_each(numbers: &[u32], topology: &Topology) -> bool {
    let online = topology.online.as_ref();
    online.is_ok_and(|it| it.len() == numbers.len() && numbers.iter().all(|&cpu| it.contains(cpu)))
}

/// The policy in `folder`. A kernel has one driver, so that what the `first` policy shows of it is not asked again.
fn policy(source: &dyn Source, folder: String, cpus: CpuSet, first: Option<&Policy>) -> Policy {
    let driver = match first.map(|it| &it.driver) {
        Some(Ok(name)) => Ok(name.clone()),
        _ => source.parsed(&format!("{folder}/scaling_driver"), parse::line),
    };
    Policy::unasked(folder, cpus, driver)
}

/// Reads the limits of a policy. Files that only some drivers make are not asked for where the `first` policy has none.
fn read_limits_of(source: &dyn Source, policy: &mut Policy, first: Option<&Policy>) {
    let folder = policy.folder.clone();
    let path = |file: &str| format!("{folder}/{file}");
    let clock = |file: &str| source.parsed(&path(file), parse::kilohertz);
    let has_no = |first: Option<&Missing>| first.is_some_and(Missing::is_absence);
    policy.scaling_min = clock("scaling_min_freq");
    policy.scaling_max = clock("scaling_max_freq");
    policy.cpuinfo_min = clock("cpuinfo_min_freq");
    policy.cpuinfo_max = clock("cpuinfo_max_freq");
    policy.base_frequency = clock("base_frequency");
    policy.bios_limit = match has_no(first.and_then(|it| it.bios_limit.as_ref().err())) {
        true => Err(Missing::absent(path("bios_limit"))),
        false => clock("bios_limit"),
    };
    policy.boost = match has_no(first.and_then(|it| it.boost.as_ref().err())) {
        true => Err(Missing::absent(path("boost"))),
        false => source.parsed(&path("boost"), parse::switch),
    };
}

/// The CPUs of a policy: `affected_cpus`, a list with spaces; the number in the folder's name at the least.
fn cpus(source: &dyn Source, folder: &str) -> CpuSet {
    let listed = source.parsed(&format!("{folder}/affected_cpus"), |text| {
        CpuSet::parse_list(&parse::trimmed(text).split_whitespace().collect::<Vec<_>>().join(","))
    });
    listed.ok().filter(|cpus| !cpus.is_empty()).unwrap_or_else(|| {
        let name = folder.trim_end_matches("/cpufreq");
        let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
        digits
            .rsplit(|c: char| !c.is_ascii_digit())
            .next()
            .and_then(|it| it.parse().ok())
            .into_iter()
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use crate::Captured;

    const CPU: &str = "/sys/devices/system/cpu";

    fn nominal(model: &str, answers: &[(&str, &str)]) -> String {
        let answers: String =
            answers.iter().map(|(file, text)| format!("//- {CPU}/{file}\n{text}\n")).collect();
        let cpuinfo = format!("//- /proc/cpuinfo\nprocessor : 0\nmodel name : {model}\n");
        let host = Captured::excerpt(&format!("{cpuinfo}//- {CPU}/online\n0\n{answers}")).unwrap();
        let nominal = crate::view(&host).nominal_clock();
        nominal.map_or("unknown".into(), |(clock, origin)| format!("{clock}, {origin}"))
    }

    #[test]
    fn the_clock_of_a_policy_is_read_where_a_governor_may_keep_it_low_or_nothing_else_shows_it() {
        let is_read = |driver: &str, governor: &str, cpuinfo: &str| {
            let policy = format!("//- {CPU}/cpufreq/policy0");
            let host = Captured::excerpt(&format!(
                "//- /proc/cpuinfo\nprocessor : 0\n{cpuinfo}//- {CPU}/online\n0\n\
                 {policy}/scaling_driver\n{driver}\n{policy}/scaling_governor\n{governor}\n\
                 {policy}/scaling_cur_freq\n1600000\n"
            ));
            crate::view(&host.unwrap()).cpufreq.policies.unwrap()[0].scaling_cur.is_ok()
        };
        let shown = "cpu MHz : 1600\n";
        assert!(is_read("acpi-cpufreq", "userspace", shown));
        assert!(is_read("intel_cpufreq", "schedutil", shown));
        assert!(is_read("acpi-cpufreq", "!denied", shown));
        assert!(is_read("!denied", "powersave", shown));
        assert!(!is_read("acpi-cpufreq", "performance", shown));
        assert!(!is_read("intel_pstate", "powersave", shown));
        assert!(is_read("acpi-cpufreq", "performance", ""));
        assert!(is_read("intel_pstate", "powersave", "cpu MHz : unknown\n"));
    }

    #[test]
    fn the_nominal_clock_is_the_one_in_the_name_where_there_is_one() {
        let base = [("cpufreq/policy0/base_frequency", "1900000")];
        assert_eq!(
            nominal("Intel(R) Xeon(R) CPU E5540 @ 2.53GHz", &base),
            "2530 MHz, model name in /proc/cpuinfo"
        );
        assert_eq!(
            nominal("13th Gen Intel(R) Core(TM) i7-1370P", &base),
            "1900 MHz, base_frequency"
        );
    }

    #[test]
    fn an_epyc_says_its_nominal_clock_in_the_table_or_by_cppc() {
        let epyc = "AMD EPYC 7451 24-Core Processor";
        let limit = ("cpufreq/policy0/bios_limit", "1800000");
        let table = ("cpufreq/policy0/scaling_available_frequencies", "2300000 1800000 1200000");
        let cppc = ("cpu0/acpi_cppc/nominal_freq", "2301");
        let silent = ("cpu0/acpi_cppc/nominal_freq", "0");
        let cpus = ("cpufreq/policy0/affected_cpus", "0");
        assert_eq!(nominal(epyc, &[table, cppc]), "2300 MHz, scaling_available_frequencies");
        assert_eq!(nominal(epyc, &[cpus, cppc, limit]), "2301 MHz, acpi_cppc nominal_freq");
        assert_eq!(nominal(epyc, &[silent, limit]), "1800 MHz, bios_limit");
        assert_eq!(nominal(epyc, &[]), "unknown");
    }
}
