//! CPUs that something is about, in JSON.

use rules::finding;
use schemars::JsonSchema;
use serde::Serialize;

/// Some of the CPUs that were looked at.
#[derive(Serialize, JsonSchema)]
pub(super) struct Cpus {
    #[schemars(regex(pattern = "^[0-9,-]*$"))]
    list: String,
    /// How many these are.
    n: usize,
    /// How many were looked at.
    of: usize,
}

impl Cpus {
    pub(super) fn of(scope: &finding::Scope) -> Cpus {
        Cpus { list: scope.cpus.to_string(), n: scope.cpus.len(), of: scope.of }
    }
}
