//! `xenpm get-cpufreq-para` and `get-cpuidle-states`: what Xen does with clocks and idle states, which no file of Dom0 shows.
//!
//! Source: Xen, tools/misc/xenpm.c, print_cpufreq_para, print_cppc_para (Xen 4.18 and later, driver hwp) and show_max_cstate. Clocks are
//! in kHz, levels of HWP are the processor's own.

use super::{Found, SOUND, said, untold};
use crate::checks::slow_governor;
use crate::finding::Severity;
use crate::loss_scale::Lost;
use facts::pasted::{XENPM_FREQUENCY, XENPM_IDLE};
use facts::{Hertz, HostView};

/// What is said of one CPU.
#[derive(Default, PartialEq)]
struct Cpu<'a> {
    governor: &'a str,
    /// The highest clock of the hardware, and the highest that may be requested.
    hardware: Option<u64>,
    limit: Option<u64>,
    turbo: &'a str,
    levels: Levels,
}

/// What Xen's HWP driver requests of the processor, in its own levels.
#[derive(Default, PartialEq)]
struct Levels {
    /// The highest that the hardware has, and the highest that it may choose.
    highest: Option<u64>,
    max: Option<u64>,
    /// From 0, performance, to 255, power.
    energy: Option<u64>,
}

pub(super) fn explain_frequency(text: &str, _host: &HostView) -> Option<Found> {
    let (mut first, mut cpus): (_, Vec<Cpu<'_>>) = (None, Vec::new());
    for (at, line) in text.lines().enumerate() {
        let Some((key, value)) =
            line.split_once(':').map(|(key, value)| (key.trim(), value.trim()))
        else {
            continue;
        };
        if key == "cpu id" {
            cpus.push(Cpu::default());
        }
        let Some(cpu) = cpus.last_mut() else { continue };
        match key {
            "current_governor" => {
                first.get_or_insert(at);
                cpu.governor = value;
            }
            // Under Xen's HWP driver there is no governor.
            "cpuinfo frequency" => {
                first.get_or_insert(at);
                cpu.hardware = highest(value);
            }
            "scaling frequency" => cpu.limit = highest(value),
            "turbo mode" => cpu.turbo = value,
            // The hardware's limits go on in a line without a name.
            "hardware limits" | "" => {
                cpu.levels.highest = cpu.levels.highest.or(bracketed(value, "highest"));
            }
            "configured limits" => {
                cpu.levels.max = bracketed(value, "max");
                cpu.levels.energy = bracketed(value, "energy perf");
            }
            _ => {}
        }
    }
    let line = first?;
    cpus.dedup();
    let mut meaning: Vec<String> = cpus.iter().flat_map(judge).collect();
    meaning.dedup();
    if meaning.is_empty() {
        meaning.push(SOUND.to_owned());
    }
    meaning.push(untold(&XENPM_FREQUENCY));
    Some(Found::new(line, &XENPM_FREQUENCY, meaning))
}

/// `max [2401000] min [1200000] cur [1200000]`.
fn highest(text: &str) -> Option<u64> {
    bracketed(text, "max").filter(|it| (1..100_000_000).contains(it))
}

/// The number in brackets behind a name: `min [1] max [255] energy perf [128]`.
fn bracketed(text: &str, name: &str) -> Option<u64> {
    let (_, rest) = text.split_once(name)?;
    let digits = rest.trim_start().strip_prefix('[')?.split(']').next()?;
    digits.trim().parse().ok()
}

fn judge(cpu: &Cpu<'_>) -> Vec<String> {
    let mut faults = Vec::new();
    let governor = cpu.governor;
    let severity = match governor {
        "powersave" => Some(Severity::High),
        "ondemand" | "userspace" => Some(Severity::Low),
        _ => None,
    };
    faults.extend(severity.map(|severity| {
        let message = format!(
            "Xen's governor {governor} {}; `xenpm set-scaling-governor performance` sets another until the next boot, and \
             `cpufreq=xen:performance` on Xen's boot line for good",
            slow_governor::behaviour(governor)
        );
        said(severity, slow_governor::CHECK.id, &message)
    }));
    // A table's mark for turbo is 1 MHz above the nominal clock.
    if let (Some(hardware), Some(limit)) = (cpu.hardware, cpu.limit)
        && limit + 1000 < hardware
    {
        let (limit, hardware) = (Hertz(limit * 1000), Hertz(hardware * 1000));
        let share = limit.share_of(hardware);
        let message = format!(
            "Xen lets the CPUs run at {limit} of {hardware} at most; `xenpm set-scaling-maxfreq` raises it"
        );
        faults.push(said(
            Lost::of_what_is_left(share, true).severity(),
            "capped-frequency",
            &message,
        ));
    }
    faults.extend(judge_levels(&cpu.levels));
    if cpu.turbo == "disabled" {
        let message = "turbo is switched off in Xen; `xenpm enable-turbo-mode` switches it on until the next boot";
        faults.push(said(Severity::Medium, "turbo-off", message));
    }
    faults
}

/// The request to the hardware: a limit below its highest level, and a preference for power.
///
/// 128 is what processors start with, a compromise, and no fault.
fn judge_levels(levels: &Levels) -> Vec<String> {
    const COMPROMISE: u64 = 128;
    let mut faults = Vec::new();
    if let (Some(max), Some(highest)) = (levels.max, levels.highest)
        && (1..highest).contains(&max)
    {
        let share = f64_of(max) / f64_of(highest);
        let message = format!(
            "Xen lets the hardware choose level {max} of {highest} at most; `xenpm set-cpufreq-cppc performance` allows all"
        );
        let severity = Lost::of_what_is_left(share, true).severity();
        faults.push(said(severity, "capped-frequency", &message));
    }
    if let Some(energy) = levels.energy.filter(|it| (COMPROMISE + 1..256).contains(it)) {
        let message = format!(
            "Xen's energy preference {energy} of 255 leans towards saving power: clocks rise late; \
             `xenpm set-cpufreq-cppc performance` sets 0"
        );
        faults.push(said(Severity::Low, "power-saving-bias", &message));
    }
    faults
}

/// A level or a byte as a number to divide.
fn f64_of(level: u64) -> f64 {
    f64::from(u32::try_from(level).unwrap_or(u32::MAX))
}

pub(super) fn explain_idle(text: &str, _host: &HostView) -> Option<Found> {
    let value = |key: &str| {
        text.lines().enumerate().find_map(|(at, line)| {
            let (found, value) = line.split_once(':')?;
            (found.trim() == key).then(|| (at, value.trim()))
        })
    };
    let deepest = value("Max possible C-state").or_else(|| value("Max C-state"));
    let states = value("total C-states");
    let (line, _) = deepest.or(states)?;
    let is_shallow = deepest.is_some_and(|(_, it)| matches!(it, "C0" | "C1"));
    let has_one = states.is_some_and(|(_, it)| matches!(it, "1" | "2"));
    let mut meaning = Vec::new();
    if is_shallow {
        let message = "Xen uses no state deeper than C1 (`max_cstate` on its boot line, or `xenpm set-max-cstate`): no core leaves its \
                       power to others, so that turbo is lower; for low latency it may be meant";
        meaning.push(said(Severity::Low, "turbo-headroom-lost", message));
    } else if has_one {
        let message = "Xen knows no idle state deeper than C1: the firmware offers none, or Dom0 has not told it (ACPI processor driver)";
        meaning.push(said(Severity::Medium, "turbo-headroom-lost", message));
    } else {
        meaning.push(SOUND.to_owned());
    }
    meaning.push(untold(&XENPM_IDLE));
    Some(Found::new(line, &XENPM_IDLE, meaning))
}

#[cfg(test)]
mod tests {
    use super::super::tests;
    use super::*;

    fn meaning(text: &str) -> String {
        tests::meaning(text, &[explain_frequency, explain_idle])
    }

    fn frequency(governor: &str, max: u32, turbo: &str) -> String {
        format!(
            "cpu id               : 0\naffected_cpus        : 0\ncpuinfo frequency    : max [2401000] min [1200000] cur [1200000]\n\
             scaling_driver       : acpi-cpufreq\nscaling_avail_gov    : userspace performance powersave ondemand\n\
             current_governor     : {governor}\nscaling frequency    : max [{max}] min [1200000] cur [1200000]\nturbo mode           : {turbo}\n"
        )
    }

    #[test]
    fn what_xen_was_told_is_judged() {
        assert!(
            meaning(&frequency("powersave", 2_401_000, "enabled"))
                .starts_with("High, slow-governor: Xen's governor powersave holds")
        );
        let capped = meaning(&frequency("performance", 1_200_000, "disabled"));
        assert!(
            capped.contains("High, capped-frequency: Xen lets the CPUs run at 1200 MHz"),
            "{capped}"
        );
        assert!(capped.contains("Medium, turbo-off"), "{capped}");
    }

    #[test]
    fn limits_of_the_hwp_driver_are_judged() {
        let hwp = |max: u32, energy: u32| {
            format!(
                "cpu id               : 11\naffected_cpus        : 11\ncpuinfo frequency    : base [1600000] max [4900000]\n\
                 scaling_driver       : hwp-cpufreq\nscaling_avail_gov    : hwp-internal\ncurrent_governor     : hwp-internal\n\
                 cppc variables       :\n  hardware limits    : lowest [1] lowest nonlinear [11]\n\
                 \x20                    : nominal [11] highest [49]\n  configured limits  : min [1] max [{max}] energy perf [{energy}]\n\
                 \x20                    : activity_window [0 hardware selected]\n                     : desired [0 hw autonomous]\n\
                 turbo mode           : enabled\n"
            )
        };
        assert!(meaning(&hwp(255, 128)).starts_with(SOUND), "{}", meaning(&hwp(255, 128)));
        let capped = meaning(&hwp(11, 255));
        assert!(
            capped.contains("High, capped-frequency: Xen lets the hardware choose level 11 of 49"),
            "{capped}"
        );
        assert!(capped.contains("Low, power-saving-bias: Xen's energy preference 255"), "{capped}");
    }

    #[test]
    fn what_runs_at_its_best_is_sound() {
        assert!(meaning(&frequency("performance", 2_401_000, "enabled")).starts_with(SOUND));
        let idle = "Max possible C-state: C7\n\ncpu id               : 0\ntotal C-states       : 6\nidle time(ms)        : 1234\n";
        assert!(meaning(idle).starts_with(SOUND));
        let shallow = idle.replace("C7", "C1");
        assert!(meaning(&shallow).starts_with("Low, turbo-headroom-lost"), "{}", meaning(&shallow));
        assert_eq!(meaning("cpu id : 0"), "unknown");
    }
}
