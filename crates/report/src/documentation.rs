//! The documentation of every list there is: checks, metrics, lines of the ledger, workloads.

use rules::documentation::Entry;

/// Every entry of every list, in display order.
pub fn entries() -> impl Iterator<Item = Entry> {
    rules::documentation::entries().chain(lab::workloads::entries())
}

/// The entries with this id, at most one of each list: `ticks` is a metric and a line of the ledger.
pub fn find(id: &str) -> Vec<Entry> {
    entries().filter(|entry| entry.id == id).collect()
}
