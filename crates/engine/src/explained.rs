//! What pasted texts mean: what shows a host's files and registers is audited, the rest has rules of its own.

use crate::advised;
use rules::pasted::{self, Explanation};

/// Explains all that is recognised in a text, in its order. Empty where nothing is.
pub fn pasted(text: &str) -> Vec<Explanation> {
    let text = facts::pasted::cleaned(text);
    let read = host::pasted::read(&text);
    let view = host::view(&read.host);
    let mut found = pasted::explain(&text, &view);
    if !read.outputs.is_empty() {
        found.extend(pasted::audited(&read.outputs, &advised::audit(&read.host, &view)));
    }
    pasted::in_order(found)
}

#[cfg(test)]
mod tests;
