//! Looks for processors that stop their own clock for a part of the time because software told them to.
//!
//! Source: Intel SDM vol. 3B, "Software Controlled Clock Modulation" (MSR 0x19A); for T-states,
//! drivers/acpi/{processor_throttling,processor_thermal}.c. It cannot see the duty cycle that the processor
//! takes by itself when it is too hot, nor the register of a CPU that is offline.

use crate::check::{Check, Reference, Verdict};
use crate::commands;
use crate::finding::{Confidence, Finding, OfClock, Severity};
use crate::loss_scale::deviations::STOPPED_CLOCK;
use crate::loss_scale::{self, Lost};
use crate::party::Party;
use facts::cpu::cooling::{CoolingDevice, Kind};
use facts::msr::clock_modulation::Duty;
use facts::msr::intel::CLOCK_MODULATION;
use facts::{CpuSet, HostView, Missing};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) const CHECK: Check = Check {
    id: "clock-modulation",
    title: "CPUs stop their clock for a part of the time",
    doc: "\
## What it looks at
IA32_CLOCK_MODULATION, MSR 0x19A, of every CPU: bit 4 enables it, and the bits below are the share of the time that
the clock runs, in steps of 12.5 % or 6.25 %. Where ACPI gives the kernel T-states, also the cooling devices of
type `Processor`: more than 3, or more than 0 without cpufreq, is a T-state.

## Why it matters
Every cycle of the rest of the time is gone, and hardly anything shows it: cpufreq knows the requested
clock, cycles per reference cycle look healthy because both counters stop together, and the kernel's throttle counters
count only heat. At most \"cpu MHz\" falls, below the hardware's minimum (clock-below-minimum). The firmware of a database appliance left every CPU at 25 %: the
database's own CPU figure was 673 where its twin had 2713, and log writes seemed slow as soon as CPUs were
busy. The kernel neither sets nor clears the register unless ACPI gives it T-states, so a value that firmware or
a management controller wrote stays until the next reset.

## When to leave it alone
When the machine would overheat or trip its power supply without it: find out who set it first. Firmware may set it
again, at resume or in an SMI; look again after clearing it. Writing a register taints the kernel (flag S).
",
    references: &[
        Reference {
            title: "Intel SDM vol. 3B, Power and Thermal Management: Software Controlled Clock Modulation",
            url: "https://www.intel.com/content/www/us/en/developer/articles/technical/intel-sdm.html",
        },
        Reference {
            title: "Pythian: ODA Patch Bundle 2.1.0.3.0 Fixes CPU Performance Issue (2012)",
            url: "https://blog.pythian.com/oracle-database-appliance-oda-patch-bundle-2-1-0-3-0-fixes-cpu-performance-issue/",
        },
        Reference {
            title: "ACPI Specification, 8.4.4 Processor Throttling Controls",
            url: "https://uefi.org/specs/ACPI/6.5/08_Processor_Configuration_and_Control.html#processor-throttling-controls",
        },
    ],
    run,
};

/// The register decides; T-states that go through an I/O port do not show in it.
fn run(host: &HostView) -> Verdict {
    host.platform.hides("clock modulation")?;
    let info = host.cpuinfo.as_ref()?;
    if !info.is_intel() && !info.is_amd() {
        return Err(Missing::not_here(
            "clock modulation",
            "/proc/cpuinfo names neither Intel nor AMD",
        ));
    }
    match (by_register(host), by_cooling(host)) {
        (Ok(findings), _) if !findings.is_empty() => Ok(findings),
        (_, Ok(findings)) if !findings.is_empty() => Ok(findings),
        (Ok(_), _) => Ok(Vec::new()),
        (Err(missing), Ok(_)) if missing.is_absence() => Ok(Vec::new()),
        (Err(missing), Err(other)) if missing.is_absence() => Err(other.into()),
        (Err(missing), _) => Err(missing.into()),
    }
}

/// CPUs that run at one duty, with what each one's register holds.
type Modulated = BTreeMap<u32, u64>;

fn by_register(host: &HostView) -> Result<Vec<Finding>, &Missing> {
    let registers = host.msrs.of(&CLOCK_MODULATION)?;
    let extended = host.msrs.extended_duty.as_ref().ok().copied();
    let duties: BTreeMap<u32, Duty> = registers
        .known()
        .filter_map(|(cpu, &value)| Some((cpu, Duty::of_register(value, extended)?)))
        .collect();
    if duties.is_empty() {
        registers.all_known()?;
    }
    let mut by_duty: BTreeMap<Duty, Modulated> = BTreeMap::new();
    for (cpu, &value) in registers.known().filter(|(cpu, _)| duties.contains_key(cpu)) {
        by_duty.entry(duty_of_core(host, &duties, cpu)).or_default().insert(cpu, value);
    }
    let all = registers.known().map(|(cpu, _)| cpu);
    let unset: CpuSet = all.filter(|cpu| !duties.contains_key(cpu)).collect();
    Ok(by_duty.iter().map(|(&duty, modulated)| finding(host, duty, modulated, &unset)).collect())
}

/// The duty of a core whose threads ask for different ones: the lowest, except on old models.
fn duty_of_core(host: &HostView, duties: &BTreeMap<u32, Duty>, cpu: u32) -> Duty {
    let core = host.topology.core_of(cpu);
    let asked = core.iter().filter_map(|it| duties.get(&it)).copied();
    let duty = if highest_wins(host) { asked.max() } else { asked.min() };
    duty.unwrap_or(Duty::Reserved)
}

/// Models on which a core runs at the highest duty of its threads (SDM, as above): Nehalem, Westmere, the first
/// Atoms, and the Pentium 4.
fn highest_wins(host: &HostView) -> bool {
    let model = host.cpuinfo.as_ref().map(|info| (info.family, info.model));
    matches!(
        model,
        Ok((6, 0x1a | 0x1c | 0x1e | 0x1f | 0x25 | 0x26 | 0x27 | 0x2c | 0x2e | 0x2f | 0x35 | 0x36)
            | (0xf, _))
    )
}

/// `unset` are the CPUs whose own register does not enable it.
fn finding(host: &HostView, duty: Duty, modulated: &Modulated, unset: &CpuSet) -> Finding {
    let cpus: CpuSet = modulated.keys().copied().collect();
    let (note, confidence) = note_on_siblings(host, &cpus, unset);
    let message = format!("the clock runs {duty} of the time: clock modulation is on{note}");
    let mut finding = match duty.share() {
        Some(share) => {
            // The siblings of a core stand still with it.
            let held = cpus.iter().flat_map(|cpu| held_with(host, cpu).iter().collect::<Vec<_>>());
            let are_many = loss_scale::are_many(host, &held.collect());
            let lost = Lost::of_what_is_left(share, are_many).but(&STOPPED_CLOCK);
            Finding::of_lost(lost, confidence, message)
        }
        None => Finding::new(Severity::High, confidence, message),
    };
    let values: BTreeSet<u64> = modulated.values().copied().collect();
    for value in values {
        let holder = modulated.iter().find(|(_, it)| **it == value);
        let cpu = holder.map(|(&cpu, _)| cpu).unwrap_or_default();
        finding = finding.evidence(CLOCK_MODULATION.path(cpu), format!("{value:#x}"));
    }
    if let Some(share) = duty.share() {
        finding = finding.cost_of_clock(
            OfClock::lost(1.0 - share).exactly(),
            format!("the clock runs {duty} of the time; the rest is lost"),
        );
    }
    finding
        .by_means_of(format!("clock modulation (duty cycle {duty})"))
        .on(cpus.clone(), host.topology.n_online())
        .fix_by_on("on-demand-modulation", "off", cpus)
        .fix_lasting(
            "a firmware update from the machine's vendor; find out first what set it: firmware, management controller, power cap",
        )
}

/// What the threads that share a core with `cpus`, and do not ask for it themselves, have of it.
fn note_on_siblings(host: &HostView, cpus: &CpuSet, unset: &CpuSet) -> (String, Confidence) {
    let mut others = CpuSet::default();
    for cpu in cpus.iter() {
        others.extend(host.topology.core_of(cpu).and(unset).iter());
    }
    if others.is_empty() {
        return (String::new(), Confidence::High);
    }
    match highest_wins(host) {
        true => {
            let note = "on this model they may run at full speed all the same";
            (format!("; not on their sibling threads {others}: {note}"), Confidence::Medium)
        }
        false => (format!("; it holds their sibling threads {others} too"), Confidence::High),
    }
}

/// The CPUs whose clock stands still with that of one.
fn held_with(host: &HostView, cpu: u32) -> CpuSet {
    if highest_wins(host) { [cpu].into_iter().collect() } else { host.topology.core_of(cpu) }
}

/// `cur_state` counts up to three steps of cpufreq first, then T-states (processor_thermal.c).
const CPUFREQ_STEPS: u64 = 3;

fn by_cooling(host: &HostView) -> Result<Vec<Finding>, &Missing> {
    let devices = host.cooling.as_ref()?.iter().filter(|it| it.kind == Kind::Processor);
    let mut by_level: BTreeMap<u64, Vec<&CoolingDevice>> = BTreeMap::new();
    let mut unknown = None;
    for device in devices {
        match device.level() {
            Ok(0) => {}
            Ok(level) => by_level.entry(level).or_default().push(device),
            Err(missing) => unknown = unknown.or(Some(missing)),
        }
    }
    match unknown {
        Some(missing) if by_level.is_empty() => Err(missing),
        _ => Ok(by_level.into_iter().filter_map(|(level, it)| cooled(host, level, &it)).collect()),
    }
}

fn cooled(host: &HostView, level: u64, devices: &[&CoolingDevice]) -> Option<Finding> {
    let example = devices.first()?;
    let cpufreq = match &host.cpufreq.policies {
        Ok(policies) => Some(!policies.is_empty()),
        Err(missing) => missing.is_absence().then_some(false),
    };
    let (severity, confidence, message) = match (level, cpufreq) {
        (level, Some(false)) => certain(level),
        (level, _) if level > CPUFREQ_STEPS => certain(level - CPUFREQ_STEPS),
        _ => (
            Severity::Medium,
            Confidence::Low,
            format!("the kernel cools by step {level}: a lower highest clock, or T{level}"),
        ),
    };
    let mut finding = Finding::new(severity, confidence, message)
        .evidence(example.state_path(), level)
        .held_by(Party::Physics)
        .by_means_of("T-states that cool the machine")
        .advising("fix the cooling")
        .command(&commands::THERMAL_ZONES, "")
        .fix_lasting(
            "fix the cooling; where no sensor is hot, firmware requests it (_TPC): update the firmware, or boot with `processor.ignore_tpc=1`",
        );
    if let Ok(max) = example.max {
        finding = finding.evidence(format!("{}/max_state", example.folder), max);
    }
    let cpus: Option<CpuSet> = devices.iter().map(|it| it.cpu.as_ref().ok().copied()).collect();
    Some(match cpus {
        Some(cpus) => finding.on(cpus, host.topology.n_online()),
        None => finding,
    })
}

fn certain(state: u64) -> (Severity, Confidence, String) {
    let message =
        format!("the clock is stopped for a part of the time: CPUs are in T-state T{state}");
    (Severity::High, Confidence::High, message)
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::{XEON, findings, verdict};

    /// The four CPUs of [`XEON`] with these values of 0x19A.
    fn registers(values: [&str; 4]) -> String {
        let msr = |(cpu, value): (usize, &str)| format!("//- /dev/cpu/{cpu}/msr 0x19a\n{value}\n");
        let registers: String = values.into_iter().enumerate().map(msr).collect();
        format!("{XEON}{registers}")
    }

    fn cooling(state: &str, cpufreq: &str) -> String {
        format!(
            "{XEON}//- /sys/class/thermal/cooling_device2/type\nProcessor\n\
             //- /sys/class/thermal/cooling_device2/cur_state\n{state}\n\
             //- /sys/class/thermal/cooling_device2/max_state\n10\n\
             //- /sys/class/thermal/cooling_device2/device/physical_node -> ../../cpu/cpu1\n{cpufreq}"
        )
    }

    const CPUFREQ: &str = "//- /sys/devices/system/cpu/cpufreq/policy0/affected_cpus\n0 1 2 3\n";

    #[test]
    fn an_appliance_at_25_percent_is_critical() {
        let host = registers(["0x14"; 4]);
        assert_eq!(
            verdict(&CHECK, &host),
            "critical: the clock runs 25 % of the time: clock modulation is on [all 4 CPUs]"
        );
        let finding = findings(&CHECK, &host).remove(0);
        assert_eq!(finding.cost.unwrap().estimate, "75 % of the clock");
        assert_eq!(finding.evidence[0].source, "/dev/cpu/0/msr 0x19a");
        assert_eq!(finding.evidence[0].value, "0x14");
    }

    /// The model of a Haswell-EP server, on which the bit has been cleared before.
    fn haswell(values: [&str; 4]) -> String {
        registers(values).replace("model : 85", "model : 63")
    }

    #[test]
    fn the_command_clears_the_bit_on_one_cpu_first() {
        let fix = findings(&CHECK, &haswell(["0x14"; 4])).remove(0).fix;
        assert_eq!(
            fix.now,
            [
                "modprobe msr; wrmsr -p 0 0x19a $(($(rdmsr -d -p 0 0x19a) & ~0x10))  # one CPU first",
                "for cpu in {1..3}; do wrmsr -p $cpu 0x19a $(($(rdmsr -d -p $cpu 0x19a) & ~0x10)); done"
            ]
        );
        assert_eq!(fix.apply, ["on-demand-modulation=off"]);
        let fix = findings(&CHECK, &haswell(["0x14", "0x0", "0x14", "0x0"])).remove(0).fix;
        assert_eq!(fix.apply, ["on-demand-modulation=off@0,2"]);
        assert!(fix.now[1].starts_with("wrmsr -p 2 ") || fix.now[1].contains("in 2; do"));
    }

    #[test]
    fn no_register_write_is_printed_where_one_has_frozen_the_model_or_none_has_been_tried() {
        for (model, why) in [
            ("94", "has frozen this model"),
            ("85", "a write has frozen a"),
            ("158", "a write has frozen a"),
        ] {
            let host = registers(["0x14"; 4]).replace("model : 85", &format!("model : {model}"));
            let fix = findings(&CHECK, &host).remove(0).fix;
            assert!(fix.now.is_empty() && fix.apply.is_empty(), "{fix:?}");
            assert!(fix.refused[0].contains(why), "{fix:?}");
        }
    }

    #[test]
    fn no_register_write_is_printed_while_the_processor_is_too_hot() {
        let hot = "//- /dev/cpu/0/msr 0x19c\n0x88010003\n";
        let fix = findings(&CHECK, &format!("{}{hot}", haswell(["0x14"; 4]))).remove(0).fix;
        assert!(fix.now.is_empty() && fix.apply.is_empty(), "{fix:?}");
        assert!(fix.refused[0].contains("too hot"), "{fix:?}");
    }

    #[test]
    fn the_lowest_duty_rules_a_core() {
        assert_eq!(
            verdict(&CHECK, &registers(["0x14", "0x0", "0x1c", "0x0"])),
            "critical: the clock runs 25 % of the time: clock modulation is on [CPUs 0,2 (2 of 4)]"
        );
    }

    #[test]
    fn one_thread_holds_its_sibling_too() {
        assert_eq!(
            verdict(&CHECK, &registers(["0x0", "0x0", "0x1c", "0x0"])),
            "high: the clock runs 75 % of the time: clock modulation is on; it holds their sibling threads 0 too [CPU 2 (1 of 4)]"
        );
    }

    #[test]
    fn a_westmere_may_follow_the_thread_that_is_not_held() {
        let host = registers(["0x0", "0x0", "0x14", "0x0"]).replace("model : 85", "model : 44");
        assert_eq!(findings(&CHECK, &host)[0].confidence, crate::finding::Confidence::Medium);
    }

    #[test]
    fn a_duty_left_behind_while_modulation_is_off_is_clean() {
        assert_eq!(verdict(&CHECK, &registers(["0x4", "0x0", "0x4", "0x0"])), "clean");
    }

    #[test]
    fn one_cpu_that_cannot_be_read_makes_the_rest_unknown_and_not_clean() {
        assert_eq!(
            verdict(&CHECK, &registers(["0x0", "0x0", "!failed Input/output error", "0x0"])),
            "unknown: /dev/cpu/2/msr 0x19a cannot be read: Input/output error"
        );
    }

    #[test]
    fn without_the_msr_module_it_is_unknown() {
        let host = XEON.replace("//- /dev/cpu/0/msr 0xce\n0xa0080001800\n", "");
        assert_eq!(verdict(&CHECK, &host), "unknown: /dev/cpu/0/msr 0x19a does not exist");
    }

    #[test]
    fn an_emulators_zeros_are_not_called_fine() {
        let host = registers(["0x0"; 4]).replace("0xa0080001800", "0x0");
        assert!(verdict(&CHECK, &host).starts_with("unknown: /dev/cpu/0/msr 0x19a: found"));
        let host = registers(["0x14"; 4]).replace("0xa0080001800", "0x0");
        assert!(verdict(&CHECK, &host).starts_with("critical: "));
    }

    #[test]
    fn a_guest_is_not_judged_by_its_registers() {
        let host = registers(["0x14"; 4]).replace("flags : ", "flags : hypervisor ");
        assert_eq!(
            verdict(&CHECK, &host),
            "unknown: clock modulation: not available in a guest of an unnamed hypervisor"
        );
    }

    #[test]
    fn cooling_steps_beyond_those_of_cpufreq_are_t_states() {
        assert_eq!(
            verdict(&CHECK, &cooling("7", CPUFREQ)),
            "high: the clock is stopped for a part of the time: CPUs are in T-state T4 [CPU 1 (1 of 4)]"
        );
        assert_eq!(
            verdict(&CHECK, &cooling("2", "")),
            "high: the clock is stopped for a part of the time: CPUs are in T-state T2 [CPU 1 (1 of 4)]"
        );
        assert_eq!(
            verdict(&CHECK, &cooling("2", CPUFREQ)),
            "medium: the kernel cools by step 2: a lower highest clock, or T2 [CPU 1 (1 of 4)]"
        );
    }

    #[test]
    fn a_processor_without_the_register_is_judged_by_its_t_states() {
        let amd = cooling("0", CPUFREQ).replace("GenuineIntel", "AuthenticAMD");
        assert_eq!(verdict(&CHECK, &amd), "clean");
    }
}
