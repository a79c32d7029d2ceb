//! Every check's verdict on one host.

use crate::advisory::standing::Looked;
use crate::check::Check;
use crate::checks::{CHECKS, kernel_log, known_fault};
use crate::config::Ignored;
use crate::finding::Finding;
use crate::prochot;
use facts::{HostView, Missing};

/// What the checks said, each with its check, in the order of the list.
pub struct Audit {
    /// The findings, the most severe first, each with its check.
    pub findings: Vec<(&'static Check, Finding)>,
    /// Findings that the site has decided about: shown, and without effect on what an audit is asked.
    pub suppressed: Vec<Suppressed>,
    /// Decisions of the site whose day is over: their findings are among the others again.
    pub expired: Vec<Ignored>,
    /// Checks that could not be made, with the fact that was missing.
    pub unknown: Vec<(&'static Check, Missing)>,
    /// Checks about something that this host does not have.
    pub not_applicable: Vec<(&'static Check, Missing)>,
    /// Checks that found nothing.
    pub clean: Vec<&'static Check>,
    /// Ids of checks, unknown ones among them, whose fault is known not to act at the moment.
    pub absent_now: Vec<&'static str>,
}

/// A finding that the site has decided about.
pub struct Suppressed {
    /// Its check.
    pub check: &'static Check,
    /// The finding.
    pub finding: Finding,
    /// The decision.
    pub by: Ignored,
}

impl Audit {
    /// Whether no check could say anything of the host, for better or worse.
    pub fn judged_nothing(&self) -> bool {
        self.findings.is_empty() && self.suppressed.is_empty() && self.clean.is_empty()
    }

    /// What the checks said, for who compares it with advisories.
    pub fn looked(&self) -> Looked<'_> {
        Looked { findings: &self.findings, unknown: &self.unknown }
    }

    /// Sets the findings apart that a site has decided about, `today` being a day as in `2026-11-20`. A finding on CPUs of which the
    /// decision names only some stays.
    pub fn suppress(&mut self, ignored: &[Ignored], today: &str) {
        let (valid, expired): (Vec<&Ignored>, Vec<&Ignored>) =
            ignored.iter().partition(|it| it.is_valid(today));
        self.expired = expired.into_iter().cloned().collect();
        for (check, finding) in std::mem::take(&mut self.findings) {
            match valid.iter().find(|it| it.is_about(check, &finding)) {
                Some(by) => {
                    self.suppressed.push(Suppressed { check, finding, by: (*by).clone() });
                }
                None => self.findings.push((check, finding)),
            }
        }
    }
}

/// Runs every check of the list on one host.
pub fn audit(host: &HostView) -> Audit {
    let mut audit = Audit {
        findings: Vec::new(),
        suppressed: Vec::new(),
        expired: Vec::new(),
        unknown: Vec::new(),
        not_applicable: Vec::new(),
        clean: Vec::new(),
        absent_now: prochot::absent_now(host),
    };
    for &check in CHECKS {
        let verdict = if check.id == kernel_log::CHECK.id {
            kernel_log::besides(host, &mut audit.findings)
        } else if check.id == known_fault::CHECK.id {
            known_fault::besides(host, audit.looked())
        } else {
            (check.run)(host)
        };
        match verdict {
            Ok(findings) if findings.is_empty() => audit.clean.push(check),
            Ok(findings) => audit.findings.extend(findings.into_iter().map(|it| (check, it))),
            Err(missing) if missing.is_absence() => audit.not_applicable.push((check, missing)),
            Err(missing) => audit.unknown.push((check, missing)),
        }
    }
    // The sort is stable: within a severity, the order of the list stays.
    audit.findings.sort_by_key(|(_, it)| std::cmp::Reverse((it.severity, it.confidence)));
    audit
}

#[cfg(test)]
mod tests {
    use super::{Audit, CHECKS, Check, audit};
    use crate::config::Config;
    use crate::fixture::{XEON, host_of};
    use facts::Elsewhere;

    fn unknown<'a>(audit: &'a Audit, remedy: &str) -> Vec<&'a str> {
        let has = |missing: &facts::Missing| missing.remedy() == Some(remedy);
        audit.unknown.iter().filter(|(_, it)| has(it)).map(|(check, _)| check.id).collect()
    }

    fn ids<T>(list: &[(&'static Check, T)]) -> Vec<&'static str> {
        list.iter().map(|(check, _)| check.id).collect()
    }

    const SLOW: &str = "//- /sys/devices/system/cpu/online\n0-1\n//- /sys/devices/system/cpu/cpufreq/policy0/scaling_driver\nacpi-cpufreq\n\
         //- /sys/devices/system/cpu/cpufreq/policy0/scaling_governor\npowersave\n\
         //- /sys/devices/system/cpu/cpufreq/policy0/affected_cpus\n0 1\n\
         //- /sys/devices/system/cpu/cpufreq/policy0/related_cpus\n0 1\n";

    /// The audit of a slow host whose site has decided so, on the 1st of February 2027.
    fn decided(entry: &str) -> (Audit, Vec<&'static str>) {
        let text = format!("ignore = [{{ id = \"slow-governor\", {entry} }}]");
        let config = Config::parse("c", &text).unwrap();
        let mut it = audit(&host_of(SLOW));
        assert!(ids(&it.findings).contains(&"slow-governor"));
        it.suppress(&config.ignored, "2027-02-01");
        let suppressed = it.suppressed.iter().map(|it| it.check.id).collect();
        (it, suppressed)
    }

    #[test]
    fn what_a_site_has_decided_about_is_set_apart_until_its_day_is_over() {
        for day in ["2027-02-01", "2031-12-31"] {
            let (it, suppressed) = decided(&format!("until = {day}, because = 'x'"));
            assert_eq!((suppressed, it.expired.len()), (vec!["slow-governor"], 0), "{day}");
            assert!(!ids(&it.findings).contains(&"slow-governor"));
        }
        let (it, suppressed) = decided("until = 2027-01-31, because = 'x'");
        assert_eq!((suppressed, it.expired.len()), (vec![], 1));
        assert!(ids(&it.findings).contains(&"slow-governor"));
    }

    #[test]
    fn a_finding_on_more_cpus_than_the_site_named_stays() {
        let of =
            |cpus: &str| decided(&format!("until = 2028-01-01, because = 'x', cpus = '{cpus}'")).1;
        assert_eq!(
            (of("0-1"), of("0-7"), of("0")),
            (vec!["slow-governor"], vec!["slow-governor"], vec![])
        );
    }

    #[test]
    fn where_nothing_was_read_every_check_is_unknown_and_none_is_clean() {
        let nothing_read = audit(&host_of("fullclock capture 1\n"));
        assert_eq!(ids(&nothing_read.unknown), CHECKS.iter().map(|it| it.id).collect::<Vec<_>>());
        assert!(nothing_read.judged_nothing());
    }

    #[test]
    fn a_host_that_has_nothing_has_no_fault() {
        let empty = audit(&host_of(""));
        assert_eq!(ids(&empty.findings), [""; 0]);
        let clean: Vec<_> = empty.clean.iter().map(|it| it.id).collect();
        assert_eq!(clean, [""; 0]);
    }

    #[test]
    fn the_control_domain_of_xen_is_the_machine_and_its_clock_is_asked_of_xen() {
        let dom0 = format!(
            "{XEON}//- /sys/hypervisor/type\nxen\n//- /proc/xen/capabilities\ncontrol_d\n\
             //- /sys/class/dmi/id/sys_vendor\nDell Inc.\n//- /sys/class/dmi/id/product_name\nPowerEdge R640\n\
             //- /sys/class/dmi/id/bios_version\n2.8.1\n"
        );
        let dom0 = audit(&host_of(&dom0));
        let of_xen = unknown(&dom0, Elsewhere::Xen.remedy());
        for id in [
            "capped-frequency",
            "no-frequency-driver",
            "slow-governor",
            "clock-modulation",
            "prochot-asserted",
            "thermal-throttling",
            "no-idle-driver",
            "slow-idle-governor",
        ] {
            assert!(of_xen.contains(&id), "{id} is not among {of_xen:?}");
        }
        assert_eq!(unknown(&dom0, "audit the machine under this guest"), [""; 0]);
        assert!(dom0.clean.iter().any(|it| it.id == "known-fault"));
        let in_guest = format!("{XEON}//- /sys/hypervisor/type\nxen\n");
        let in_guest = audit(&host_of(&in_guest));
        assert!(
            unknown(&in_guest, "audit the machine under this guest").contains(&"prochot-asserted")
        );
    }
}
