//! In what two machines differ: `schemas/diff-1.json`.

use super::{Both, Report, figures};
use crate::fleet::json::{ResultView, figure_name, kind_name};
use crate::json::{Head, Opening, pretty};
use fleet::{Difference, Untold};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Result;

/// In what two machines differ, or one at two times.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DiffDocument<'a> {
    #[serde(flatten)]
    opening: Opening<'a, 1>,
    /// What they are called.
    a: &'a str,
    b: &'a str,
    /// Whether an audit judged A; else no finding of B is a difference.
    a_audited: bool,
    b_audited: bool,
    /// What both are measured by. Results of two workloads are not compared.
    figures: Vec<FigureView<'a>>,
    /// Labels first, then findings, settings and facts, each by name. Empty where nothing differs.
    differences: Vec<DifferenceView>,
    /// What is unknown of one of them, and was not compared.
    untold: Vec<UntoldView<'a>>,
    notes: &'a [String],
}

#[derive(Serialize, JsonSchema)]
struct FigureView<'a> {
    #[schemars(extend("enum" = ["clock", "speed", "result"]))]
    figure: &'static str,
    /// What the result is.
    result: Option<ResultView<'a>>,
    /// In the unit of what is compared.
    a: f64,
    b: f64,
}

/// One thing that is not the same.
#[derive(Serialize, JsonSchema)]
struct DifferenceView {
    #[schemars(extend("enum" = ["label", "finding", "setting", "fact"]))]
    kind: &'static str,
    /// Of a finding the id of its check, of a fact its path.
    name: String,
    /// null where it is unknown of A; of a finding where it is absent.
    a: Option<String>,
    b: Option<String>,
}

/// What is unknown of one of them.
#[derive(Serialize, JsonSchema)]
struct UntoldView<'a> {
    #[schemars(extend("enum" = ["a", "b"]))]
    by: &'static str,
    #[schemars(extend("enum" = ["label", "finding", "setting", "fact"]))]
    kind: &'static str,
    names: Vec<&'a str>,
}

/// The whole document.
///
/// Errors: it cannot be written as JSON, which is a bug.
pub fn json(head: &Head, report: &Report<'_>) -> Result<String> {
    pretty(&DiffDocument {
        opening: head.opening(),
        a: report.names[0],
        b: report.names[1],
        a_audited: report.machines[0].audit.is_made(),
        b_audited: report.machines[1].audit.is_made(),
        figures: figures(report).into_iter().map(figure).collect(),
        differences: report.comparison.differences.iter().map(difference).collect(),
        untold: report.comparison.untold.iter().map(untold).collect(),
        notes: report.notes,
    })
}

fn figure(Both { figure, values: [a, b], result }: Both<'_>) -> FigureView<'_> {
    FigureView { figure: figure_name(figure), result: result.map(ResultView::of), a, b }
}

fn difference(it: &Difference) -> DifferenceView {
    let [a, b] = [&it.first, &it.second].map(|it| it.as_ref().map(ToString::to_string));
    DifferenceView { kind: kind_name(it.kind), name: it.name.to_string(), a, b }
}

fn untold(it: &Untold) -> UntoldView<'_> {
    UntoldView {
        by: if it.by_first { "a" } else { "b" },
        kind: kind_name(it.kind),
        names: it.names.iter().map(|it| &**it).collect(),
    }
}
