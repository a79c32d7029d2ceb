//! The tools, in the order in which a client lists them. All of them read, and none of them writes.

mod audit;
mod compare;
mod explain;
mod history;
mod ledger;
mod plan;

use anyhow::{Context, Result};
use engine::copies::{self, Opened};
use engine::interrupt::Interrupt;
use host::Source;
use report::document::Document;
use rmcp::handler::server::common::schema_for_input;
use rmcp::model::JsonObject;
use rules::config::Config;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Something that a client can ask.
pub(crate) struct Tool {
    /// What a call names it by.
    pub(crate) name: &'static str,
    /// The same for people.
    pub(crate) title: &'static str,
    /// What it answers, and what it takes to do so.
    pub(crate) description: &'static str,
    /// The JSON schema of its arguments.
    pub(crate) schema: fn() -> Arc<JsonObject>,
    /// Its answer.
    pub(crate) answer: fn(&Scene, Given, &Interrupt) -> Result<Document>,
    /// What to ask for where an answer is too long.
    pub(crate) more: &'static str,
}

/// Every tool.
pub(crate) const TOOLS: &[Tool] =
    &[audit::TOOL, explain::TOOL, plan::TOOL, ledger::TOOL, history::TOOL, compare::TOOL];

/// What tools read besides the host.
pub(crate) struct Scene {
    /// The folder of results.
    pub(crate) results: PathBuf,
    /// What the site of this machine has decided.
    pub(crate) config: Config,
}

/// The arguments of a call, not yet looked at.
pub(crate) struct Given(pub(crate) JsonObject);

impl Given {
    /// The arguments as the tool takes them.
    ///
    /// Errors: one is unknown, missing, or of another type.
    fn read<T: DeserializeOwned>(self) -> Result<T> {
        serde_json::from_value(Value::Object(self.0)).context("the arguments make no sense")
    }
}

/// The JSON schema of arguments.
fn schema<T: JsonSchema + 'static>() -> Arc<JsonObject> {
    // Arguments are structures, of which the schema is an object: a test looks at each.
    schema_for_input::<T>().unwrap_or_default()
}

/// The host that a call is about, and what to call it.
///
/// Errors: there is no copy at this path.
fn host_at(
    path: Option<&Path>,
    this_machine: impl FnOnce() -> Box<dyn Source>,
) -> Result<(Box<dyn Source>, String)> {
    Ok(match path {
        None => (this_machine(), "this machine".to_owned()),
        Some(path) => {
            let Opened { source, name, others } = copies::open(path)?;
            let name = match &others[..] {
                [] => name,
                [another, ..] => {
                    let n = others.len() + 1;
                    format!("{name} (1 of {n} hosts in it; `path` takes another: {another})")
                }
            };
            (source, name)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_takes_an_object_of_described_arguments_and_no_other() {
        for tool in TOOLS {
            let schema = (tool.schema)();
            assert_eq!(schema["type"], "object", "{}", tool.name);
            assert_eq!(schema["additionalProperties"], false, "{}", tool.name);
            for (name, property) in schema["properties"].as_object().unwrap() {
                assert!(property["description"].is_string(), "{} {name}: {property}", tool.name);
            }
        }
    }

    #[test]
    fn arguments_that_a_tool_does_not_take_are_refused() {
        let scene = Scene { results: PathBuf::from("/nowhere"), config: Config::default() };
        let (interrupt, _) = Interrupt::by_hand();
        for tool in TOOLS {
            let given = Given([("apply".to_owned(), Value::Bool(true))].into_iter().collect());
            let refused = (tool.answer)(&scene, given, &interrupt).err().unwrap();
            assert!(format!("{refused:#}").contains("unknown field `apply`"), "{refused:#}");
        }
    }
}
