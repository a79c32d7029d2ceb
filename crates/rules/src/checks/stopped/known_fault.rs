//! Looks for published faults of firmware, microcode and kernels.
//!
//! Source: the advisories, each of which names who published it. They know versions; whether a fault acts here is what the other checks
//! found.

use crate::advisory;
use crate::advisory::standing::{Looked, Sight, Standing, State, Unseen, standings};
use crate::check::{Check, Reference, Verdict};
use crate::finding::{Confidence, Finding, Severity};
use facts::{HostView, Missing, Why};

pub(crate) const CHECK: Check = Check {
    id: "known-fault",
    title: "an advisory names this version of firmware, microcode or kernel",
    doc: "\
## What it looks at
Maker, product and firmware version in /sys/class/dmi/id, the processor and its microcode, the kernel's release, boot line, options and
frequency driver, against advisories: those that come with the program and those in /etc/fullclock/advisories. `fullclock advisories`
lists them, and explains each with its sources.

## Why it matters
Firmware sets the clock up before the kernel starts, and some of it stays as it was set. Version 12010303 of the Oracle
Database Appliance left every CPU at a 25 % duty cycle, and 12010304 did not: 673 against 2713 in the
database's own measure of the same processors. Clearing the register lasts until the next reset.

A version proves no more than that a machine may have the fault. `affected by version` says that, and is a note, or low where a loss is
published and no check could look for the fault. `seen here` says that another check found what the fault does; it is as severe as what that check
found. A distribution's kernel has fixes of later releases, and its number does not tell which: without a sign of the fault it is no finding,
and with one at most low.

## When to leave it alone
Where the sign has another cause: the advisory says what to look at. Not in the list does not mean good.
",
    references: &[Reference {
        title: "Pythian: ODA Patch Bundle 2.1.0.3.0 Fixes CPU Performance Issue (2012)",
        url: "https://blog.pythian.com/oracle-database-appliance-oda-patch-bundle-2-1-0-3-0-fixes-cpu-performance-issue/",
    }],
    run,
};

fn run(host: &HostView) -> Verdict {
    verdict(host, None)
}

/// The verdict by what the other checks said.
pub(crate) fn besides(host: &HostView, looked: Looked<'_>) -> Verdict {
    verdict(host, Some(looked))
}

fn verdict(host: &HostView, looked: Option<Looked<'_>>) -> Verdict {
    // Where neither is known there is nothing to compare.
    if let (Err(missing), Err(_)) = (&host.dmi.firmware_version, &host.kernel.release) {
        return Err(missing.clone());
    }
    let catalog = advisory::catalog(&host.advisories).map_err(|error| {
        Missing::malformed("the advisories of the site", &error, "files that can be read")
    })?;
    let standings = standings(host, catalog, looked);
    let mut findings: Vec<Finding> = standings.iter().filter_map(finding).collect();
    let unknown = |it: &'_ Standing| match &it.state {
        State::Unknown(missing) => Some(missing.clone()),
        _ => None,
    };
    match standings.iter().find_map(unknown) {
        Some(missing) if findings.is_empty() => Err(missing),
        _ => {
            findings.extend(uncompared(&standings));
            Ok(findings)
        }
    }
}

/// What is beside findings where a version is none: of the others it is unknown whether they concern the host.
fn uncompared(standings: &[Standing]) -> Option<Finding> {
    let malformed = standings.iter().filter_map(|it| match &it.state {
        State::Unknown(Missing { what, why: Why::Malformed { found, .. } }) => Some((what, found)),
        _ => None,
    });
    let all: Vec<(&String, &String)> = malformed.collect();
    let (what, found) = *all.first()?;
    let others = match all.len() {
        1 => "1 other advisory".to_owned(),
        n => format!("{n} other advisories"),
    };
    let message = format!("whether {others} concern this host is unknown: {what} has no version");
    let finding = Finding::new(Severity::Info, Confidence::High, message).evidence(what, found);
    Some(finding.advising("compare by hand what `fullclock advisories -v` lists as unknown"))
}

fn finding(standing: &Standing) -> Option<Finding> {
    let (id, title) = (&standing.advisory.id, &standing.advisory.title);
    let finding = match &standing.state {
        State::Seen(sight) => seen(standing, sight),
        State::Affected(unseen) => {
            let why = match unseen {
                Unseen::NotFound => "it is not seen here",
                Unseen::Unknown(_) => "whether it acts could not be read",
                Unseen::NoCheck => "no check can detect it",
            };
            let is_costly = standing.advisory.loss.is_some() && *unseen != Unseen::NotFound;
            let severity = if is_costly { Severity::Low } else { Severity::Info };
            let message = format!("affected by version: {title}; {why} (advisory {id})");
            Finding::new(severity, Confidence::Medium, message)
        }
        State::Perhaps | State::Unknown(_) | State::Not => return None,
    };
    let finding = standing
        .compared
        .iter()
        .fold(finding, |finding, it| finding.evidence(&*it.source, &it.value));
    Some(
        finding
            .held_by(standing.advisory.party)
            .by_means_of(format!("a known fault (advisory {id})"))
            .advising(standing.advisory.action.clone())
            .fix_lasting(capital(&standing.advisory.action)),
    )
}

/// That a fault acts is as bad as what it does; where the distribution may have fixed it, the sign may have another cause.
fn seen(standing: &Standing, sight: &Sight) -> Finding {
    let advisory = &standing.advisory;
    let (severity, confidence, perhaps) = match sight.is_certain {
        true => (sight.severity, sight.confidence, ""),
        false => (
            sight.severity.min(Severity::Low),
            Confidence::Low,
            "; the distribution may have fixed it",
        ),
    };
    let (title, id) = (&advisory.title, &advisory.id);
    let by = sight.by.join(", ");
    let message = format!("seen here: {title}, by {by}{perhaps} (advisory {id})");
    let mut finding = Finding::new(severity, confidence, message).seen_by(sight.by.clone());
    if let Some(loss) = &advisory.loss {
        let source = advisory.sources.get(loss.source).map_or("", |it| it.title.as_str());
        finding = finding.cost(&*loss.what, format!("elsewhere, by the advisory: {source}"));
    }
    if sight.is_live { finding } else { finding.since_boot() }
}

/// A sentence of a fix.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|it| it.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::audit::audit;
    use crate::finding::{Confidence, Finding};
    use crate::fixture::{XEON, findings, host_of, verdict};
    use facts::HostView;

    fn dmi(name: &str, value: &str) -> String {
        format!("//- /sys/class/dmi/id/{name}\n{value}\n")
    }

    fn appliance(version: &str) -> String {
        let names = dmi("sys_vendor", "ORACLE CORPORATION")
            + &dmi("product_name", "SUN FIRE X4370 M2 SERVER");
        format!("{XEON}{names}{}", dmi("bios_version", version))
    }

    /// What an audit says of it, in short.
    fn audited(host: &HostView) -> Vec<Finding> {
        let audit = audit(host);
        audit.findings.into_iter().filter(|it| it.0.id == CHECK.id).map(|it| it.1).collect()
    }

    const QUARTER: &str = "//- /dev/cpu/0/msr 0x19a\n0x14\n//- /dev/cpu/1/msr 0x19a\n0x14\n\
                           //- /dev/cpu/2/msr 0x19a\n0x14\n//- /dev/cpu/3/msr 0x19a\n0x14\n";
    const FULL: &str = "//- /dev/cpu/0/msr 0x19a\n0x0\n//- /dev/cpu/1/msr 0x19a\n0x0\n\
                        //- /dev/cpu/2/msr 0x19a\n0x0\n//- /dev/cpu/3/msr 0x19a\n0x0\n";

    #[test]
    fn the_appliance_whose_clock_stands_still_is_critical_and_names_its_advisory() {
        let found = audited(&host_of(&(appliance("12010303") + QUARTER)));
        let [finding] = &*found else { panic!("{found:#?}") };
        assert_eq!(
            (finding.severity.name(), &*finding.message),
            (
                "critical",
                "seen here: firmware starts every CPU with its clock running 25 % of the time, by clock-modulation (advisory \
                 oda-clock-modulation)"
            )
        );
        assert_eq!(finding.confidence, Confidence::High);
        assert!(finding.fix.lasting.as_ref().unwrap().contains("12010304"));
        assert_eq!(finding.held.sees, ["clock-modulation"]);
    }

    #[test]
    fn an_appliance_of_that_version_whose_clock_runs_is_a_note() {
        let found = audited(&host_of(&(appliance("12010303") + FULL)));
        let [finding] = &*found else { panic!("{found:#?}") };
        assert_eq!(finding.severity.name(), "info");
        assert!(finding.message.contains("affected by version"), "{}", finding.message);
        assert!(finding.message.contains("it is not seen here"), "{}", finding.message);
    }

    #[test]
    fn where_nothing_could_look_for_the_fault_it_is_low() {
        let of_version = findings(&CHECK, &appliance("12010303"));
        let [finding] = &*of_version else { panic!("{of_version:#?}") };
        assert_eq!(finding.evidence[0].value, "12010303");
        let shown = verdict(&CHECK, &appliance("12010303"));
        assert!(shown.starts_with("low: affected by version: "), "{shown}");
    }

    #[test]
    fn the_next_version_is_clean() {
        assert_eq!(verdict(&CHECK, &appliance("12010304")), "clean");
    }

    #[test]
    fn a_version_that_cannot_be_read_is_unknown() {
        let release = "//- /proc/sys/kernel/osrelease\n6.18.3\n";
        assert_eq!(
            verdict(&CHECK, &(appliance("!denied") + release)),
            "unknown: /sys/class/dmi/id/bios_version may not be read"
        );
    }

    #[test]
    fn a_version_that_is_none_is_unknown_and_so_it_is_beside_a_finding() {
        let release = "//- /proc/sys/kernel/osrelease\nnext-20261120\n";
        let no_release = verdict(&CHECK, &(appliance("12010304") + release));
        assert!(
            no_release.starts_with("unknown: /proc/sys/kernel/osrelease: found \"next-20261120\""),
            "{no_release}"
        );
        let no_firmware = verdict(&CHECK, &appliance("beta"));
        assert!(
            no_firmware.starts_with("unknown: /sys/class/dmi/id/bios_version: found \"beta\""),
            "{no_firmware}"
        );
        let both = findings(&CHECK, &(appliance("12010303") + release));
        let [fault, beside] = &*both else { panic!("{both:#?}") };
        assert!(fault.message.contains("oda-clock-modulation"), "{}", fault.message);
        assert!(
            beside.message.ends_with(
                "concern this host is unknown: /proc/sys/kernel/osrelease has no version"
            ),
            "{}",
            beside.message
        );
        assert_eq!((beside.severity.name(), &*beside.evidence[0].value), ("info", "next-20261120"));
    }

    #[test]
    fn a_guests_firmware_is_not_the_machines() {
        let guest = appliance("12010303").replace("flags : ", "flags : hypervisor ");
        let guest = verdict(&CHECK, &guest);
        assert!(
            guest.starts_with("unknown: the firmware of the machine: not available in a guest"),
            "{guest}"
        );
    }

    #[test]
    fn a_host_without_firmware_tables_and_release_has_nothing_to_look_up() {
        assert!(verdict(&CHECK, XEON).starts_with("not applicable: "));
    }

    /// A thread that polls the BMC for 43 % of the time, under a kernel.
    fn polling(release: &str) -> HostView {
        host_of(&format!(
            "{XEON}//- /proc/sys/kernel/osrelease\n{release}\n//- /proc/uptime\n36000.10 70000.00\n\
             //- /proc/412/stat\n412 (kipmi0) S 2 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 39 19 1 0 10 0 0\n\
             //- /proc/412/schedstat\n15480000000000 99 7\n"
        ))
    }

    #[test]
    fn a_distributions_kernel_is_judged_with_little_confidence_and_at_most_low() {
        let of = |release| {
            let found = audited(&polling(release));
            let about = |it: &&Finding| it.message.contains("kipmid-spins-before-5-4");
            found.iter().find(about).map(|it| (it.severity.name(), it.confidence))
        };
        let exact = of("4.14.100").unwrap();
        assert!(exact.0 != "info" && exact.1 == Confidence::High, "{exact:?}");
        assert_eq!(of("4.14.0-115.el7a.x86_64"), Some(("low", Confidence::Low)));
        assert_eq!((of("4.14.148"), of("5.10.0-30-amd64")), (None, None));
    }
}
