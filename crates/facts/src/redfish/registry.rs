//! What the firmware's settings take, as the registry that the service names says it; and whose machine a system is.
//!
//! Sources: schemas MessageRegistryFile 1.1 (`Location`, `Uri`), AttributeRegistry 1.3 (`ReadOnly`, `Value`, `Dependencies`); DSP0266 1.20,
//! "Attribute registries".

use super::Bios;
use super::bios::Takes;
use super::part::{Link, Part, Resource, shown};
use serde_json::Value;
use std::collections::BTreeMap;

/// Settings, dependencies and conditions of a registry that are looked at: some have thousands.
const MOST: usize = 16_384;

/// Values of one setting that are kept.
const MOST_VALUES: usize = 64;

/// What a board's firmware says where its maker wrote nothing.
const NO_NAMES: &[&str] =
    &["none", "default string", "to be filled by o.e.m.", "not specified", "system serial number"];

/// The shortest serial number that tells one machine from another.
const SHORTEST: usize = 5;

/// Whether a member of the collection of registries is that of this name: with the same version, or without one.
pub fn is_registry(link: &Link, name: &str) -> bool {
    let (link, name) = (link.name().to_lowercase(), name.to_lowercase());
    link == name || name.split_once('.').is_some_and(|(without_version, _)| link == without_version)
}

impl Bios {
    /// Takes over what a registry says of the settings that are kept.
    pub fn add_registry(&mut self, registry: &Resource) {
        let entries = registry.whole().part("RegistryEntries");
        let decided = dependencies(entries.values("Dependencies"));
        for entry in entries.values("Attributes").iter().take(MOST) {
            let Some(name) = entry.get("AttributeName").and_then(Value::as_str) else { continue };
            let Some(held) = self.attributes.get(name) else { continue };
            let flag = |key: &str| entry.get(key).and_then(Value::as_bool) == Some(true);
            let values = values(entry, held);
            let told = self.takes.entry(name.to_owned()).or_default();
            *told = Takes {
                read_only: flag("ReadOnly") || flag("Immutable"),
                depends_on: decided.get(name).cloned().unwrap_or_default(),
                values,
            };
        }
    }
}

/// The values of a setting, which holds one of them. Some makers number them here, and hold and take what they show: Supermicro has `Enable` for
/// `"ValueName": "1", "ValueDisplayName": "Enable"` (registry and settings of a SYS-821GE-TNHR, BIOS 1.4,
/// <https://github.com/NVIDIA/libredfish/tree/main/tests/mockups/supermicro>, read 2026-11-28).
fn values(entry: &Value, held: &str) -> Vec<String> {
    let texts = |key: &str| -> Vec<String> {
        let values = entry.get("Value").and_then(Value::as_array).into_iter().flatten();
        let texts = values.filter_map(|it| it.get(key)?.as_str());
        texts.take(MOST_VALUES).map(shown).collect()
    };
    let names = texts("ValueName");
    let has = |values: &[String]| values.iter().any(|it| it == held);
    let displayed = texts("ValueDisplayName");
    if !has(&names) && has(&displayed) { displayed } else { names }
}

/// By the name of a setting, those that decide whether it can be changed.
fn dependencies(all: &[Value]) -> BTreeMap<&str, Vec<String>> {
    let mut decided: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for rule in all.iter().take(MOST).filter_map(|it| it.get("Dependency")) {
        let text = |key: &str| rule.get(key).and_then(Value::as_str);
        let (Some(name), Some("ReadOnly" | "GrayOut")) =
            (text("MapToAttribute"), text("MapToProperty"))
        else {
            continue;
        };
        let from = rule.get("MapFrom").and_then(Value::as_array);
        let from = from.into_iter().flatten().filter_map(|it| it.get("MapFromAttribute")?.as_str());
        decided.entry(name).or_default().extend(from.take(MOST_VALUES).map(shown));
    }
    decided
}

impl Resource {
    /// Where the registry itself is: the English one, where there are several.
    pub fn registry_place(&self) -> Option<Link> {
        let places = self.whole().parts("Location");
        let is_english = |it: &&Part<'_>| {
            it.text("Language").is_none_or(|it| it.to_lowercase().starts_with("en"))
        };
        let place = places.iter().find(is_english).or(places.first())?;
        Link::of_registry(&place.text("Uri")?).ok()
    }

    /// Whether this system is the machine of this UUID and serial number; `None` where that cannot be told. Serial numbers that differ tell
    /// nothing: one may be that of the board.
    pub fn is_machine(&self, uuid: Option<&str>, serial: Option<&str>) -> Option<bool> {
        let system = self.whole();
        let of = |name: &&str| serial_number(&system.text(name)?);
        let own = serial.and_then(serial_number);
        if own.is_some() && ["SerialNumber", "SKU"].iter().any(|name| of(name) == own) {
            return Some(true);
        }
        same_uuid(uuid?, &system.text("UUID")?)
    }
}

/// A serial number that tells one machine from another.
fn serial_number(text: &str) -> Option<String> {
    let text = text.trim().to_lowercase();
    let is_one = text.len() >= SHORTEST
        && !NO_NAMES.contains(&text.as_str())
        && !text.chars().all(|it| "0x. -".contains(it));
    is_one.then_some(text)
}

/// Whether two UUIDs are one: firmware and controllers differ in the order of bytes of the first three fields (SMBIOS, 7.2.1). `None` where
/// one of them is none.
fn same_uuid(one: &str, other: &str) -> Option<bool> {
    let digits = |text: &str| {
        let text: String = text.trim().to_lowercase().replace('-', "");
        let is_one = text.len() == 32
            && text.bytes().all(|it| it.is_ascii_hexdigit())
            && !text.bytes().all(|it| it == b'0')
            && !text.bytes().all(|it| it == b'f');
        is_one.then_some(text)
    };
    let (one, other) = (digits(one)?, digits(other)?);
    let turned = |text: &str| {
        let field = |from: usize, to: usize| -> String {
            (from..to).step_by(2).rev().filter_map(|at| text.get(at..at + 2)).collect()
        };
        format!(
            "{}{}{}{}",
            field(0, 8),
            field(8, 12),
            field(12, 16),
            text.get(16..).unwrap_or_default()
        )
    };
    Some(one == other || turned(&one) == other)
}
