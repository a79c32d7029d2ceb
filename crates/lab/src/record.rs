//! A result: the trials of one or several arms, the machine they were taken on, and the settings in which two machines differ.

use crate::doubt::Raised;
use crate::experiment::Experiment;
use crate::held::Held;
use crate::server_log::LogWork;
use crate::throttling::Throttling;
use crate::trial::{Mark, Trial};
use crate::workload::Settings;
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the format that this program writes.
pub const FORMAT: u32 = 1;

/// Everything that is kept of one `fullclock bench`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Record {
    /// The version of the file's format; a later one is refused.
    #[schemars(extend("const" = FORMAT))]
    pub format: u32,
    /// Names it in the history: the moment it began and the workload.
    pub id: String,
    /// The version of fullclock that made it.
    pub version: String,
    /// When it began, UTC (RFC 3339).
    pub began: String,
    /// What was compared, in the order given: one arm without a comparison.
    pub arms: Vec<Arm>,
    /// The machine, as settings by name.
    pub machine: Fingerprint,
    /// Who held the clock down on that machine when it began, as an audit says; null in results of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<Vec<Held>>,
    /// How many pieces each trial was cut into, which took turns with those of the other arms; 1 where trials ran as a
    /// whole.
    #[serde(default = "whole")]
    #[schemars(range(min = 1))]
    pub pieces: u32,
    /// How often the nodes of a race were started anew, where that was more than once: the block of a trial is its leg.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub legs: Option<Legs>,
    /// What was planned, where it is a study of settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experiment: Option<Experiment>,
    /// In the order in which they began.
    pub trials: Vec<Trial>,
    /// Why to trust it less.
    #[serde(deserialize_with = "crate::doubt::of_this_version")]
    pub doubts: Vec<Raised>,
    /// Whether it ended as planned.
    pub is_complete: bool,
}

/// The legs of a race: in each of them its nodes were started anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Legs {
    /// How many were planned.
    pub planned: u32,
    /// How many went on for the planned time; in a journal, none.
    pub ended: u32,
}

/// One of the things compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = also_of_old_files)]
pub struct Arm {
    /// `A`, `B`, or what the user called it.
    pub name: String,
    /// The id of the workload.
    pub workload: String,
    /// What was asked of it.
    pub settings: Settings,
    /// The CPUs it was kept on, as the kernel writes lists; `None` where the scheduler chose.
    pub cpus: Option<String>,
    /// Whether another program ran it, and told its figures alone.
    #[serde(default)]
    pub is_foreign: bool,
    /// The machine that it ran on, where that is not the record's: a node of a race.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Fingerprint>,
    /// Which host a node of a race ran on: nodes with the same ran on one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// What a CPU quota took from a node during its race, where one was in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttling: Option<Throttling>,
    /// What the workload says of itself: the version of a server.
    pub about: Vec<(String, String)>,
}

/// The first files did not say whether an arm is foreign.
fn also_of_old_files(schema: &mut Schema) {
    if let Some(required) = schema.get_mut("required").and_then(serde_json::Value::as_array_mut) {
        required.retain(|it| it != "is_foreign");
    }
}

fn whole() -> u32 {
    1
}

impl Record {
    /// What the trials of an arm took of the log of a database server; `None` where no trial has its counts.
    pub fn log_work(&self, arm: usize) -> Option<LogWork> {
        let trials = self.trials.iter().filter(|it| it.arm == arm);
        LogWork::of(trials.filter_map(|it| it.server_log.as_ref()?.value()))
    }

    /// A result of these arms that has no trial yet, and of which nothing else is known.
    pub fn of(arms: Vec<Arm>) -> Record {
        Record {
            format: FORMAT,
            id: String::new(),
            version: String::new(),
            began: String::new(),
            arms,
            machine: Fingerprint::default(),
            held: None,
            pieces: whole(),
            legs: None,
            experiment: None,
            trials: Vec::new(),
            doubts: Vec::new(),
            is_complete: false,
        }
    }

    /// Everything but its trials.
    #[must_use]
    pub fn without_trials(&self) -> Record {
        Record {
            format: self.format,
            id: self.id.clone(),
            version: self.version.clone(),
            began: self.began.clone(),
            arms: self.arms.clone(),
            machine: self.machine.clone(),
            held: self.held.clone(),
            pieces: self.pieces,
            legs: self.legs,
            experiment: self.experiment.clone(),
            trials: Vec::new(),
            doubts: self.doubts.clone(),
            is_complete: self.is_complete,
        }
    }

    /// Whether its arms are nodes that committed at the same time.
    pub fn is_race(&self) -> bool {
        is_race(&self.id)
    }

    /// How many legs of a race went on for the planned time; `None` where it was begun once.
    pub fn whole_legs(&self) -> Option<u32> {
        let legs = self.legs?;
        // Of a race that was killed, every leg is whole but the last one.
        let begun = self.trials.iter().map(|it| it.block).max().unwrap_or_default();
        Some(legs.ended.max(begun.saturating_sub(1)))
    }

    /// The doubts that bear on these arms, by their places in [`Record::arms`].
    pub fn doubts_about(&self, arms: &[usize]) -> Vec<Raised> {
        let is_one =
            |name: &str| arms.iter().any(|it| self.arms.get(*it).is_some_and(|it| it.name == name));
        let bears = |it: &&Raised| it.arm.as_deref().is_none_or(is_one);
        self.doubts.iter().filter(bears).cloned().collect()
    }

    /// The arms that a mark of a trial of `arm` is about, by their places in [`Record::arms`]: what was noticed of a host is
    /// about all nodes there, and kept once.
    pub fn concerned(&self, arm: usize, mark: &Mark) -> Vec<usize> {
        let all = 0..self.arms.len();
        let host = self.arms.get(arm).and_then(|it| it.host.as_ref());
        match (mark, host) {
            (Mark::Note { .. }, _) => all.collect(),
            (mark, Some(host)) if mark.is_of_host() => {
                all.filter(|it| self.arms[*it].host.as_ref() == Some(host)).collect()
            }
            _ => vec![arm],
        }
    }

    /// What CPU quotas took from an arm in all its trials, and the share of their time that this was.
    pub fn throttling(&self, arm: usize) -> Option<(Throttling, f64)> {
        let trials = || self.trials.iter().filter(|it| it.arm == arm);
        let all = Throttling::of_all(trials().filter_map(|it| it.throttling.as_ref()))?;
        let elapsed = trials().filter_map(|it| it.outcome.elapsed_ns.value());
        let share = all.share_of(elapsed.fold(0, |sum, it| sum.saturating_add(*it)));
        Some((all, share))
    }

    /// The machine that an arm ran on, by its place in [`Record::arms`].
    pub fn machine_of(&self, arm: usize) -> &Fingerprint {
        self.arms.get(arm).and_then(|it| it.machine.as_ref()).unwrap_or(&self.machine)
    }
}

impl Arm {
    /// An arm of a workload of which nothing was asked.
    pub fn of(name: &str, workload: &str) -> Arm {
        Arm {
            name: name.to_owned(),
            workload: workload.to_owned(),
            settings: Settings::default(),
            cpus: None,
            is_foreign: false,
            machine: None,
            host: None,
            throttling: None,
            about: Vec::new(),
        }
    }
}

/// How the id of a race ends, but for a number where there are several.
const RACE: &str = "-race";

/// Whether this is the id of a race.
pub(crate) fn is_race(id: &str) -> bool {
    let counted = id.rsplit_once('-').filter(|it| it.1.parse::<u32>().is_ok());
    id.ends_with(RACE) || counted.is_some_and(|it| it.0.ends_with(RACE))
}

/// Everything about a machine that decides how fast it is: names and values in words, CPUs with the same value
/// together (`governor` is `performance on 0-15, powersave on 16-31`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Fingerprint(pub BTreeMap<String, String>);

impl Fingerprint {
    /// What changed from this fingerprint to a later one of the machine: `scaling_governor was performance and is powersave`.
    pub fn changes(&self, later: &Fingerprint) -> Vec<String> {
        let shown = |it: Option<String>| it.unwrap_or_else(|| "unknown".to_owned());
        let line = |SettingDifference { name, a, b }: SettingDifference| {
            format!("{name} was {} and is {}", shown(a), shown(b))
        };
        setting_differences(self, later).into_iter().map(line).collect()
    }
}

/// A setting with two values. `None` is a machine whose record does not name the setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SettingDifference {
    /// As the record names it.
    pub name: String,
    /// Its value on the machine of A.
    pub a: Option<String>,
    /// Its value on the machine of B.
    pub b: Option<String>,
}

/// The settings that differ, in the order of their names.
pub(crate) fn setting_differences(a: &Fingerprint, b: &Fingerprint) -> Vec<SettingDifference> {
    let only_b = b.0.keys().filter(|it| !a.0.contains_key(*it));
    let mut names: Vec<&String> = a.0.keys().chain(only_b).collect();
    names.sort_unstable();
    names
        .into_iter()
        .map(|it| SettingDifference {
            name: it.clone(),
            a: a.0.get(it).cloned(),
            b: b.0.get(it).cloned(),
        })
        .filter(|it| it.a != it.b)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(settings: &[(&str, &str)]) -> Fingerprint {
        Fingerprint(settings.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect())
    }

    #[test]
    fn a_change_says_what_was_and_what_is() {
        let before = machine(&[("governor", "performance"), ("turbo", "on")]);
        let after = machine(&[("governor", "powersave"), ("kernel", "6.18"), ("turbo", "on")]);
        let expected =
            ["governor was performance and is powersave", "kernel was unknown and is 6.18"];
        assert_eq!(before.changes(&after), expected);
        assert!(after.changes(&after).is_empty());
    }

    #[test]
    fn a_mark_of_a_host_is_about_its_nodes_and_a_quota_about_one() {
        let arm =
            |name: &str, host: &str| Arm { host: Some(host.to_owned()), ..Arm::of(name, "commit") };
        let mut record = Record::of(vec![arm("a", "x"), arm("b", "x"), arm("c", "y")]);
        let setting = Mark::Setting { name: "governor".to_owned(), from: None, to: None };
        let quota = Mark::Quota { group: "/g".to_owned(), from: None, to: Some(0.25) };
        let of_quota =
            Mark::Finding { check: "cgroup-quota-throttling".to_owned(), is_there: true };
        let note = Mark::Note { text: "load".to_owned() };
        let concerned = |record: &Record| {
            [&setting, &quota, &of_quota, &note].map(|it| record.concerned(1, it))
        };
        assert_eq!(concerned(&record), [vec![0, 1], vec![1], vec![1], vec![0, 1, 2]]);
        // Files of earlier versions have it once for each node.
        record.arms.iter_mut().for_each(|it| it.host = None);
        assert_eq!(concerned(&record), [vec![1], vec![1], vec![1], vec![0, 1, 2]]);
    }

    #[test]
    fn only_what_differs_is_named_and_what_one_lacks_differs() {
        let a = machine(&[("governor", "performance"), ("kernel", "6.18"), ("turbo", "on")]);
        let b = machine(&[("governor", "powersave"), ("kernel", "6.18"), ("boost", "1")]);
        let found: Vec<String> = setting_differences(&a, &b)
            .iter()
            .map(|it| format!("{} {:?} {:?}", it.name, it.a.as_deref(), it.b.as_deref()))
            .collect();
        assert_eq!(
            found,
            [
                r#"boost None Some("1")"#,
                r#"governor Some("performance") Some("powersave")"#,
                r#"turbo Some("on") None"#
            ]
        );
    }
}
