//! Looks at the Speed Select profile of Intel's servers: whether one is in force that lowers the clocks they were sold with.
//!
//! Source: facts::power::speed_select. It knows what a profile sets and whether the choice is locked, and not who chose it: the firmware's
//! setup, a management controller (out of band) and `intel-speed-select` all write the same register.

use crate::check::{Check, Reference, Verdict};
use crate::commands;
use crate::cost::OfClock;
use crate::finding::{Confidence, Finding, Severity};
use crate::loss_scale::{self, Lost};
use crate::party::Party;
use facts::power::speed_select::{Domain, InForce, Profile};
use facts::{CpuSet, HostView, Missing};

pub(crate) const CHECK: Check = Check {
    id: "speed-select-profile",
    title: "a Speed Select profile lowers the clock",
    doc: "\
## What it looks at
The performance profile (SST-PP) that is in force on each package or power domain, asked of the driver's device /dev/isst_interface (root) by
commands that only read; the base clock, the highest turbo clock and the design power that it sets, against those of level 0, what the processor
was sold as. Whether SST-BF, SST-TF or SST-CP is on, which make its CPUs unequal. Cascade Lake to Emerald Rapids are asked by their
mailbox, Granite Rapids and later by power domain. No file shows the profile; `base_frequency` shows what follows from it.

A lower turbo clock is as severe as the share that it takes. A lower base clock alone is low: it counts while all cores are busy, and then the
profile's design power decides as well. A finding names the firmware where the choice is locked.

## Why it matters
A profile with a lower base clock has a lower design power or other cores: somebody chose it for a rack's budget or for another
workload, often with the firmware's setup or by the management controller, and every tool shows its limits as those of the processor. `turbo-off` and
`capped-frequency` see nothing: the registers that they compare have changed together.

## When to leave it alone
Level 0 with none of the features is how most servers run, and clean. So is a profile with clocks as high as those of level 0: it has fewer cores
with a higher clock, which is a choice for a licence by the core. SST-BF and SST-TF take clock from some CPUs to give it to others, which pays where the
database runs on the favoured ones: they are a note.
",
    references: &[
        Reference {
            title: "Linux: Intel Speed Select Technology User Guide",
            url: "https://docs.kernel.org/admin-guide/pm/intel-speed-select.html",
        },
        Reference {
            title: "Linux: include/uapi/linux/isst_if.h",
            url: "https://git.kernel.org/pub/scm/linux/kernel/git/torvalds/linux.git/tree/include/uapi/linux/isst_if.h",
        },
    ],
    run,
};

fn run(host: &HostView) -> Verdict {
    let domains = host.speed_select.as_ref()?;
    let mut findings: Vec<Finding> = lowered(host, domains).into_iter().collect();
    findings.extend(unequal(host, domains));
    let is_told = domains.iter().any(|it| it.in_force.is_ok());
    let unknown = domains.iter().filter_map(unjudged).max_by_key(|it| !it.is_absence());
    match unknown {
        Some(missing) if findings.is_empty() && !(is_told && missing.is_absence()) => {
            Err(missing.clone())
        }
        _ => Ok(findings),
    }
}

/// Why it is not known what is in force, or how another level than 0 compares with it.
fn unjudged(domain: &Domain) -> Option<&Missing> {
    match &domain.in_force {
        Ok(in_force) if in_force.level == 0 => None,
        Ok(_) => domain.current.as_ref().err().or(domain.sold.as_ref().err()),
        Err(missing) => Some(missing),
    }
}

/// A domain whose profile lowers a clock.
struct Lowered<'a> {
    domain: &'a Domain,
    in_force: &'a InForce,
    current: Profile,
    sold: Profile,
}

impl Lowered<'_> {
    fn of(domain: &Domain) -> Option<Lowered<'_>> {
        let in_force = domain.in_force.as_ref().ok().filter(|it| it.level > 0)?;
        let (current, sold) = (*domain.current.as_ref().ok()?, *domain.sold.as_ref().ok()?);
        let is_lower = current.base < sold.base || current.turbo < sold.turbo;
        is_lower.then_some(Lowered { domain, in_force, current, sold })
    }

    /// The shares of turbo and base clock that are left.
    fn left(&self) -> (f64, f64) {
        let Lowered { current, sold, .. } = self;
        (current.turbo.share_of(sold.turbo), current.base.share_of(sold.base))
    }
}

fn lowered(host: &HostView, domains: &[Domain]) -> Option<Finding> {
    let lowered: Vec<Lowered<'_>> = domains.iter().filter_map(Lowered::of).collect();
    let worst = lowered.iter().min_by(|one, other| {
        let ((turbo, base), (of_turbo, of_base)) = (one.left(), other.left());
        turbo.total_cmp(&of_turbo).then(base.total_cmp(&of_base))
    })?;
    let cpus = cpus(host, lowered.iter().map(|it| it.domain));
    let (turbo, base) = worst.left();
    let Lowered { current, sold, in_force, .. } = worst;
    let level = in_force.level;
    let (what, now, before, left) = match turbo < 1.0 {
        true => ("highest clock", current.turbo, sold.turbo, turbo),
        false => ("base clock", current.base, sold.base, base),
    };
    let message = format!(
        "Speed Select profile {level} sets a {what} of {now}, and profile 0, as the processor was sold, {before}"
    );
    let finding = match turbo < 1.0 {
        true => {
            let lost = Lost::of_what_is_left(turbo, loss_scale::are_many(host, &cpus));
            Finding::of_lost(lost, Confidence::High, message)
        }
        false => Finding::new(Severity::Low, Confidence::High, message),
    };
    let finding = finding
        .on(cpus, host.topology.n_online())
        .evidence(&worst.domain.source, shown(in_force))
        .evidence("profile in force", shown_of(current))
        .evidence("profile 0", shown_of(sold))
        .by_means_of(format!("Speed Select profile {level}"));
    let finding = match turbo < 1.0 {
        true => finding.cost_of_clock(
            OfClock::lost(1.0 - left).at_most(),
            format!("{now} of {before}; the profile has {} of {}", current.power, sold.power),
        ),
        false => finding,
    };
    Some(advised(host, finding, worst))
}

/// What to do: who has locked it decides where.
fn advised(host: &HostView, finding: Finding, worst: &Lowered<'_>) -> Finding {
    const SETUP: &str =
        "choose the profile in the firmware's setup, or ask who operates the management controller";
    if worst.in_force.is_locked {
        return finding
            .held_by(Party::Firmware)
            .advising("choose profile 0 in the firmware's setup")
            .fix_lasting(SETUP);
    }
    let is_daemon = |it: &facts::system::process::Process| it.name == "intel-speed-sel";
    let daemon = host.processes.as_deref().unwrap_or_default().iter().find(|it| is_daemon(it));
    let finding = match daemon {
        // isst-daemon.c: with `--oob` it follows what an agent outside of Linux chooses.
        Some(daemon) => finding
            .evidence(format!("/proc/{}/stat", daemon.pid), &daemon.name)
            .held_by(Party::ManagementController),
        None => finding,
    };
    let budget = format!(
        "find who chose it: the firmware's setup, a management controller, a boot script with intel-speed-select; profile 0 may draw {}, this one {}",
        worst.sold.power, worst.current.power
    );
    finding.command(&commands::SPEED_SELECT_PROFILE, "0").fix_lasting(budget)
}

/// The features that make CPUs unequal, as a note.
fn unequal(host: &HostView, domains: &[Domain]) -> Option<Finding> {
    let has = |domain: &Domain| -> Vec<&'static str> {
        let in_force = domain.in_force.as_ref().ok();
        let features = [
            (in_force.is_some_and(|it| it.unequal_base), "SST-BF"),
            (in_force.is_some_and(|it| it.unequal_turbo), "SST-TF"),
            (domain.core_power == Ok(true), "SST-CP"),
        ];
        features.into_iter().filter(|it| it.0).map(|it| it.1).collect()
    };
    let with: Vec<&Domain> = domains.iter().filter(|it| !has(it).is_empty()).collect();
    let first = with.first()?;
    let mut names: Vec<&str> = with.iter().flat_map(|it| has(it)).collect();
    names.sort_unstable();
    names.dedup();
    let message = format!(
        "{} on: the processor takes clock or power from some CPUs to give it to others",
        match names[..] {
            [one] => format!("{one} is"),
            _ => format!("{} are", names.join(" and ")),
        }
    );
    let cpus = cpus(host, with.iter().copied());
    let source = &first.source;
    let finding = Finding::new(Severity::Info, Confidence::High, message)
        .on(cpus, host.topology.n_online())
        .evidence(source, first.in_force.as_ref().map_or_else(|_| names.join(", "), shown));
    Some(base_clocks(host).into_iter().fold(finding, |it, (path, khz)| it.evidence(path, khz)))
}

/// The lowest and the highest `base_frequency`, where they differ.
fn base_clocks(host: &HostView) -> Vec<(String, u64)> {
    let policies = host.cpufreq.policies.as_deref().unwrap_or_default();
    let clock = |it: &facts::cpu::cpufreq::Policy| {
        Some((it.base_frequency.as_ref().ok()?.khz(), it.path("base_frequency")))
    };
    let clocks = || policies.iter().filter_map(clock);
    match (clocks().min(), clocks().max()) {
        (Some(low), Some(high)) if low.0 < high.0 => vec![(low.1, low.0), (high.1, high.0)],
        _ => Vec::new(),
    }
}

fn cpus<'a>(host: &HostView, domains: impl Iterator<Item = &'a Domain>) -> CpuSet {
    domains.flat_map(|it| host.topology.package_of(it.leader).iter().collect::<Vec<_>>()).collect()
}

fn shown(in_force: &InForce) -> String {
    let mut text = format!("profile {}", in_force.level);
    for (is, word) in [
        (in_force.is_locked, "locked"),
        (in_force.unequal_base, "SST-BF"),
        (in_force.unequal_turbo, "SST-TF"),
    ] {
        if is {
            text.push_str(", ");
            text.push_str(word);
        }
    }
    text
}

fn shown_of(profile: &Profile) -> String {
    format!("base {}, turbo {}, {}", profile.base, profile.turbo, profile.power)
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::{findings, verdict};

    /// An Ice Lake server of one package: `in_force` and `features` in hexadecimal bytes, then base and turbo of level 2.
    fn host(in_force: &str, features: &str, level: [&str; 2]) -> String {
        let of = |command: &str, bytes: &str| {
            format!("//- /dev/isst_interface mailbox cpu0 {command}\n!bytes {bytes}\n")
        };
        let cpu = "//- /sys/devices/system/cpu";
        format!(
            "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 106\n\
             {cpu}/online\n0-3\n{cpu}/cpu0/topology/package_cpus_list\n0-3\n"
        ) + &of("0x7f 0x0 0x0", in_force)
            + &of("0x7f 0x1 0x0", features)
            + &of("0x7f 0x1 0x2", features)
            + &of("0x7f 0x3 0x0", "cd001700")
            + &of("0x7f 0x7 0x0", "25252322")
            + &of("0x7f 0x3 0x2", level[0])
            + &of("0x7f 0x7 0x2", level[1])
            + &of("0x94 0x3 0x0", "01000000")
    }

    /// 2000 MHz, 165 W; 3400 MHz.
    const LOWER: [&str; 2] = ["a5001400", "22222020"];
    /// 2000 MHz, 165 W; the turbo clock of level 0.
    const LOWER_BASE: [&str; 2] = ["a5001400", "25252020"];
    /// 2600 MHz, 205 W; 3700 MHz, and fewer cores.
    const FASTER: [&str; 2] = ["cd001a00", "25252525"];

    #[test]
    fn a_profile_with_a_lower_turbo_clock_is_as_severe_as_what_it_takes() {
        let text = host("04040280", "03000000", LOWER);
        assert_eq!(
            verdict(&CHECK, &text),
            "medium: Speed Select profile 2 sets a highest clock of 3400 MHz, and profile 0, as the processor was sold, 3700 MHz [all 4 CPUs]"
        );
        let finding = findings(&CHECK, &text).remove(0);
        assert_eq!(finding.cost.unwrap().estimate, "up to 8 % of the clock");
        assert_eq!(
            finding.evidence[0].value, "profile 2",
            "the number that was read is in the capture"
        );
        assert_eq!(
            finding.fix.by_hand[0].command,
            "intel-speed-select perf-profile set-config-level -l 0 -o"
        );
        assert!(finding.fix.lasting.unwrap().contains("profile 0 may draw 205 W, this one 165 W"));
        assert_eq!(finding.held.by, None);
    }

    #[test]
    fn a_locked_profile_is_the_firmwares_and_has_no_command() {
        let finding = findings(&CHECK, &host("04040281", "03000000", LOWER)).remove(0);
        assert_eq!(finding.held.by, Some(crate::party::Party::Firmware));
        assert!(finding.fix.by_hand.is_empty());
    }

    #[test]
    fn a_daemon_that_follows_an_agent_outside_of_linux_names_the_controller() {
        let daemon = "//- /proc/77/stat\n77 (intel-speed-sel) S 1 1 1 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 500\n";
        let text = host("04040280", "03000000", LOWER) + daemon;
        let finding = findings(&CHECK, &text).remove(0);
        assert_eq!(finding.held.by, Some(crate::party::Party::ManagementController));
    }

    #[test]
    fn a_lower_base_clock_alone_is_low() {
        assert_eq!(
            verdict(&CHECK, &host("04040280", "03000000", LOWER_BASE)),
            "low: Speed Select profile 2 sets a base clock of 2000 MHz, and profile 0, as the processor was sold, 2300 MHz [all 4 CPUs]"
        );
    }

    #[test]
    fn the_profile_it_was_sold_with_and_a_faster_one_are_clean() {
        assert_eq!(verdict(&CHECK, &host("04040080", "03000000", LOWER)), "clean");
        assert_eq!(verdict(&CHECK, &host("04040281", "03000000", FASTER)), "clean");
    }

    #[test]
    fn features_that_make_cpus_unequal_are_a_note() {
        assert_eq!(
            verdict(&CHECK, &host("04040080", "03000300", LOWER)),
            "info: SST-BF and SST-TF are on: the processor takes clock or power from some CPUs to give it to others [all 4 CPUs]"
        );
        let core_power = host("04040080", "03000000", LOWER)
            .replace("0x94 0x3 0x0\n!bytes 01000000", "0x94 0x3 0x0\n!bytes 01000100");
        assert!(verdict(&CHECK, &core_power).starts_with("info: SST-CP is on: "));
    }

    #[test]
    fn what_is_not_known_is_unknown_and_one_profile_is_none() {
        assert!(
            verdict(&CHECK, &host("!", "03000000", LOWER).replace("!bytes !", "!failed EIO"))
                .starts_with("unknown: ")
        );
        let zeros = host("04040280", "03000000", ["00000000"; 2]);
        assert!(verdict(&CHECK, &zeros).starts_with("unknown: "), "{}", verdict(&CHECK, &zeros));
        assert!(
            verdict(&CHECK, &host("04040000", "03000000", LOWER)).starts_with("not applicable: ")
        );
        let elsewhere = "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : AuthenticAMD\ncpu family : 25\nmodel : 1\n";
        assert!(verdict(&CHECK, elsewhere).starts_with("not applicable: "));
    }
}
