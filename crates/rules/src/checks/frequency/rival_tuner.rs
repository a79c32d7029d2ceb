//! Looks for more than one program that tunes frequencies, and for settings that contradict the one there is.
//!
//! Sources: TuneD's profiles; the service files of the programs. It sees those that stay running, and TLP; a script
//! that ran once at boot leaves no trace.

use crate::check::{Check, Reference, Verdict};
use crate::commands;
use crate::finding::{Confidence, Finding, Severity};
use facts::cpu::cpufreq::Policy;
use facts::system::tuners::{BootUnit, Running};
use facts::{CpuSet, HostView};

pub(crate) const CHECK: Check = Check {
    id: "rival-tuner",
    title: "programs that tune frequencies contradict each other or the settings",
    doc: "\
## What it looks at
Running programs that set governors, limits or energy hints: tuned, power-profiles-daemon, TLP, auto-cpufreq,
cpuspeed, cpufreqd, powernowd, system76-power, intel-lpmd, tccd, asusd; and thermald, which lowers clock and power limits, intel-speed-select as a
daemon, nvidia-powerd, geopmd and gamemoded. With one of the first, also whether cpupower.service, cpufrequtils of Debian, or ondemand.service of
Ubuntu up to 20.04, is to set a governor at boot. The agents of Dell, HPE and Lenovo are not among them: no public source says that they write such settings.
If tuned runs with a profile that asks for the governor `performance`, whether every CPU has it.

## Why it matters
Whoever wrote last wins: after a reboot, a suspend or a change of profile it may be the other one. A setting that
was made and checked comes undone weeks later. A governor that is not the profile's shows that this has
happened, or that the profile failed.

## When to leave it alone
thermald with one of the others is normal on a laptop, and a note elsewhere. It is not only for emergencies: with
`--adaptive`, as several distributions start it, it carries out the power policy of the firmware (DPTF) and writes power
limits (PL1) through intel-rapl-mmio while nothing is hot. Where `low-power-limit` finds such a limit, look at thermald first.
",
    references: &[
        Reference {
            title: "TuneD",
            url: "https://tuned-project.org/",
        },
        Reference {
            title: "thermald: src/thd_engine_adaptive.cpp",
            url: "https://github.com/intel/thermal_daemon",
        },
        Reference {
            title: "TLP: conflicting services",
            url: "https://linrunner.de/tlp/faq/ppd.html",
        },
    ],
    run,
};

fn run(host: &HostView) -> Verdict {
    let running = host.tuners.running(host.processes.as_deref()?);
    let mut findings: Vec<Finding> = rivals(host, &running).into_iter().collect();
    if findings.is_empty() {
        findings.extend(at_boot(host, &running));
    }
    if running.iter().any(|it| it.tuner.name == "tuned") {
        findings.extend(contradiction(host));
    }
    Ok(findings)
}

fn rivals(host: &HostView, running: &[Running]) -> Option<Finding> {
    let setters = running.iter().filter(|it| it.tuner.is_setter).count();
    let (severity, running) = match running {
        [_, _, ..] if setters > 1 => (Severity::Low, running),
        [_, _, ..] if setters == 1 && !host.is_portable() => (Severity::Info, running),
        _ => return None,
    };
    let names: Vec<String> = running.iter().map(Running::named).collect();
    let message = format!("{} tune frequencies at the same time", names.join(" and "));
    let finding = Finding::new(severity, Confidence::High, message);
    let finding = finding.held_by_program(names.join(" and "));
    let finding =
        running.iter().fold(finding, |it, other| it.evidence(&other.source, other.tuner.name));
    if severity == Severity::Info {
        return Some(finding);
    }
    Some(finding.fix_lasting(
        "keep one and disable the others: `systemctl disable --now` and its service's name",
    ))
}

/// A unit that sets the governor at boot, and a program that sets it while it runs: which of the two is later depends on the boot.
fn at_boot(host: &HostView, running: &[Running]) -> Option<Finding> {
    let setter = running.iter().find(|it| it.tuner.is_setter)?;
    let enabled = |it: &BootUnit| Some((it.name, it.target.clone().ok()?));
    let (name, target) = host.tuners.boot_units.iter().find_map(enabled)?;
    let message = format!("{name} sets the governor at boot, and {} while it runs", setter.named());
    Some(
        Finding::new(Severity::Info, Confidence::Medium, message)
            .evidence(BootUnit::place(name), target)
            .evidence(&setter.source, setter.tuner.name)
            .fix_lasting(format!("keep one: `systemctl disable {name}`, or the other's service")),
    )
}

/// TuneD's profile asks for `performance`, and some CPU has another governor.
fn contradiction(host: &HostView) -> Option<Finding> {
    let profile = host.tuners.performance_profile()?;
    let policies = host.cpufreq.policies.as_deref().ok()?;
    let differs = |it: &&Policy| it.governor.as_ref().is_ok_and(|it| it != "performance");
    let odd: Vec<&Policy> = policies.iter().filter(differs).collect();
    let first = odd.first()?;
    let governor = first.governor.as_deref().ok()?;
    let cpus: CpuSet = odd.iter().flat_map(|it| it.cpus.iter()).collect();
    let message = format!(
        "tuned's profile {profile} asks for governor performance, and the governor is {governor}"
    );
    Some(
        Finding::new(Severity::Medium, Confidence::Medium, message)
            .on(cpus.clone(), host.topology.n_online())
            .evidence("/etc/tuned/active_profile", profile)
            .evidence(first.path("scaling_governor"), governor)
            .command(&commands::TUNED_VERIFY, "")
            .fix_by_on("governor", "performance", cpus)
            .fix_lasting("find what writes the governor after tuned: look in /var/log/tuned/tuned.log and for other tuners and boot scripts"),
    )
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::verdict;

    fn processes(names: &[&str]) -> String {
        let stat = |(pid, name): (usize, &&str)| {
            format!(
                "//- /proc/{pid}/stat\n{pid} ({name}) S 1 1 1 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 500\n"
            )
        };
        (100..).zip(names).map(stat).collect()
    }

    const XEON: &str = "//- /sys/class/dmi/id/chassis_type\n23\n";
    const LAPTOP: &str = "//- /sys/class/dmi/id/chassis_type\n10\n";

    #[test]
    fn two_setters_are_rivals() {
        assert_eq!(
            verdict(&CHECK, &processes(&["tuned", "power-profiles-", "postgres"])),
            "low: tuned (100) and power-profiles-daemon (101) tune frequencies at the same time"
        );
        let tlp = "//- /run/tlp/last_pwr\n0\n";
        assert_eq!(
            verdict(&CHECK, &(processes(&["auto-cpufreq"]) + tlp)),
            "low: auto-cpufreq (100) and TLP tune frequencies at the same time"
        );
    }

    #[test]
    fn one_tuner_is_clean() {
        assert_eq!(verdict(&CHECK, &processes(&["tuned", "irqbalance"])), "clean");
        assert_eq!(verdict(&CHECK, &processes(&["tuned", "tuned-ppd"])), "clean");
    }

    #[test]
    fn thermald_beside_another_is_a_note_on_a_server_and_normal_on_a_laptop() {
        let both = processes(&["tuned", "thermald"]);
        assert_eq!(
            verdict(&CHECK, &(both.clone() + XEON)),
            "info: tuned (100) and thermald (101) tune frequencies at the same time"
        );
        assert_eq!(verdict(&CHECK, &(both + LAPTOP)), "clean");
        assert_eq!(verdict(&CHECK, &(processes(&["thermald"]) + XEON)), "clean");
    }

    #[test]
    fn a_unit_that_sets_the_governor_at_boot_is_a_note_beside_a_tuner() {
        let unit = "//- /etc/systemd/system/multi-user.target.wants/cpupower.service -> /usr/lib/systemd/system/cpupower.service\n";
        assert_eq!(
            verdict(&CHECK, &(processes(&["tuned"]) + unit)),
            "info: cpupower.service sets the governor at boot, and tuned (100) while it runs"
        );
        assert_eq!(verdict(&CHECK, &(processes(&["bash"]) + unit)), "clean");
        let ubuntus = unit.replace("cpupower", "ondemand");
        assert_eq!(
            verdict(&CHECK, &(processes(&["tuned"]) + &ubuntus)),
            "info: ondemand.service sets the governor at boot, and tuned (100) while it runs"
        );
    }

    #[test]
    fn programs_that_act_when_asked_are_no_rivals_of_each_other() {
        assert_eq!(verdict(&CHECK, &processes(&["geopmd", "gamemoded"])), "clean");
        assert_eq!(
            verdict(&CHECK, &(processes(&["tuned", "geopmd"]) + XEON)),
            "info: tuned (100) and geopmd (101) tune frequencies at the same time"
        );
        assert!(
            verdict(&CHECK, &processes(&["asusd", "tuned"]))
                .starts_with("low: tuned (101) and asusd (100)")
        );
    }

    #[test]
    fn a_governor_that_is_not_the_profiles_is_a_contradiction() {
        let host = |profile, governor| {
            format!(
                "{}//- /etc/tuned/active_profile\n{profile}\n//- /sys/devices/system/cpu/online\n0\n\
                 //- /sys/devices/system/cpu/cpufreq/policy0/affected_cpus\n0\n\
                 //- /sys/devices/system/cpu/cpufreq/policy0/scaling_governor\n{governor}\n",
                processes(&["tuned"])
            )
        };
        assert_eq!(
            verdict(&CHECK, &host("throughput-performance", "powersave")),
            "medium: tuned's profile throughput-performance asks for governor performance, and the governor is powersave [CPU 0 (1 of 1)]"
        );
        assert_eq!(verdict(&CHECK, &host("throughput-performance", "performance")), "clean");
        assert_eq!(verdict(&CHECK, &host("balanced", "powersave")), "clean");
        // A profile that is merged later may ask for another governor.
        assert_eq!(verdict(&CHECK, &host("virtual-host our-racks", "powersave")), "clean");
    }

    #[test]
    fn processes_that_cannot_be_listed_are_unknown() {
        assert_eq!(verdict(&CHECK, "//- /proc/\n!denied\n"), "unknown: /proc may not be read");
    }
}
