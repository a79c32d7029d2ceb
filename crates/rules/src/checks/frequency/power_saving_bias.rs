//! Looks at the energy hints, EPB and EPP, for ones that let the processor give up speed to save power.
//!
//! Sources: Documentation/admin-guide/pm/intel_epb.rst, intel_pstate.rst and amd-pstate.rst ("Energy vs Performance
//! Hints"). It cannot know what a hint costs: that depends on the model and the load.

use crate::advice::persist;
use crate::check::{Check, Reference, Verdict};
use crate::finding::{Confidence, Finding, Severity};
use crate::writers::{self, Knob};
use facts::cpu::energy_bias::{EnergyBias, Preference};
use facts::cpu::pstate::AmdPstate;
use facts::{CpuSet, HostView, IfPresent, PerCpu};
use std::collections::BTreeSet;

pub(crate) const CHECK: Check = Check {
    id: "power-saving-bias",
    title: "energy hints lean towards saving power",
    doc: "\
## What it looks at
EPP (`energy_performance_preference`, or the HWP request in MSR 0x774) and EPB (`energy_perf_bias`, or
MSR 0x1B0) of every CPU. EPP leans away from performance if it is anything but `performance`; EPB if it is 4
(`balance-performance`) or more.

## Why it matters
Where the hardware chooses the clock, EPP decides how fast it raises it after idle and how readily it gives it up
again; EPB does the same on older processors, and on newer ones still weighs on the uncore and on turbo. A
database that waits on one core after another pays at each wake-up. The defaults, `balance_performance` and
`normal` (6, on some Alder Lake and Raptor Lake laptops 7), are a compromise for untuned machines: Linux
itself sets EPB to `normal` where the firmware left it at 0.

## When to leave it alone
On a laptop, where the power bill counts more than latency, or after measuring no
difference under the load at hand. It is a note on a laptop, where EPP is `performance` and only EPB leans, and
where all hints are the defaults: `fullclock experiment` measures what they cost under your load. Where amd-pstate chooses EPP by
itself (`amd_pstate/dynamic_epp`, or a preference `dynamic`), the word in force counts, and that is switched off first.
",
    references: &[
        Reference {
            title: "Linux: Intel Performance and Energy Bias Hint",
            url: "https://docs.kernel.org/admin-guide/pm/intel_epb.html",
        },
        Reference {
            title: "Linux: intel_pstate, Energy vs Performance Hints",
            url: "https://docs.kernel.org/admin-guide/pm/intel_pstate.html#energy-vs-performance-hints",
        },
        Reference {
            title: "Linux: amd-pstate, Energy Performance Preference",
            url: "https://docs.kernel.org/admin-guide/pm/amd-pstate.html",
        },
    ],
    run,
};

/// ENERGY_PERF_BIAS_BALANCE_PERFORMANCE in arch/x86/include/asm/msr-index.h; below it is as good as performance.
const BALANCE_PERFORMANCE: u64 = 4;

fn run(host: &HostView) -> Verdict {
    let preferences = host.energy_preferences();
    let bias = host.energy_bias.if_present()?;
    let leaning = preferences.cpus_where(Preference::leans_to_power);
    let biased = bias.map(|it| it.values.cpus_where(|&bias| bias >= BALANCE_PERFORMANCE));
    let biased = biased.unwrap_or_default();
    if leaning.is_empty() && biased.is_empty() {
        return every_hint_is_known(host, &preferences, bias);
    }
    let is_usual = has_usual_hints(host, &preferences, bias);
    let is_note =
        host.is_portable() || is_usual || (leaning.is_empty() && is_overruled(&preferences));
    let severity = if is_note { Severity::Info } else { Severity::Low };
    let hints =
        [hint_values("EPP", &preferences, &leaning, |it| it.text.clone()), epb(bias, &biased)];
    let hints: Vec<String> = hints.into_iter().flatten().collect();
    let are =
        if is_usual { "are the defaults, a compromise" } else { "lean away from performance" };
    let message = format!("energy hints {are}: {}", hints.join(", "));
    let mut finding = Finding::new(severity, Confidence::High, message)
        .on(leaning.iter().chain(biased.iter()).collect(), host.topology.n_online());
    if let Some(Ok(preference)) = leaning.first().and_then(|cpu| preferences.get(cpu)) {
        finding = finding.evidence(&preference.path, &preference.text);
        let is_switched_on = host.pstate.amd.dynamic_epp == Ok(true);
        if is_switched_on || Preference::is_dynamic(&preference.text) {
            let file = format!("{}/dynamic_epp", AmdPstate::FOLDER);
            let finding = if is_switched_on { finding.evidence(file, "enabled") } else { finding };
            return Ok(vec![finding.fix_lasting(BY_DRIVER)]);
        }
        let writers = writers::writers(host, Knob::Preference, &preference.text);
        finding = writers::attributed(finding, Knob::Preference, writers.as_deref())
            .by_means_of(format!("a preference for saving power (EPP {})", preference.text))
            .fix_by_on("energy-performance-preference", "performance", leaning);
    }
    if let (Some(bias), Some(cpu)) = (bias, biased.first())
        && let Some(Ok(value)) = bias.values.get(cpu)
    {
        finding = finding.evidence(bias.path(cpu), value).fix_by_on(
            "energy-perf-bias",
            "performance",
            biased,
        );
    }
    Ok(vec![finding.fix_lasting(persist::tuned(
        host,
        "energy_perf_bias=performance energy_performance_preference=performance",
    ))])
}

const BY_DRIVER: &str = "\
amd-pstate chooses the preference by itself, by the power supply and the platform's profile (dynamic EPP): where the hint should stay, \
write disabled to amd_pstate/dynamic_epp, or on kernels without it a word to energy_performance_preference; on the boot line \
amd_dynamic_epp=disable";

/// Nothing leans, as far as is known. A host without either hint has nothing to judge.
fn every_hint_is_known(
    host: &HostView,
    preferences: &PerCpu<Preference>,
    bias: Option<&EnergyBias>,
) -> Verdict {
    if let Some(missing) = preferences.missing().filter(|it| !it.is_absence()) {
        return Err(missing.into());
    }
    match bias {
        Some(bias) => bias.values.all_known()?,
        None if preferences.known().next().is_none() => {
            host.cpufreq.policies.as_ref()?;
            host.energy_bias.as_ref()?;
        }
        None => {}
    }
    Ok(Vec::new())
}

/// Whether no hint leans further than those of a machine that nobody has tuned.
fn has_usual_hints(
    host: &HostView,
    preferences: &PerCpu<Preference>,
    bias: Option<&EnergyBias>,
) -> bool {
    let normal = host.cpuinfo.as_ref().map_or(0, EnergyBias::normal);
    let leans_further = |it: &Preference| it.leans_to_power() && !it.is_usual();
    preferences.cpus_where(leans_further).is_empty()
        && bias.is_none_or(|it| it.values.cpus_where(|&bias| bias > normal).is_empty())
}

/// Whether EPP says performance everywhere, so that EPB no longer decides the clock.
fn is_overruled(preferences: &PerCpu<Preference>) -> bool {
    let is_performance = |it: &Preference| !it.leans_to_power() && it.text != "default";
    !preferences.is_empty() && preferences.cpus_where(is_performance).len() == preferences.len()
}

fn epb(bias: Option<&EnergyBias>, biased: &CpuSet) -> Option<String> {
    hint_values("EPB", &bias?.values, biased, u64::to_string)
}

/// "EPP balance_performance", "EPB 6 and 15"; nothing where no CPU leans.
fn hint_values<T>(
    name: &str,
    values: &PerCpu<T>,
    cpus: &CpuSet,
    word: impl Fn(&T) -> String,
) -> Option<String> {
    let leaning = values.known().filter(|(cpu, _)| cpus.contains(*cpu));
    let words: BTreeSet<String> = leaning.map(|(_, value)| word(value)).collect();
    (!words.is_empty())
        .then(|| format!("{name} {}", words.into_iter().collect::<Vec<_>>().join(" and ")))
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::{findings, verdict};

    const CPU: &str = "/sys/devices/system/cpu";

    /// Two CPUs of a Xeon with these EPPs and EPBs.
    fn host(preference: [&str; 2], bias: [&str; 2]) -> String {
        let cpu = |cpu: usize| {
            let policy = format!("//- {CPU}/cpufreq/policy{cpu}");
            format!(
                "{policy}/affected_cpus\n{cpu}\n{policy}/energy_performance_preference\n{}\n\
                 //- {CPU}/cpu{cpu}/power/energy_perf_bias\n{}\n",
                preference[cpu], bias[cpu]
            )
        };
        format!(
            "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : GenuineIntel\n\
             model name : Intel(R) Xeon(R) Gold 6230 CPU @ 2.10GHz\nflags : epb hwp hwp_epp\n\
             //- {CPU}/online\n0-1\n{}{}",
            cpu(0),
            cpu(1)
        )
    }

    #[test]
    fn the_defaults_are_a_note_and_what_leans_further_is_low() {
        assert_eq!(
            verdict(&CHECK, &host(["balance_performance"; 2], ["6"; 2])),
            "info: energy hints are the defaults, a compromise: EPP balance_performance, EPB 6 [all 2 CPUs]"
        );
        assert_eq!(
            verdict(&CHECK, &host(["balance_power"; 2], ["6"; 2])),
            "low: energy hints lean away from performance: EPP balance_power, EPB 6 [all 2 CPUs]"
        );
        assert!(verdict(&CHECK, &host(["balance_performance"; 2], ["8"; 2])).starts_with("low: "));
    }

    #[test]
    fn a_preference_that_the_driver_chooses_is_judged_by_the_word_in_force_and_has_no_command() {
        let policy = format!("//- {CPU}/cpufreq/policy0");
        let epyc = |preference: &str, more: &str| {
            format!(
                "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : AuthenticAMD\n\
                 //- {CPU}/online\n0\n{policy}/affected_cpus\n0\n{policy}/scaling_driver\namd-pstate-epp\n\
                 {policy}/energy_performance_preference\n{preference}\n{more}"
            )
        };
        let of = |preference: &str| verdict(&CHECK, &epyc(preference, ""));
        assert!(of("dynamic(profile:balance_performance)").starts_with("info: "));
        assert!(of("dynamic(profile:power)").starts_with("low: energy hints lean away"));
        assert_eq!(of("dynamic(profile:performance)"), "clean");
        let enabled = format!("//- {CPU}/amd_pstate/dynamic_epp\nenabled\n");
        for host in [epyc("dynamic(profile:power)", ""), epyc("power", &enabled)] {
            let fix = findings(&CHECK, &host).remove(0).fix;
            assert!(fix.apply.is_empty(), "{fix:?}");
            assert!(fix.lasting.unwrap().contains("amd_dynamic_epp=disable"));
        }
    }

    #[test]
    fn performance_is_clean() {
        assert_eq!(verdict(&CHECK, &host(["performance", "0"], ["0"; 2])), "clean");
        assert_eq!(verdict(&CHECK, &host(["default"; 2], ["0"; 2])), "clean");
    }

    #[test]
    fn different_values_are_named_together() {
        assert_eq!(
            verdict(&CHECK, &host(["performance", "power"], ["0", "15"])),
            "low: energy hints lean away from performance: EPP power, EPB 15 [CPU 1 (1 of 2)]"
        );
    }

    #[test]
    fn a_laptop_gets_a_note() {
        let chassis = "//- /sys/class/dmi/id/chassis_type\n10\n";
        let laptop = host(["balance_power"; 2], ["8"; 2]) + chassis;
        assert!(verdict(&CHECK, &laptop).starts_with("info: "));
        let unnamed = host(["balance_power"; 2], ["8"; 2]);
        let unnamed = unnamed.replace("Xeon(R) Gold 6230", "Core(TM) i7-7500U");
        assert!(verdict(&CHECK, &unnamed).starts_with("info: "));
    }

    #[test]
    fn the_bias_is_a_note_where_the_preference_overrules_it() {
        assert_eq!(
            verdict(&CHECK, &host(["performance"; 2], ["6"; 2])),
            "info: energy hints are the defaults, a compromise: EPB 6 [all 2 CPUs]"
        );
    }

    #[test]
    fn registers_serve_where_sysfs_has_no_file() {
        let registers = "//- /dev/cpu/0/msr 0xce\n0x70a2cfb811400\n//- /dev/cpu/0/msr 0x770\n0x1\n\
             //- /dev/cpu/0/msr 0x774\n0x8000270a\n//- /dev/cpu/1/msr 0x774\n0x8000270a\n\
             //- /dev/cpu/0/msr 0x1b0\n0x6\n//- /dev/cpu/1/msr 0x1b0\n0x6\n";
        let host = host(["!absent"; 2], ["!absent"; 2])
            .replace("vendor_id", "cpu family : 6\nmodel : 85\nvendor_id");
        assert_eq!(
            verdict(&CHECK, &(host + registers)),
            "info: energy hints are the defaults, a compromise: EPP 128, EPB 6 [all 2 CPUs]"
        );
    }

    #[test]
    fn a_hint_that_cannot_be_read_is_unknown() {
        assert_eq!(
            verdict(&CHECK, &host(["performance"; 2], ["0", "!denied"])),
            "unknown: /sys/devices/system/cpu/cpu1/power/energy_perf_bias may not be read"
        );
        assert_eq!(
            verdict(&CHECK, &host(["!denied"; 2], ["0"; 2])),
            "unknown: /sys/devices/system/cpu/cpufreq/policy0/energy_performance_preference may not be read"
        );
    }

    #[test]
    fn a_processor_without_hints_has_none_to_judge() {
        let host = host(["!absent"; 2], ["!absent"; 2]).replace("epb hwp hwp_epp", "sse2");
        assert_eq!(
            verdict(&CHECK, &host),
            "not applicable: no energy_perf_bias here: /proc/cpuinfo has no flag epb"
        );
    }
}
