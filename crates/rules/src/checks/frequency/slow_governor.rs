//! Looks at `scaling_governor` of every cpufreq policy, for a governor that leaves CPUs below their clock.
//!
//! Source: Documentation/admin-guide/pm/cpufreq.rst, "Generic Scaling Governors". It cannot know how long
//! the CPUs really spend at a low clock: that is for the ledger.

use crate::advice::persist;
use crate::check::{Check, Reference, Verdict};
use crate::clock::occ;
use crate::finding::{Confidence, Finding, OfClock, Severity};
use crate::loss_scale::deviations::{FOLLOWS_LOAD, TOLD_OF_LOAD};
use crate::loss_scale::{self, Lost};
use crate::makers::{self, Menu};
use crate::writers::{self, Knob};
use facts::cpu::cpufreq::Policy;
use facts::system::hpe;
use facts::{CpuSet, Hertz, HostView, Missing};
use std::collections::BTreeMap;

pub(crate) const CHECK: Check = Check {
    id: "slow-governor",
    title: "a frequency governor keeps CPUs below their clock",
    doc: "\
## What it looks at
The governor of every cpufreq policy (`scaling_governor`), where the governor chooses the clock: with
acpi-cpufreq, intel_cpufreq (intel_pstate in passive mode), amd-pstate in passive mode and cppc_cpufreq.

## Why it matters
A commit, a lock or a network message waits for one core, for microseconds. `powersave` holds that core at
its lowest clock for good; `ondemand`, `conservative` and `schedutil` raise the clock only after they have
seen load, tens of microseconds to many milliseconds later, and lower it again in every pause. A two-socket
Xeon E5540 ran its idle cores at 1600 of 2534 MHz this way: 37 % of the clock, noticed only because an
InfiniBand benchmark complained about cores with different frequencies.

## When to leave it alone
On a laptop, or where power is worth more than latency. Where intel_pstate or amd-pstate drives the clock by
itself (active mode), a governor called `powersave` is the normal, dynamic mode and this check says
nothing about it. `schedutil` is good enough for throughput on a loaded machine; measure before changing it.
",
    references: &[
        Reference {
            title: "Linux: CPU Performance Scaling, Generic Scaling Governors",
            url: "https://docs.kernel.org/admin-guide/pm/cpufreq.html#generic-scaling-governors",
        },
        Reference {
            title: "Linux: intel_pstate, Active Mode",
            url: "https://docs.kernel.org/admin-guide/pm/intel_pstate.html#active-mode",
        },
    ],
    run,
};

/// Below this share of its maximum a CPU counts as slowed down: the two clocks that case studies
/// and lscpu dumps show for one steady clock differ by less.
const AT_FULL_CLOCK: f64 = 0.98;

fn run(host: &HostView) -> Verdict {
    let policies = host.cpufreq.policies.as_ref()?;
    let mut by_governor: BTreeMap<&str, Vec<&Policy>> = BTreeMap::new();
    let mut unknown: Option<&Missing> = None;
    for policy in policies {
        match governs(policy) {
            Ok(Some(governor)) => by_governor.entry(governor).or_default().push(policy),
            Ok(None) => {}
            Err(missing) => unknown = unknown.or(Some(missing)),
        }
    }
    let findings: Vec<Finding> = by_governor
        .into_iter()
        .filter_map(|(governor, policies)| judge(host, governor, &policies))
        .collect();
    match unknown {
        Some(missing) if findings.is_empty() => Err(missing.into()),
        _ => Ok(findings),
    }
}

/// The governor, where the governor chooses the clock.
fn governs(policy: &Policy) -> Result<Option<&str>, &Missing> {
    Ok(if policy.drives_itself()? { None } else { Some(policy.governor.as_ref()?) })
}

fn judge(host: &HostView, governor: &str, policies: &[&Policy]) -> Option<Finding> {
    let slowed: Vec<&Policy> = policies.iter().copied().filter(|it| is_slowed(host, it)).collect();
    let (severity, subject) = match governor {
        // Another limit keeps the clock where it is, and that check says so.
        "powersave" | "userspace" if policies.iter().all(|it| is_at_its_limit(host, it)) => {
            (Severity::Low, policies)
        }
        "powersave" => (Severity::High, policies),
        "conservative" | "ondemand" if slowed.is_empty() => (Severity::Low, policies),
        "conservative" | "ondemand" => (Severity::Medium, &*slowed),
        "schedutil" => (Severity::Low, policies),
        "userspace" if !slowed.is_empty() => (Severity::High, &*slowed),
        _ => return None,
    };
    let cpus: CpuSet = subject.iter().flat_map(|it| it.cpus.iter()).collect();
    let example = *subject.iter().min_by(|a, b| left(host, a).total_cmp(&left(host, b)))?;
    let is_lost = left(host, example) <= AT_FULL_CLOCK;
    let by_mailbox = example.driver.as_deref() == Ok(PCC) && is_dynamic(governor);
    let behaviour = if by_mailbox { BY_MAILBOX } else { behaviour(governor) };
    let message = format!("governor {governor} {behaviour}");
    let finding = if is_lost {
        Finding::of_lost(lost(host, governor, example, &cpus), Confidence::High, message)
    } else {
        Finding::new(severity, Confidence::High, message)
    };
    let under = if by_mailbox { " under pcc-cpufreq" } else { "" };
    let finding = finding
        .on(cpus.clone(), host.topology.n_online())
        .evidence(example.path("scaling_governor"), governor)
        .by_means_of(format!("the frequency governor ({governor}{under})"));
    let writers = writers::writers(host, Knob::Governor, governor);
    let mut finding = writers::attributed(finding, Knob::Governor, writers.as_deref());
    if !is_lost && policies.iter().all(|it| is_at_its_limit(host, it)) {
        finding = finding.at_limit();
    }
    if by_mailbox {
        finding = finding
            .evidence(example.path("scaling_driver"), PCC)
            .advising("for good, let Linux control the clock in the firmware's setup, which brings another driver")
            .fix_lasting(out_of_mailbox(host));
    } else {
        finding = finding.fix_lasting(persist::governor(host));
    }
    finding = finding.fix_by_on("governor", "performance", cpus);
    if let Some(Clocks { clock, ceiling, .. }) = clocks(host, example) {
        finding = finding.evidence(example.path("scaling_cur_freq"), clock.khz());
        if is_lost {
            let loss = OfClock::lost(1.0 - clock.share_of(ceiling)).at_most();
            let derivation = format!("{clock} of {ceiling}");
            finding = finding.cost_of_clock(loss.lasting(" while it lasts"), derivation);
        }
    }
    Some(finding)
}

/// The share of the clock that a governor may ask for which a policy has; all of it where that is unknown.
fn left(host: &HostView, policy: &Policy) -> f64 {
    clocks(host, policy).map_or(1.0, |it| it.clock.share_of(it.ceiling))
}

/// What a governor takes of these CPUs, by the policy that has least.
fn lost(host: &HostView, governor: &str, policy: &Policy, cpus: &CpuSet) -> Lost {
    let lost = Lost::of_what_is_left(left(host, policy), loss_scale::are_many(host, cpus));
    match governor {
        "ondemand" | "conservative" => lost.but(&FOLLOWS_LOAD),
        "schedutil" => lost.but(&TOLD_OF_LOAD),
        _ => lost,
    }
}

/// The driver that asks the firmware of HP's and HPE's servers for a clock by a mailbox: one for all CPUs, under one lock. Since Linux 4.18 it
/// refuses governors that follow the load on more than four CPUs and says "Try to enable another scaling driver through BIOS settings"
/// (drivers/cpufreq/pcc-cpufreq.c).
const PCC: &str = "pcc-cpufreq";
const BY_MAILBOX: &str = "asks the firmware for each change of a clock, one CPU after the other: pcc-cpufreq has one mailbox and one lock for all";

fn out_of_mailbox(host: &HostView) -> String {
    match makers::is_not_hpe(host) {
        true => format!("{}, {}", makers::setup(host, Menu::Clock), hpe::BRINGS),
        false => hpe::REPLACES_PCC.to_owned(),
    }
}

/// Whether it follows the load.
fn is_dynamic(governor: &str) -> bool {
    matches!(governor, "ondemand" | "conservative" | "schedutil")
}

pub(crate) fn behaviour(governor: &str) -> &'static str {
    match governor {
        "powersave" => "holds the lowest clock whatever the load",
        "userspace" => "holds a clock below the maximum that some program chose",
        _ => "raises the clock only after it has seen load",
    }
}

/// The clocks that a governor is judged by.
struct Clocks {
    clock: Hertz,
    /// What the policy should have: the maximum, or the nominal clock where that is lower.
    full: Hertz,
    /// The most of it that a governor may ask for.
    ceiling: Hertz,
}

fn clocks(host: &HostView, policy: &Policy) -> Option<Clocks> {
    let max = *policy.cpuinfo_max.as_ref().ok()?;
    // The firmware's limit is the nominal clock where nothing else says, and here it is what may be too low.
    let nominal = host.nominal_clock().filter(|(_, source)| *source != "bios_limit");
    let full = nominal.map_or(max, |(nominal, _)| nominal.min(max));
    let clock = *policy.scaling_cur.as_ref().ok()?;
    let ceiling = full.min(host.ceiling_of(policy)?);
    // What firmware holds no governor lowers.
    let held = occ::holds(host).filter(|it| policy.cpus.iter().all(|cpu| it.cpus.contains(cpu)));
    Some(Clocks { clock, full, ceiling: held.map_or(ceiling, |it| ceiling.min(it.clock)) })
}

fn is_slowed(host: &HostView, policy: &Policy) -> bool {
    clocks(host, policy).is_some_and(|it| it.clock.share_of(it.ceiling) < AT_FULL_CLOCK)
}

/// Whether the clock is as high as limits allow that are below what it should have.
fn is_at_its_limit(host: &HostView, policy: &Policy) -> bool {
    !is_slowed(host, policy) && clocks(host, policy).is_some_and(|it| it.ceiling < it.full)
}

#[cfg(test)]
mod tests {
    use super::{CHECK, Severity};
    use crate::fixture::{findings, verdict};

    /// Two CPUs of case 1's Xeon E5540 under `driver`, with `governor` and the clock `khz` on CPU 0.
    fn host(driver: &str, governor: &str, khz: &str) -> String {
        let policy = |cpu: u32, governor: &str, khz: &str| {
            let folder = format!("//- /sys/devices/system/cpu/cpufreq/policy{cpu}");
            format!(
                "{folder}/scaling_driver\n{driver}\n{folder}/affected_cpus\n{cpu}\n\
                 {folder}/scaling_governor\n{governor}\n{folder}/scaling_cur_freq\n{khz}\n\
                 {folder}/scaling_available_governors\nondemand userspace powersave performance\n\
                 {folder}/cpuinfo_max_freq\n2534000\n"
            )
        };
        let (cpu0, cpu1) = (policy(0, governor, khz), policy(1, "performance", "2534000"));
        format!("//- /sys/devices/system/cpu/online\n0-1\n{cpu0}{cpu1}")
    }

    #[test]
    fn ondemand_at_a_low_clock_is_medium() {
        assert_eq!(
            verdict(&CHECK, &host("acpi-cpufreq", "ondemand", "1600000")),
            "medium: governor ondemand raises the clock only after it has seen load [CPU 0 (1 of 2)]"
        );
    }

    #[test]
    fn ondemand_at_full_clock_is_low() {
        assert!(verdict(&CHECK, &host("acpi-cpufreq", "ondemand", "2534000")).starts_with("low: "));
    }

    #[test]
    fn powersave_is_high_only_where_the_governor_chooses_the_clock() {
        assert!(
            verdict(&CHECK, &host("acpi-cpufreq", "powersave", "1600000")).starts_with("high: ")
        );
        assert_eq!(verdict(&CHECK, &host("intel_pstate", "powersave", "1600000")), "clean");
        assert_eq!(verdict(&CHECK, &host("amd-pstate-epp", "powersave", "1600000")), "clean");
    }

    #[test]
    fn userspace_is_a_fault_only_below_the_maximum() {
        assert!(
            verdict(&CHECK, &host("acpi-cpufreq", "userspace", "1600000")).starts_with("high: ")
        );
        assert_eq!(verdict(&CHECK, &host("acpi-cpufreq", "userspace", "2534000")), "clean");
    }

    #[test]
    fn the_command_writes_the_slow_policies_and_no_other() {
        let fix = findings(&CHECK, &host("acpi-cpufreq", "ondemand", "1600000")).remove(0).fix;
        let policy = "/sys/devices/system/cpu/cpufreq/policy";
        assert_eq!(fix.now, [format!("echo performance > {policy}0/scaling_governor")]);
        assert_eq!(fix.apply, ["governor=performance@0"]);
        let both = host("acpi-cpufreq", "ondemand", "1600000")
            .replace("governor\nperformance", "governor\nondemand")
            .replace("cur_freq\n2534000", "cur_freq\n1600000");
        let fix = findings(&CHECK, &both).remove(0).fix;
        assert_eq!(fix.now, [format!("echo performance | tee {policy}{{0,1}}/scaling_governor")]);
        assert_eq!(fix.apply, ["governor=performance"]);
    }

    #[test]
    fn a_governor_that_the_driver_lacks_is_not_advised() {
        let host = host("acpi-cpufreq", "ondemand", "1600000")
            .replace("powersave performance", "powersave");
        let fix = findings(&CHECK, &host).remove(0).fix;
        assert!(fix.now.is_empty() && fix.apply.is_empty());
        assert!(fix.refused[0].contains("has no governor \"performance\""), "{fix:?}");
    }

    #[test]
    fn a_governor_that_runs_at_a_limit_is_not_what_keeps_the_clock_low() {
        let limited = |governor: &str, khz: &str, file: &str| {
            let policy = "//- /sys/devices/system/cpu/cpufreq/policy0";
            host("acpi-cpufreq", governor, khz) + &format!("{policy}/{file}\n1600000\n")
        };
        for file in ["scaling_max_freq", "bios_limit"] {
            for governor in ["ondemand", "conservative", "powersave", "userspace"] {
                let finding = findings(&CHECK, &limited(governor, "1600000", file)).remove(0);
                assert_eq!((finding.severity, finding.cost), (Severity::Low, None), "{governor}");
            }
            // Below the limit it is.
            let below = verdict(&CHECK, &limited("ondemand", "1200000", file));
            assert!(below.starts_with("medium: "), "{below}");
        }
    }

    #[test]
    fn a_driver_with_one_mailbox_is_named_with_the_setting_that_replaces_it() {
        let finding = findings(&CHECK, &host("pcc-cpufreq", "ondemand", "1600000")).remove(0);
        assert!(finding.message.contains("pcc-cpufreq has one mailbox"), "{}", finding.message);
        assert!(finding.fix.lasting.unwrap().contains("OS Control Mode"));
        assert_eq!(finding.evidence[1].value, "pcc-cpufreq");
    }

    #[test]
    fn performance_is_clean() {
        assert_eq!(verdict(&CHECK, &host("acpi-cpufreq", "performance", "2534000")), "clean");
    }

    #[test]
    fn a_governor_that_cannot_be_read_is_unknown() {
        assert_eq!(
            verdict(&CHECK, &host("acpi-cpufreq", "!denied", "1600000")),
            "unknown: /sys/devices/system/cpu/cpufreq/policy0/scaling_governor may not be read"
        );
    }

    #[test]
    fn a_host_without_cpufreq_has_no_governor() {
        assert_eq!(
            verdict(&CHECK, "//- /sys/devices/system/cpu/online\n0\n"),
            "not applicable: /sys/devices/system/cpu/cpu0/cpufreq does not exist"
        );
    }
}
