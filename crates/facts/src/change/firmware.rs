//! Settings of the firmware as a place that a change writes: requested of the management controller, and taken at the next restart.
//!
//! Sources: DMTF DSP0266 1.20, "Settings resource" (`@Redfish.Settings`, `@Redfish.SettingsApplyTime`); schemas Bios 1.2 and Settings 1.3.

use crate::redfish::Link;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt;

/// Settings of one machine's firmware that are requested together. Their value is a JSON object of all of their names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FirmwarePlace {
    /// The URL of the controller; empty in a plan for a copy of a host.
    pub controller: String,
    /// The path of what is in force: `/redfish/v1/Systems/1/Bios`.
    pub bios: String,
    /// The path of what the next restart brings, where a change is requested.
    pub settings: String,
    /// The names, those first without which others are refused.
    pub names: Vec<String>,
}

/// What settings of the firmware hold, each value as a JSON object of their names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// What the machine was started with.
    pub now: String,
    /// What it holds after its next restart.
    pub next: String,
}

/// Every setting of the firmware that may be written, whatever a plan or a journal says: those that decide about turbo and who drives the
/// clock, and the profiles that keep them from being changed.
pub const ATTRIBUTES: &[&str] = &[
    "SysProfile",
    "ProcPwrPerf",
    "ProcTurboMode",
    "WorkloadProfile",
    "PowerRegulator",
    "ProcTurbo",
    "OperatingModes_ChooseOperatingMode",
    "Processors_CPUPstateControl",
    "Processors_TurboMode",
    "EnhancedIntelSpeedStep",
    "IntelTurboBoostTech",
];

/// The same of makers whose firmware ends each name with a number of its own (`TurboMode_3D06`), without it.
pub const NUMBERED: &[&str] = &["HardwareP_States", "SpeedStep_P_States_", "TurboMode"];

/// A name without the number that a firmware ends it with, a dash below and four hexadecimal digits; `None` where it has none.
pub fn without_number(name: &str) -> Option<&str> {
    let (base, number) = name.rsplit_once('_')?;
    let is_number = number.len() == 4 && number.bytes().all(|it| it.is_ascii_hexdigit());
    (is_number && !base.is_empty()).then_some(base)
}

/// No value of an enumeration is longer.
const LONGEST: usize = 200;

impl FirmwarePlace {
    /// Why it is no place that may be written; `None` where it is one.
    pub fn refusal(&self) -> Option<&'static str> {
        let is_numbered = |it: &str| NUMBERED.contains(&without_number(it).unwrap_or(it));
        let is_name = |it: &String| ATTRIBUTES.contains(&it.as_str()) || is_numbered(it);
        let is_path = |it: &str| Link::parse(it).is_ok();
        if self.names.is_empty() || !self.names.iter().all(is_name) {
            return Some("is none of the settings of the firmware that may be written");
        }
        if !is_path(&self.bios) || !is_path(&self.settings) {
            return Some("is no path of a Redfish service");
        }
        None
    }

    /// The values in a text, in the order of the names; `None` where they are not those of all names and no others.
    pub fn values(&self, text: &str) -> Option<Vec<(&str, String)>> {
        let mut map: Map<String, Value> = serde_json::from_str(text).ok()?;
        let value = |name: &'_ String| match map.remove(name)? {
            Value::String(it) if it.len() <= LONGEST => Some(it),
            _ => None,
        };
        let values: Vec<String> = self.names.iter().map(value).collect::<Option<_>>()?;
        map.is_empty().then(|| self.names.iter().map(String::as_str).zip(values).collect())
    }

    /// The text of values in the order of the names.
    pub fn text(&self, values: &[String]) -> String {
        object(self.names.iter().map(String::as_str).zip(values.iter().map(String::as_str)))
    }

    /// Whether two texts have the same values.
    pub fn is_same(&self, one: &str, other: &str) -> bool {
        one == other || self.values(one).is_some_and(|it| self.values(other) == Some(it))
    }

    /// A value for people: `SysProfile=Custom, ProcTurboMode=Enabled`.
    pub fn shown(&self, text: &str) -> String {
        let pair = |(name, value): (&str, String)| format!("{name}={value}");
        let values = self.values(text).unwrap_or_default();
        match values.is_empty() {
            true => text.to_owned(),
            false => values.into_iter().map(pair).collect::<Vec<_>>().join(", "),
        }
    }
}

/// A JSON object of names and values in their order.
pub fn object<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let pair = |(name, value)| format!("{}: {}", Value::from(name), Value::from(value));
    let pairs: Vec<String> = pairs.into_iter().map(pair).collect();
    format!("{{{}}}", pairs.join(", "))
}

/// The body of the request that gives settings these values, a JSON object. `on_reset` where the service wants to be told when.
pub fn request_body(values: &str, on_reset: bool) -> String {
    match on_reset {
        true => format!(
            "{{\"Attributes\": {values}, \"@Redfish.SettingsApplyTime\": {{\"ApplyTime\": \"OnReset\"}}}}"
        ),
        false => format!("{{\"Attributes\": {values}}}"),
    }
}

/// The URL of the place where the change is requested.
impl fmt::Display for FirmwarePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.controller.trim_end_matches('/'), self.settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(names: &[&str]) -> FirmwarePlace {
        FirmwarePlace {
            controller: "https://bmc7".to_owned(),
            bios: "/redfish/v1/Systems/1/Bios".to_owned(),
            settings: "/redfish/v1/Systems/1/Bios/Settings".to_owned(),
            names: names.iter().map(|it| (*it).to_owned()).collect(),
        }
    }

    #[test]
    fn values_are_those_of_all_names_in_their_order() {
        let place = place(&["SysProfile", "ProcTurboMode"]);
        let text = place.text(&["Custom".to_owned(), "En\"abled".to_owned()]);
        assert_eq!(text, r#"{"SysProfile": "Custom", "ProcTurboMode": "En\"abled"}"#);
        let other = r#"{"ProcTurboMode":"En\"abled","SysProfile":"Custom"}"#;
        assert!(place.is_same(&text, other));
        assert_eq!(place.shown(other), "SysProfile=Custom, ProcTurboMode=En\"abled");
        for wrong in [
            r#"{"SysProfile": "Custom"}"#,
            r#"{"SysProfile": "Custom", "ProcTurboMode": 1}"#,
            r#"{"SysProfile": "Custom", "ProcTurboMode": "x", "Password": "y"}"#,
            "[]",
            "",
        ] {
            assert_eq!(place.values(wrong), None, "{wrong}");
            assert!(!place.is_same(&text, wrong), "{wrong}");
        }
        assert_eq!(place.to_string(), "https://bmc7/redfish/v1/Systems/1/Bios/Settings");
    }

    #[test]
    fn what_is_not_listed_or_leads_elsewhere_is_no_place() {
        assert_eq!(place(&["ProcTurbo"]).refusal(), None);
        assert!(place(&["ProcTurbo", "AdminPassword"]).refusal().unwrap().contains("none of"));
        assert!(place(&[]).refusal().is_some());
        assert_eq!(place(&["SpeedStep_P_States__FF12", "TurboMode_3D06"]).refusal(), None);
        assert_eq!(place(&["TurboMode"]).refusal(), None, "newer firmware has no numbers");
        for wrong in ["TurboMode_3D0", "TurboMode_3D066", "TurboMode_3D0G", "TXTSupport_0062"] {
            assert!(place(&[wrong]).refusal().is_some(), "{wrong}");
        }
        assert_eq!(without_number("_3D06"), None);
        let elsewhere = FirmwarePlace { settings: "//evil/x".to_owned(), ..place(&["ProcTurbo"]) };
        assert!(elsewhere.refusal().unwrap().contains("no path"));
    }

    #[test]
    fn the_request_says_when_where_the_service_wants_to_know() {
        let values = r#"{"ProcTurbo": "Enabled"}"#;
        assert_eq!(request_body(values, false), r#"{"Attributes": {"ProcTurbo": "Enabled"}}"#);
        let body: Value = serde_json::from_str(&request_body(values, true)).unwrap();
        assert_eq!(body["@Redfish.SettingsApplyTime"]["ApplyTime"], "OnReset");
        assert_eq!(body["Attributes"]["ProcTurbo"], "Enabled");
    }
}
