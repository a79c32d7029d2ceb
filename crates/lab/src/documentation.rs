//! The documentation of the workloads: entry by entry, and as a page for people who read before they install.

use crate::workloads::WORKLOADS;
use rules::documentation::{Entry, Page};
use std::borrow::Cow;

/// The page of all workloads.
pub const PAGE: Page = Page {
    file: "workloads.md",
    opening: "# Workloads\n\nWhat `fullclock bench` can run, in the order in which it lists them. Made from the workloads themselves \
              by `cargo xtask docs`; `fullclock explain ID` shows the same.\n",
    list: "workload",
};

/// Every workload, in display order.
pub fn entries() -> impl Iterator<Item = Entry> {
    WORKLOADS.iter().map(|it| Entry {
        list: "workload",
        id: it.id,
        title: it.title,
        doc: Cow::Owned(it.documentation()),
        references: &[],
    })
}
