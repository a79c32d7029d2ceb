//! Settings of the firmware that concern the clock, and those that wait for a restart.

use super::part::{Link, Resource, shown};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// Settings of the firmware by their names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Bios {
    /// The resource, for evidence.
    pub source: String,
    /// `AttributeRegistry`: what the names mean.
    pub registry: Option<String>,
    /// Those that concern the clock, power or idle states.
    pub attributes: BTreeMap<String, String>,
    /// Those that the next restart changes.
    pub pending: Vec<Pending>,
    /// Where a change is requested; `None` where the service names no such place.
    pub settings: Option<String>,
}

/// A setting that the next restart changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pending {
    /// Its name.
    pub name: String,
    /// What it is now, where that is known.
    pub now: Option<String>,
    /// What it will be.
    pub then: String,
}

/// Parts of names of settings that concern the clock, in lower case. What has none of them is not kept: names, addresses, passwords.
const CONCERN: &[&str] = &[
    "boost",
    "c1e",
    "c6",
    "clock",
    "cppc",
    "cstate",
    "c-state",
    "energy",
    "eist",
    "epp",
    "freq",
    "hwp",
    "idle",
    "perf",
    "powerprofile",
    "powerregulator",
    "power_profile",
    "powertechnology",
    "procpwr",
    "profile",
    "pstate",
    "p-state",
    "rapl",
    "speedstep",
    "speedselect",
    "tdp",
    "throttl",
    "turbo",
    "uncore",
    "workload",
];

/// Parts of names that are never kept.
const PRIVATE: &[&str] =
    &["address", "asset", "email", "mac", "password", "phone", "serial", "url", "uuid"];

/// Settings that are kept: some firmware has thousands.
const MOST: usize = 200;

impl Bios {
    /// Takes over what the place for changes holds.
    pub fn add_settings(&mut self, settings: &Resource) {
        let waiting = attributes(settings);
        let differs =
            |(name, _): &(&String, &String)| self.attributes.get(*name) != waiting.get(*name);
        let pending = waiting.iter().filter(differs).map(|(name, then)| Pending {
            name: name.clone(),
            now: self.attributes.get(name).cloned(),
            then: then.clone(),
        });
        self.pending = pending.collect();
    }
}

impl Resource {
    /// The settings of the firmware, and where their changes wait.
    pub fn bios(&self) -> (Bios, Option<Link>) {
        let settings = self.whole().part("@Redfish.Settings").link("SettingsObject");
        let bios = Bios {
            source: self.path().to_owned(),
            registry: self.whole().text("AttributeRegistry"),
            attributes: attributes(self),
            pending: Vec::new(),
            settings: settings.as_ref().map(|it| it.path().to_owned()),
        };
        (bios, settings)
    }
}

fn attributes(of: &Resource) -> BTreeMap<String, String> {
    let concerns = |name: &str| {
        let name = name.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|it| name.contains(it));
        name.len() <= 80 && has(CONCERN) && !has(PRIVATE)
    };
    let part = of.whole().part("Attributes");
    let kept = part.entries().filter(|(name, _)| concerns(name)).filter_map(|(name, value)| {
        let value = match value {
            Value::String(text) => shown(text),
            Value::Bool(_) | Value::Number(_) => value.to_string(),
            Value::Null | Value::Array(_) | Value::Object(_) => return None,
        };
        Some((shown(name), value))
    });
    kept.take(MOST).collect()
}
