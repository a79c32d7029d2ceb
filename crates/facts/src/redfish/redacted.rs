//! What of a controller's answers may leave the machine: without the names by which its resources tell one machine from another.

use super::{OTHER_SYSTEMS, Redfish};
use crate::{Missing, Why};
use serde_json::Value;
use std::collections::BTreeMap;

/// Collections whose members some makers name by their serial numbers (Cisco, and DMTF's own examples).
const COLLECTIONS: &[&str] = &["systems", "chassis", "managers"];

impl Redfish {
    /// The same with a mark in place of the names of systems, chassis and managers in its paths, the same mark for the same name.
    #[must_use]
    pub fn redacted(&self) -> Redfish {
        let mut seen = BTreeMap::new();
        let mut told = self.clone();
        for it in told.unknown.iter_mut().filter(|it| it.what == OTHER_SYSTEMS) {
            "their names are left out".clone_into(&mut it.why);
        }
        let Ok(mut value) = serde_json::to_value(&told) else { return Redfish::default() };
        redact(&mut value, &mut seen);
        serde_json::from_value(value).unwrap_or_default()
    }
}

/// Why a controller says nothing, where the words may name its resources by their paths.
#[must_use]
pub fn without_names(missing: Missing) -> Missing {
    let why = match missing.why {
        Why::Failed(words) => Why::Failed(unnamed(&words, &mut BTreeMap::new())),
        other => other,
    };
    Missing { why, ..missing }
}

fn redact(value: &mut Value, seen: &mut BTreeMap<String, usize>) {
    match value {
        Value::String(text) if text.contains("/redfish/") => *text = unnamed(text, seen),
        Value::Array(items) => items.iter_mut().for_each(|it| redact(it, seen)),
        Value::Object(map) => map.values_mut().for_each(|it| redact(it, seen)),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn unnamed(text: &str, seen: &mut BTreeMap<String, usize>) -> String {
    let mut is_named = false;
    let part = |part: &str| {
        let is_name =
            std::mem::replace(&mut is_named, COLLECTIONS.contains(&&*part.to_lowercase()));
        // What comes after a blank is a property, and after another mark the rest of a sentence.
        let (name, rest) = part.split_at(part.find([' ', '?', ',', ';']).unwrap_or(part.len()));
        if !is_name || name.is_empty() {
            return part.to_owned();
        }
        let next = seen.len() + 1;
        let number = *seen.entry(name.to_lowercase()).or_insert(next);
        format!("<id{number}>{rest}")
    };
    text.split('/').map(part).collect::<Vec<_>>().join("/")
}
