//! Settings of the firmware that concern the clock, and those that wait for a restart.

use super::part::{Link, Resource, shown};
use crate::change::{FirmwarePlace, Held};
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
    /// How many others the next restart changes, which do not concern the clock.
    pub others_pending: usize,
    /// Where a change is requested; `None` where the service names no such place.
    pub settings: Option<String>,
    /// When the service can bring a change (`SupportedApplyTimes`): `OnReset`; empty where it does not say.
    pub apply_times: Vec<String>,
    /// What each of [`Bios::attributes`] takes, where that was requested and the registry or the resource says it.
    pub takes: BTreeMap<String, Takes>,
}

/// What a setting takes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Takes {
    /// Whether it cannot be changed.
    pub read_only: bool,
    /// The settings that decide whether it can be changed.
    pub depends_on: Vec<String>,
    /// Its values; empty where none are listed.
    pub values: Vec<String>,
}

impl Bios {
    /// Whether a request has to say that it is meant for the next restart.
    pub fn on_reset(&self) -> bool {
        self.apply_times.iter().any(|it| it == ON_RESET)
    }
}

/// `SettingsApplyTime` of the Settings schema: at the next restart.
pub const ON_RESET: &str = "OnReset";

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
    "p_state",
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
    /// Takes over what the place for changes holds; `own` is the resource that these are of.
    pub fn add_settings(&mut self, own: &Resource, settings: &Resource) {
        let waiting = attributes(settings);
        let differs =
            |(name, _): &(&String, &String)| self.attributes.get(*name) != waiting.get(*name);
        let pending = waiting.iter().filter(differs).map(|(name, then)| Pending {
            name: name.clone(),
            now: self.attributes.get(name).cloned(),
            then: then.clone(),
        });
        self.pending = pending.collect();
        self.others_pending = pending_names(own, settings).len().saturating_sub(self.pending.len());
    }
}

impl Resource {
    /// The settings of the firmware, and where their changes wait.
    pub fn bios(&self) -> (Bios, Option<Link>) {
        let of_changes = self.whole().part("@Redfish.Settings");
        let settings = of_changes.link("SettingsObject");
        let attributes = attributes(self);
        let takes = attributes.keys().filter_map(|it| Some((it.clone(), self.allowable(it)?)));
        let bios = Bios {
            source: self.path().to_owned(),
            registry: self.whole().text("AttributeRegistry"),
            takes: takes.collect(),
            attributes,
            pending: Vec::new(),
            others_pending: 0,
            settings: settings.as_ref().map(|it| it.path().to_owned()),
            apply_times: of_changes.texts("SupportedApplyTimes"),
        };
        (bios, settings)
    }

    /// The values that the resource lists for a setting (DSP0266, "Allowable values").
    fn allowable(&self, name: &str) -> Option<Takes> {
        let values =
            self.whole().part("Attributes").texts(&format!("{name}@Redfish.AllowableValues"));
        (!values.is_empty()).then(|| Takes { values, ..Takes::default() })
    }

    /// What settings of the firmware hold, `self` being what is in force and `settings` what the next restart brings.
    ///
    /// Errors: one of them is not there, or is no text.
    pub fn held(&self, settings: &Resource, place: &FirmwarePlace) -> Result<Held, String> {
        let of = |resource: &Resource, name: &str| match resource.attribute(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(format!("{name} is no text")),
        };
        let (mut now, mut next) = (Vec::new(), Vec::new());
        for name in &place.names {
            let current = of(self, name)?.ok_or_else(|| format!("the firmware has no {name}"))?;
            next.push(of(settings, name)?.unwrap_or_else(|| current.clone()));
            now.push(current);
        }
        Ok(Held { now: place.text(&now), next: place.text(&next) })
    }

    /// A setting of the firmware, which is not null.
    fn attribute(&self, name: &str) -> Option<&Value> {
        let mut entries = self.whole().part("Attributes").entries();
        entries.find(|(it, value)| *it == name && !value.is_null()).map(|it| it.1)
    }
}

/// The names of all settings that the next restart changes, whatever they concern.
pub fn pending_names(own: &Resource, settings: &Resource) -> Vec<String> {
    fn named(of: &Resource) -> BTreeMap<String, &Value> {
        values(of).map(|(name, value)| (shown(name), value)).collect()
    }
    let now = named(own);
    let differs = |(name, then): &(String, &Value)| now.get(name) != Some(then);
    named(settings).into_iter().filter(differs).map(|it| it.0).collect()
}

/// The settings that concern the clock, as texts.
fn attributes(of: &Resource) -> BTreeMap<String, String> {
    let concerns = |name: &str| {
        let name = name.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|it| name.contains(it));
        name.len() <= 80 && has(CONCERN) && !has(PRIVATE)
    };
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), shown);
    let kept = values(of).filter(|(name, _)| concerns(name));
    kept.map(|(name, value)| (shown(name), text(value))).take(MOST).collect()
}

/// The settings that have a value: a text, a number, yes or no. `Name@Redfish.AllowableValues` is about a setting, and none itself.
fn values(of: &Resource) -> impl Iterator<Item = (&String, &Value)> {
    let is_value = |it: &(&String, &Value)| {
        let is_plain = matches!(it.1, Value::String(_) | Value::Bool(_) | Value::Number(_));
        is_plain && !it.0.contains('@')
    };
    of.whole().part("Attributes").entries().filter(is_value)
}
