//! The shape every check has.

use crate::finding::Finding;
use facts::{HostView, Missing};

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
    /// The judgement.
    pub run: fn(&HostView) -> Verdict,
}

/// No findings, findings, or the fact without which nothing can be said.
///
/// `?` on a missing fact gives *unknown*, or *does not apply* where the host has no such thing; never
/// *clean*.
pub type Verdict = Result<Vec<Finding>, Missing>;

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
