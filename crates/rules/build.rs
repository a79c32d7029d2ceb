//! Makes the files of `advisories/` data of the program, so that an audit does not parse them.
//!
//! What they mean is not looked at here: the program's own parser does that, of these as of a site's, and its tests refuse a file that is
//! no advisory.
#![expect(clippy::disallowed_methods, reason = "runs when the program is built")]

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(&std::env::var("CARGO_MANIFEST_DIR")?).join("../../advisories");
    println!("cargo::rerun-if-changed={}", folder.display());
    let entries = std::fs::read_dir(&folder)?.collect::<Result<Vec<_>, _>>()?;
    let is_advisory = |it: &PathBuf| it.extension().is_some_and(|it| it == "toml");
    let mut files: Vec<PathBuf> = entries.iter().map(|it| it.path()).filter(is_advisory).collect();
    files.sort();
    let mut rust = String::from("&[\n");
    for file in &files {
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        let parsed = std::fs::read_to_string(file)?.parse::<Table>();
        let table = parsed.map_err(|error| format!("{}: {error}", file.display()))?;
        writeln!(rust, "({stem:?}, {}),", node(&Value::Table(table))?)?;
    }
    rust.push(']');
    let out = std::env::var("OUT_DIR")?;
    std::fs::write(Path::new(&out).join("advisories.rs"), rust)?;
    Ok(())
}

/// A value as an expression of Rust: a `Node` of `crate::advisory::node`.
fn node(value: &Value) -> Result<String, String> {
    Ok(match value {
        Value::String(text) => format!("Node::Text({text:?})"),
        // As the program takes days: in quotes or not.
        Value::Datetime(time) => format!("Node::Text({:?})", time.to_string()),
        Value::Integer(number) => format!("Node::Number({number})"),
        Value::Array(items) => {
            let items = items.iter().map(node).collect::<Result<Vec<_>, _>>()?;
            format!("Node::List(&[{}])", items.join(", "))
        }
        Value::Table(entries) => {
            let entry = |(key, value)| Ok(format!("({key:?}, {})", node(value)?));
            let entries = entries.iter().map(entry).collect::<Result<Vec<_>, String>>()?;
            format!("Node::Table(&[{}])", entries.join(", "))
        }
        Value::Boolean(_) | Value::Float(_) => {
            return Err(format!("no key of an advisory holds {value}"));
        }
    })
}
