//! Watches a host for changes of its settings and findings, and of the quotas of one node.

use crate::record::{Fingerprint, SettingDifference, setting_differences};
use crate::trial::Mark;
use facts::{HostView, Subject, Subjects};
use rules::audit::audit;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// What is polled often: a quota stops everything at once, and is easily changed.
pub(super) const QUOTAS: Subjects = Subjects::of(&[Subject::LimitedGroups]);
/// How often quotas are polled.
pub const QUOTA_INTERVAL: Duration = Duration::from_secs(1);
/// How often everything that an audit reads is polled, which takes some tens of milliseconds: nodes of one host notice a change
/// that far apart.
pub const FULL_INTERVAL: Duration = Duration::from_secs(5);

/// The state of a host when it was last polled.
pub(super) struct Watcher {
    machine: Fingerprint,
    findings: BTreeSet<&'static str>,
    /// The CPUs that each group with a quota may use.
    quotas: BTreeMap<String, f64>,
}

impl Watcher {
    /// The state of `host` as it is now.
    pub(super) fn of(host: &HostView) -> Watcher {
        let quotas = quotas(host).unwrap_or_default();
        Watcher { machine: Fingerprint::of(host), findings: findings(host), quotas }
    }

    /// The settings of the host when it was last polled.
    pub(super) fn machine(&self) -> &Fingerprint {
        &self.machine
    }

    /// The quotas that changed since the last poll. A quota that cannot be read has not changed.
    pub(super) fn poll_quotas(&mut self, host: &HostView) -> Vec<Mark> {
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

    /// Everything that changed since the last poll.
    pub(super) fn poll_all(&mut self, host: &HostView) -> Vec<Mark> {
        let now = Watcher::of(host);
        let mut marks = self.poll_quotas(host);
        let settings = changed_settings(&self.machine, &now.machine).into_iter();
        // Quotas are marked by their groups.
        marks.extend(settings.filter(|it| !it.is_of_quotas()));
        let finding = |check: &&'static str| Mark::Finding {
            check: (*check).to_owned(),
            is_there: now.findings.contains(check),
        };
        marks.extend(self.findings.symmetric_difference(&now.findings).map(finding));
        (self.machine, self.findings) = (now.machine, now.findings);
        marks
    }
}

/// A mark for each setting that differs between two looks at a host by one node.
pub fn changed_settings(before: &Fingerprint, now: &Fingerprint) -> Vec<Mark> {
    let mark = |SettingDifference { name, a: from, b: to }| Mark::Setting { name, from, to };
    setting_differences(before, now).into_iter().map(mark).collect()
}

fn findings(host: &HostView) -> BTreeSet<&'static str> {
    audit(host).findings.iter().map(|(check, _)| check.id).collect()
}

/// `None` where they cannot be read.
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
            burst: Err(Missing::absent("cpu.max.burst")),
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
        let mut watcher = Watcher::of(&host("performance", Some(25_000)));
        assert_eq!(watcher.poll_quotas(&host("performance", Some(25_000))), []);
        let lifted =
            Mark::Quota { group: "/sys/fs/cgroup/b".to_owned(), from: Some(0.25), to: None };
        assert_eq!(watcher.poll_quotas(&host("performance", None)), [lifted]);
        // The finding of the audit goes away with the next full poll.
        let [Mark::Finding { check, is_there: false }] =
            &watcher.poll_all(&host("performance", None))[..]
        else {
            panic!("one mark");
        };
        assert_eq!(check, "cgroup-quota-throttling");
    }

    #[test]
    fn a_setting_that_somebody_changed_is_marked_and_so_is_what_an_audit_says_of_it() {
        let mut watcher = Watcher::of(&host("performance", None));
        let marks = watcher.poll_all(&host("powersave", None));
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
        assert_eq!(watcher.poll_all(&host("powersave", None)), []);
    }

    #[test]
    fn what_cannot_be_read_has_not_changed() {
        let mut watcher = Watcher::of(&host("performance", Some(25_000)));
        assert_eq!(watcher.poll_quotas(&HostView::unasked(Origin::Capture)), []);
        assert_eq!(watcher.poll_quotas(&host("performance", Some(25_000))), []);
    }
}
