//! The shape every check has.

use crate::finding::Finding;
use facts::{HostView, Missing};
use std::fmt;

/// One thing that can be wrong with a host.
pub struct Check {
    /// What is wrong, as a noun: `slow-governor`. Also the name of its file.
    pub id: &'static str,
    /// The same in a few words, for lists.
    pub title: &'static str,
    /// Markdown for `fullclock explain <id>`, with the headings of [`HEADINGS`].
    pub doc: &'static str,
    /// Where the facts behind the judgement are written.
    pub references: &'static [Reference],
    /// Judges a host: findings, or why the check is unknown or not applicable.
    pub run: fn(&HostView) -> Verdict,
}

impl PartialEq for Check {
    fn eq(&self, other: &Check) -> bool {
        self.id == other.id
    }
}

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id)
    }
}

/// No findings, findings, or the fact without which nothing can be said.
///
/// `?` on a missing fact gives *unknown*, or *does not apply* where the host has no such thing; never
/// *clean*.
pub type Verdict = Result<Vec<Finding>, Missing>;

/// The judgement on a host by that on each of its parts: what is found of one, nothing of a part that is sound, `None` of one that is
/// not in use.
///
/// Where nothing is found, a part of which something could not be read makes the whole unknown; and where no part could be judged the
/// check does not apply, for the last reason there was, or because there is `none`.
pub(crate) fn of_each<T>(
    parts: impl IntoIterator<Item = T>,
    none: Missing,
    judge: impl Fn(T) -> Result<Option<Vec<Finding>>, Missing>,
) -> Verdict {
    let (mut findings, mut n_judged) = (Vec::new(), 0);
    let (mut absent, mut unknown) = (none, None);
    for part in parts {
        match judge(part) {
            Ok(None) => {}
            Ok(Some(found)) => {
                n_judged += 1;
                findings.extend(found);
            }
            Err(missing) if missing.is_absence() => absent = missing,
            Err(missing) => unknown = unknown.or(Some(missing)),
        }
    }
    match unknown {
        _ if !findings.is_empty() => Ok(findings),
        Some(missing) => Err(missing),
        None if n_judged == 0 => Err(absent),
        None => Ok(findings),
    }
}

/// A document that a user can look up.
pub struct Reference {
    /// Title, and section where it is long.
    pub title: &'static str,
    /// Address; empty where there is none.
    pub url: &'static str,
}

/// The headings that the documentation of every check has, in this order.
pub const HEADINGS: &[&str] =
    &["## What it looks at", "## Why it matters", "## When to leave it alone"];
