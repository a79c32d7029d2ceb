//! What `fullclock bench` can run: as a document, as JSON (`schemas/workloads-1.json`) and as CSV.

use crate::document::{Align, Block, Document, Table, Text};
use crate::harmless::csv_line;
use crate::json::{Head, Opening, pretty};
use lab::workload::Workload;
use lab::workloads::WORKLOADS;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Result;

/// Every workload with its title and the options it accepts.
pub fn document() -> Document {
    let mut document = Document::new("Workloads of fullclock bench");
    let columns =
        [("workload", Align::Left), ("what it is, and the options it takes", Align::Left)];
    let row = |it: &Workload| {
        let takes = options(it).join(", ");
        [it.id.to_owned(), format!("{}: {takes}", it.title)].map(Text::from).into()
    };
    document.push(Block::Table(Table::new(&columns, WORKLOADS.iter().map(row))));
    document.note(Text::sentence(
        "`fullclock explain WORKLOAD` says what it does, what changes its results and what it cannot know.",
    ));
    document
}

/// What `fullclock bench` can run.
#[derive(Serialize, JsonSchema)]
pub(crate) struct WorkloadsDocument<'a> {
    #[serde(flatten)]
    opening: Opening<'a, 1>,
    workloads: Vec<Entry>,
}

/// A workload.
#[derive(Serialize, JsonSchema)]
struct Entry {
    id: &'static str,
    title: &'static str,
    /// What it measures.
    measures: &'static str,
    unit: &'static str,
    #[schemars(extend("enum" = ["higher", "lower"]))]
    better: &'static str,
    /// The options it takes.
    options: Vec<&'static str>,
}

/// Every workload as JSON.
pub fn json(head: &Head) -> Result<String> {
    let entry = |it: &Workload| Entry {
        id: it.id,
        title: it.title,
        measures: it.figure.name,
        unit: it.figure.unit,
        better: it.figure.better.name(),
        options: options(it),
    };
    pretty(&WorkloadsDocument {
        opening: head.opening(),
        workloads: WORKLOADS.iter().map(entry).collect(),
    })
}

/// Every workload as CSV, a row for each.
pub fn csv() -> String {
    let row = |it: &Workload| {
        // With its dashes it would be a formula to a spreadsheet.
        let options: Vec<&str> = options(it).iter().map(|it| it.trim_start_matches('-')).collect();
        let (figure, options) = (&it.figure, options.join(" "));
        csv_line(&[it.id, it.title, figure.name, figure.unit, figure.better.name(), &options])
    };
    let rows: String = WORKLOADS.iter().map(row).collect();
    "workload,title,measures,unit,better,options\n".to_owned() + &rows
}

fn options(workload: &Workload) -> Vec<&'static str> {
    workload.takes.iter().map(|it| it.option()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::every_form::text;
    use crate::schemas::checked;

    #[test]
    fn each_workload_stands_with_its_options_in_every_form() {
        let text = text(&document(), 80);
        assert!(text.contains("cpu-loop") && text.contains("--iterations"), "{text}");
        let told = checked("workloads", json);
        assert_eq!(told["workloads"].as_array().map(Vec::len), Some(WORKLOADS.len()));
        assert_eq!(told["workloads"][0]["id"], "cpu-loop");
        let csv = csv();
        assert_eq!(csv.lines().count(), 1 + WORKLOADS.len());
        assert!(csv.contains("\ncpu-loop,a loop of arithmetic with a known answer,"), "{csv}");
    }
}
