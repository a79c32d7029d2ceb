//! What has changed on a host since the look before.

use crate::fingerprint::CPU_QUOTAS;
use crate::record::{Fingerprint, SettingDifference, setting_differences};
use crate::trial::Mark;
use facts::{HostView, Subject, Subjects};
use rules::audit::audit;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// What is looked at often: a quota stops everything at once, and is changed in passing.
pub(super) const QUICKLY: Subjects = Subjects::of(&[Subject::LimitedGroups]);
/// How often.
pub(super) const QUICK: Duration = Duration::from_secs(1);
/// How often everything is looked at that an audit looks at, which takes some tens of milliseconds.
pub(super) const WHOLE: Duration = Duration::from_secs(5);

/// Remembers a host.
pub(super) struct Lookout {
    machine: Fingerprint,
    findings: BTreeSet<&'static str>,
    /// How many CPUs each group with a quota may use.
    quotas: BTreeMap<String, f64>,
}

impl Lookout {
    /// One that has looked at the whole of `host`.
    pub(super) fn of(host: &HostView) -> Lookout {
        let quotas = quotas(host).unwrap_or_default();
        Lookout { machine: Fingerprint::of(host), findings: findings(host), quotas }
    }

    /// What is another quota now. What cannot be read has not changed.
    pub(super) fn quickly(&mut self, host: &HostView) -> Vec<Mark> {
        let Some(quotas) = quotas(host) else { return Vec::new() };
        let groups: BTreeSet<&String> = self.quotas.keys().chain(quotas.keys()).collect();
        let mark = |group: &String| {
            let (from, to) = (self.quotas.get(group).copied(), quotas.get(group).copied());
            (from != to).then(|| Mark::Quota { group: group.clone(), from, to })
        };
        let marks = groups.into_iter().filter_map(mark).collect();
        self.quotas = quotas;
        marks
    }

    /// Everything that is not what it was.
    pub(super) fn wholly(&mut self, host: &HostView) -> Vec<Mark> {
        let now = Lookout::of(host);
        let mut marks = self.quickly(host);
        let settings = setting_differences(&self.machine, &now.machine).into_iter();
        // Each is marked by its group.
        let settings = settings.filter(|it| it.name != CPU_QUOTAS);
        marks.extend(settings.map(|it| {
            let SettingDifference { name, a: from, b: to } = it;
            Mark::Setting { name, from, to }
        }));
        let finding = |check: &&'static str| Mark::Finding {
            check: (*check).to_owned(),
            is_there: now.findings.contains(check),
        };
        marks.extend(self.findings.symmetric_difference(&now.findings).map(finding));
        (self.machine, self.findings) = (now.machine, now.findings);
        marks
    }
}

fn findings(host: &HostView) -> BTreeSet<&'static str> {
    audit(host).findings.iter().map(|(check, _)| check.id).collect()
}

/// `None` where nobody can say.
fn quotas(host: &HostView) -> Option<BTreeMap<String, f64>> {
    let groups = host.limited_groups.as_ref().ok()?;
    Some(groups.iter().map(|it| (it.folder.clone(), it.quota.n_cpus())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::system::cgroup::{LimitedGroup, Quota, Version};
    use facts::{Missing, Origin};

    fn host(governor: &str, quota_us: Option<u64>) -> HostView {
        let text = format!(
            "//- /sys/devices/system/cpu/online\n0\n\
             //- /sys/devices/system/cpu/cpufreq/policy0/scaling_driver\nacpi-cpufreq\n\
             //- /sys/devices/system/cpu/cpufreq/policy0/affected_cpus\n0\n\
             //- /sys/devices/system/cpu/cpufreq/policy0/scaling_governor\n{governor}\n"
        );
        let captured = host::Captured::excerpt(&text).unwrap();
        let group = |it: u64| LimitedGroup {
            folder: "/sys/fs/cgroup/b".to_owned(),
            version: Version::V2,
            quota: Quota::of(it, 100_000),
            throttling: Err(Missing::not_here("throttling", "a test")),
            holds_us: true,
            databases: Vec::new(),
        };
        HostView {
            limited_groups: Ok(quota_us.map(group).into_iter().collect()),
            ..host::view(&captured)
        }
    }

    #[test]
    fn a_quota_that_is_lifted_is_marked_once() {
        let mut lookout = Lookout::of(&host("performance", Some(25_000)));
        assert_eq!(lookout.quickly(&host("performance", Some(25_000))), []);
        let lifted =
            Mark::Quota { group: "/sys/fs/cgroup/b".to_owned(), from: Some(0.25), to: None };
        assert_eq!(lookout.quickly(&host("performance", None)), [lifted]);
        // What an audit says of it comes with the next look at everything.
        let [Mark::Finding { check, is_there: false }] =
            &lookout.wholly(&host("performance", None))[..]
        else {
            panic!("one mark");
        };
        assert_eq!(check, "cgroup-quota-throttling");
    }

    #[test]
    fn a_setting_that_somebody_changed_is_marked_and_so_is_what_an_audit_says_of_it() {
        let mut lookout = Lookout::of(&host("performance", None));
        let marks = lookout.wholly(&host("powersave", None));
        let of_governor = marks.iter().find_map(|it| match it {
            Mark::Setting { name, from, to } if name == "scaling_governor" => Some((from, to)),
            _ => None,
        });
        let (from, to) = of_governor.unwrap();
        assert!(from.as_ref().unwrap().contains("performance"), "{marks:?}");
        assert!(to.as_ref().unwrap().contains("powersave"), "{marks:?}");
        assert!(
            marks.iter().any(|it| matches!(it, Mark::Finding { is_there: true, .. })),
            "{marks:?}"
        );
        assert_eq!(lookout.wholly(&host("powersave", None)), []);
    }

    #[test]
    fn what_cannot_be_read_has_not_changed() {
        let mut lookout = Lookout::of(&host("performance", Some(25_000)));
        assert_eq!(lookout.quickly(&HostView::unasked(Origin::Capture)), []);
        assert_eq!(lookout.quickly(&host("performance", Some(25_000))), []);
    }
}
