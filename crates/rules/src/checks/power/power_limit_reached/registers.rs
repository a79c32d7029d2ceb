//! What registers say of a power limit at the moment of reading or in a look, and what the limit reasons have logged.

use crate::finding::{Confidence, Finding, Severity};
use crate::prochot;
use facts::cpu::cpuinfo::CpuInfo;
use facts::msr::limit_reasons::{Kind, Layout};
use facts::watched::Watched;
use facts::{CpuSet, HostView};

/// The finding on a limit that holds the clock down; a note, for a processor with turbo runs at its limit under full load.
pub(super) fn live(host: &HostView) -> Option<Finding> {
    let held = prochot::power_held(host)?;
    let name = held.names.join(" and ");
    let (n, of) = held.readings;
    let holds = if held.names.len() > 1 { "hold" } else { "holds" };
    let message = match host.watched.as_ref().filter(|_| of > 1) {
        Some(watched) => {
            let within = Watched::within(watched);
            format!("{name} held the clock down in {n} of {of} readings {within}")
        }
        None => format!("{name} {holds} the clock down at this moment"),
    };
    let finding = Finding::new(Severity::Info, Confidence::High, message)
        .by_means_of(name)
        .on(held.cpus, host.topology.n_online());
    let finding = if 2 * n >= of { finding.lasting() } else { finding };
    let shown = held.evidence.into_iter();
    Some(shown.fold(finding, |it, (path, value)| it.evidence(path, format!("{value:#x}"))))
}

/// Notes on the limits that the limit reasons have logged; nothing where the processor has none.
pub(super) fn logged(host: &HostView) -> Vec<Finding> {
    let Some(layout) =
        host.cpuinfo.as_ref().ok().filter(|it| CpuInfo::is_intel(it)).and_then(Layout::of)
    else {
        return Vec::new();
    };
    let Ok(values) = host.msrs.of(layout.register) else { return Vec::new() };
    let finding = |name: &'static str| {
        let mut cpus = CpuSet::default();
        let mut first = None;
        for (cpu, value) in values.known() {
            if layout.logged(*value).any(|it| it.name == name) {
                cpus.extend(host.topology.package_of(cpu).iter());
                first = first.or(Some((layout.register.path(cpu), format!("{value:#x}"))));
            }
        }
        let (path, value) = first?;
        let when = "at some time since boot, or since the log was cleared";
        let message = format!("{name} held the clock down {when}");
        let finding = Finding::new(Severity::Info, Confidence::Medium, message);
        let finding = finding.by_means_of(name).since_boot();
        Some(finding.on(cpus, host.topology.n_online()).evidence(path, value))
    };
    let of_power = layout.reasons().filter(|it| it.kind == Kind::Power);
    of_power.filter_map(|it| finding(it.name)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::CHECK;
    use crate::fixture::watched::watched;
    use crate::fixture::{XEON, findings, verdict};
    use facts::watched::Sight;

    /// [`XEON`] with these values of 0x1B1 and 0x64F.
    fn host(package: &str, reasons: &str) -> String {
        format!("{XEON}//- /dev/cpu/0/msr 0x1b1\n{package}\n//- /dev/cpu/0/msr 0x64f\n{reasons}\n")
    }

    #[test]
    fn a_limit_that_holds_is_told_from_its_log() {
        assert_eq!(
            verdict(&CHECK, &host("0x88450000", "0x0c000400")),
            "info: power limit PL1 holds the clock down at this moment [all 4 CPUs]"
        );
        assert_eq!(
            verdict(&CHECK, &host("0x88450000", "0x08000000")),
            "info: power limit PL2 held the clock down at some time since boot, or since the log was cleared [all 4 CPUs]"
        );
        assert!(verdict(&CHECK, &host("0x88450000", "0x0")).starts_with("not applicable: "));
    }

    #[test]
    fn a_processor_without_limit_reasons_says_it_in_its_thermal_status() {
        let sapphire_rapids = host("0x88450400", "0x0").replace(": 85", ": 143");
        assert_eq!(
            verdict(&CHECK, &sapphire_rapids),
            "info: a power limit holds the clock down at this moment [all 4 CPUs]"
        );
        let logged = sapphire_rapids.replace("0x88450400", "0x88450800");
        assert!(!verdict(&CHECK, &logged).contains("info"), "{}", verdict(&CHECK, &logged));
        assert!(findings(&CHECK, &sapphire_rapids)[0].held.is_lasting);
    }

    #[test]
    fn one_reading_of_many_is_told_and_does_not_last() {
        let text = host("0x88450000", "0x0");
        let seen = |readings: &[u64]| {
            let host = watched(&text, &text, &[Sight::Signals], &[((0x1b1, 0), readings)]);
            (CHECK.run)(&host).unwrap().remove(0)
        };
        let once = seen(&[0x8845_0000, 0x8845_0400, 0x8845_0000]);
        assert_eq!(
            once.message,
            "a power limit held the clock down in 1 of 4 readings in the 2 s that were looked at"
        );
        assert!(!once.held.is_lasting);
        assert!(seen(&[0x8845_0400; 5]).held.is_lasting);
    }
}
