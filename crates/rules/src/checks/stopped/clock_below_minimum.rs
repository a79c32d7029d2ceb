//! Looks for a reported clock below the lowest that the hardware has.
//!
//! Source: arch/x86/kernel/cpu/aperfmperf.c: "cpu MHz" is cycles that were run over cycles that could have been, so it
//! falls below the lowest P-state when the clock is stopped in between (Intel SDM vol. 3B, IA32_APERF and
//! IA32_MPERF). It cannot know what stops it, nor judge CPUs without a sample: those show a nominal clock.

use crate::check::{Check, Reference, Verdict};
use crate::commands;
use crate::finding::{Confidence, Finding, OfClock};
use crate::loss_scale::deviations::{BAD_SAMPLE, BELOW_MINIMUM};
use crate::loss_scale::{self, Lost};
use crate::work;
use facts::cpu::cpufreq::Policy;
use facts::cpu::cpuinfo::CpuInfo;
use facts::msr::{hwp, intel, ratios};
use facts::{CpuSet, Hertz, HostView, Missing, Why};
use std::collections::BTreeMap;

pub(crate) const CHECK: Check = Check {
    id: "clock-below-minimum",
    title: "CPUs report a clock below the lowest that the hardware has",
    doc: "\
## What it looks at
\"cpu MHz\" of each CPU in /proc/cpuinfo (`scaling_cur_freq` where there is none) against the lowest clock of the
hardware: `cpuinfo_min_freq`, the minimum ratio in MSR 0xCE bits 47:40, and the minimum of an HWP request, whichever
is lowest. A tenth below is tolerated. On AMD only with amd-pstate, because the lowest P-state of the
ACPI tables is not the lowest clock. At least one of the low CPUs has to be busy, for two fifths of a look by
/proc/stat: an idle CPU's sample is a few thousand cycles. `fullclock audit --look 2s` takes the middle one of several
samples. A copy without a look tells it by a process in state R; where only threads ran, of which no file says where, or
no process list is at hand, confidence is low, and it counts only where CPUs were busy for a twentieth of the time since
boot.

All CPUs of a kind at once, or half of all, are no bad sample: then it is high, with the share of the nominal clock
that is lost.

## Why it matters
No governor can ask for such a clock. It is the mark of a clock that runs at some P-state and is stopped for a part
of the time: clock modulation, PROCHOT#, heat, a power cap of the board. On such a machine a Xeon D-1531 showed
457 MHz where its minimum is 800. This is the one trace of it that needs no privilege.

## When to leave it alone
When it shows once, on one CPU, and never again: idle CPUs are sampled for microseconds, and read low where C1E is on
although nothing is wrong. Goldmont Plus (Celeron J4105,
N4000) reads low as a family. Look several times, under load, and ask clock-modulation and prochot-asserted.
",
    references: &[
        Reference {
            title: "Linux: CPU Performance Scaling, Policy Interface in sysfs",
            url: "https://docs.kernel.org/admin-guide/pm/cpufreq.html#policy-interface-in-sysfs",
        },
        Reference {
            title: "Intel SDM vol. 3B, Power and Thermal Management: IA32_MPERF and IA32_APERF",
            url: "https://www.intel.com/content/www/us/en/developer/articles/technical/intel-sdm.html",
        },
    ],
    run,
};

/// Below this share of the minimum a clock counts as too low: MPERF and TSC differ by less than 1 %, ratios are
/// rounded to 100 MHz, and the least of the published cases is at 0.74.
const TOLERATED: f64 = 0.9;

fn run(host: &HostView) -> Verdict {
    host.platform.hides("the clock of the processor")?;
    let clocks = Clocks::of(host)?;
    let (mut low, mut judged, mut unknown) = (Vec::new(), CpuSet::default(), None);
    for cpu in host.topology.online.as_ref()?.iter() {
        match clocks.judged(cpu) {
            Ok(low_clock) => {
                judged.insert(cpu);
                low.extend(low_clock);
            }
            Err(missing) => unknown = unknown.or(Some(missing)),
        }
    }
    match (low.iter().min_by_key(|it: &&Low| it.clock), unknown) {
        (Some(worst), _) => match load_of(host, &low) {
            Load::None => Err(no_low_cpu_was_busy()),
            load => Ok(vec![finding(&clocks, worst, &low, &judged, load)]),
        },
        (None, Some(missing)) => Err(missing),
        (None, None) => Ok(Vec::new()),
    }
}

/// What ran on the CPUs with a low clock while the host was read.
#[derive(Clone, Copy, PartialEq)]
enum Load {
    /// A process.
    Seen,
    /// Something may have run there.
    Possible,
    /// Nothing.
    None,
}

/// A look tells it of each CPU. Without one /proc/PID/stat has the state of a process's main thread, which sleeps in a database of many threads: how many threads of the host are
/// runnable tells of the others. This program is no load: its CPU has woken up for it.
fn load_of(host: &HostView, low: &[Low]) -> Load {
    if let Some(worked) = work::in_look(host) {
        let was_busy = low.iter().any(|it| worked.was_busy(it.cpu));
        return if was_busy { Load::Seen } else { Load::None };
    }
    if host.processes.is_err() {
        return Load::Possible;
    }
    let busy = work::seen_on(host);
    if low.iter().any(|it| busy.contains(it.cpu)) {
        return Load::Seen;
    }
    // One of the runnable threads reads the file.
    let n_unseen = host.kernel.runnable.as_ref().map(|it| it.saturating_sub(1 + busy.len() as u64));
    if n_unseen.is_ok_and(|it| it > 0) { Load::Possible } else { Load::None }
}

/// With C1E or C6, APERF and MPERF of an idle CPU rise by a few thousand cycles between two samples, of which some are run
/// at a low clock (intel/pepc, docs/misc-c1e-cpu-freq.md).
fn no_low_cpu_was_busy() -> Missing {
    let why = "nothing was seen to run on the CPUs that report less than the lowest clock; audit again under load";
    Missing { what: "the clock of a busy CPU".to_owned(), why: Why::Failed(why.to_owned()) }
}

/// One CPU whose clock is too low.
struct Low {
    cpu: u32,
    clock: Hertz,
    lowest: Hertz,
}

/// What is known of clocks, looked up once for all CPUs.
struct Clocks<'a> {
    host: &'a HostView,
    info: &'a CpuInfo,
    policies: BTreeMap<u32, &'a Policy>,
    nominal: Option<Hertz>,
}

impl<'a> Clocks<'a> {
    fn of(host: &'a HostView) -> Result<Clocks<'a>, &'a Missing> {
        let policies = host.cpufreq.policies.as_deref().unwrap_or_default();
        let of_cpus = |policy: &'a Policy| policy.cpus.iter().map(move |cpu| (cpu, policy));
        Ok(Clocks {
            host,
            info: host.cpuinfo.as_ref()?,
            policies: policies.iter().flat_map(of_cpus).collect(),
            nominal: host.nominal_clock().map(|(clock, _)| clock),
        })
    }

    fn judged(&self, cpu: u32) -> Result<Option<Low>, Missing> {
        let lowest = match (self.info.is_intel(), self.info.is_amd()) {
            (true, _) => self.lowest_of_intel(cpu)?,
            (_, true) => self.lowest_of_amd(cpu)?,
            _ => {
                return Err(unknown_lowest(
                    "no rule for processors that are neither Intel's nor AMD's",
                ));
            }
        };
        let clock = self.clock(cpu)?;
        Ok((clock.share_of(lowest) < TOLERATED).then_some(Low { cpu, clock, lowest }))
    }

    fn clock(&self, cpu: u32) -> Result<Hertz, Missing> {
        if let Some(clock) = self.host.watched.as_ref().and_then(|it| it.clock(cpu)) {
            return Ok(clock);
        }
        let by_driver = self.policies.get(&cpu).map(|it| &it.scaling_cur);
        match (self.info.clocks.get(cpu), by_driver) {
            (Some(Ok(clock)), _) | (_, Some(Ok(clock))) => Ok(*clock),
            (Some(Err(missing)), _) => Err(missing.clone()),
            (None, _) => Err(Missing::absent("/proc/cpuinfo: cpu MHz")),
        }
    }

    fn lowest_of_driver(&self, cpu: u32) -> Result<Option<Hertz>, &Missing> {
        let min = self.policies.get(&cpu).map(|it| it.cpuinfo_min.as_ref());
        min.transpose().map(Option::<&Hertz>::copied)
    }

    fn lowest_of_amd(&self, cpu: u32) -> Result<Hertz, Missing> {
        let driver = self.policies.get(&cpu).and_then(|it| it.driver.as_deref().ok());
        let by_driver = self.lowest_of_driver(cpu)?;
        by_driver.filter(|_| driver.is_some_and(|it| it.starts_with("amd"))).ok_or_else(|| {
            unknown_lowest("the ACPI tables name P-states, which are not the lowest clocks of AMD")
        })
    }

    /// Whichever source says the least.
    fn lowest_of_intel(&self, cpu: u32) -> Result<Hertz, Missing> {
        // A table whose only P-state is the nominal one says nothing of the hardware.
        let is_nominal = |it: &Hertz| self.nominal.is_some_and(|all| it.share_of(all) >= TOLERATED);
        let by_driver = self.lowest_of_driver(cpu)?.filter(|it| !is_nominal(it));
        by_driver.into_iter().chain(self.lowest_of_registers(cpu)).min().ok_or_else(|| match &self
            .host
            .cpufreq
            .policies
        {
            Err(missing) => missing.clone(),
            Ok(_) => no_lowest("cpufreq has one P-state"),
        })
    }

    /// What the clock and its minimum were read from, verbatim.
    fn evidence(&self, Low { cpu, clock, .. }: &Low) -> Vec<(String, String)> {
        let policy = self.policies.get(cpu);
        let min = |it: &&Policy| {
            let min = it.cpuinfo_min.as_ref().ok()?;
            Some((it.path("cpuinfo_min_freq"), min.khz().to_string()))
        };
        let clock = match (self.info.clocks.get(*cpu), policy) {
            (Some(Err(_)) | None, Some(policy)) => {
                (policy.path("scaling_cur_freq"), clock.khz().to_string())
            }
            _ => (format!("/proc/cpuinfo: cpu MHz of CPU {cpu}"), format!("{:.3}", clock.mhz())),
        };
        [Some(clock), policy.and_then(min)].into_iter().flatten().collect()
    }

    /// From MSR 0xCE, and from a running HWP request, which may ask for less. Levels of hybrid processors are
    /// no ratios.
    fn lowest_of_registers(&self, cpu: u32) -> Option<Hertz> {
        let Clocks { host, info, .. } = self;
        let leader = host.topology.package_leader(cpu);
        let by_platform =
            host.msrs.value(&intel::PLATFORM_INFO, leader).ok().and_then(ratios::lowest);
        let by_request = hwp::request(&host.msrs, &host.topology, cpu, hwp::Field::Min)
            .ok()
            .map(|(_, request)| request.min())
            .filter(|&level| level > 0 && !host.topology.is_hybrid());
        let ratio = by_platform.into_iter().chain(by_request).min()?;
        Some(Hertz(ratios::bus_clock(info)?.0.checked_mul(ratio)?))
    }
}

fn no_lowest(because: &str) -> Missing {
    Missing::not_here("lowest clock of the hardware", because)
}

/// The hardware has one, and nothing that is read here says which.
fn unknown_lowest(because: &str) -> Missing {
    let what = "the lowest clock of the hardware".to_owned();
    Missing { what, why: Why::Failed(because.to_owned()) }
}

fn finding(clocks: &Clocks<'_>, worst: &Low, low: &[Low], judged: &CpuSet, load: Load) -> Finding {
    let Low { clock, lowest, .. } = worst;
    let cpus: CpuSet = low.iter().map(|it| it.cpu).collect();
    // Goldmont Plus reads low while healthy; one CPU of many may be a bad sample.
    let is_goldmont_plus = (clocks.info.family, clocks.info.model) == (6, 0x7a);
    let are_many =
        cpus.len() > 1 && loss_scale::are_many_of(clocks.host, &cpus, judged) && !is_goldmont_plus;
    let is_sure = low.len() * 2 >= judged.len() && !is_goldmont_plus && load == Load::Seen;
    let is_likely = are_many && work::was_busy(clocks.host) == Some(true);
    let confidence = if is_sure { Confidence::Medium } else { Confidence::Low };
    let lost = Lost::of_what_is_left(left(clocks, low), are_many)
        .at_least_if(true)
        .but_if(are_many && (is_sure || is_likely), &BELOW_MINIMUM)
        .but_if(!is_sure && !is_likely, &BAD_SAMPLE);
    let message = format!(
        "a clock of {clock}, where the lowest of the hardware is {lowest}: the mark of a clock that is stopped in between"
    );
    let finding =
        Finding::of_lost(lost, confidence, message).on(cpus, clocks.host.topology.n_online());
    let finding = clocks
        .evidence(worst)
        .into_iter()
        .fold(finding, |it, (source, value)| it.evidence(source, value));
    asked_further(clocks.info, with_cost(finding, clocks, low))
}

/// What the fastest of the low CPUs has of its nominal clock; of the lowest one where no nominal clock is known.
fn left(clocks: &Clocks<'_>, low: &[Low]) -> f64 {
    let fastest = low.iter().max_by_key(|it| it.clock);
    let share = |it: &Low| {
        let nominal = clocks.nominal.filter(|nominal| it.clock < *nominal);
        it.clock.share_of(nominal.unwrap_or(it.lowest))
    };
    fastest.map_or(1.0, share)
}

/// What the fastest of the low CPUs lacks of its nominal clock.
fn with_cost(finding: Finding, clocks: &Clocks<'_>, low: &[Low]) -> Finding {
    let fastest = low.iter().map(|it| it.clock).max();
    match fastest.zip(clocks.nominal).filter(|(clock, nominal)| clock < nominal) {
        Some((clock, nominal)) => {
            let loss = OfClock::lost(1.0 - clock.share_of(nominal)).lasting(", while it lasts");
            finding.cost_of_clock(loss, format!("{clock} of {nominal}"))
        }
        None => finding,
    }
}

/// Where each manufacturer's processors say what holds them.
fn asked_further(info: &CpuInfo, finding: Finding) -> Finding {
    if info.is_intel() {
        return finding
            .command(
                &commands::READ_REGISTERS,
                "rdmsr -a 0x19a; rdmsr -a 0x19c; rdmsr -a 0x1b1  # what stops it?",
            )
            .fix_lasting("fix what these name (bit 4 of the first, bits 0 and 2 of the others): see clock-modulation, prochot-asserted and thermal-throttling");
    }
    finding
        .command(
            &commands::READ_REGISTERS,
            "rdmsr -a 0xc0010061  # bits 2:0 above 0: firmware limits the P-state",
        )
        .command(&commands::BMC_EVENTS, "")
        .fix_lasting(
            "fix what the management controller names: power supplies, cooling, a power cap",
        )
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::finding::{Confidence, Severity};
    use crate::fixture::{findings, verdict};

    /// Two CPUs with these clocks in MHz, on a processor whose lowest is `min_khz` by `driver`.
    fn host(clocks: [&str; 2], driver: &str, min_khz: &str) -> String {
        let [one, two] = clocks;
        let folder = "//- /sys/devices/system/cpu/cpufreq/policy0";
        format!(
            "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 86\n\
             model name : Intel(R) Xeon(R) CPU D-1531 @ 2.20GHz\nflags : acpi\ncpu MHz : {one}\n\
             processor : 1\ncpu MHz : {two}\n//- /sys/devices/system/cpu/online\n0-1\n\
             //- /sys/devices/system/cpu/cpu0/topology/package_cpus_list\n0-1\n{BUSY}\
             {folder}/affected_cpus\n0 1\n{folder}/scaling_driver\n{driver}\n\
             {folder}/cpuinfo_min_freq\n{min_khz}\n"
        )
    }

    /// A process that runs on CPU 1.
    const BUSY: &str = "//- /proc/1/stat\n\
        1 (postgres) R 0 1 1 0 -1 4194560 0 0 0 0 5 6 0 0 20 0 1 0 9 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0\n";

    #[test]
    fn a_low_clock_of_idle_cpus_is_a_sample_of_microseconds_and_says_nothing() {
        let busy = host(["456.831", "456.900"], "intel_pstate", "800000");
        let idle = busy.replace("(postgres) R", "(postgres) S");
        assert_eq!(
            verdict(&CHECK, &idle),
            "unknown: the clock of a busy CPU cannot be read: nothing was seen to run on the CPUs that report less than the lowest clock; audit again under load"
        );
        // The main thread of a database sleeps while its other threads run.
        let loadavg = |n| format!("//- /proc/loadavg\n0.10 0.10 0.10 {n}/80 99\n");
        assert!(verdict(&CHECK, &(idle.clone() + &loadavg(1))).starts_with("unknown: "));
        let threads = findings(&CHECK, &(idle + &loadavg(3)));
        assert_eq!((threads[0].severity, threads[0].confidence), (Severity::Low, Confidence::Low));
        // This program is no load.
        assert!(verdict(&CHECK, &busy.replace("postgres", "fullclock")).starts_with("unknown: "));
        let without_processes = busy.replace(BUSY, "");
        assert!(verdict(&CHECK, &without_processes).starts_with("low: "));
        assert_eq!(findings(&CHECK, &without_processes)[0].confidence, Confidence::Low);
    }

    #[test]
    fn a_look_tells_whether_low_cpus_worked_whatever_process_was_seen_to_run() {
        let look =
            |busy: u32| format!("//- twice /proc/stat\n0 0:0:0 1:0:0\n50000000 0:0:5 1:{busy}:5\n");
        let host = host(["456.831", "456.900"], "intel_pstate", "800000");
        for process in ["(postgres) R", "(postgres) S"] {
            let host = host.replace("(postgres) R", process);
            assert!(verdict(&CHECK, &(host.clone() + &look(5))).starts_with("high: "));
            assert!(verdict(&CHECK, &(host + &look(0))).starts_with("unknown: "));
        }
    }

    #[test]
    fn the_lowest_clock_of_other_processors_is_unknown_and_not_absent() {
        let arm = "//- /proc/cpuinfo\nprocessor : 0\nCPU implementer : 0xc0\n//- /sys/devices/system/cpu/online\n0\n";
        assert!(verdict(&CHECK, arm).starts_with("unknown: the lowest clock of the hardware"));
    }

    #[test]
    fn a_clock_at_half_the_minimum_of_all_cpus_is_high_and_says_what_it_costs() {
        let host = host(["456.831", "456.900"], "intel_pstate", "800000");
        assert_eq!(
            verdict(&CHECK, &host),
            "high: a clock of 457 MHz, where the lowest of the hardware is 800 MHz: the mark of a clock that is stopped in between [all 2 CPUs]"
        );
        let evidence = &findings(&CHECK, &host)[0].evidence;
        assert_eq!(evidence[0].value, "456.831");
        assert_eq!(evidence[1].value, "800000");
        let cost = findings(&CHECK, &host).remove(0).cost.unwrap();
        assert_eq!(
            (&*cost.estimate, &*cost.derivation),
            ("79 % of the clock, while it lasts", "457 MHz of 2200 MHz")
        );
    }

    #[test]
    fn one_of_two_cpus_is_medium_and_without_processes_it_takes_a_busy_host() {
        let one = host(["800.0", "456.831"], "intel_pstate", "800000");
        assert!(verdict(&CHECK, &one).starts_with("medium: "), "{}", verdict(&CHECK, &one));
        let all = host(["456.831", "456.900"], "intel_pstate", "800000").replace(BUSY, "");
        let times = |idle: u32| {
            format!("{all}//- /proc/stat\ncpu  9 9 9 9\ncpu0 1000 0 0 {idle} 0 0 0 0 0 0\n")
        };
        assert!(verdict(&CHECK, &times(3000)).starts_with("high: "));
        assert!(verdict(&CHECK, &times(1_000_000)).starts_with("low: "));
        // Of a hybrid processor one kind is enough.
        let kinds = "//- /sys/devices/cpu_core/cpus\n0\n//- /sys/devices/cpu_atom/cpus\n1\n";
        assert!(verdict(&CHECK, &(one + kinds)).starts_with("medium: "));
    }

    #[test]
    fn an_idle_clock_at_the_minimum_is_clean() {
        assert_eq!(
            verdict(&CHECK, &host(["798.121", "800.000"], "intel_pstate", "800000")),
            "clean"
        );
    }

    #[test]
    fn a_family_that_reads_low_while_healthy_gets_a_note() {
        let celeron = host(["442.974", "450.0"], "intel_pstate", "800000")
            .replace("model : 86", "model : 122")
            .replace("Xeon(R) CPU D-1531 @ 2.20GHz", "Celeron(R) J4105 CPU @ 1.50GHz");
        let finding = findings(&CHECK, &celeron).remove(0);
        assert_eq!(finding.confidence, Confidence::Low);
        assert!(verdict(&CHECK, &celeron).starts_with("low: "));
    }

    #[test]
    fn a_table_of_one_pstate_is_not_the_hardware() {
        assert_eq!(
            verdict(&CHECK, &host(["1283.534", "1283.534"], "acpi-cpufreq", "2200000")),
            "not applicable: no lowest clock of the hardware here: cpufreq has one P-state"
        );
    }

    #[test]
    fn the_register_knows_a_lower_minimum_than_the_table() {
        let register = "//- /dev/cpu/0/msr 0xce\n0x40000001600\n";
        let host = host(["456.831", "456.831"], "acpi-cpufreq", "800000");
        assert_eq!(verdict(&CHECK, &format!("{host}{register}")), "clean");
    }

    #[test]
    fn pstates_of_amd_are_not_the_lowest_clocks() {
        let amd = |driver| {
            host(["1863.6", "1863.6"], driver, "2200000").replace("GenuineIntel", "AuthenticAMD")
        };
        assert!(verdict(&CHECK, &amd("acpi-cpufreq")).starts_with("unknown: the lowest clock"));
        assert!(verdict(&CHECK, &amd("amd-pstate-epp")).starts_with("high: "));
        let commands = findings(&CHECK, &amd("amd-pstate-epp")).remove(0).fix.look.join("; ");
        assert!(!commands.contains("0x19"), "AMD has none of Intel's registers: {commands}");
    }

    #[test]
    fn a_clock_without_a_sample_is_unknown() {
        assert_eq!(
            verdict(&CHECK, &host(["Unknown", "800.0"], "intel_pstate", "800000")),
            "unknown: /proc/cpuinfo: cpu MHz: found \"Unknown\", expected a frequency in MHz"
        );
    }
}
