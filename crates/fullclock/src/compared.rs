//! Comparisons of results, as text and JSON.

use anyhow::Result;
use lab::comparison::{compared, sides};
use lab::record::Record;
use lab::store;
use report::Style;
use std::path::PathBuf;

/// What `fullclock compare` says of these results, as text and as JSON. `given` is what to call them.
///
/// Errors: one is none, or there is nothing to compare it with.
pub(crate) fn words(files: &[PathBuf], given: &[String]) -> Result<(String, String)> {
    let records: Vec<Record> =
        files.iter().map(|it| Ok(store::read(it)?)).collect::<Result<_>>()?;
    let sides = sides(&records, given);
    let found = compared(&records, &sides, given)?;
    let style = Style { color: false, width: 100 };
    let text = report::bench::comparisons(&found, &sides, given, style);
    Ok((text, report::bench::comparisons_json(&found)?))
}
