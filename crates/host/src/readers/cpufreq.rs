//! Reads the cpufreq policies, their drivers and the programs that tune them.

use crate::Source;
use facts::cpu::cpufreq::{Cpufreq, Policy};
use facts::cpu::pstate::{AmdPstate, IntelPstate, Pstate};
use facts::cpu::topology::Topology;
use facts::system::kernel;
use facts::system::tuners::{BOOT_UNITS, BootUnit, CPUFREQUTILS, Tuners};
use facts::{CpuSet, Fact, Hertz, HostView, Missing, Why, parse};

const CPUS: &str = "/sys/devices/system/cpu";

/// Which policies there are, their CPUs and drivers.
pub(super) fn read_policies(source: &dyn Source, host: &mut HostView) {
    host.cpufreq.policies = policies(source, &host.topology);
}

/// The limits of every policy, and the range of the hardware.
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

/// Driver, governor, preference and clock of every policy. The clock is read if a governor may keep it low, or if
/// /proc/cpuinfo does not show it.
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

/// The table of the first policy: all CPUs of a kind have the same table.
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

/// Every policy, from its own folder; on kernels before 4.3 from the CPUs' folders.
fn policies(source: &dyn Source, topology: &Topology) -> Fact<Vec<Policy>> {
    let folder = Cpufreq::FOLDER;
    let listed = source.numbered(folder, "policy");
    let numbers = listed.as_deref().unwrap_or_default();
    if !numbers.is_empty() {
        let is_one_each = is_one_each(numbers, topology);
        let mut policies: Vec<Policy> = Vec::with_capacity(numbers.len());
        for number in numbers {
            let folder = format!("{folder}/policy{number}");
            let own = is_one_each.then(|| CpuSet::from_iter([*number]));
            let cpus = own.unwrap_or_else(|| cpus(source, &folder));
            policies.push(policy(source, folder, cpus, policies.first()));
        }
        return Ok(policies);
    }
    policies_of_cpus(source, topology.online.as_ref()?).map_err(|missing| {
        let proven = (missing.why == Why::NotCollected).then(|| no_policy(source)).flatten();
        proven.unwrap_or(missing)
    })
}

/// In a copy without the folders of CPUs, the proof that there is no policy: a copy may hold the folder of all of them empty.
fn no_policy(source: &dyn Source) -> Option<Missing> {
    let folder = format!("{}/policy0", Cpufreq::FOLDER);
    let is_absent = source.list(&folder).err().filter(Missing::is_absence);
    is_absent.filter(|_| puts_policies_in_their_folder(source))
}

/// Whether the kernel makes a folder for each policy (Linux 4.3; 96bdda61f58b, "cpufreq: create cpu/cpufreq/policyX directories").
fn puts_policies_in_their_folder(source: &dyn Source) -> bool {
    let release = source.parsed("/proc/sys/kernel/osrelease", kernel::version);
    release.is_ok_and(|it| it >= (4, 3))
}

/// The folders of CPUs that hold the files of a policy, on a kernel before 4.3.
pub(super) fn older_folders(source: &dyn Source) -> Vec<String> {
    let policies = source.numbered(Cpufreq::FOLDER, "policy").unwrap_or_default();
    if !policies.is_empty() || puts_policies_in_their_folder(source) {
        return Vec::new();
    }
    let cpus = source.numbered(CPUS, "cpu").unwrap_or_default();
    let folders = cpus.into_iter().map(folder_of_cpu);
    folders.filter(|it| source.list(it).is_ok_and(|names| has_policy(&names))).collect()
}

fn folder_of_cpu(cpu: u32) -> String {
    format!("{CPUS}/cpu{cpu}/cpufreq")
}

/// Whether these files in a CPU's folder are those of a policy. `stats` alone may stay there.
fn has_policy(names: &[String]) -> bool {
    names.iter().any(|it| it.starts_with("scaling_"))
}

/// The policies of a kernel that keeps them in the folders of CPUs: one for each set of CPUs that share one. Where several do, one of them has
/// the folder and the others have links to it, through which nothing is read and written.
fn policies_of_cpus(source: &dyn Source, online: &CpuSet) -> Fact<Vec<Policy>> {
    let folder = folder_of_cpu;
    let (links, owners): (Vec<u32>, Vec<u32>) =
        online.iter().partition(|cpu| source.link(&folder(*cpu)).is_ok());
    let mut found: Vec<(u32, Policy)> = Vec::new();
    let mut seen = CpuSet::default();
    let mut missing = None;
    // A copy may hold a link and not what it leads to.
    for cpu in owners.into_iter().chain(links) {
        if seen.contains(cpu) {
            continue;
        }
        let folder = folder(cpu);
        match source.list(&folder) {
            Ok(names) if has_policy(&names) => {
                let cpus = cpus(source, &folder);
                let policy = policy(source, folder, cpus, found.first().map(|it| &it.1));
                seen.extend(policy.cpus.iter().chain([cpu]));
                found.push((cpu, policy));
            }
            Ok(_) => missing = missing.or(source.text(&format!("{folder}/scaling_driver")).err()),
            Err(reason) => missing = missing.or(Some(reason)),
        }
    }
    found.sort_by_key(|it| it.0);
    match missing {
        Some(reason) if found.is_empty() => Err(reason),
        _ => Ok(found.into_iter().map(|it| it.1).collect()),
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
    let file = path("amd_pstate_lowest_nonlinear_freq");
    let is_limited = matches!((&policy.scaling_max, &policy.cpuinfo_max), (Ok(limit), Ok(highest)) if limit < highest);
    let is_amds = policy.driver.as_ref().is_ok_and(|it| it.starts_with("amd"));
    let ranking = path("amd_pstate_prefcore_ranking");
    policy.ranking = match is_amds && !has_no(first.and_then(|it| it.ranking.as_ref().err())) {
        true => source.parsed(&ranking, parse::number),
        false => Err(Missing::absent(ranking)),
    };
    policy.lowest_nonlinear = match is_limited && is_amds {
        true => source.parsed(&file, parse::kilohertz),
        false => Err(Missing::not_here(file, "no limit of amd-pstate is below the highest clock")),
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

/// Reads the state of intel_pstate and amd-pstate.
pub(super) fn read_pstate(source: &dyn Source) -> Pstate {
    let intel = |file: &str| format!("{}/{file}", IntelPstate::FOLDER);
    let amd = |file: &str| format!("{}/{file}", AmdPstate::FOLDER);
    Pstate {
        intel: IntelPstate {
            status: source.parsed(&intel("status"), parse::line),
            no_turbo: source.parsed(&intel("no_turbo"), parse::switch),
            max_perf_pct: source.parsed(&intel("max_perf_pct"), parse::number),
            min_perf_pct: source.parsed(&intel("min_perf_pct"), parse::number),
            hwp_dynamic_boost: source.parsed(&intel("hwp_dynamic_boost"), parse::switch),
        },
        amd: AmdPstate {
            status: source.parsed(&amd("status"), parse::line),
            prefcore: source.parsed(&amd("prefcore"), parse::line),
            dynamic_epp: source.parsed(&amd("dynamic_epp"), AmdPstate::is_enabled),
        },
    }
}

/// Reads the state files of programs that tune frequencies.
pub(super) fn read_tuners(source: &dyn Source) -> Tuners {
    Tuners {
        tuned_profile: source.parsed("/etc/tuned/active_profile", parse::words),
        tlp_state: source.list("/run/tlp"),
        boot_units: BOOT_UNITS
            .into_iter()
            .map(|name| BootUnit { name, target: enabled(source, name) })
            .collect(),
    }
}

/// Where the link of a unit leads, or the link of a script.
fn enabled(source: &dyn Source, name: &str) -> Fact<String> {
    let place = BootUnit::place(name);
    if name != CPUFREQUTILS {
        return source.link(&place);
    }
    let mut links = source.list(&place)?.into_iter();
    let link = links.find(|it| BootUnit::is_enabled_by(name, it));
    link.ok_or_else(|| Missing::absent(format!("{place}/S01{name}")))
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

    /// Four CPUs of RHEL 6, of which 0 and 1 share a clock: the policy is CPU 1's, as CPU 0 was offline for a while.
    fn older(affected: &str) -> String {
        let policy = format!("//- {CPU}/cpu1/cpufreq");
        let own = |cpu: u32| {
            format!(
                "//- {CPU}/cpu{cpu}/cpufreq/affected_cpus\n{cpu}\n//- {CPU}/cpu{cpu}/cpufreq/scaling_governor\nondemand\n"
            )
        };
        format!(
            "//- /proc/sys/kernel/osrelease\n2.6.32-754.el6.x86_64\n//- {CPU}/online\n0-3\n\
             //- {CPU}/cpu0/cpufreq -> ../cpu1/cpufreq\n//- {CPU}/cpu0/cpufreq/scaling_governor\nondemand\n\
             //- {CPU}/cpu0/cpufreq/affected_cpus\n{affected}\n\
             {policy}/affected_cpus\n{affected}\n{policy}/scaling_governor\nondemand\n{}{}",
            own(2),
            own(3)
        )
    }

    #[test]
    fn cpus_that_share_a_folder_have_one_policy_which_is_that_of_the_folder() {
        let policies = |excerpt: &str| {
            let host = crate::view(&Captured::excerpt(excerpt).unwrap());
            let policies = host.cpufreq.policies.unwrap().into_iter();
            let named = |it: facts::cpu::cpufreq::Policy| {
                format!("{}: {}", it.folder.replace(&format!("{CPU}/"), ""), it.cpus)
            };
            policies.map(named).collect::<Vec<_>>()
        };
        let expected = ["cpu1/cpufreq: 0-1", "cpu2/cpufreq: 2", "cpu3/cpufreq: 3"];
        assert_eq!(policies(&older("0 1")), expected);
        // Without the link, as a copy may be, the first of them stands for both.
        let link = format!("//- {CPU}/cpu0/cpufreq -> ../cpu1/cpufreq\n");
        let copied = older("0 1").replace(&link, "");
        assert_eq!(policies(&copied)[0], "cpu0/cpufreq: 0-1");
    }

    #[test]
    fn a_newer_kernel_with_an_empty_folder_of_policies_has_no_driver() {
        let policies = |release: &str| {
            let text = format!(
                "fullclock capture 1 (imported)\n//- /proc/sys/kernel/osrelease\n{release}\n\
                 //- {CPU}/online\n0\n//- {CPU}/cpufreq/\n"
            );
            crate::view(&Captured::parse(&text).unwrap()).cpufreq.policies.unwrap_err()
        };
        assert!(policies("6.14.6").is_absence());
        assert!(!policies("2.6.32").is_absence());
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
