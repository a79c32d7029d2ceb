//! Looks for an upper limit on the clock that is below what the hardware offers.
//!
//! Sources: Documentation/admin-guide/pm/cpufreq.rst and intel_pstate.rst; drivers/acpi/processor_perflib.c for
//! `bios_limit`. It cannot tell who set a limit: `scaling_max_freq` shows the lowest of all requests.

mod by_controller;
mod policy_cap;

use crate::advice::word_list;
use crate::amd_limits;
use crate::check::{Check, Reference, Verdict};
use crate::commands;
use crate::finding::{Confidence, Finding, OfClock};
use crate::loss_scale::{self, Lost};
use crate::party::Party;
use crate::writers::{self, Knob};
use facts::cpu::cpufreq::Policy;
use facts::cpu::pstate::IntelPstate;
use facts::msr::hwp;
use facts::{CpuSet, HostView, Missing};
use policy_cap::{Cap, cap, capped};
use std::collections::BTreeMap;

pub(crate) const CHECK: Check = Check {
    id: "capped-frequency",
    title: "a limit keeps the clock below what the hardware offers",
    doc: "\
## What it looks at
`scaling_max_freq` and `bios_limit` of every cpufreq policy, intel_pstate's `max_perf_pct`, and the maximum in
IA32_HWP_REQUEST (MSR 0x774), or in the request of the management controller that overrules it (0x775, over PECI), each
against the highest clock that can be requested there: `cpuinfo_max_freq`, or the nominal clock where the driver keeps boost
out of these files (acpi-cpufreq on EPYC). Where the model name holds a clock, `cpuinfo_max_freq` itself is held against it.
On AMD and Hygon also the highest P-state that firmware allows (PStateCurLim, MSR 0xC0010061 bits 2:0), and the limits that the
driver for HSMP shows (`cclk_freq_limit_input`, `pwr_current_active_freq_limit` with its sources), against the nominal clock; with
the power limit and the clocks of fabric and memory as evidence. A limit of amd-pstate below `amd_pstate_lowest_nonlinear_freq`
saves little: the voltage falls no further.

## Why it matters
A limit holds under any load, with any governor. It is usually a leftover: a power-capping agent, a
thermal event, a failed power supply that made the firmware lower `bios_limit`, an experiment, a service
such as cpupower or TLP with a `MAX_FREQ` of its own. Nothing in `top` shows it.

## When to leave it alone
Where somebody set it to stay within a power or cooling budget, or to make latencies even. A limit at the
nominal clock while turbo is off is reported by `turbo-off` alone. Different maxima of performance and
efficient cores, or of favoured cores, are no limits, and neither is the 1 MHz by which acpi-cpufreq marks
turbo.
",
    references: &[
        Reference {
            title: "Linux: CPU Performance Scaling, Policy Interface in sysfs",
            url: "https://docs.kernel.org/admin-guide/pm/cpufreq.html#policy-interface-in-sysfs",
        },
        Reference {
            title: "Linux: intel_pstate, Global Attributes",
            url: "https://docs.kernel.org/admin-guide/pm/intel_pstate.html#global-attributes",
        },
        Reference {
            title: "Intel SDM vol. 3B, Power and Thermal Management, Hardware-Controlled Performance States",
            url: "https://www.intel.com/sdm",
        },
    ],
    run,
};

/// Limits are rounded to a ratio on the way to the hardware; a 100 MHz step of a 3.9 GHz processor is 2.6 %.
const REACHED: f64 = 0.99;

/// Model names are rounded to 10 MHz, and 133 MHz steps are not: 2.67 GHz is 2667 MHz, or 2660.
const AS_NAMED: f64 = 0.98;

fn run(host: &HostView) -> Verdict {
    let by_firmware = amd_limits::capped(host).map(|mut found| {
        found.extend(by_controller::findings(host));
        found
    });
    let policies = match &host.cpufreq.policies {
        Ok(policies) => policies,
        Err(missing) => {
            let mut found = by_firmware?;
            if found.is_empty() {
                found = capped_by_request(host).unwrap_or_default();
            }
            return if found.is_empty() { Err(missing.into()) } else { Ok(found) };
        }
    };
    host.platform.hides("the clock's range")?;
    let mut unknown: Option<&Missing> = by_firmware.as_ref().err();
    let mut caps: BTreeMap<Cap, Vec<&Policy>> = BTreeMap::new();
    for policy in policies {
        match cap(host, policy) {
            Ok(cap) => cap.into_iter().for_each(|it| caps.entry(it).or_default().push(policy)),
            Err(missing) => unknown = unknown.or(Some(missing)),
        }
    }
    let mut findings: Vec<Finding> = percent_limit(host).into_iter().collect();
    if let Ok(percent) = host.pstate.intel.max_perf_pct
        && !findings.is_empty()
    {
        // In passive mode the percentage shows in `scaling_max_freq` too.
        caps.retain(|cap, _| {
            cap.limit.share_of(cap.full) < percent as f64 / 100.0 - (1.0 - REACHED)
        });
    }
    let low: CpuSet = caps.values().flatten().flat_map(|it| it.cpus.iter()).collect();
    let are_many = loss_scale::are_many(host, &low);
    findings.extend(caps.iter().map(|(cap, policies)| capped(host, cap, policies, are_many)));
    findings.extend(by_firmware.clone().unwrap_or_default());
    if findings.is_empty() {
        findings.extend(below_name(host, policies));
    }
    if findings.is_empty() {
        findings = capped_by_request(host)?;
    }
    match unknown {
        Some(missing) if findings.is_empty() => Err(missing.into()),
        _ => Ok(findings),
    }
}

/// `max_perf_pct` counts in the highest turbo clock, so while turbo is off it may be below 100 and limit nothing.
fn percent_limit(host: &HostView) -> Option<Finding> {
    let percent = *host.pstate.intel.max_perf_pct.as_ref().ok().filter(|&&it| it < 99)?;
    if host.runs_without_turbo() {
        return None;
    }
    let path = format!("{}/max_perf_pct", IntelPstate::FOLDER);
    let share = percent as f64 / 100.0;
    let message =
        format!("intel_pstate's max_perf_pct keeps every clock at {percent} % of its maximum");
    let lost = Lost::of_what_is_left(share, true);
    let finding = Finding::of_lost(lost, Confidence::High, message)
        .on(host.topology.online.clone().unwrap_or_default(), host.topology.n_online())
        .evidence(&path, percent)
        .by_means_of(format!("max_perf_pct ({percent} %)"));
    let written = percent.to_string();
    let finding = with_writer(host, finding, (Knob::MaxPercent, &written), |it| {
        it.fix_by("max-perf-pct", "100")
    });
    Some(with_cost(finding, share, format!("max_perf_pct is {percent}")))
}

/// Who has probably written a limit, and where to look for it. What protects the machine from heat is not taken away: `fix` is for others.
fn with_writer(
    host: &HostView,
    finding: Finding,
    (knob, value): (Knob, &str),
    fix: impl FnOnce(Finding) -> Finding,
) -> Finding {
    let writers = writers::writers(host, knob, value);
    let writers = writers.as_deref();
    let finding = writers::attributed(finding, knob, writers);
    let known = writers.unwrap_or_default();
    let n_cooling = known.iter().filter(|it| it.is_cooling()).count();
    if n_cooling > 0 && n_cooling == known.len() {
        return finding.advising("fix the cooling").fix_lasting(
            "thermald runs here and lowers it where the processor is hot or the firmware's policy asks for that: fix the cooling first; its log says what it does",
        );
    }
    let finding = finding.fix_lasting(writers::where_to_look(knob, writers));
    if n_cooling > 0 { finding.advising("find which of them sets it") } else { fix(finding) }
}

/// A table that ends below the clock in the model name.
fn below_name(host: &HostView, policies: &[Policy]) -> Option<Finding> {
    let named = host.cpuinfo.as_ref().ok()?.clock_in_name()?;
    let highest = policies.iter().max_by_key(|it| it.cpuinfo_max.as_ref().ok())?;
    let max = *highest.cpuinfo_max.as_ref().ok()?;
    let share = max.share_of(named);
    if share >= AS_NAMED {
        return None;
    }
    let message =
        format!("the driver knows no clock above {max}, and the processor is named for {named}");
    let lost = Lost::of_what_is_left(share, true);
    let finding = Finding::of_lost(lost, Confidence::Medium, message)
        .on(host.topology.online.clone().unwrap_or_default(), host.topology.n_online())
        .evidence(highest.path("cpuinfo_max_freq"), max.khz())
        .evidence("/proc/cpuinfo: model name", &host.cpuinfo.as_ref().ok()?.model_name)
        .held_by(Party::Firmware)
        .advising("look for a lowered multiplier in the firmware's setup")
        .by_means_of(format!("a table of clocks that ends at {max}"))
        .fix_lasting(
            "look in the firmware's setup for a lowered multiplier, bus clock or TDP level",
        );
    Some(with_cost(finding, share, format!("{max} of {named}")))
}

/// Where the hardware chooses the clock, the request it works from, which other programs than the kernel write too.
fn capped_by_request(host: &HostView) -> Verdict {
    let limits = match hwp::limits(&host.msrs, &host.topology) {
        Err(missing) if missing.is_absence() => return Ok(Vec::new()),
        limits => limits?,
    };
    let mut groups: BTreeMap<(u64, u64), Vec<(u32, &hwp::Limit)>> = BTreeMap::new();
    let turbo = !host.runs_without_turbo();
    let is_low = |it: &hwp::Limit| (it.max as f64) < REACHED * it.reachable(turbo) as f64;
    for (cpu, limit) in limits.known().filter(|(_, it)| it.max > 0 && is_low(it)) {
        groups.entry((limit.max, limit.capabilities.highest())).or_default().push((cpu, limit));
    }
    if groups.is_empty() {
        limits.all_known()?;
    }
    let low: CpuSet = groups.values().flatten().map(|(cpu, _)| *cpu).collect();
    let are_many = loss_scale::are_many(host, &low);
    let finding = |((max, highest), cpus): ((u64, u64), Vec<(u32, &hwp::Limit)>)| {
        let share = max as f64 / highest as f64;
        let message = format!("the HWP request keeps the clock at level {max} of {highest}");
        let set: CpuSet = cpus.iter().map(|(cpu, _)| *cpu).collect();
        let lost = Lost::of_what_is_left(share, are_many);
        let finding = Finding::of_lost(lost, Confidence::High, message)
            .command(&commands::HWP_REWRITE, word_list(&set))
            .on(set, host.topology.n_online())
            .by_means_of("the HWP request")
            .fix_lasting("find what writes the register: firmware, x86_energy_perf_policy, a tool that works around thermal limits");
        let first = cpus.first().map(|(_, it)| (it.path.clone(), format!("{:#x}", it.value)));
        let finding = first.into_iter().fold(finding, |it, (path, value)| it.evidence(path, value));
        with_cost(finding, share, format!("level {max} of {highest}"))
    };
    Ok(groups.into_iter().map(finding).collect())
}

fn with_cost(finding: Finding, share: f64, derivation: String) -> Finding {
    finding.cost_of_clock(OfClock::lost(1.0 - share).at_most(), derivation)
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::{findings, verdict};

    const CPU: &str = "/sys/devices/system/cpu";

    /// One CPU: its name and flags, then files of its policy as `name value`, a line each.
    fn host(vendor: &str, name: &str, policy: &str) -> String {
        let file = |line: &str| {
            let (file, value) = line.split_once(' ').unwrap();
            format!("//- {CPU}/cpufreq/policy0/{file}\n{value}\n")
        };
        let files: String = policy.lines().map(file).collect();
        format!(
            "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : {vendor}\ncpu family : 6\nmodel : 85\n\
             model name : {name}\nflags : ida cpb\n\
             //- {CPU}/online\n0\n//- {CPU}/cpufreq/policy0/affected_cpus\n0\n{files}"
        )
    }

    fn intel(policy: &str) -> String {
        host("GenuineIntel", "Intel(R) Xeon(R) CPU E5-2680 0 @ 2.70GHz", policy)
    }

    fn epyc(policy: &str) -> String {
        host("AuthenticAMD", "AMD EPYC 7543 32-Core Processor", policy)
    }

    const PSTATE: &str =
        "scaling_driver intel_pstate\ncpuinfo_max_freq 3500000\nscaling_max_freq 3500000";

    #[test]
    fn a_limit_below_the_highest_turbo_is_reported_with_its_share() {
        let host = intel(&PSTATE.replace("scaling_max_freq 3500000", "scaling_max_freq 1600000"));
        assert_eq!(
            verdict(&CHECK, &host),
            "high: scaling_max_freq keeps the clock at 1600 MHz of 3500 MHz [CPU 0 (1 of 1)]"
        );
        assert_eq!(verdict(&CHECK, &intel(PSTATE)), "clean");
    }

    #[test]
    fn a_limit_of_passive_cooling_is_the_heats_and_no_command_takes_it_away() {
        let hot = |kind: &str, state: u32| {
            let device = "//- /sys/class/thermal/cooling_device0";
            let arm = format!(
                "//- /proc/cpuinfo\nprocessor : 0\nCPU part : 0xd0b\n//- {CPU}/online\n0\n\
                 //- {CPU}/cpufreq/policy0/affected_cpus\n0\n//- {CPU}/cpufreq/policy0/scaling_driver\ncpufreq-dt\n\
                 //- {CPU}/cpufreq/policy0/cpuinfo_max_freq\n2000000\n//- {CPU}/cpufreq/policy0/scaling_max_freq\n1400000\n\
                 //- {CPU}/cpufreq/policy0/cpuinfo_min_freq\n600000\n//- {CPU}/cpufreq/policy0/scaling_min_freq\n600000\n\
                 {device}/type\n{kind}\n{device}/cur_state\n{state}\n"
            );
            findings(&CHECK, &arm).remove(0)
        };
        for kind in ["cpufreq-cpu0", "thermal-cpufreq-0"] {
            let found = hot(kind, 3);
            assert!(found.fix.apply.is_empty(), "{found:?}");
            assert_eq!(found.evidence.last().unwrap().value, "3");
            assert!(found.fix.lasting.unwrap().contains("fix the cooling"));
        }
        for found in [hot("cpufreq-cpu4", 3), hot("cpufreq-cpu0", 0)] {
            assert_eq!(found.fix.apply, ["scaling-max=max"]);
        }
    }

    #[test]
    fn a_firmware_limit_that_is_unknown_hides_no_other_limit() {
        let nominal = format!("//- {CPU}/cpu0/acpi_cppc/nominal_freq\n2801\n");
        let capped = |driver: &str| {
            nominal.clone()
                + &epyc(&format!(
                    "scaling_driver {driver}\ncpuinfo_max_freq 3739225\nbios_limit !denied\nscaling_max_freq 400000\n\
                 scaling_min_freq 400000\ncpuinfo_min_freq 400000"
                ))
        };
        for driver in ["acpi-cpufreq", "amd-pstate-epp"] {
            assert!(verdict(&CHECK, &capped(driver)).starts_with("high: scaling_max_freq keeps"));
        }
        // The firmware may ask for the same limit, and then a higher one of Linux changes nothing.
        let fix = findings(&CHECK, &capped("acpi-cpufreq")).remove(0).fix;
        assert!(fix.apply.is_empty() && fix.lasting.unwrap().starts_with("look at bios_limit"));
        let amd = capped("amd-pstate-epp")
            .replace("bios_limit\n!denied", "amd_pstate_lowest_nonlinear_freq\n1700000");
        let finding = findings(&CHECK, &amd).remove(0);
        assert_eq!(finding.fix.apply, ["scaling-max=max"]);
        assert_eq!(finding.evidence.last().unwrap().value, "1700000");
    }

    #[test]
    fn nominal_against_boost_is_no_limit_on_an_epyc() {
        let policy = "scaling_driver acpi-cpufreq\ncpuinfo_max_freq 3739225\nbios_limit 2800000\nscaling_max_freq 2800000";
        let nominal = format!("//- {CPU}/cpu0/acpi_cppc/nominal_freq\n2801\n");
        assert_eq!(verdict(&CHECK, &format!("{}{nominal}", epyc(policy))), "clean");
        assert_eq!(verdict(&CHECK, &epyc(policy)), "clean");
        let capped = epyc(&policy.replace("scaling_max_freq 2800000", "scaling_max_freq 2400000"));
        assert_eq!(
            verdict(&CHECK, &format!("{capped}{nominal}")),
            "medium: scaling_max_freq keeps the clock at 2400 MHz of 2801 MHz [CPU 0 (1 of 1)]"
        );
    }

    #[test]
    fn a_limit_of_the_firmware_is_told_apart() {
        let policy = "scaling_driver acpi-cpufreq\ncpuinfo_max_freq 2300000\nbios_limit 1200000\n\
             scaling_available_frequencies 2300000 1200000\nscaling_max_freq 1200000";
        assert_eq!(
            verdict(&CHECK, &epyc(policy)),
            "high: bios_limit keeps the clock at 1200 MHz of 2300 MHz [CPU 0 (1 of 1)]"
        );
    }

    #[test]
    fn the_mark_of_turbo_is_no_limit_but_leaving_it_out_is() {
        let policy =
            "scaling_driver acpi-cpufreq\ncpuinfo_max_freq 2701000\nscaling_max_freq 2701000";
        assert_eq!(verdict(&CHECK, &intel(policy)), "clean");
        let without =
            intel(&policy.replace("scaling_max_freq 2701000", "scaling_max_freq 2700000"));
        assert_eq!(
            verdict(&CHECK, &without),
            "medium: scaling_max_freq leaves out turbo: 2700000 of 2701000 kHz, and the last 1 MHz stands for turbo [CPU 0 (1 of 1)]"
        );
        assert_eq!(verdict(&CHECK, &without.replace("flags : ida cpb", "flags : sse2")), "clean");
    }

    #[test]
    fn nominal_is_no_limit_while_turbo_is_off() {
        let host = intel(&PSTATE.replace("scaling_max_freq 3500000", "scaling_max_freq 2700000"));
        let off = format!("{host}//- {CPU}/intel_pstate/no_turbo\n1\n");
        assert_eq!(verdict(&CHECK, &off), "clean");
        let efficient = PSTATE.replace("scaling_max_freq 3500000", "scaling_max_freq 1500000");
        let efficient = intel(&format!("{efficient}\nbase_frequency 1500000"));
        let off = format!("{efficient}//- {CPU}/intel_pstate/no_turbo\n1\n");
        assert_eq!(verdict(&CHECK, &off), "clean");
        assert!(verdict(&CHECK, &host).starts_with("high: "));
    }

    #[test]
    fn hybrid_cores_and_favoured_ones_have_maxima_of_their_own() {
        let other = format!(
            "//- {CPU}/online\n0-1\n//- {CPU}/cpufreq/policy1/affected_cpus\n1\n\
             //- {CPU}/cpufreq/policy1/scaling_driver\nintel_pstate\n\
             //- {CPU}/cpufreq/policy1/cpuinfo_max_freq\n2900000\n\
             //- {CPU}/cpufreq/policy1/scaling_max_freq\n2900000\n"
        );
        assert_eq!(verdict(&CHECK, &format!("{}{other}", intel(PSTATE))), "clean");
    }

    #[test]
    fn who_runs_here_is_named_as_the_writer_and_protection_from_heat_is_left_alone() {
        let fix = |name: &str| {
            let process = "S 1 1 1 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 500";
            let host = format!(
                "{}//- {CPU}/intel_pstate/max_perf_pct\n40\n//- /proc/900/stat\n900 ({name}) {process}\n",
                intel(PSTATE)
            );
            findings(&CHECK, &host).remove(0).fix
        };
        let hot = fix("thermald");
        assert!(hot.apply.is_empty() && hot.now.is_empty(), "{hot:?}");
        assert!(hot.lasting.unwrap().starts_with("thermald runs here"));
        let tuned = fix("tuned");
        assert_eq!(tuned.apply, ["max-perf-pct=100"]);
        assert!(tuned.lasting.unwrap().contains("configuration of tuned"));
        assert!(fix("postgres").lasting.unwrap().contains("no tuner that is known runs here"));
    }

    #[test]
    fn every_program_that_runs_and_writes_the_limit_is_named_with_its_number() {
        let low = intel(&PSTATE.replace("scaling_max_freq 3500000", "scaling_max_freq 1600000"));
        let found = |names: &[&str]| {
            let process = "S 1 1 1 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 500";
            let stat = |(pid, name): (usize, &&str)| {
                format!("//- /proc/{pid}/stat\n{pid} ({name}) {process}\n")
            };
            let all: String = (900..).zip(names).map(stat).collect();
            findings(&CHECK, &format!("{low}{all}")).remove(0)
        };
        let one = found(&["auto-cpufreq"]);
        assert_eq!(
            (one.held.program.as_deref(), one.held.is_certain),
            (Some("auto-cpufreq (900)"), false)
        );
        assert!(
            one.fix.lasting.as_ref().unwrap().contains("scaling_max_freq of auto-cpufreq.conf")
        );
        assert_eq!(one.fix.requests[0].setting, "scaling-max");
        let two = found(&["tuned", "auto-cpufreq"]);
        assert_eq!(two.held.program.as_deref(), Some("tuned (900) or auto-cpufreq (901)"));
        // intel_pstate has no table, by which thermald would lower it; power-profiles-daemon writes no limit.
        let none = found(&["thermald", "power-profiles-"]);
        assert_eq!((none.held.program, none.held.is_unwritten), (None, true));
    }

    #[test]
    fn a_lowered_percentage_is_a_limit_and_a_raised_minimum_is_not() {
        let percent =
            |file, value| format!("{}//- {CPU}/intel_pstate/{file}\n{value}\n", intel(PSTATE));
        assert_eq!(
            verdict(&CHECK, &percent("max_perf_pct", 70)),
            "high: intel_pstate's max_perf_pct keeps every clock at 70 % of its maximum [CPU 0 (1 of 1)]"
        );
        assert_eq!(verdict(&CHECK, &percent("min_perf_pct", 70)), "clean");
        let passive = percent("max_perf_pct", 70)
            .replace("intel_pstate\ncpuinfo", "intel_cpufreq\ncpuinfo")
            .replace("scaling_max_freq\n3500000", "scaling_max_freq\n2500000");
        assert_eq!(verdict(&CHECK, &passive).lines().count(), 1);
    }

    #[test]
    fn a_table_that_ends_below_the_name_is_reported() {
        let policy =
            "scaling_driver acpi-cpufreq\ncpuinfo_max_freq 2395000\nscaling_max_freq 2395000";
        assert_eq!(
            verdict(&CHECK, &intel(policy)),
            "medium: the driver knows no clock above 2395 MHz, and the processor is named for 2700 MHz [CPU 0 (1 of 1)]"
        );
    }

    #[test]
    fn a_request_register_below_the_capabilities_is_a_limit() {
        let registers = |request| {
            format!(
                "{}//- /dev/cpu/0/msr 0xce\n0x70a2cfb811800\n//- /dev/cpu/0/msr 0x770\n0x1\n\
                 //- /dev/cpu/0/msr 0x771\n0x70a1827\n//- /dev/cpu/0/msr 0x774\n{request}\n",
                intel(PSTATE).replace("ida", "ida hwp")
            )
        };
        assert_eq!(
            verdict(&CHECK, &registers("0x8000080a")),
            "high: the HWP request keeps the clock at level 8 of 39 [CPU 0 (1 of 1)]"
        );
        // Writing the limit that is in force already would not reach the register.
        let command = &findings(&CHECK, &registers("0x8000080a"))[0].fix.by_hand[0].command;
        assert!(command.starts_with(
            "for cpu in 0; do it=/sys/devices/system/cpu/cpu$cpu/cpufreq; max=$(cat $it/scaling_max_freq);"
        ));
        assert!(command.contains("echo $((max - 100000)) > $it/scaling_max_freq; echo $max >"));
        assert_eq!(verdict(&CHECK, &registers("0x8000270a")), "clean");
        assert_eq!(
            verdict(&CHECK, &registers("!denied")),
            "unknown: /dev/cpu/0/msr 0x774 may not be read"
        );
    }

    #[test]
    fn a_limit_that_cannot_be_read_is_unknown() {
        let host = intel(&PSTATE.replace("scaling_max_freq 3500000", "scaling_max_freq !denied"));
        assert_eq!(
            verdict(&CHECK, &host),
            "unknown: /sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq may not be read"
        );
    }

    #[test]
    fn an_epyc_of_unknown_nominal_clock_is_not_judged() {
        let policy =
            "scaling_driver acpi-cpufreq\ncpuinfo_max_freq 3739225\nscaling_max_freq 2800000";
        assert_eq!(
            verdict(&CHECK, &epyc(policy)),
            "not applicable: /sys/devices/system/cpu/cpufreq/policy0/scaling_available_frequencies does not exist"
        );
    }
}
