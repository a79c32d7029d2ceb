//! What keeps a CPU that has deep idle states from using them: states that are switched off, and latency limits of all CPUs
//! or of one.

use super::judged;
use crate::advice::persist::{active_profile, child_profile};
use crate::commands;
use crate::finding::{Confidence, Finding, Severity};
use crate::loss_scale::deviations::{CHOSEN_LATENCY, HELD_ON_PURPOSE};
use facts::cpu::cpuidle::{LATENCY_DEVICE, PARAMETERS, ResumeLatency, StateTable};
use facts::cpu::idle_limits::Barrier;
use facts::{CpuSet, HostView};
use std::collections::BTreeMap;

const CPUS: &str = "/sys/devices/system/cpu";

/// CPUs that have deep states and may use none of them, by reason.
pub(super) fn kept_shallow(host: &HostView, tables: &[StateTable]) -> Vec<Finding> {
    let mut kept: BTreeMap<(&str, Vec<Barrier>), CpuSet> = BTreeMap::new();
    for table in tables {
        for cpu in table.cpus.iter() {
            if let Some(barriers) = host.cpuidle.barriers(table, cpu) {
                let deepest = host.cpuidle.deepest_usable(table, cpu);
                kept.entry((deepest, barriers)).or_default().insert(cpu);
            }
        }
    }
    let explained = |((deepest, barriers), cpus)| explained(host, deepest, barriers, &cpus);
    kept.into_iter().map(explained).collect()
}

fn explained(host: &HostView, deepest: &str, barriers: Vec<Barrier>, cpus: &CpuSet) -> Finding {
    let first = cpus.first().unwrap_or(0);
    let reasons: Vec<String> = barriers.iter().map(|it| reason(host, it)).collect();
    let message = format!("idle CPUs go no deeper than {deepest}: {}", reasons.join(", "));
    let mut finding = judged(host, cpus.clone(), message);
    // Another barrier is a fault of its own, whatever the purpose of the limit.
    if let [Barrier::EveryCpu(_)] = barriers[..] {
        finding = excused(host, finding);
    }
    let limit = barriers.iter().find_map(|it| match it {
        Barrier::EveryCpu(limit) => Some(*limit),
        _ => None,
    });
    if let [Barrier::Disabled(states)] = &barriers[..]
        && states.iter().all(|(number, _)| is_off_by_default(host, *number, cpus))
        && !states.iter().any(|(number, _)| host.cpuidle.is_off_by_parameter(*number))
    {
        return of_the_driver(finding, states, cpus);
    }
    let mut lasting = Vec::new();
    for barrier in barriers {
        let text;
        (finding, text) = match barrier {
            Barrier::Disabled(states) => {
                let enabled = |it, (number, name): &(u32, String)| {
                    // Enabled, it would still take too long to leave.
                    let is_in_vain = limit.is_some_and(|it| forbids(host, it, *number, cpus));
                    if is_in_vain {
                        off(it, *number, cpus)
                    } else {
                        enabled(it, *number, name, cpus)
                    }
                };
                let is_by_parameter =
                    |(number, _): &(u32, String)| host.cpuidle.is_off_by_parameter(*number);
                if states.iter().any(is_by_parameter) {
                    finding = finding.evidence(
                        format!("{PARAMETERS}/states_off"),
                        host.cpuidle.parameter("states_off").unwrap_or_default(),
                    );
                }
                let text = match states.iter().all(is_by_parameter) {
                    true => "take `intel_idle.states_off=` off the boot line",
                    false => "stop the service or boot script that disables it",
                };
                (states.iter().fold(finding, enabled), text.to_owned())
            }
            Barrier::EveryCpu(limit) => with_holders(host, finding, limit),
            Barrier::OneCpu(limit) => (
                finding
                    .evidence(format!("{CPUS}/cpu{first}/power/pm_qos_resume_latency_us"), limit)
                    .fix_by_on("resume-latency", "any", cpus.clone()),
                "stop the service or boot script that writes pm_qos_resume_latency_us".to_owned(),
            ),
        };
        lasting.push(text);
    }
    finding.fix_lasting(lasting.join("; "))
}

fn reason(host: &HostView, barrier: &Barrier) -> String {
    match barrier {
        Barrier::Disabled(states) => {
            let names: Vec<&str> = states.iter().map(|(_, name)| name.as_str()).collect();
            format!("{} disabled", names.join(" and "))
        }
        Barrier::EveryCpu(limit) => {
            let holders = host.cpuidle.latency_holders.as_deref().unwrap_or_default();
            let holders: Vec<String> =
                holders.iter().map(|it| format!("{} ({})", it.name, it.pid)).collect();
            let by = if holders.is_empty() { String::new() } else { " held by ".to_owned() };
            format!("{LATENCY_DEVICE}{by}{} allows {limit} µs", holders.join(" and "))
        }
        Barrier::OneCpu(ResumeLatency::None) => {
            "pm_qos_resume_latency_us forbids every state".to_owned()
        }
        Barrier::OneCpu(limit) => format!("pm_qos_resume_latency_us allows {limit} µs"),
    }
}

fn enabled(finding: Finding, number: u32, name: &str, cpus: &CpuSet) -> Finding {
    off(finding, number, cpus).fix_by_on("idle-state", format!("{name}:on"), cpus.clone())
}

fn off(finding: Finding, number: u32, cpus: &CpuSet) -> Finding {
    let first = cpus.first().unwrap_or(0);
    finding.evidence(format!("{CPUS}/cpu{first}/cpuidle/state{number}/disable"), 1)
}

/// Whether the driver leaves a state off on each of `cpus`.
fn is_off_by_default(host: &HostView, number: u32, cpus: &CpuSet) -> bool {
    let tables = host.cpuidle.tables.as_deref().unwrap_or_default();
    let tables = tables.iter().filter(|it| !it.cpus.and(cpus).is_empty());
    let mut states = tables.flat_map(|it| &it.states).filter(|it| it.number == number);
    states.all(|it| it.is_off_by_default == Ok(true))
}

/// States that the driver leaves off on this processor: nobody switched them off, so there is nothing to undo.
fn of_the_driver(mut finding: Finding, states: &[(u32, String)], cpus: &CpuSet) -> Finding {
    finding = finding.but(&CHOSEN_LATENCY);
    finding.message.push_str(" by the driver on this processor");
    let first = cpus.first().unwrap_or(0);
    states.iter().fold(finding, |it, (number, _)| {
        let path = format!("{CPUS}/cpu{first}/cpuidle/state{number}/default_status");
        it.evidence(path, "disabled")
    })
}

/// Whether a latency limit of `limit` µs forbids a state on each of `cpus`.
fn forbids(host: &HostView, limit: u32, number: u32, cpus: &CpuSet) -> bool {
    let tables = host.cpuidle.tables.as_deref().unwrap_or_default();
    let tables = tables.iter().filter(|it| !it.cpus.and(cpus).is_empty());
    let mut states = tables.flat_map(|it| &it.states).filter(|it| it.number == number);
    states.all(|it| it.latency.as_ref().is_ok_and(|&latency| latency > u64::from(limit)))
}

/// A finding of nothing but the latency limit of all CPUs. A tuned profile that holds it does so on purpose, and so does a program: that is a
/// note, or little more. Where no descriptor could be read, an active profile may be the holder.
fn excused(host: &HostView, mut finding: Finding) -> Finding {
    let most = match (&host.cpuidle.latency_holders, active_profile(host)) {
        (Ok(holders), profile) if holders.iter().any(|it| it.name == "tuned") => {
            if let Some(active) = profile {
                finding.message =
                    format!("{}; tuned's profile {active} sets it on purpose", finding.message);
            }
            &CHOSEN_LATENCY
        }
        (Ok(holders), _) if !holders.is_empty() => &HELD_ON_PURPOSE,
        (Err(_), Some(_)) => &HELD_ON_PURPOSE,
        _ => return finding,
    };
    finding.but(most)
}

/// The latency limit of all CPUs: who holds it, and what ends it.
fn with_holders(host: &HostView, finding: Finding, limit: u32) -> (Finding, String) {
    let holders = host.cpuidle.latency_holders.as_deref().unwrap_or_default();
    let mut finding = finding.evidence(LATENCY_DEVICE, limit);
    for holder in holders {
        finding = finding.evidence(format!("/proc/{}/fd", holder.pid), LATENCY_DEVICE);
    }
    if holders.iter().any(|it| it.name == "tuned") {
        let text = match active_profile(host) {
            Some(active) => {
                let child = child_profile(host, &active, "force_latency=none");
                format!("where single-threaded speed matters more than wake-ups: {child}")
            }
            None => "the tuned profile sets it (`[cpu] force_latency`)".to_owned(),
        };
        return (finding, text);
    }
    let text = "the limit ends when the process that holds the device closes it; without one, a driver requested it";
    (finding.command(&commands::LATENCY_HOLDERS, ""), text.to_owned())
}

/// A deep state that is disabled while another deep one may be used.
pub(super) fn left_out(host: &HostView, table: &StateTable) -> Vec<Finding> {
    let off = table.states.iter().map(|state| (state, state.disabled.cpus_where(|&off| off)));
    off.filter(|(_, cpus)| !cpus.is_empty())
        .map(|(state, cpus)| {
            let message =
                format!("idle state {} is disabled, others deeper than C1 are not", state.name);
            let finding = Finding::new(Severity::Info, Confidence::High, message);
            enabled(finding, state.number, &state.name, &cpus).on(cpus, host.topology.n_online())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::CHECK;
    use super::super::tests::{C3_OFF, C6_OFF, host};
    use crate::fixture::{findings, verdict};

    #[test]
    fn disabled_states_are_a_fault_only_when_none_deeper_than_c1_is_left() {
        assert_eq!(
            verdict(&CHECK, &host(&format!("{C3_OFF}{C6_OFF}"))),
            "medium: idle CPUs go no deeper than C1: C3 and C6 disabled [all 2 CPUs]"
        );
        assert_eq!(
            verdict(&CHECK, &host(C3_OFF)),
            "info: idle state C3 is disabled, others deeper than C1 are not [all 2 CPUs]"
        );
    }

    #[test]
    fn states_that_a_parameter_switches_off_are_no_choice_of_the_driver() {
        let default = |number: u32| {
            format!(
                "//- /sys/devices/system/cpu/cpu0/cpuidle/state{number}/default_status\ndisabled\n"
            )
        };
        let parameter = "//- /sys/module/intel_idle/parameters/states_off\n12\n";
        let both = format!("{C3_OFF}{C6_OFF}{}{}{parameter}", default(2), default(3));
        assert!(
            verdict(&CHECK, &host(&both)).starts_with("medium: idle CPUs go no deeper than C1")
        );
        let finding = findings(&CHECK, &host(&both)).remove(0);
        assert_eq!(
            finding.fix.lasting.as_deref(),
            Some("take `intel_idle.states_off=` off the boot line")
        );
        assert!(
            finding.evidence.iter().any(|it| it.source.ends_with("states_off") && it.value == "12")
        );
        // A parameter that switches off another state leaves the choice to the driver.
        let other = host(&both.replace("\n12\n", "\n2\n"));
        assert!(verdict(&CHECK, &other).starts_with("info: "));
    }

    #[test]
    fn states_that_the_driver_leaves_off_are_a_note_without_a_fix() {
        let default = |number: u32| {
            format!(
                "//- /sys/devices/system/cpu/cpu0/cpuidle/state{number}/default_status\ndisabled\n"
            )
        };
        let both = format!("{C3_OFF}{C6_OFF}{}{}", default(2), default(3));
        assert_eq!(
            verdict(&CHECK, &host(&both)),
            "info: idle CPUs go no deeper than C1: C3 and C6 disabled by the driver on this processor [all 2 CPUs]"
        );
        let fix = findings(&CHECK, &host(&both)).remove(0).fix;
        assert!(fix.now.is_empty() && fix.apply.is_empty() && fix.lasting.is_none(), "{fix:?}");
        // Somebody switched the other one off.
        let one = format!("{C3_OFF}{C6_OFF}{}", default(2));
        assert!(verdict(&CHECK, &host(&one)).starts_with("medium: "));
    }

    const HELD_BY_TUNED: &str = "//- /dev/cpu_dma_latency\n!bytes 01000000\n//- /proc/812/stat\n812 (tuned) S 1 1 1 0 -1 4194560 0\n//- /proc/812/fd/7 -> /dev/cpu_dma_latency\n";

    #[test]
    fn a_limit_that_a_tuned_profile_holds_is_a_note_and_the_profile_stays() {
        let held = format!("{HELD_BY_TUNED}//- /etc/tuned/active_profile\nsap-hana\n");
        assert_eq!(
            verdict(&CHECK, &host(&held)),
            "info: idle CPUs go no deeper than POLL: /dev/cpu_dma_latency held by tuned (812) allows 1 µs; tuned's profile sap-hana sets it on purpose [all 2 CPUs]"
        );
        let fix = findings(&CHECK, &host(&held)).remove(0).fix;
        assert!(fix.now.is_empty() && fix.apply.is_empty() && fix.by_hand.is_empty(), "{fix:?}");
        let lasting = fix.lasting.unwrap();
        assert!(
            lasting.contains("include=sap-hana") && !lasting.contains("throughput"),
            "{lasting}"
        );
    }

    #[test]
    fn a_limit_that_another_program_holds_is_low_and_one_without_a_holder_medium() {
        let held = HELD_BY_TUNED.replace("(tuned)", "(trader)");
        assert_eq!(
            verdict(&CHECK, &host(&held)),
            "low: idle CPUs go no deeper than POLL: /dev/cpu_dma_latency held by trader (812) allows 1 µs [all 2 CPUs]"
        );
        let driver = "//- /dev/cpu_dma_latency\n!bytes 01000000\n";
        assert!(verdict(&CHECK, &host(driver)).starts_with("medium: "));
        let idle = "//- /dev/cpu_dma_latency\n!bytes 00943577\n";
        assert_eq!(verdict(&CHECK, &host(idle)), "clean");
    }

    #[test]
    fn a_held_limit_does_not_excuse_a_state_that_is_disabled_as_well() {
        let held = format!("{HELD_BY_TUNED}//- /etc/tuned/active_profile\nsap-hana\n{C6_OFF}");
        assert_eq!(
            verdict(&CHECK, &host(&held)),
            "medium: idle CPUs go no deeper than POLL: C6 disabled, /dev/cpu_dma_latency held by tuned (812) allows 1 µs [all 2 CPUs]"
        );
        let fix = findings(&CHECK, &host(&held)).remove(0).fix;
        assert!(fix.requests.is_empty() && fix.apply.is_empty(), "{fix:?}");
        let lasting = fix.lasting.unwrap();
        assert!(lasting.contains("disables it; ") && lasting.contains("sap-hana"), "{lasting}");
        // 90 µs leave C3, which only the switch keeps out, and forbid C6.
        let c3_only = held.replace("01000000", "5a000000").replace(C6_OFF, C3_OFF);
        let fix = findings(&CHECK, &host(&c3_only)).remove(0).fix;
        assert_eq!(fix.apply, ["idle-state=C3:on"]);
    }

    #[test]
    fn a_limit_of_unknown_holders_is_low_where_a_tuned_profile_is_active() {
        let held = format!("{HELD_BY_TUNED}//- /etc/tuned/active_profile\nsap-hana\n")
            .replace("/fd/7 -> /dev/cpu_dma_latency", "/fd/\n!denied");
        assert_eq!(
            verdict(&CHECK, &host(&held)),
            "low: idle CPUs go no deeper than POLL: /dev/cpu_dma_latency allows 1 µs [all 2 CPUs]"
        );
        let no_profile = held.replace("sap-hana", "");
        assert!(verdict(&CHECK, &host(&no_profile)).starts_with("medium: "));
        assert!(verdict(&CHECK, &host(&format!("{held}{C6_OFF}"))).starts_with("medium: "));
    }

    #[test]
    fn disabled_states_are_enabled_by_name_and_no_other_place_is_written() {
        let fix = findings(&CHECK, &host(&format!("{C3_OFF}{C6_OFF}"))).remove(0).fix;
        assert_eq!(fix.apply, ["idle-state=C3:on", "idle-state=C6:on"]);
        let cpuidle = |state| {
            format!("echo 0 | tee /sys/devices/system/cpu/cpu{{0,1}}/cpuidle/state{state}/disable")
        };
        assert_eq!(fix.now, [cpuidle(2), cpuidle(3)]);
    }

    #[test]
    fn one_cpu_that_may_not_sleep_names_its_own_limit() {
        assert_eq!(
            verdict(
                &CHECK,
                &host("//- /sys/devices/system/cpu/cpu1/power/pm_qos_resume_latency_us\nn/a\n")
            ),
            "medium: idle CPUs go no deeper than POLL: pm_qos_resume_latency_us forbids every state [CPU 1 (1 of 2)]"
        );
    }
}
