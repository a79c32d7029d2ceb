//! Results as JSON, in the shapes that `schemas/` publishes.
//!
//! A document is a type, from which its schema is derived: comments on fields are the descriptions there. Within a version
//! fields are only ever added; another shape gets another version. Times are UTC (RFC 3339), durations seconds in `*_s`.

mod audit;
mod chain;
mod explain;
mod scope;

pub(crate) use audit::AuditDocument;
pub use audit::audit;
pub(crate) use explain::ExplainDocument;
pub use explain::{entries, entry, explanation};

use crate::harmless::harmless_page;
use facts::{Fact, HostView, Missing, Origin};
use rules::check::Reference;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::Result;
use std::borrow::Cow;

/// The host that a document is about, and when the command began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The name of the host; of a capture or a recording the name of its file, because its own name is redacted.
    pub host: String,
    /// When the command began, UTC (RFC 3339).
    pub began: String,
}

/// The first keys of every document, of one version of its shape.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Opening<'a, const VERSION: u32> {
    /// The version of this shape.
    schema_version: Version<VERSION>,
    /// The version of the program.
    fullclock: &'static str,
    /// The name of the host; of a capture or a recording the name of its file, because its own name is redacted.
    host: &'a str,
    /// When the command began.
    began: Time<'a>,
}

impl Head {
    /// The head as a document of this version has it.
    pub(crate) fn opening<const VERSION: u32>(&self) -> Opening<'_, VERSION> {
        Opening {
            schema_version: Version,
            fullclock: env!("CARGO_PKG_VERSION"),
            host: &self.host,
            began: Time(Cow::Borrowed(&self.began)),
        }
    }
}

/// The number of a version.
pub(crate) struct Version<const VERSION: u32>;

impl<const VERSION: u32> Serialize for Version<VERSION> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_u32(VERSION)
    }
}

impl<const VERSION: u32> JsonSchema for Version<VERSION> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Version{VERSION}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "const": VERSION })
    }
}

/// A point in time, UTC (RFC 3339).
#[derive(Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("format" = "date-time", "pattern" = r"^\d{4}-\d{2}-\d{2}T[0-9:.]+Z$"))]
pub(crate) struct Time<'a>(pub(crate) Cow<'a, str>);

impl Time<'_> {
    /// Of nanoseconds since 1970.
    pub(crate) fn of_ns(real_ns: u64) -> Time<'static> {
        Time(Cow::Owned(facts::utc::timestamp(real_ns)))
    }

    /// Of the time since 1970.
    pub(crate) fn of(since_1970: std::time::Duration) -> Time<'static> {
        Time::of_ns(u64::try_from(since_1970.as_nanos()).unwrap_or(u64::MAX))
    }
}

/// The id of an entry of a list; `fullclock explain ID` says what it is.
#[derive(Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("pattern" = "^[a-z0-9]+(-[a-z0-9]+)*$"))]
pub(crate) struct Id<'a>(pub(crate) &'a str);

/// A host, as far as it is known.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Machine<'a> {
    /// live: this machine; capture: made by `fullclock capture`; tree: a bundle that holds proc/ and sys/, in which an absent
    /// file may only not have been collected.
    #[schemars(extend("enum" = ["live", "capture", "tree"]))]
    origin: &'static str,
    /// Why the copy is not whole (an archive or capture that was cut short or is damaged): what it lacks is unknown; null of a whole one.
    incomplete: Option<&'a str>,
    kernel: Option<&'a str>,
    cpu_model: Option<&'a str>,
    /// A list such as 0-3,8.
    cpus_online: Option<String>,
    vendor: Option<&'a str>,
    product: Option<&'a str>,
    firmware: Option<&'a str>,
    /// null on bare metal and where unknown.
    hypervisor: Option<&'a str>,
    container: Option<&'a str>,
}

impl<'a> Machine<'a> {
    pub(crate) fn of(host: &'a HostView) -> Machine<'a> {
        let known = |fact: &'a Fact<String>| fact.as_deref().ok();
        let cpuinfo = host.cpuinfo.as_ref().ok();
        Machine {
            origin: match host.origin {
                Origin::Live => "live",
                Origin::Capture => "capture",
                Origin::Tree => "tree",
            },
            incomplete: host.incomplete.as_deref(),
            kernel: known(&host.kernel.release),
            cpu_model: cpuinfo.map(|it| &*it.model_name).filter(|it| !it.is_empty()),
            cpus_online: host.topology.online.as_ref().ok().map(ToString::to_string),
            vendor: known(&host.dmi.vendor),
            product: known(&host.dmi.product),
            firmware: known(&host.dmi.firmware_version),
            hypervisor: host.platform.hypervisor.as_ref().ok().and_then(Option::as_deref),
            container: host.platform.container.as_ref().ok().and_then(Option::as_deref),
        }
    }
}

/// Why there is no value.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Reason<'a> {
    /// The path, register or leaf that gave no answer.
    source: &'a str,
    #[schemars(extend("enum" = ["not-here", "hidden", "absent", "denied", "not-collected", "failed", "malformed"]))]
    reason: &'static str,
    text: String,
    /// What would make it known.
    remedy: Option<&'static str>,
}

impl<'a> Reason<'a> {
    pub(crate) fn of(missing: &'a Missing) -> Reason<'a> {
        Reason::worded(missing, missing.to_string(), missing.remedy())
    }

    /// In other words than those of an audit.
    pub(crate) fn worded(
        missing: &'a Missing,
        text: String,
        remedy: Option<&'static str>,
    ) -> Reason<'a> {
        Reason { source: &missing.what, reason: missing.reason(), text, remedy }
    }
}

/// A value, or the reason why it is unknown.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub(crate) enum Answer<'a, T> {
    Value(T),
    Missing { missing: Reason<'a> },
}

impl<'a, T> Answer<'a, T> {
    pub(crate) fn of<F>(fact: &'a Fact<F>, value: impl FnOnce(&'a F) -> T) -> Answer<'a, T> {
        match fact {
            Ok(fact) => Answer::Value(value(fact)),
            Err(missing) => Answer::Missing { missing: Reason::of(missing) },
        }
    }
}

/// Where a fact is documented.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Source {
    title: &'static str,
    /// Empty of what is not on the web.
    url: &'static str,
}

pub(crate) fn references(references: &[Reference]) -> Vec<Source> {
    references.iter().map(|it| Source { title: it.title, url: it.url }).collect()
}

/// Nanoseconds in seconds.
pub(crate) fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// Nanoseconds of either sign in seconds.
pub(crate) fn signed_seconds(ns: i64) -> f64 {
    ns as f64 / 1e9
}

/// A document as text.
pub(crate) fn pretty(document: &impl Serialize) -> Result<String> {
    let text = serde_json::to_string_pretty(document)?;
    Ok(harmless_page(&text).into_owned() + "\n")
}
