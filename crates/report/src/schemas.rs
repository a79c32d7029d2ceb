//! The documents that commands print as JSON, and their schemas.
//!
//! The program holds no schema, because nothing that it runs asks for one: `cargo xtask docs` writes them into `schemas/`.

use crate::advisories::AdvisoriesDocument;
use crate::baseline::{DiffDocument as BaselineDiffDocument, ListDocument, TakenDocument};
use crate::bench::{ComparisonDocument, ResultDocument, WorkloadsDocument};
use crate::certificate::CertificateDocument;
use crate::change::{ApplyDocument, DriftDocument, PlanDocument, RevertDocument, StatusDocument};
use crate::difference::DiffDocument;
use crate::doctor::DoctorDocument;
use crate::experiment::{ExperimentDocument, ExperimentPlanDocument};
use crate::fleet::json::FleetDocument;
use crate::history::HistoryDocument;
use crate::ipmi::power::PowerDocument;
use crate::ipmi::sensors::SensorsDocument;
use crate::ipmi::{LatencyDocument, TuneDocument};
use crate::json::{AuditDocument, ExplainDocument};
use crate::ledger::json::LedgerDocument;
use crate::net::{CeilingsDocument, CurveDocument, TestDocument};
use crate::noise::json::NoiseDocument;
use crate::redfish::BmcDocument;
use crate::samples::json::SampleDocument;
use crate::spans::json::CourseDocument;
use crate::tick::TickDocument;
use crate::why::json::WhyDocument;
use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde_json::{Map, Result, Value};

/// A document, or a line, that a command prints.
pub struct Shape {
    /// The first part of its schema's file name.
    pub name: &'static str,
    /// The version of the shape: the other part.
    pub version: u32,
    /// What prints it, behind `fullclock`.
    pub command: &'static str,
    schema: fn() -> Schema,
}

const fn shape<T: JsonSchema>(name: &'static str, version: u32, command: &'static str) -> Shape {
    Shape { name, version, command, schema: schema_of::<T> }
}

/// Every document, in the order of the commands' help.
pub const SHAPES: &[Shape] = &[
    shape::<AuditDocument<'_>>("audit", 2, "audit --json"),
    shape::<ExplainDocument<'_>>("explain", 2, "explain --json"),
    shape::<AdvisoriesDocument<'_>>("advisories", 1, "advisories --json"),
    shape::<DoctorDocument<'_>>("doctor", 1, "doctor --json"),
    shape::<LedgerDocument<'_>>("ledger", 2, "ledger --json"),
    shape::<CourseDocument<'_>>("ledger-by", 1, "ledger --by --json"),
    shape::<SampleDocument<'_>>("sample", 2, "watch --json"),
    shape::<TickDocument<'_>>("tick", 2, "tick --json"),
    shape::<NoiseDocument<'_>>("noise", 2, "noise --json"),
    shape::<CeilingsDocument<'_>>("net-ceiling", 2, "net ceiling --json"),
    shape::<CurveDocument<'_>>("net-curve", 2, "net curve --json"),
    shape::<TestDocument<'_>>("net-test", 2, "net client --json"),
    shape::<LatencyDocument<'_>>("ipmi-latency", 2, "ipmi latency --json"),
    shape::<SensorsDocument<'_>>("ipmi-sensors", 2, "ipmi sensors --json"),
    shape::<PowerDocument<'_>>("ipmi-power", 2, "ipmi power --json"),
    shape::<TuneDocument<'_>>("ipmi-tune", 2, "ipmi tune --json"),
    shape::<BmcDocument<'_>>("bmc", 1, "bmc --json"),
    shape::<FleetDocument<'_>>("fleet", 1, "fleet --json"),
    shape::<DiffDocument<'_>>("diff", 1, "diff A B --json"),
    shape::<TakenDocument<'_>>("baseline", 1, "baseline --json"),
    shape::<ListDocument<'_>>("baseline-list", 1, "baseline list --json"),
    shape::<BaselineDiffDocument<'_>>("baseline-diff", 1, "baseline diff --json"),
    shape::<WorkloadsDocument<'_>>("workloads", 1, "bench --json"),
    shape::<ResultDocument<'_>>("result", 2, "bench WORKLOAD --json"),
    shape::<HistoryDocument<'_>>("history", 2, "history --json"),
    shape::<ComparisonDocument<'_>>("comparison", 3, "compare --json"),
    shape::<WhyDocument<'_>>("why", 1, "compare A.tape B.tape --json"),
    shape::<CertificateDocument<'_>>("certificate", 3, "certificate --json"),
    shape::<PlanDocument<'_>>("plan", 2, "plan --json"),
    shape::<ApplyDocument<'_>>("apply", 2, "apply --json"),
    shape::<RevertDocument<'_>>("revert", 2, "revert --json"),
    shape::<StatusDocument<'_>>("status", 2, "status --json"),
    shape::<DriftDocument<'_>>("drift", 2, "watch-drift --json"),
    shape::<ExperimentPlanDocument<'_>>("experiment-plan", 2, "experiment --dry-run --json"),
    shape::<ExperimentDocument<'_>>("experiment", 3, "experiment --json"),
];

/// A schema as its file has it.
#[derive(Serialize)]
struct File {
    #[serde(rename = "$schema")]
    schema: &'static str,
    #[serde(rename = "$id")]
    id: String,
    title: String,
    description: String,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

const PROMISE: &str =
    "Fields may be added within a version; none is removed and none changes its meaning.";

impl Shape {
    /// The name of its schema's file.
    pub fn file(&self) -> String {
        format!("{}-{}.json", self.name, self.version)
    }

    /// What it holds, in a sentence or two.
    pub fn about(&self) -> String {
        let schema = (self.schema)();
        let about = schema.get("description").and_then(Value::as_str).unwrap_or_default();
        about.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The text of that file.
    ///
    /// Errors: it cannot be written as JSON, which is a bug.
    pub fn text(&self) -> Result<String> {
        let mut rest = (self.schema)().as_object().cloned().unwrap_or_default();
        for key in ["$schema", "title", "description"] {
            rest.remove(key);
        }
        let Shape { name, version, command, .. } = self;
        let file = File {
            schema: "https://json-schema.org/draft/2020-12/schema",
            id: format!("urn:fullclock:schema:{name}:{version}"),
            title: format!("fullclock {command}, version {version}"),
            description: format!("{} {PROMISE}", self.about()),
            rest,
        };
        Ok(serde_json::to_string_pretty(&file)? + "\n")
    }
}

fn settings() -> SchemaSettings {
    SchemaSettings::draft2020_12().for_serialize().with_transform(Published)
}

fn schema_of<T: JsonSchema>() -> Schema {
    settings().into_generator().into_root_schema_for::<T>()
}

/// The schemas of documents that `fullclock serve` answers with, by their names below `components` of its description.
pub fn components() -> Map<String, Value> {
    let below = |it: &mut SchemaSettings| it.definitions_path = "/components/schemas".into();
    let mut generator = settings().with(below).into_generator();
    generator.subschema_for::<AuditDocument<'_>>();
    generator.subschema_for::<ComparisonDocument<'_>>();
    generator.subschema_for::<FleetDocument<'_>>();
    generator.subschema_for::<SampleDocument<'_>>();
    generator.take_definitions(true)
}

/// Leaves out what readers of documents do not need: how wide a number is in memory, what a missing field would be. Fields may be
/// added, so that none is forbidden.
#[derive(Clone)]
struct Published;

impl Transform for Published {
    fn transform(&mut self, schema: &mut Schema) {
        let format = schema.get("format").and_then(Value::as_str);
        if format.is_some_and(|it| it != "date-time") {
            schema.remove("format");
        }
        schema.remove("default");
        for key in ["additionalProperties", "unevaluatedProperties"] {
            if schema.get(key) == Some(&Value::Bool(false)) {
                schema.remove(key);
            }
        }
        if let Some(Value::String(text)) = schema.get_mut("description") {
            *text = text.split_whitespace().collect::<Vec<_>>().join(" ").replace("`None`", "null");
        }
        transform_subschemas(self, schema);
    }
}

/// The page of `docs/` that lists the documents.
pub fn page() -> String {
    let shapes: String = SHAPES.iter().map(row).collect();
    format!("{OPENING}{shapes}{ENDING}")
}

fn row(shape: &Shape) -> String {
    let (file, about) = (shape.file(), shape.about());
    format!("| `fullclock {}` | [{file}](../schemas/{file}) | {about} |\n", shape.command)
}

const OPENING: &str = "\
# JSON

What commands print with `--json`. Made from the documents themselves by `cargo xtask docs`.

Every document has these keys:

| key | is |
|---|---|
| `schema_version` | the version of its shape, which is the number in the schema's file name; within a version fields are only added |
| `fullclock` | the version of the program |
| `host` | the name of the host; of a capture, a recording or a study that `report` reads the name of its file or folder, because its own name is redacted |
| `began` | when the command began; of `experiment`, when the study did |

Times are UTC (RFC 3339), durations are seconds in keys that end in `_s`, and what is unknown is null or has a reason. `watch`,
`watch-drift` and `ipmi sensors --watch` print one document a line.

| command | schema | what it holds |
|---|---|---|
";

const ENDING: &str = "
`race --json` prints a result, too. Results are files that are kept: their keys stay as they are, so that old files are read; a
file has no `host`, and times of its trials are nanoseconds.

`fullclock serve` describes its answers in [openapi-1.json](../schemas/openapi-1.json).

## CSV

`--csv` prints a first line with the names of the columns, and then a row for each

- line of the ledger and CPU: `ledger`
- metric and CPU, every interval: `watch`
- CPU: `tick`
- value of each CPU: `noise`
- message size: `net client`
- sensor: `ipmi sensors`
- sample: `ipmi power`
- value of each trial: `bench`
- part of each boot, or of each change: `baseline`
- interval and node: `race`
- result and variant: `history`
- slow machine: `fleet`

What is unknown is empty, with the reason in a column of its own where there is one. A cell that a spreadsheet would take for a
formula gets an apostrophe before it.
";

#[cfg(test)]
pub(crate) use tests::{checked, head, is_valid};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Head;

    pub(crate) fn head() -> Head {
        Head { host: "db7".to_owned(), began: "2026-11-20T12:14:05.120Z".to_owned() }
    }

    fn errors(name: &str, value: &Value) -> Vec<String> {
        let shape = SHAPES.iter().find(|it| it.name == name).unwrap();
        let schema = serde_json::from_str(&shape.text().unwrap()).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        validator.iter_errors(value).map(|it| format!("{}: {it}", it.instance_path())).collect()
    }

    /// Whether a document is of the shape of this name.
    pub(crate) fn is_valid(name: &str, value: &Value) -> bool {
        errors(name, value).is_empty()
    }

    /// A document, which is of the shape of this name.
    pub(crate) fn checked(name: &str, of: impl FnOnce(&Head) -> Result<String>) -> Value {
        let value: Value = serde_json::from_str(&of(&head()).unwrap()).unwrap();
        assert_eq!(errors(name, &value), Vec::<String>::new(), "{value:#}");
        assert_eq!(
            (&value["host"], &value["fullclock"]),
            (&"db7".into(), &env!("CARGO_PKG_VERSION").into())
        );
        value
    }

    #[test]
    fn every_shape_has_the_common_keys_and_the_version_of_its_file() {
        for shape in SHAPES {
            let schema: Value = serde_json::from_str(&shape.text().unwrap()).unwrap();
            let required = schema["required"].as_array().unwrap();
            for key in ["schema_version", "fullclock", "host", "began"] {
                assert!(schema["properties"][key].is_object(), "{} lacks {key}", shape.name);
                // A file of a result has its own.
                let is_there = required.contains(&key.into()) || shape.name == "result";
                assert!(is_there, "{} may lack {key}", shape.name);
            }
            assert_eq!(schema["properties"]["schema_version"]["const"], shape.version);
            assert!(!shape.about().is_empty(), "{}", shape.name);
        }
    }

    #[test]
    fn no_shape_forbids_fields_that_a_later_program_adds_nor_links_to_our_code() {
        for shape in SHAPES {
            let text = shape.text().unwrap();
            assert!(!text.contains("\"additionalProperties\": false"), "{}", shape.name);
            assert!(!text.contains("[`"), "{}: {text}", shape.name);
        }
    }

    /// No key names another unit, but for readings of a clock and what old files of results have.
    #[test]
    fn durations_are_seconds() {
        fn keys(value: &Value, found: &mut Vec<String>) {
            if let Some(properties) = value.get("properties").and_then(Value::as_object) {
                found.extend(properties.keys().cloned());
            }
            match value {
                Value::Object(map) => map.values().for_each(|it| keys(it, found)),
                Value::Array(list) => list.iter().for_each(|it| keys(it, found)),
                _ => {}
            }
        }
        for shape in SHAPES.iter().filter(|it| it.name != "result") {
            let schema: Value = serde_json::from_str(&shape.text().unwrap()).unwrap();
            let mut found = Vec::new();
            keys(&schema, &mut found);
            let units = ["_ns", "_us", "_ms", "_seconds"];
            let is_other = |it: &&String| units.iter().any(|unit| it.ends_with(unit));
            let others: Vec<&String> = found.iter().filter(is_other).collect();
            let readings: &[&str] = if shape.name == "tick" { &["from_ns", "to_ns"] } else { &[] };
            assert_eq!(others, readings, "{}", shape.name);
        }
    }
}
