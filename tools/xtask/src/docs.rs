//! `cargo xtask docs`: renews what is made from the program's own lists and documents, in `docs/`, `schemas/` and `packaging/man/`, and
//! makes a book of all pages.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, ensure};
use report::schemas::{self, SHAPES};
use serde_json::Value;

use crate::book::book;
use crate::cargo::workspace;
use crate::man;

/// Writes the pages of `docs/`, the files of `schemas/`, the manual pages of files, and the book.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let is_pages = arguments == ["--pages"];
    ensure!(is_pages || arguments.is_empty(), "expected: cargo xtask docs [--pages]");
    for (path, text) in files()? {
        let path = workspace().join(path);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    if !is_pages {
        println!("{}", book()?.join("index.html").display());
    }
    Ok(ExitCode::SUCCESS)
}

/// Every file that is made, with its text.
fn files() -> Result<Vec<(PathBuf, String)>> {
    let docs = Path::new("docs");
    let of_rules = rules::documentation::PAGES.iter();
    let mut files: Vec<(PathBuf, String)> =
        of_rules.map(|it| (docs.join(it.file), it.text(rules::documentation::entries()))).collect();
    let workloads = lab::workloads::PAGE;
    files.push((docs.join(workloads.file), workloads.text(lab::workloads::entries())));
    files.push((docs.join("roles.md"), report::roles::page()));
    files.push((docs.join("outputs.md"), report::outputs::page()));
    files.push((docs.join("json.md"), schemas::page()));
    let schemas = Path::new("schemas");
    files.push((schemas.join("openapi-1.json"), openapi()?));
    for shape in SHAPES {
        files.push((schemas.join(shape.file()), shape.text()?));
    }
    files.extend(man::files()?);
    Ok(files)
}

/// What `fullclock serve` answers: its paths as they are written down, and the documents that it answers with.
fn openapi() -> Result<String> {
    let text = std::fs::read_to_string(workspace().join("crates/web/src/openapi.json"))?;
    let mut description: Value = serde_json::from_str(&text)?;
    let written = description.pointer_mut("/components/schemas").and_then(Value::as_object_mut);
    let written = written.context("the description of `fullclock serve` has no components")?;
    for (name, schema) in schemas::components() {
        ensure!(!written.contains_key(&name), "two components are called {name}");
        written.insert(name, schema);
    }
    Ok(lines(&description, 3) + "\n")
}

/// A line for each path and each component: the program holds this text, of which indentation would be half.
fn lines(value: &Value, depth: usize) -> String {
    let Value::Object(fields) = value else { return value.to_string() };
    if depth == 0 {
        return value.to_string();
    }
    let field = |(key, value): (&String, &Value)| {
        format!("{}:{}", Value::from(&**key), lines(value, depth - 1))
    };
    let fields: Vec<String> = fields.iter().map(field).collect();
    format!("{{\n{}\n}}", fields.join(",\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The description of a server.
    const OPENAPI: &str = "openapi-1.json";

    #[test]
    fn every_file_that_is_made_is_fresh() {
        for (path, text) in files().unwrap() {
            let there = std::fs::read_to_string(workspace().join(&path)).unwrap_or_default();
            assert!(there == text, "{} is stale: run `cargo xtask docs --pages`", path.display());
        }
    }

    #[test]
    fn every_schema_is_of_a_document_that_there_is() {
        let made = SHAPES.iter().map(schemas::Shape::file);
        let mut made: Vec<String> = made.chain([OPENAPI.to_owned()]).collect();
        let folder = std::fs::read_dir(workspace().join("schemas")).unwrap();
        let mut there: Vec<String> =
            folder.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
        made.sort();
        there.sort();
        assert_eq!(there, made);
    }
}
