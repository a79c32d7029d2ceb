//! Comparisons of results: which results are compared, and their text and JSON.

use anyhow::{Context, Result, anyhow, bail};
use lab::compare::Side;
use lab::comparison::{Comparison, between, within};
use lab::record::Record;
use lab::store;
use report::Style;
use std::collections::BTreeSet;
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

/// What is compared, by its name.
pub(crate) fn sides<'a>(records: &'a [Record], given: &'a [String]) -> Vec<Side<'a>> {
    let first_arm = |name, record| Side { name, record, arm: 0 };
    match records {
        [one] => {
            let arms = one.arms.iter().enumerate();
            arms.map(|(arm, it)| Side { name: &it.name, record: one, arm }).collect()
        }
        [a, b] => vec![first_arm("A", a), first_arm("B", b)],
        several => {
            // Machines that began in the same second have results of one id.
            let ids: BTreeSet<&str> = several.iter().map(|it| it.id.as_str()).collect();
            let are_told_apart = ids.len() == several.len();
            let each = several.iter().zip(given);
            each.map(|(it, given)| first_arm(if are_told_apart { &it.id } else { given }, it))
                .collect()
        }
    }
}

/// The comparisons: of the arms of one result, or of the first result with each other one. `given` is what to call them.
///
/// Errors: there is nothing to compare, or two results cannot be.
pub(crate) fn compared(
    records: &[Record],
    sides: &[Side<'_>],
    given: &[String],
) -> Result<Vec<Comparison>> {
    let (first, others) = sides.split_first().context("there is no result")?;
    if let [one] = records {
        if others.is_empty() {
            bail!("{} has one arm; give a second result to compare it with", given[0]);
        }
        return Ok(within(one));
    }
    let pair = |(at, other): (usize, &Side<'_>)| {
        let context = || format!("{} and {}", given[0], given[at]);
        between(*first, *other).map_err(|why| anyhow!(why)).with_context(context)
    };
    (1..).zip(others).map(pair).collect()
}
